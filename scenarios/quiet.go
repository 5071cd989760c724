package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The family quiet/*: whatever happens is an operator's step that no leader needs to notice. A protocol that holds elections there is
// safe and alive, and yet wrong: each of them is time in which nobody commits. What shows is what only costs a timeout: requests that wait for
// each other, answers that wait for nothing, leaders that count themselves out.

// quietFromUs is when the nodes have started and know each other. Before, whoever starts late may not be found at once: the pause before a
// connection is dialled again has grown.
const quietFromUs = 7_000_000

// quietScenarios lists them.
func quietScenarios() []*scenario {
	return append([]*scenario{
		{name: "quiet/sole", doc: "one voter and brokers, no fault, long enough for any timer to run out", draw: drawQuietSole},
		{name: "quiet/moved", doc: "two or three voters that restart, some on another port, with request timeouts of any length", draw: drawQuietMoved},
		{name: "quiet/joining", doc: "one or two voters that others join by themselves, with request timeouts of any length", draw: drawQuietJoining},
		{name: "quiet/wiped", doc: "a static voter that loses its log, and knows no bootstrap server", draw: drawQuietWiped},
		{name: "quiet/forgetful", doc: "a voter whose quorum-state is gone, with the log still there", draw: drawQuietForgetful},
		{name: "raft/chased", doc: "a voter with an old log raises its epoch again and again beside one that could be elected; no pre-votes", draw: drawChased},
		{name: "quiet/download", doc: "a leader whose one follower that is left fetches nothing but a snapshot, slowly", draw: drawQuietDownload},
	}, aloneScenarios()...)
}

// unrest is the checker: nobody asks for votes as long as a leader lives that has told a voter so, unless it was asked to stop.
type unrest struct {
	c         *cluster
	evaluated *int64
	leader    *sim.Host
	boot      int32
	epoch     int32
	sinceNs   int64
	candidate *sim.Host // who asked for votes last, in which epoch
	candidacy int32
	goodbye   int32 // the epoch that a leader said to be over, last
	stalls    stalls
}

// Attach is sim.Checker.
func (u *unrest) Attach(w *sim.World) {
	u.stalls.build(w.Plan(), len(w.Hosts()))
	u.leader, u.epoch, u.candidate, u.candidacy, u.goodbye = nil, -1, nil, -1, -1
}

// OnSend is sim.SendChecker.
func (u *unrest) OnSend(from, _ *sim.Host, m sim.Message) {
	u.hears(from, m)
	u.stalls.sends(from, u.c.w.NowNs())
}

func (u *unrest) hears(from *sim.Host, m sim.Message) {
	switch m := m.(type) {
	case *raft.BeginQuorumEpochRequest:
		if m.LeaderEpoch > u.epoch {
			u.leader, u.boot, u.epoch, u.sinceNs = from, from.Boot(), m.LeaderEpoch, u.c.w.NowNs()
		}
	case *raft.EndQuorumEpochRequest:
		u.goodbye = max(u.goodbye, m.LeaderEpoch)
	case *raft.VoteRequest:
		*u.evaluated++
		u.leavesAloud(from)
		if !m.PreVote {
			u.stands(from, m.ReplicaEpoch)
		}
		// Who became a candidate a moment before the leader did may still ask.
		settled := max(u.sinceNs+2*u.c.timeouts.election*million, quietFromUs*1000)
		if u.lives() && !u.bothStalled(from) && u.c.w.NowNs() > settled {
			u.c.w.Violate(noNeedlessElection.Name, "vote-request", fmt.Sprintf("%s asks for votes while %s, which nothing cuts off, leads epoch %d",
				from.ID(), u.leader.ID(), u.epoch))
		}
	}
}

// bothStalled reports whether disks have used up a follower's patience: its own, and then its leader's.
func (u *unrest) bothStalled(from *sim.Host) bool {
	now, within := u.c.w.NowNs(), u.c.timeouts.fetch*million
	return u.stalls.stalled(from, now, within) && u.stalls.stalled(u.leader, now, within)
}

// stands follows a candidate. A leader that is asked to stop names the one that goes first, and the others wait for it.
func (u *unrest) stands(h *sim.Host, epoch int32) {
	if u.candidacy == epoch && u.candidate != h && u.c.w.NowNs() > quietFromUs*1000 {
		u.c.w.Violate(noNeedlessElection.Name, "two-candidates", fmt.Sprintf("%s and %s ask for votes in epoch %d, after the leader before told them who "+
			"goes first", u.candidate.ID(), h.ID(), epoch))
	}
	u.candidate, u.candidacy = h, epoch
}

// leavesAloud judges a leader that is asked to stop: it names its successors, who need not wait until a fetch timeout is over (kraft-protocol 1.10).
func (u *unrest) leavesAloud(from *sim.Host) {
	if u.leader == nil || u.leader == from || u.goodbye >= u.epoch || !u.leader.Up() || u.leader.Boot() != u.boot || u.c.w.NowNs() <= quietFromUs*1000 {
		return
	}
	if n := nodeOf(u.leader); n != nil && n.stopping {
		u.c.w.Violate(noNeedlessElection.Name, "left-silently", fmt.Sprintf("%s asks for votes while %s, which leads epoch %d, stops and has not said so to "+
			"anybody", from.ID(), u.leader.ID(), u.epoch))
	}
}

// lives reports whether the last leader is in the life in which it was elected and nobody told it to end.
func (u *unrest) lives() bool {
	if u.leader == nil || !u.leader.Up() || u.leader.Boot() != u.boot {
		return false
	}
	n := nodeOf(u.leader)
	return n != nil && !n.stopping
}

// quiet draws a network and disks without surprises, and timeouts in all proportions that Kafka allows and that work: a fetch waits less than the
// request and the fetch timeout. seconds is how long it lasts, in election timeouts of half a second.
func (d dice) quiet(p *plan.Plan, seconds int64) {
	p.StormUs = plan.Int64(seconds * 1_000_000)
	p.Network.LatencyUs, p.Network.JitterUs = 300, 400
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 10_000, 500_000, 20_000, 50
	const election = 500
	fetch := d.oneOf("fetch", election, 2*election)
	request := d.oneOf("request", fetch/2, fetch, 3*fetch)
	p.Params["election_timeout_ms"], p.Params["fetch_timeout_ms"] = number(election), number(fetch)
	p.Params["request_timeout_ms"], p.Params["retry_backoff_ms"] = number(request), number(20)
	p.Params["election_backoff_max_ms"] = number(election)
	p.Params["fetch_max_wait_ms"] = number(min(request/2, fetch*d.oneOf("wait-percent", 10, 25, 70)/100))
	p.Params["max_idle_interval_ms"] = number(d.oneOf("idle", 200, 500, 3_000))
	p.Params["quiet"] = "true"
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.DriftPpm = int32(d.between(h.ID+"/drift", -100, 100))
		h.StartUs = plan.Int64(d.between(h.ID+"/start", 0, 400_000))
	}
}

// step of a quiet plan: the i-th, some seconds after the one before.
func (d dice) quietStep(p *plan.Plan, i int64, kind string, params plan.Params) {
	at := quietFromUs + (1+8*i)*1_000_000 + d.roll("step-"+number(i)+"/at", 4_000_000)
	p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("q%d-%s", i+1, kind), AtUs: plan.Int64(at), Kind: kind, Params: params})
}

func drawQuietSole(d dice, p *plan.Plan) {
	controllers(p, 1, 0, int(d.between("brokers", 0, 2)))
	d.identify(p)
	d.quiet(p, 60)
}

// drawQuietMoved restarts voters. Two are enough for a majority that is everybody: who does not fetch is missed.
func drawQuietMoved(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 2, 2, 3)), 0, int(d.roll("brokers", 2)))
	d.quiet(p, 50)
	for i := range d.between("steps", 2, 4) {
		name := "step-" + number(i)
		host := p.Hosts[d.roll(name+"/host", d.oneOf("voters", 2, 2, 3))].ID
		down := micros(d.oneOf(name+"/down", 1_000, 50_000))
		if d.chance(name+"/stays", 25) {
			d.quietStep(p, i, "stop", plan.Params{"host": host, "down": down})
		} else {
			d.quietStep(p, i, "move", plan.Params{"host": host, "port": number(9200 + i), "down": down})
		}
	}
}

// drawQuietJoining lets observers make themselves voters: the second of one voter, the third of two.
func drawQuietJoining(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 1, 1, 2)), int(d.between("observers", 1, 2)), int(d.roll("brokers", 2)))
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Kind == kindObserver {
			h.Params["auto_join"] = "true"
		}
	}
	d.quiet(p, 40)
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Kind == kindObserver {
			h.StartUs = plan.Int64(quietFromUs + d.between(h.ID+"/late", 500_000, 4_000_000))
		}
	}
}

// drawQuietWiped takes a log away from one of three static voters while the other two live on. It comes back with its identity and
// without a past, and has nobody to ask: the leader has to tell it.
func drawQuietWiped(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.roll("brokers", 2)))
	d.identify(p)
	d.quiet(p, 40)
	// The leader's word goes out twice per fetch timeout, the first time on a connection that is dead, and must come before half a second is over.
	p.Params["fetch_timeout_ms"], p.Params["request_timeout_ms"] = "250", "150"
	p.Params["fetch_max_wait_ms"] = number(d.oneOf("wait", 25, 50))
	host := &p.Hosts[d.roll("host", 3)]
	host.StartUs = 5_000_000 // when the others have a leader: one that came back without a past would be told that it is still it, and stop
	for i := range p.Hosts[:3] {
		if d.chance(p.Hosts[i].ID+"/alone", 70) {
			p.Hosts[i].Params["bootstrap"] = "nowhere"
		}
	}
	d.quietStep(p, 0, "wipe", plan.Params{"host": host.ID, "path": "/data/dir0/__cluster_metadata-0", "down": "1ms"})
}

// drawQuietForgetful takes the quorum-state away from a voter that has the log still: it comes back in the epoch of the log, knows no leader
// and no vote, and asks for one (kraft-protocol 1.6 row 2). It never led: the others would tell it that it still does.
func drawQuietForgetful(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, int(d.oneOf("voters", 3, 3, 4)), 0, int(d.roll("brokers", 2)))
	d.quiet(p, 40)
	host := &p.Hosts[d.roll("host", 3)]
	host.StartUs = 5_000_000
	for i := range d.between("times", 1, 2) {
		d.quietStep(p, i, "wipe", plan.Params{"host": host.ID, "path": "/data/dir0/__cluster_metadata-0/quorum-state", "down": micros(d.oneOf("down", 1_000, 50_000))})
	}
}

// drawQuietDownload lets a voter come back to a log that was cut, and stops the other one while the first downloads what it missed. The leader
// keeps its majority by the pieces alone, which take longer than one and a half fetch timeouts (kraft-protocol 3.8).
func drawQuietDownload(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.roll("brokers", 2)))
	d.identify(p)
	d.quiet(p, 24)
	p.Params["fetch_timeout_ms"], p.Params["request_timeout_ms"], p.Params["fetch_max_wait_ms"] = "500", "500", "50"
	p.Params["fetch_snapshot_max_bytes"] = number(d.oneOf("piece", 40, 60))
	p.Params["snapshot_max_bytes"], p.Params["segment_bytes"], p.Params["retention_bytes"] = "2000", "300", "1"
	p.Params["clean_interval_ms"], p.Params["delete_delay_ms"] = "5000", "60000"
	p.Network.LatencyUs = 40_000
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "50ms"}})
	late := d.roll("late", 3)
	back := plan.Int64(quietFromUs + 8_000_000)
	p.Actions = append(p.Actions,
		plan.Action{ID: "q1-stop", AtUs: quietFromUs + 1_000_000, Kind: "stop", Params: plan.Params{"host": p.Hosts[late].ID, "down": "7s"}},
		plan.Action{ID: "q2-stop", AtUs: back + plan.Int64(d.between("later", 200_000, 400_000)), Kind: "stop", Params: plan.Params{
			"host": p.Hosts[(late+1+d.roll("other", 2))%3].ID, "down": "5s"}})
}
