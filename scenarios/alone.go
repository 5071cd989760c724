package scenarios

import (
	"github.com/kraftsim/kraftsim/sim/plan"
)

// The family alone/*: one kind of fault and nothing else, on a cluster that is otherwise quiet. A storm tells a bug, and not which of its faults was
// the one that it takes; here each mutant that dies has been shown what the fault is for, and dies no more when it is taken out of the plan. What is
// only late costs no election as long as it stays below the fetch timeout, so the rule of quiet/* holds here, too.

// aloneScenarios lists them.
func aloneScenarios() []*scenario {
	return []*scenario{
		{name: "alone/resets", doc: "connections that are reset, and nothing else", draw: drawAloneResets},
		{name: "alone/flaps", doc: "links that go down for less than a fetch timeout, again and again", draw: drawAloneFlaps},
		{name: "alone/clogs", doc: "links that take almost half a fetch timeout for a while", draw: drawAloneClogs},
		{name: "alone/tails", doc: "packets that are sent again after longer than a request timeout", draw: drawAloneTails},
		{name: "alone/narrow", doc: "a voter that starts late, behind a link that takes a second for what it missed", draw: drawAloneNarrow},
		{name: "alone/throttle", doc: "a voter that was stopped for a while and then has little bandwidth", draw: drawAloneThrottle},
		{name: "alone/short-queue", doc: "links with room for one packet, where brokers send heartbeats and fetch", draw: drawAloneShortQueue},
		{name: "alone/far", doc: "voters in two racks that are far from each other", draw: drawAloneFar},
		{name: "alone/slow-syncs", doc: "fsyncs that take half a fetch timeout, now and then", draw: drawAloneSlowSyncs},
		{name: "alone/stuck", doc: "disks that do not take a snapshot for a while", draw: drawAloneStuck},
		{name: "alone/late-posts", doc: "threads that hear late of each other, while snapshots are made", draw: drawAloneLatePosts},
		{name: "alone/late-wakes", doc: "timers that are late", draw: drawAloneLateWakes},
		{name: "alone/drift", doc: "clocks that run a tenth too fast or too slow", draw: drawAloneDrift},
		{name: "alone/names", doc: "brokers that start while no bootstrap name resolves", draw: drawAloneNames},
		{name: "alone/read-errors", doc: "disks of which a read fails now and then", draw: drawAloneReadErrors},
		{name: "alone/sync-errors", doc: "disks of which an fsync fails now and then", draw: drawAloneSyncErrors},
		{name: "alone/torn", doc: "processes that die in the middle of a batch", draw: drawAloneTorn},
		{name: "alone/crash-after", doc: "processes that die in a disk operation behind a step of the protocol", draw: drawAloneCrashAfter},
		{name: "alone/releases", doc: "a voter that comes back with older software, and has missed what one other voter alone has", draw: drawAloneReleases},
	}
}

// alone draws three voters and the quiet around one fault, with timeouts in milliseconds that its scenario needs.
func (d dice) alone(p *plan.Plan, seconds, fetch, request, wait int64) {
	controllers(p, 3, 0, int(d.roll("brokers", 2)))
	d.identify(p)
	d.quiet(p, seconds)
	p.Params["fetch_timeout_ms"], p.Params["request_timeout_ms"], p.Params["fetch_max_wait_ms"] = number(fetch), number(request), number(wait)
	p.Params["max_idle_interval_ms"] = "3000" // most fetches wait as long as they may
}

// then adds an action some seconds into the quiet.
func (d dice) then(p *plan.Plan, i int64, kind string, params plan.Params) {
	d.quietStep(p, i, kind, params)
}

func drawAloneResets(d dice, p *plan.Plan) {
	d.alone(p, 30, 600, 1_800, 60)
	p.Network.ResetPpm = d.oneOf("reset", 1_000, 3_000)
}

// drawAloneFlaps: a request times out in each outage, the connection is dialled again, and all of that is over before the fetch timeout.
func drawAloneFlaps(d dice, p *plan.Plan) {
	d.alone(p, 30, 600, 150, 60)
	d.then(p, 0, "flap", plan.Params{"from": d.pick("from", targetLeader, targetNext), "to": others(p, ""), "for": "16s",
		"period": micros(d.oneOf("period", 1_000_000, 1_300_000)), "down": "18"})
}

func drawAloneClogs(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_000, 3_000, 250)
	for i := range int64(2) {
		d.then(p, i, "clog", plan.Params{"from": targetLeader, "to": others(p, ""), "for": "3s", "add": micros(1_000 * d.between("add-"+number(i), 350, 450))})
	}
}

func drawAloneTails(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_500, 300, 100)
	p.Network.TailPpm, p.Network.TailUs = d.oneOf("tail", 1_000, 3_000), d.oneOf("late", 350_000, 500_000)
}

