package scenarios

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// controllers adds n voters c1.. and brokers b1..
func controllers(p *plan.Plan, voters, observers, brokers int) {
	for i := range voters {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("c%d", i+1), Kind: kindController, Params: plan.Params{"node_id": number(int64(i + 1))}})
	}
	for i := range observers {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("o%d", i+1), Kind: kindObserver, Params: plan.Params{"node_id": number(int64(100 + i))}})
	}
	for i := range brokers {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("b%d", i+1), Kind: kindBroker, Params: plan.Params{"node_id": number(int64(200 + i))}})
	}
}

// identify gives the cluster and each host ids that follow from the seed.
func (d dice) identify(p *plan.Plan) {
	id := d.uuid("cluster-id")
	p.Params["cluster_id"] = base64.RawURLEncoding.EncodeToString(id[:])
	for i := range p.Hosts {
		u := d.uuid(p.Hosts[i].ID + "/directory-id")
		p.Hosts[i].Params["directory_id"] = u.String()
	}
}

func (d dice) uuid(name string) (u record.UUID) {
	for w := range uint64(2) {
		h := decide.Combine(decide.Combine(d.seed, decide.HashString(name)), w)
		for b := range uint64(8) {
			u[w*8+b] = byte(h >> (8 * b))
		}
	}
	u[0] &= 0x7f // no text that begins with "-"
	if u[0]>>2 == 62 {
		u[0] = 1
	}
	return u
}

func (d dice) writes(p *plan.Plan, f *swarm.Profile) {
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes",
		Params: plan.Params{"period": micros(d.between("write-period", f.PeriodUs/2, f.PeriodUs*2))}})
}

// leaveOut lets a minority of the voters die at the end of some storms and stay down through the calm: the majority has to do
// without it.
func (d dice) leaveOut(p *plan.Plan) {
	var voters []string
	for i := range p.Hosts {
		if p.Hosts[i].Kind == kindController {
			voters = append(voters, p.Hosts[i].ID)
		}
	}
	if len(voters) < 3 || !d.chance("leave-out", 40) {
		return
	}
	first := d.roll("left-out", int64(len(voters)))
	var out []string
	for i := range d.between("leave-out-count", 1, int64(len(voters)-1)/2) {
		id := voters[(first+i)%int64(len(voters))]
		out = append(out, id)
		p.Actions = append(p.Actions, plan.Action{ID: "left-out-" + id, Kind: "kill", AtUs: p.StormUs - 1_000 + plan.Int64(i), Params: plan.Params{"host": id}})
	}
	p.Params["calm_without"] = strings.Join(out, ",")
}

func drawStorm(voters, brokers int, f *swarm.Profile) func(d dice, p *plan.Plan) {
	return func(d dice, p *plan.Plan) {
		controllers(p, voters, 0, brokers)
		d.identify(p)
		d.storm(p, f)
		d.leaveOut(p)
		d.writes(p, f)
	}
}

func drawDynamic(d dice, p *plan.Plan) {
	controllers(p, 3, 1, 1)
	p.Params["quorum"] = "dynamic"
	d.identify(p)
	d.storm(p, &stormProfile)
	d.leaveOut(p)
	d.writes(p, &stormProfile)
}

// drawSnapshots makes snapshots the rule: tiny segments, a snapshot every few batches, nothing kept beyond what it covers, so
// that whoever was away for a while is sent to a snapshot, in pieces.
func drawSnapshots(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 3, 3, 5)), int(d.roll("observers", 2)), 1)
	if d.chance("dynamic", 50) {
		p.Params["quorum"] = "dynamic"
	}
	d.identify(p)
	set := func(name string, values ...int64) { p.Params[name] = number(d.oneOf(name, values...)) }
	set("election_timeout_ms", 30, 50, 80)
	election, _ := strconv.ParseInt(p.Params["election_timeout_ms"], 10, 64)
	d.retention(election, d.oneOf("pieces", 100, 300, 1_000, 1<<20), d.oneOf("clean", 20, 40, 150),
		func(name string, v int64) { p.Params[name] = number(v) })
	set("segment_bytes", 300, 300, 1_000, 4_000)
	set("snapshot_max_bytes", 200, 500, 1_500)
	set("retention_bytes", 1, 1, 1_000, 5_000)
	set("delete_delay_ms", 5, 40, 60_000)
	d.storm(p, &snapshotProfile)
	d.writes(p, &snapshotProfile)
}

func drawLockstep(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 2, 4)), 0, 0)
	d.identify(p)
	d.storm(p, &lockstepProfile)
	d.leaveOut(p)
	d.writes(p, &lockstepProfile)
	if d.chance("one-clock", 50) { // all timers run alike from the first instant: only the random part keeps elections apart
		for i := range p.Hosts {
			p.Hosts[i].StartUs, p.Hosts[i].DriftPpm, p.Hosts[i].OffsetMs = 0, 0, 0
		}
	}
}

