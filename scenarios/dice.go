package scenarios

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// dice draws the parameters of a plan from its seed. Each draw has a name and depends on nothing else, so that a profile
// can gain a parameter without moving the others.
type dice struct{ seed uint64 }

// roll returns an integer in [0, n).
func (d dice) roll(name string, n int64) int64 {
	h := decide.Combine(d.seed^0x5851f42d4c957f2d, decide.HashString(name))
	return int64((h >> 33) % uint64(n))
}

// between returns an integer in [low, high].
func (d dice) between(name string, low, high int64) int64 { return low + d.roll(name, high-low+1) }

// chance is true with a probability of percent per cent.
func (d dice) chance(name string, percent int64) bool { return d.roll(name, 100) < percent }

// oneOf picks one of the values.
func (d dice) oneOf(name string, values ...int64) int64 {
	return values[d.roll(name, int64(len(values)))]
}

// pick picks one of the words.
func (d dice) pick(name string, words ...string) string {
	return words[d.roll(name, int64(len(words)))]
}

func number(v int64) string { return strconv.FormatInt(v, 10) }

func micros(v int64) string { return plan.FormatDurationUs(v) }

// weighted is a kind of action and how often a profile draws it.
type weighted struct {
	kind   string
	weight int64
}

// profile is a storm as data: which faults, how many, how long.
type profile struct {
	name           string
	stormUs        [2]int64 // from, to
	actions        [2]int64
	faults         []weighted
	latencyUs      [2]int64
	jitterUs       [2]int64
	tailPercent    int64 // share of plans with a latency tail
	resetPpm       int64
	syncNs         [2]int64
	diskErrorPpm   int64
	electionMs     [2]int64
	lanes          plan.Lanes
	configPeriodUs int64 // of the workload
}

// The profiles.
var (
	stormProfile = profile{
		name: "storm", stormUs: [2]int64{700_000, 1_600_000}, actions: [2]int64{4, 14},
		faults: []weighted{{"kill", 20}, {"power", 16}, {"power-all", 3}, {"crash-op", 34}, {"pause", 8}, {"cut-one", 12}, {"cut-out", 16},
			{"isolate", 14}, {"clog", 6}, {"filter", 5}, {"jump", 5}, {"disk-slow", 6}, {"disk-error", 3}, {"disk-full", 2}, {"stop", 4}},
		latencyUs: [2]int64{100, 1_500}, jitterUs: [2]int64{0, 3_000}, tailPercent: 30, resetPpm: 2_000,
		syncNs: [2]int64{20_000, 1_500_000}, electionMs: [2]int64{30, 90},
		lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, configPeriodUs: 9_000,
	}
	lightProfile = profile{
		name: "light", stormUs: [2]int64{400_000, 900_000}, actions: [2]int64{1, 5},
		faults:    []weighted{{"kill", 20}, {"power", 20}, {"crash-op", 40}, {"cut-out", 10}, {"isolate", 10}, {"pause", 5}},
		latencyUs: [2]int64{100, 800}, jitterUs: [2]int64{0, 1_000}, tailPercent: 10, resetPpm: 500,
		syncNs: [2]int64{20_000, 800_000}, electionMs: [2]int64{30, 80},
		lanes: plan.Lanes{PostJitterUs: 50, WakeJitterUs: 100}, configPeriodUs: 15_000,
	}
	lockstepProfile = profile{
		name: "lockstep", stormUs: [2]int64{500_000, 1_000_000}, actions: [2]int64{2, 8},
		faults:    []weighted{{"kill", 30}, {"power", 20}, {"crash-op", 20}, {"isolate", 20}, {"cut-out", 10}},
		latencyUs: [2]int64{300, 600}, jitterUs: [2]int64{0, 2}, syncNs: [2]int64{20_000, 60_000}, electionMs: [2]int64{30, 60},
		configPeriodUs: 20_000,
	}
	snapshotProfile = profile{
		name: "snapshots", stormUs: [2]int64{700_000, 1_500_000}, actions: [2]int64{5, 14},
		faults: []weighted{{"kill", 14}, {"power", 16}, {"power-all", 3}, {"crash-op", 40}, {"pause", 8}, {"cut-one", 8}, {"cut-out", 16},
			{"isolate", 22}, {"clog", 6}, {"filter", 8}, {"jump", 3}, {"stop", 4}},
		latencyUs: [2]int64{100, 1_500}, jitterUs: [2]int64{0, 2_000}, tailPercent: 20, resetPpm: 2_000,
		syncNs: [2]int64{20_000, 1_500_000}, electionMs: [2]int64{30, 90},
		lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, configPeriodUs: 5_000,
	}
	diskProfile = profile{
		name: "disk", stormUs: [2]int64{700_000, 1_400_000}, actions: [2]int64{5, 14},
		faults:    []weighted{{"crash-op", 60}, {"power", 25}, {"power-all", 8}, {"disk-error", 8}, {"disk-full", 6}, {"disk-slow", 12}, {"isolate", 6}},
		latencyUs: [2]int64{100, 800}, jitterUs: [2]int64{0, 1_000}, resetPpm: 500,
		syncNs: [2]int64{100_000, 6_000_000}, diskErrorPpm: 60, electionMs: [2]int64{40, 100},
		lanes: plan.Lanes{PostJitterUs: 200, WakeJitterUs: 300}, configPeriodUs: 8_000,
	}
)