// drawAloneNarrow: what a voter missed takes longer than the fetch timeout in one piece, and a tenth of it in pieces as the fetch asks for.
func drawAloneNarrow(d dice, p *plan.Plan) {
	d.alone(p, 24, 1_000, 3_000, 100)
	d.missed(p)
	p.Hosts[d.roll("late", 3)].StartUs = plan.Int64(d.between("from", 9_000_000, 11_000_000))
	p.Network.BytesPerSecond = d.oneOf("rate", 10_000, 15_000)
}

// missed makes the log long and its pieces short.
func (d dice) missed(p *plan.Plan) {
	p.Params["fetch_max_bytes"] = "800"
	p.Params["snapshot_max_bytes"] = number(20 << 20)
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "25ms"}})
}

func drawAloneThrottle(d dice, p *plan.Plan) {
	d.alone(p, 26, 1_000, 3_000, 100)
	d.missed(p)
	late := p.Hosts[d.roll("late", 3)].ID
	p.Actions = append(p.Actions, plan.Action{ID: "a1-stop", AtUs: quietFromUs + 1_000_000, Kind: "stop", Params: plan.Params{"host": late, "down": "9s"}},
		plan.Action{ID: "a2-throttle", AtUs: quietFromUs + 4_000_000, Kind: "throttle", Params: plan.Params{"from": others(p, late), "to": late, "for": "10s",
			"bytes_per_second": number(d.oneOf("rate", 10_000, 15_000))}})
}

// drawAloneShortQueue: a broker's heartbeats share its link with its fetches. A packet waits for others there for some milliseconds; one that finds
// no room comes 200 ms later, which is longer than from one heartbeat to the next.
func drawAloneShortQueue(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.between("brokers", 1, 2)))
	d.identify(p)
	d.quiet(p, 16)
	p.Params["fetch_timeout_ms"], p.Params["request_timeout_ms"], p.Params["fetch_max_wait_ms"] = "1500", "3000", "100"
	p.Params["members"], p.Params["broker_heartbeat_interval_ms"], p.Params["broker_session_timeout_ms"] = "register", "150", "3000"
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "60ms"}})
	p.Network.BytesPerSecond, p.Network.QueueBytes = d.oneOf("rate", 20_000, 40_000), d.oneOf("queue", 60, 100)
}

// drawAloneFar: in the calm a packet takes no longer than a twentieth of the smallest timeout, which is far still.
func drawAloneFar(d dice, p *plan.Plan) {
	d.alone(p, 16, 2_000, 2_000, 200)
	p.Params["election_timeout_ms"], p.Params["election_backoff_max_ms"] = "2000", "2000"
	for i := range p.Hosts {
		p.Hosts[i].Rack = "r1"
	}
	p.Hosts[d.roll("far", 3)].Rack = "r2"
	p.Network.CrossRackUs = d.oneOf("cross-rack", 60_000, 90_000)
}

func drawAloneSlowSyncs(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_000, 3_000, 250)
	p.Disk.SlowSyncPpm, p.Disk.SlowSyncNs = 20_000, 1_000_000*d.oneOf("slow", 520, 600)
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "900ms"}})
}

// drawAloneStuck: the disk takes what goes into a file, and no new file. The log has one segment for all of the run, so that only snapshots wait, and
// the next one is due before the last one is there.
func drawAloneStuck(d dice, p *plan.Plan) {
	d.alone(p, 26, 1_000, 3_000, 100)
	p.Params["snapshot_max_bytes"] = number(d.oneOf("snapshot", 500, 1_500))
	p.Params["clean_interval_ms"] = "600000"
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "60ms"}})
	for i := range d.between("times", 1, 2) {
		d.then(p, i, "disk-stuck", plan.Params{"host": p.Hosts[d.roll("host-"+number(i), 3)].ID, "for": "2s", "on": "names", "path": "/data/dir0/__cluster_metadata-0"})
	}
}

// drawAloneLatePosts: what a thread does for another one it does later, when the log has gone on.
func drawAloneLatePosts(d dice, p *plan.Plan) {
	d.alone(p, 16, 1_000, 1_000, 100)
	p.Lanes.PostJitterUs = d.oneOf("late", 20_000, 100_000)
	p.Params["snapshot_max_bytes"], p.Params["clean_interval_ms"] = "1500", "600000"
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "30ms"}})
}

func drawAloneLateWakes(d dice, p *plan.Plan) {
	d.alone(p, 12, 1_000, 1_000, 100)
	p.Lanes.WakeJitterUs = d.oneOf("late", 3_000, 20_000)
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 0, 0, 0, 0
}

// drawAloneDrift: a leader keeps a fetch by its own clock, and the follower waits by its own.
func drawAloneDrift(d dice, p *plan.Plan) {
	d.alone(p, 40, 1_000, 3_000, d.oneOf("wait", 400, 600))
	for i := range p.Hosts {
		p.Hosts[i].DriftPpm = int32(d.oneOf(p.Hosts[i].ID+"/runs", -120_000, -60_000, 60_000, 120_000))
	}
}