// drawQuiet is Kafka's defaults: ten minutes without a fault. The first seconds are busy, since nodes that know no
// leader ask for one as fast as round trips go; what follows is the quiet.
func drawQuiet(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 2)
	d.identify(p)
	p.StormUs = 600_000_000
	p.Network.LatencyUs, p.Network.JitterUs = 300, 400
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 10_000, 500_000, 20_000, 50
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.DriftPpm = int32(d.between(h.ID+"/drift", -100, 100))
		h.StartUs = plan.Int64(d.between(h.ID+"/start", 0, 400_000))
	}
}

// drawTransaction makes the bootstrap long and the leaders short-lived: many records per bootstrap, one to three a batch.
func drawTransaction(d dice, p *plan.Plan) {
	controllers(p, 3, 0, int(d.roll("brokers", 2)))
	d.identify(p)
	p.Params["records_per_batch"] = number(d.between("records", 1, 3))
	p.Params["max_batch_records"] = "1"
	if d.chance("early-snapshots", 30) { // each batch is worth a snapshot, that of an abort and a new beginning too
		p.Params["snapshot_max_bytes"] = "1"
		p.Params["max_batch_records"] = number(d.between("joined", 2, 4))
	}
	if d.chance("security", 25) {
		p.Params[bootstrapParam] = number(d.between("security-records", 3, 20))
	}
	d.storm(p, &lightProfile)
	for i := range d.between("early-cuts", 2, 6) {
		name := "early-" + number(i)
		a := plan.Action{ID: fmt.Sprintf("e%d-crash-op", i+1), Kind: "crash-op", AtUs: plan.Int64(d.roll(name+"/at", 300_000)), Params: plan.Params{
			"host": p.Hosts[d.roll(name+"/host", 3)].ID, "n": number(1 + d.roll(name+"/n", 12)),
			"how": d.pick(name+"/how", "kill", "power"), "down": micros(d.oneOf(name+"/down", 5_000, 40_000, 150_000))}}
		p.Actions = append(p.Actions, a)
	}
	d.writes(p, &lightProfile)
}

// rareSnapshots leaves snapshots at Kafka's defaults, which short runs never reach: these scenarios are about bootstrap.
func rareSnapshots(p *plan.Plan) {
	p.Params["snapshot_max_bytes"], p.Params["snapshot_interval_ms"] = number(20<<20), "0"
}

// twoDirs gives some hosts a second log directory, which the operator may have forgotten to format.
func (d dice) twoDirs(h *plan.Host, forget bool) {
	if d.chance(h.ID+"/two-dirs", 50) {
		h.Params["dirs"] = "2"
		if forget && h.Params["format"] == "" && d.chance(h.ID+"/forget", 30) {
			h.Params["format"] = "first"
		}
	}
}

func drawReleased(d dice, p *plan.Plan) {
	dynamic := d.chance("dynamic", 50)
	observers := 0
	if dynamic {
		observers = int(d.roll("observers", 2))
		p.Params["quorum"] = "dynamic"
	}
	controllers(p, 3, observers, 1)
	p.Params["variant"] = "released"
	p.Params["level"] = d.pick("level", "", "3.9", "3.3", "3.6", "4.0")
	d.identify(p)
	for i := range p.Hosts {
		d.twoDirs(&p.Hosts[i], false)
	}
	rareSnapshots(p)
	d.storm(p, &lightProfile)
	d.leaveOut(p)
	d.writes(p, &lightProfile)
	d.upgrade(p, []int64{22, 33})
	if d.chance("members", 40) {
		d.sessions(p)
	}
	d.remote(p, 40, 3)
}

// drawFinalMar: bootstrap controllers are formatted, everybody else need not be.
func drawFinalMar(d dice, p *plan.Plan) {
	dynamic := d.chance("dynamic", 50)
	observers := int(d.roll("observers", 2))
	if dynamic {
		p.Params["quorum"] = "dynamic"
	}
	controllers(p, 3, observers, 1+int(d.roll("brokers", 2)))
	p.Params["variant"] = "final-mar"
	d.identify(p)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Kind != kindController && d.chance(h.ID+"/unformatted", 75) {
			h.Params["format"] = "none"
		}
		d.twoDirs(h, true)
	}
	rareSnapshots(p)
	d.storm(p, &lightProfile)
	d.leaveOut(p)
	d.writes(p, &lightProfile)
	if d.chance("old-level", 40) {
		p.Params["level"] = d.pick("level", "4.4-IV2", "4.0", "3.9")
		d.upgrade(p, []int64{34})
	}
	if d.chance("members", 40) {
		d.sessions(p)
	}
	d.remote(p, 40, 3)
}