// storm draws network, disk, lanes, timeouts and actions.
func (d dice) storm(p *plan.Plan, f *profile) {
	p.StormUs = plan.Int64(d.between("storm-us", f.stormUs[0], f.stormUs[1]))
	d.models(p, f)
	d.timeouts(p, f)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		h.DriftPpm = int32(d.between(h.ID+"/drift", -300, 300))
		h.OffsetMs = plan.Int64(d.between(h.ID+"/offset", -40, 40))
		h.StartUs = plan.Int64(d.between(h.ID+"/start", 0, 30_000))
	}
	n := d.between("actions", f.actions[0], f.actions[1])
	for i := range n {
		if a, ok := d.action(p, f, i); ok {
			p.Actions = append(p.Actions, a)
		}
	}
}

func (d dice) models(p *plan.Plan, f *profile) {
	p.Network.LatencyUs = d.between("latency", f.latencyUs[0], f.latencyUs[1])
	p.Network.JitterUs = d.between("jitter", f.jitterUs[0], f.jitterUs[1])
	if d.chance("tail", f.tailPercent) {
		p.Network.TailPpm, p.Network.TailUs = d.oneOf("tail-ppm", 2_000, 10_000, 40_000), d.oneOf("tail-us", 5_000, 30_000, 150_000)
	}
	if f.resetPpm > 0 && d.chance("reset", 40) {
		p.Network.ResetPpm = d.between("reset-ppm", 1, f.resetPpm)
	}
	p.Disk.WriteNs = d.oneOf("write-ns", 1_000, 10_000, 50_000)
	p.Disk.MetadataNs = d.oneOf("metadata-ns", 2_000, 20_000, 100_000)
	p.Disk.SyncNs = d.between("sync-ns", f.syncNs[0], f.syncNs[1])
	p.Disk.JitterPercent = d.oneOf("disk-jitter", 0, 30, 100)
	if d.chance("slow-sync", 30) {
		p.Disk.SlowSyncPpm, p.Disk.SlowSyncNs = d.oneOf("slow-ppm", 5_000, 30_000), d.oneOf("slow-ns", 5_000_000, 40_000_000)
	}
	if f.diskErrorPpm > 0 && d.chance("disk-errors", 30) {
		p.Disk.WriteErrorPpm, p.Disk.SyncErrorPpm, p.Disk.ReadErrorPpm = f.diskErrorPpm, f.diskErrorPpm, f.diskErrorPpm
	}
	p.Lanes = f.lanes
}

