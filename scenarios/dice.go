package scenarios

import (
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// dice draws the parameters of a plan from its seed, see swarm.Dice. A profile in it takes the place of the scenario's own.
type dice struct {
	seed    uint64
	profile *swarm.Profile
}

func (d dice) swarm() swarm.Dice { return swarm.Dice{Seed: d.seed} }

// roll returns an integer in [0, n).
func (d dice) roll(name string, n int64) int64 { return d.swarm().Roll(name, n) }

// between returns an integer in [low, high].
func (d dice) between(name string, low, high int64) int64 { return d.swarm().Between(name, low, high) }

// chance is true with a probability of percent per cent.
func (d dice) chance(name string, percent int64) bool { return d.swarm().Chance(name, percent) }

// oneOf picks one of the values.
func (d dice) oneOf(name string, values ...int64) int64 { return d.swarm().OneOf(name, values...) }

// pick picks one of the words.
func (d dice) pick(name string, words ...string) string { return d.swarm().Pick(name, words...) }

func number(v int64) string { return strconv.FormatInt(v, 10) }

func micros(v int64) string { return plan.FormatDurationUs(v) }

// storm draws network, disk, lanes, timeouts and actions.
func (d dice) storm(p *plan.Plan, f *swarm.Profile) {
	if d.profile != nil {
		f = d.profile
	}
	d.stormOf(p, f)
}

// stormOf draws from this very profile: what the scenario promises depends on it.
func (d dice) stormOf(p *plan.Plan, f *swarm.Profile) {
	d.timeouts(p, f)
	swarm.Storm(d.swarm(), p, f, fill)
}

// timeouts draws the raft configuration, down to one record per batch and one batch per answer.
func (d dice) timeouts(p *plan.Plan, f *swarm.Profile) {
	if p.Params == nil {
		p.Params = plan.Params{}
	}
	election := d.swarm().Within("election-ms", f.TimeoutMs)
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

// fill completes the words of raft's own.
func fill(d swarm.Dice, p *plan.Plan, a *plan.Action, name string) (known, ok bool) {
	switch a.Kind {
	case "filter":
		host := p.Hosts[d.Roll(name+"/host", int64(len(p.Hosts)))].ID
		a.Params["for"], a.Params["from"], a.Params["to"] = micros(d.OneOf(name+"/for", 10_000, 60_000, 150_000, 350_000)), host, others(p, host)
		a.Params["kind"] = number(d.OneOf(name+"/kind", filterKinds...))
		return true, len(p.Hosts) > 1
	}
	if known, ok = aimed(d, p, a, name); known {
		return true, ok
	}
	return fillDamage(d, p, a, name)
}

// aimed completes the words of faults that aim.
func aimed(d swarm.Dice, p *plan.Plan, a *plan.Action, name string) (known, ok bool) {
	down := micros(d.OneOf(name+"/down", 1_000, 15_000, 60_000, 200_000))
	lasts := micros(d.OneOf(name+"/for", 10_000, 60_000, 150_000, 350_000))
	switch a.Kind {
	case "isolate-leader":
		a.Kind, a.Params["host"], a.Params["for"] = "isolate", targetLeader, lasts
	case "isolate-next":
		a.Kind, a.Params["host"], a.Params["for"] = "isolate", targetNext, lasts
	case "kill-leader":
		a.Kind, a.Params["host"], a.Params["down"] = "kill", targetLeader, down
	case "split-quorum":
		a.Kind, a.Params["hosts"], a.Params["for"] = "split", targetQuorum, lasts
	case "flap":
		a.Params["of"] = d.Pick(name+"/of", "election", "fetch", "fetch", "request")
		a.Params["phase"], a.Params["down"] = number(d.Roll(name+"/phase", 100)), number(d.OneOf(name+"/share", 20, 50, 50, 80, 95))
		a.Params["from"], a.Params["for"] = d.Pick(name+"/from", targetLeader, targetNext), micros(d.OneOf(name+"/flap-for", 100_000, 300_000, 600_000))
		a.Params["to"] = others(p, "")
	case crashAfterKind:
		a.Params["on"] = d.Pick(name+"/on", afterWords...)
		a.Params["n"] = number(1 + d.Roll(name+"/n", d.OneOf(name+"/reach", 1, 4, 20)))
		a.Params["op"] = number(1 + d.Roll(name+"/op", d.OneOf(name+"/op-reach", 1, 3, 6)))
		a.Params["how"], a.Params["down"] = d.Pick(name+"/how", "kill", "power"), down
	case tearKind:
		a.Params["n"], a.Params["down"] = number(d.OneOf(name+"/n", 1, 1, 2, 4)), down
	default:
		return false, false
	}
	return true, len(p.Hosts) > 1 || a.Kind == "kill" || a.Kind == crashAfterKind || a.Kind == tearKind
}

// afterWords are the events behind which crash-after is drawn: each is followed by disk operations, or should follow some.
var afterWords = []string{"vote-persisted", "vote-granted", "election-started", "role-changed", "epoch-adopted", "log-appended", "log-appended", "log-flushed",
	"log-truncated", "high-watermark-advanced", "snapshot-stored", "log-replaced", "voters-changed"}

// filterKinds are the kinds of raft's messages: Fetch, Vote, BeginQuorumEpoch, EndQuorumEpoch, FetchSnapshot, each with its
// answer.
var filterKinds = []int64{2, 3, 104, 105, 106, 107, 108, 109, 118, 119}

// others lists all hosts but one.
func others(p *plan.Plan, but string) string { return swarm.Others(p, but) }
