package scenarios

import (
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// The figures behind the bound of the calm that are not timeouts of the plan. docs/liveness.md derives each.
const (
	// reconnectMaxNs is Kafka's longest pause before a lost connection is dialled again, 500 ms, with its jitter of a fifth.
	reconnectMaxNs int64 = 600_000_000
	// roundingNs is what two timers that count whole milliseconds may be off against each other.
	roundingNs int64 = 2_000_000
	// largestShare is the largest share of the election timeout that the window of a collision may take. Above it the jitter
	// of the timers no longer separates anybody, and the bound claims nothing.
	largestShare int64 = 750_000
	// bootstrapRecords is more than any bootstrap of this package writes.
	bootstrapRecords int64 = 32

	// largestMessage is more bytes than a message takes whose records are those of the drawn workloads.
	largestMessage int64 = 8_192

	million int64 = 1_000_000
)

// calmBound is the time within which every obligation must be met, term by term. All in nanoseconds, but voters, rounds and
// batches, which are counts.
type calmBound struct {
	voters int64
	unit   int64 // the most that a handful of disk operations, or a network round trip, takes in the calm
	window int64 // two candidacies that begin closer than this may spoil each other
	rounds int64 // elections in a row that fail with a probability of less than 1e-12
	round  int64 // one of them

	clock     int64 // backward steps of wall clocks: timers that run are late by that much
	left      int64 // what the storm leaves behind: late packets, a stop under way, a process that waits for its supervisor
	repair    int64 // one link after the other is found dead and replaced: spoils a leadership, or an election, twice
	discovery int64 // nodes without leader ask one bootstrap server at a time
	batches   int64 // to fetch and to replay, at most
	batch     int64 // one of them
	finish    int64 // from a caught-up quorum to the last obligation

	driftPpm int64 // of the slowest clock
	total    int64
}

// calmBoundNs is the bound of docs/liveness.md for a plan: a function of its timeouts and of what its storm can leave behind.
func (s *settings) calmBoundNs(p *plan.Plan) int64 {
	b := s.calmBound(p)
	return b.total
}

func (s *settings) calmBound(p *plan.Plan) calmBound {
	t := &s.timeouts
	election, fetch, request := t.election*million, t.fetch*million, t.request*million
	b := calmBound{unit: max(s.smallestTimeoutNs()/10, 20_000), clock: backwardNs(p), driftPpm: slowestPpm(p)}
	for k := range s.quorums {
		b.voters = max(b.voters, s.voterCount(k))
	}
	b.window = 7*b.unit/2 + roundingNs
	b.rounds = electionRounds(b.voters, share(b.window, election))
	b.round = 2*election + b.window

	b.left = 2*s.lateNs(1) + latestNs(p) + graceNs(p) + 2*election + 10*s.mostDirs()*b.unit
	b.repair = fetch*5/2 + t.electionBackoff*million + request + reconnectMaxNs + t.backoff*million + 2*election + 2*b.unit
	b.discovery = b.voters*(request+t.backoff*million) + reconnectMaxNs
	b.batches, b.batch = s.mostBatches(p)+2*(typicalSnapshotBytes/int64(s.snapshots.fetchBytes)), 4*b.unit
	b.finish = 2*t.wait*million + t.linger*million + max(slowestPeriodNs(p), s.idleNs) + s.retryNs() + (40+10*s.mostDirs())*b.unit
	if upgradesKRaft(p) { // each voter waits for its period, in the worst case until all others are through (one change at a time)
		b.finish += b.voters*(2*fetch+request) + election
	}
	if s.dynamic || upgradesKRaft(p) { // entries that are wrong are corrected, and who joins by itself does, one change at a time
		b.finish += (s.registrations() + 2*s.joiners()) * (2*fetch + request)
	}
	if s.members.register { // a silent broker's session, one that waits for it to end, and requests that are tried for half of one
		b.finish += 6*s.members.sessionMs*million + 6*s.members.heartbeatMs*million + 4*request
	}
	b.finish += procedureSteps(p) * (b.repair + b.rounds*b.round + b.discovery + longestDownNs(p) + restartGraceNs + b.voters*(2*fetch+request))

	b.total = b.left + 2*b.repair + b.rounds*b.round + b.discovery + b.batches*b.batch + b.finish
	b.total = b.clock + b.total/(million-b.driftPpm)*million
	return b
}

// share is the part of the election timeout that the window takes, in millionths.
func share(windowNs, electionNs int64) int64 {
	if electionNs <= 0 || windowNs >= electionNs {
		return largestShare
	}
	return min(windowNs*million/electionNs, largestShare)
}

// electionRounds is the least even number of rounds that all fail with a probability of at most 1e-12, when a round fails with a
// probability of at most 1-(1-w)^k; w is the window's share in millionths, k the voters that can spoil a round: all of an even
// number, all but one of an odd one.
func electionRounds(voters, window int64) int64 {
	succeed := million
	for range voters / 2 * 2 {
		succeed = succeed * (million - window) / million
	}
	fail := million - succeed
	const one = million * million
	rounds := int64(1)
	for left := one / million * fail; left > one/million; rounds++ { // down to 1e-6: the same number of rounds again gives 1e-12
		left = (left*fail + million - 1) / million
	}
	return 2 * rounds
}

// backwardNs is the most that any wall clock is behind what it has shown.
func backwardNs(p *plan.Plan) (worst int64) {
	for i := range p.Hosts {
		var sum int64
		for k := range p.Actions {
			if a := &p.Actions[k]; a.Kind == "jump" && a.Params["host"] == p.Hosts[i].ID {
				sum += max(0, -parseNs(a.Params["by"]))
			}
		}
		worst = max(worst, sum)
	}
	return worst
}

// slowestPpm is how much the slowest clock loses.
func slowestPpm(p *plan.Plan) (worst int64) {
	for i := range p.Hosts {
		worst = max(worst, -int64(p.Hosts[i].DriftPpm))
	}
	return min(worst, million/2)
}

// latestNs is how long after the storm a packet of the storm may arrive.
func latestNs(p *plan.Plan) int64 {
	n := &p.Network
	late := (n.LatencyUs + n.JitterUs + n.ReorderUs) * 1000
	if n.TailPpm > 0 {
		late += n.TailUs * 1000
	}
	late += n.CrossRackUs*1000 + backlogNs(n.BytesPerSecond, n.QueueBytes)
	for i := range p.Actions {
		switch a := &p.Actions[i]; a.Kind {
		case "clog":
			late += parseNs(a.Params["add"])
		case "throttle":
			rate, _ := strconv.ParseInt(a.Params["bytes_per_second"], 10, 64)
			queue, _ := strconv.ParseInt(a.Params["queue"], 10, 64)
			late += backlogNs(rate, queue)
		}
	}
	return late
}

// backlogNs is how long a packet may be under way behind a full queue, when its first transmission was lost.
func backlogNs(rate, queue int64) int64 {
	if rate == 0 {
		return 0
	}
	if queue == 0 {
		queue = vnet.DefaultQueueBytes
	}
	return vnet.RetransmitNs + (queue+largestMessage)*1_000*million/rate
}

// graceNs is how long a graceful stop that is under way may take before the process is killed and starts again.
func graceNs(p *plan.Plan) (grace int64) {
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind == "stop" {
			own := int64(1_000_000_000)
			if text, ok := a.Params["grace"]; ok {
				own = parseNs(text)
			}
			grace = max(grace, own)
		} else if a.Kind == "move" || a.Kind == "software" || a.Kind == "misadvertise" || a.Kind == "repoint" || a.Kind == procedureKind {
			grace = max(grace, 2*restartGraceNs) // one is under way, and the calm takes it back with another
		}
	}
	return grace
}