// timeouts draws the raft configuration, down to one record per batch and one batch per answer.
func (d dice) timeouts(p *plan.Plan, f *profile) {
	if p.Params == nil {
		p.Params = plan.Params{}
	}
	election := d.between("election-ms", f.electionMs[0], f.electionMs[1])
	set := func(name string, v int64) {
		if _, ok := p.Params[name]; !ok {
			p.Params[name] = number(v)
		}
	}
	set("election_timeout_ms", election)
	set("fetch_timeout_ms", election*d.oneOf("fetch-factor", 1, 2, 3)/1)
	set("request_timeout_ms", election*d.oneOf("request-factor", 1, 2))
	set("retry_backoff_ms", d.oneOf("backoff-ms", 1, 5, 20))
	set("election_backoff_max_ms", election)
	set("append_linger_ms", d.oneOf("linger-ms", 0, 0, 2, 10))
	set("fetch_max_wait_ms", max(1, election*d.oneOf("wait-percent", 10, 25, 50)/100))
	set("fetch_max_bytes", d.oneOf("fetch-bytes", 1, 200, 1<<20))
	set("max_batch_bytes", d.oneOf("batch-bytes", 4_096, 8<<20))
	set("listener_max_bytes", d.oneOf("listener-bytes", 1, 500, 8<<20))
	set("segment_bytes", d.oneOf("segment-bytes", 300, 2_000, 1<<30))
	set("records_per_batch", d.oneOf("records-per-batch", 1, 2, 3, 10_000))
	set("max_batch_records", d.oneOf("batch-records", 1, 1, 3, 1<<31-1, 1<<31-1))
	set("max_idle_interval_ms", d.oneOf("idle-ms", 20, 60, 500))
	d.snapshots(election, set)
}

// snapshots draws when snapshots are made, how they travel and when what they cover is deleted. In a third of the plans there
// are none.
func (d dice) snapshots(election int64, set func(name string, v int64)) {
	d.retention(election, d.oneOf("fetch-snapshot-bytes", 100, 400, 1<<20), d.oneOf("clean-ms", 40, 250, 60_000), set)
	set("snapshot_max_bytes", d.oneOf("snapshot-bytes", 300, 1_500, 6_000, 20<<20))
	set("snapshot_interval_ms", d.oneOf("snapshot-interval", 0, 0, 100, 500))
	set("snapshot_append_records", d.oneOf("snapshot-append", 1, 3, 1_024))
	set("snapshot_batch_bytes", d.oneOf("snapshot-batch", 4_096, 8<<20))
	set("retention_bytes", d.oneOf("retention-bytes", 0, 1, 2_000, 100<<20))
	set("retention_ms", d.oneOf("retention-ms", 0, 50, 300, 604_800_000))
	set("delete_delay_ms", d.oneOf("delete-delay-ms", 10, 60_000))
}

// typicalSnapshotBytes is more than most snapshots of a storm take.
const typicalSnapshotBytes = 1_536

// retention sets how large the pieces of a download are and how often the retention limits are looked at. A snapshot may be
// deleted at the second look after it was made; a follower that needs longer for its pieces than that would never get a whole
// one (KB-41), in Kafka as here, where the first takes milliseconds and the second a minute. In the calm a piece takes about
// three tenths of the smallest timeout.
func (d dice) retention(election, pieceBytes, cleanMs int64, set func(name string, v int64)) {
	pieces := 1 + typicalSnapshotBytes/pieceBytes
	set("fetch_snapshot_max_bytes", pieceBytes)
	set("clean_interval_ms", max(cleanMs, 2*pieces*(3*election/10+1)))
}

// action draws one fault of the storm.
func (d dice) action(p *plan.Plan, f *profile, i int64) (plan.Action, bool) {
	var total int64
	for _, w := range f.faults {
		total += w.weight
	}
	name := "action-" + number(i)
	x := d.roll(name, total)
	kind := ""
	for _, w := range f.faults {
		if x < w.weight {
			kind = w.kind
			break
		}
		x -= w.weight
	}
	// Early in the storm the cluster bootstraps, which is what much of this is about: half of the faults come early.
	at := d.roll(name+"/at", int64(p.StormUs)*9/10)
	if d.chance(name+"/early", 50) {
		at = d.roll(name+"/early-at", min(int64(p.StormUs), 350_000))
	}
	a := plan.Action{ID: fmt.Sprintf("%02d-%s", i+1, kind), AtUs: plan.Int64(at), Params: plan.Params{}}
	return a, d.fill(&a, p, kind, name)
}