// drawFinalApr: voters that a 0-0.checkpoint names are formatted; those of a static quorum need not be, and nobody else.
func drawFinalApr(d dice, p *plan.Plan) {
	share := int64(100) // of the voters that are formatted, in percent
	if d.chance("dynamic", 34) {
		p.Params["quorum"] = "dynamic"
	} else {
		share = d.oneOf("formatted-percent", 0, 0, 34, 67, 100)
	}
	controllers(p, 3, int(d.roll("observers", 2)), 1+int(d.roll("brokers", 2)))
	p.Params["variant"] = "final-apr"
	d.identify(p)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		formatted := share
		if h.Kind != kindController {
			formatted = 25
		}
		if !d.chance(h.ID+"/formatted", formatted) {
			h.Params["format"] = "none"
		}
		d.twoDirs(h, true)
	}
	rareSnapshots(p)
	d.storm(p, &lightProfile)
	if share == 0 || share == 100 { // of voters that are formatted in part one may be shut out for good (T23): none is left over
		d.leaveOut(p)
	}
	d.writes(p, &lightProfile)
	if share > 0 && d.chance("old-level", 30) {
		p.Params["level"] = d.pick("level", "4.4-IV2", "4.0", "3.9")
		d.upgrade(p, []int64{34})
	}
	if d.chance("members", 40) {
		d.sessions(p)
		d.ignorantLeader(p)
	}
	d.remote(p, 40, 3)
}

// drawDraft: voters need not be formatted; some may be, all with one cluster id.
func drawDraft(d dice, p *plan.Plan) {
	controllers(p, int(d.oneOf("voters", 1, 3, 3, 3)), int(d.roll("observers", 2)), 1)
	p.Params["variant"] = "draft"
	d.identify(p)
	share := d.oneOf("formatted-percent", 0, 0, 34, 67)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if !d.chance(h.ID+"/formatted", share) {
			h.Params["format"] = "none"
		}
		d.twoDirs(h, true)
	}
	rareSnapshots(p)
	d.storm(p, &lightProfile)
	d.writes(p, &lightProfile)
	d.halfIdentified(p)
	if share > 0 && d.chance("old-level", 20) {
		p.Params["level"] = "4.4-IV2"
		d.upgrade(p, []int64{34})
	}
	if d.chance("members", 40) {
		d.sessions(p)
		d.ignorantLeader(p)
	}
	d.remote(p, 40, 3)
}

// halfIdentified kills some nodes while they format themselves: between the rename of meta.properties and the flush of their directory the file is
// there for the next process, and a power loss would take it (directory-id-first).
func (d dice) halfIdentified(p *plan.Plan) {
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Params["format"] == "none" && d.chance(h.ID+"/half", 15) {
			act(p, h.ID+"-half", "crash-op", 0, "host", h.ID, "n", number(2+d.roll(h.ID+"/half-n", 9)), "how", "kill", "down", micros(d.oneOf(h.ID+"/half-down", 3_000, 20_000)))
		}
	}
}

// ignorantLeader takes the first leader away below the level of the ClusterIdRecord, and then ends a broker: where it is formatted and the
// next leader is not, it registers at a leader that knows no cluster id and never learns one (metadata-bootstrap 4.4, D1).
func (d dice) ignorantLeader(p *plan.Plan) {
	if p.Params["level"] == "" || !d.chance("ignorant-leader", 50) {
		return
	}
	at := int64(p.StormUs) - d.between("ignorant-leader/before", 150_000, 250_000)
	p.Actions = append(p.Actions,
		plan.Action{ID: "first-leader-kill", Kind: "kill", AtUs: plan.Int64(max(at, 1)), Params: plan.Params{"host": targetLeader, "down": "100ms"}},
		plan.Action{ID: "then-broker-kill", Kind: "kill", AtUs: p.StormUs - 20_000, Params: plan.Params{"host": "b1", "down": "5ms"}})
}

// upgrade adds the operator's step to a later metadata.version.
func (d dice) upgrade(p *plan.Plan, levels []int64) {
	if !d.chance("upgrade", 70) {
		return
	}
	p.Actions = append(p.Actions, plan.Action{ID: "upgrade", Kind: "upgrade", AtUs: plan.Int64(d.between("upgrade-at", 50_000, int64(p.StormUs)*3/4)),
		Params: plan.Params{"level": number(d.oneOf("upgrade-level", levels...))}})
}

// drawGolden boots one of Kafka's own directories; absent voters are formatted by the simulator.
func drawGolden(d dice, p *plan.Plan) {
	names := goldenNames()
	if err := d.fillGolden(p, names[d.roll("case", int64(len(names)))]); err != nil {
		panic("scenarios: a golden case in the binary can't be read: " + err.Error())
	}
	d.storm(p, &lightProfile)
	d.writes(p, &lightProfile)
}