// drawAloneNames: brokers know the controllers by bootstrap names alone.
func drawAloneNames(d dice, p *plan.Plan) {
	dynamicQuorum(d, p, 3, 0, int(d.between("brokers", 1, 2)))
	d.quiet(p, 20)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Kind == kindController {
			p.Actions = append(p.Actions, plan.Action{ID: "a-" + h.ID, AtUs: 4_000_000, Kind: "resolve", Params: plan.Params{"name": h.ID, "for": micros(
				d.between("for-"+h.ID, 5_000_000, 9_000_000))}})
			continue
		}
		h.StartUs = plan.Int64(d.between(h.ID+"/late", 5_000_000, 7_000_000))
	}
}

// drawAloneReadErrors: who was away reads files at its start, and is sent to a snapshot, which the others read.
func drawAloneReadErrors(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_000, 1_000, 100)
	delete(p.Params, "quiet")
	d.snapshotsFor(p)
	p.Disk.ReadErrorPpm = d.oneOf("errors", 5_000, 30_000)
	d.restarts(p, "kill")
}

// snapshotsFor makes snapshots in pieces the way by which a node catches up.
func (d dice) snapshotsFor(p *plan.Plan) {
	p.Params["fetch_snapshot_max_bytes"] = number(d.oneOf("piece", 200, 400))
	p.Params["snapshot_max_bytes"], p.Params["segment_bytes"], p.Params["retention_bytes"] = "1500", "300", "1"
	p.Params["clean_interval_ms"], p.Params["delete_delay_ms"] = "2000", "60000"
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "50ms"}})
}

// restarts ends voters for a while, one after the other, in one way.
func (d dice) restarts(p *plan.Plan, kind string) {
	for i := range int64(3) {
		name := "restart-" + number(i)
		a := plan.Params{"host": p.Hosts[d.roll(name, 3)].ID, "down": micros(d.oneOf(name+"/down", 20_000, 3_000_000))}
		if kind == "power" {
			a["hosts"] = a["host"]
			delete(a, "host")
		}
		d.then(p, i, kind, a)
	}
}

func drawAloneSyncErrors(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_000, 1_000, 100)
	delete(p.Params, "quiet")
	d.snapshotsFor(p)
	p.Disk.SyncErrorPpm = d.oneOf("errors", 500, 3_000)
	d.restarts(p, "power")
}

func drawAloneTorn(d dice, p *plan.Plan) {
	d.alone(p, 30, 1_000, 1_000, 100)
	delete(p.Params, "quiet")
	p.Params["append_linger_ms"] = "40" // several records in each batch
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "8ms"}})
	for i := range int64(3) {
		d.then(p, i, tearKind, plan.Params{"n": number(d.between("n-"+number(i), 1, 3)), "down": micros(d.oneOf("down-"+number(i), 1_000, 500_000))})
	}
}

func drawAloneCrashAfter(d dice, p *plan.Plan) {
	d.alone(p, 20, 1_000, 1_000, 100)
	delete(p.Params, "quiet")
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "50ms"}})
	for i := range d.between("times", 2, 5) {
		name := "after-" + number(i)
		p.Actions = append(p.Actions, plan.Action{ID: "a" + number(i+1) + "-crash-after", AtUs: plan.Int64(d.roll(name+"/at", 12_000_000)), Kind: crashAfterKind,
			Params: plan.Params{"on": d.pick(name, "vote-granted", "election-started", "epoch-adopted", "role-changed", "log-appended"),
				"op": number(1 + d.roll(name+"/op", 6)), "how": d.pick(name+"/how", "kill", "power"), "down": micros(d.oneOf(name+"/down", 1_000, 300_000))}})
	}
}

// drawAloneReleases takes the software of a voter back to a release without pre-votes, for so long that it misses what is written meanwhile; it comes
// back when one of the two others is gone for good and the other one, who alone has everything, has restarted. That one has to be elected.
func drawAloneReleases(d dice, p *plan.Plan) {
	p.Params["level"] = "3.7"
	d.alone(p, 20, 1_000, 1_000, 100)
	delete(p.Params, "quiet")
	old := d.roll("old", 3)
	last, gone := p.Hosts[(old+1)%3].ID, p.Hosts[(old+2)%3].ID
	p.Params["calm_without"] = gone
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "50ms"}})
	for i, a := range []plan.Action{
		{Kind: "software", Params: plan.Params{"host": p.Hosts[old].ID, "release": d.pick("release", "3.8", "3.9"), "down": "5s"}},
		{Kind: "kill", AtUs: 3_000_000, Params: plan.Params{"host": gone}},
		{Kind: "kill", AtUs: 3_500_000, Params: plan.Params{"host": last, "down": micros(d.oneOf("down", 100_000, 1_000_000))}},
	} {
		a.ID, a.AtUs = "a"+number(int64(i+1))+"-"+a.Kind, a.AtUs+quietFromUs+plan.Int64(d.roll("at-"+number(int64(i)), 500_000))
		p.Actions = append(p.Actions, a)
	}
}