// fill draws the parameters of an action. It may turn a symbolic kind (isolate) into one of the core's.
func (d dice) fill(a *plan.Action, p *plan.Plan, kind, name string) bool {
	host := p.Hosts[d.roll(name+"/host", int64(len(p.Hosts)))].ID
	down := micros(d.oneOf(name+"/down", 1_000, 15_000, 60_000, 200_000))
	lasts := micros(d.oneOf(name+"/for", 10_000, 60_000, 150_000, 350_000))
	a.Kind = kind
	switch kind {
	case "kill", "stop":
		a.Params["host"], a.Params["down"] = host, down
	case "power":
		a.Params["hosts"], a.Params["down"] = host, down
		if len(p.Hosts) > 2 && d.chance(name+"/two", 40) {
			other := p.Hosts[d.roll(name+"/other", int64(len(p.Hosts)))].ID
			if other != host {
				a.Params["hosts"] = host + "," + other
			}
		}
	case "power-all":
		a.Kind, a.Params["hosts"], a.Params["down"] = "power", others(p, ""), down
	case "crash-op":
		a.Params["host"], a.Params["down"] = host, down
		a.Params["n"] = number(1 + d.roll(name+"/n", d.oneOf(name+"/reach", 3, 12, 60)))
		a.Params["how"] = d.pick(name+"/how", "kill", "power")
	case "pause":
		a.Params["host"], a.Params["for"] = host, lasts
	case "jump":
		a.Params["host"], a.Params["by"] = host, micros(d.oneOf(name+"/by", -50_000, -5_000, 5_000, 50_000, 500_000))
	case "cut-one": // one direction between two hosts
		a.Kind, a.Params["for"] = "cut", lasts
		a.Params["from"], a.Params["to"] = host, p.Hosts[d.roll(name+"/other", int64(len(p.Hosts)))].ID
	case "cut-out": // nothing reaches the host, or nothing leaves it
		a.Kind, a.Params["for"] = "cut", lasts
		a.Params["from"], a.Params["to"] = host, others(p, host)
		if d.chance(name+"/in", 50) {
			a.Params["from"], a.Params["to"] = a.Params["to"], a.Params["from"]
		}
	case "isolate":
		a.Kind, a.Params["for"] = "isolate", lasts
		a.Params["host"] = host
	case "clog":
		a.Params["for"], a.Params["from"], a.Params["to"] = lasts, host, others(p, host)
		a.Params["add"] = micros(d.oneOf(name+"/add", 2_000, 20_000, 80_000))
	case "filter":
		a.Params["for"], a.Params["from"], a.Params["to"] = lasts, host, others(p, host)
		a.Params["kind"] = number(d.oneOf(name+"/kind", filterKinds...))
	case "disk-slow":
		a.Params["host"], a.Params["for"], a.Params["percent"] = host, lasts, number(d.oneOf(name+"/percent", 300, 2_000, 10_000))
	case "disk-stuck":
		a.Params["host"], a.Params["for"], a.Params["on"] = host, lasts, d.pick(name+"/on", "read", "write", "sync", "names", "all")
	case "names":
		a.Params["host"], a.Params["for"], a.Params["how"] = host, lasts, d.pick(name+"/how", "never", "other", "late")
		if d.chance(name+"/one", 50) {
			a.Params["seen"] = p.Hosts[d.roll(name+"/seen", int64(len(p.Hosts)))].ID
		}
		switch a.Params["how"] {
		case "other":
			a.Params["to"] = p.Hosts[d.roll(name+"/other", int64(len(p.Hosts)))].ID
			return a.Params["to"] != host
		case "late":
			a.Params["add"] = micros(d.oneOf(name+"/late", 5_000, 50_000, 400_000))
		}
	case "disk-full":
		a.Params["host"], a.Params["for"], a.Params["free"] = host, lasts, number(d.oneOf(name+"/free", 0, 100, 1_000))
	case "disk-error":
		a.Params["host"], a.Params["for"], a.Params["on"] = host, lasts, d.pick(name+"/on", "read", "write", "sync")
		a.Params["ppm"] = number(d.oneOf(name+"/ppm", 10_000, 200_000, 1_000_000))
	}
	return len(p.Hosts) > 1 || a.Kind != "cut" && a.Kind != "clog" && a.Kind != "filter" && a.Kind != "isolate"
}

// filterKinds are the kinds of raft's messages: Fetch, Vote, BeginQuorumEpoch, EndQuorumEpoch, FetchSnapshot, each with its
// answer.
var filterKinds = []int64{2, 3, 104, 105, 106, 107, 108, 109, 118, 119}

// others lists all hosts but one.
func others(p *plan.Plan, but string) string {
	s := ""
	for i := range p.Hosts {
		if p.Hosts[i].ID == but {
			continue
		}
		if s != "" {
			s += ","
		}
		s += p.Hosts[i].ID
	}
	return s
}