// slowestPeriodNs is the longest time between two writes of a client.
func slowestPeriodNs(p *plan.Plan) (slowest int64) {
	for i := range p.Workload {
		slowest = max(slowest, parseNs(p.Workload[i].Params["period"]))
	}
	return slowest
}

// mostDirs is the largest number of log directories on a host.
func (s *settings) mostDirs() (most int64) {
	for i := range s.hosts {
		most = max(most, int64(len(s.hosts[i].dirs)))
	}
	return most
}

// mostBatches is the most batches that the storm can have left to a node that has none: the clients' writes, the no-ops of
// an idle controller, and what each epoch brings, a bootstrap that its leader did not finish included.
func (s *settings) mostBatches(p *plan.Plan) int64 {
	storm := int64(p.StormUs) * 1000
	epochs := 1 + storm/max(s.timeouts.election*million, million)
	batches := epochs * (3 + bootstrapRecords/max(int64(s.recordsPerBatch), 1))
	if s.idleNs > 0 {
		batches += storm / s.idleNs
	}
	for i := range p.Workload {
		if period := parseNs(p.Workload[i].Params["period"]); period > 0 {
			batches += storm / period
		}
	}
	return batches
}

// upgradesKRaft reports whether an operator asks for kraft.version 1.
func upgradesKRaft(p *plan.Plan) bool {
	return slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Kind == "upgrade-kraft" })
}

// procedureSteps is how many steps a runbook has: in the worst case all are left to the calm, each waits for a node that restarts, the
// leader perhaps, and for what is asked of the next one.
func procedureSteps(p *plan.Plan) (steps int64) {
	for i := range p.Actions {
		if p.Actions[i].Kind == procedureKind {
			steps++
		}
	}
	return steps
}

// longestDownNs is how long a node of a runbook stays down, at most.
func longestDownNs(p *plan.Plan) (longest int64) {
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind == procedureKind {
			longest = max(longest, 20*million, parseNs(a.Params["down"]))
		}
	}
	return longest
}

// registrations is how many nodes may be voters whose entry is wrong.
func (s *settings) registrations() (n int64) {
	for i := range s.hosts {
		if k := s.hosts[i].kind; k == kindController || k == kindObserver {
			n++
		}
	}
	return n
}

// joiners is how many nodes join by themselves: each first takes out what was left of it on a disk that is gone.
func (s *settings) joiners() (n int64) {
	for i := range s.hosts {
		if s.hosts[i].autoJoin {
			n++
		}
	}
	return n
}
