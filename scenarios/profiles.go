package scenarios

import (
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// The profiles that several scenarios share. What they have in common with other programs is in swarm's stock.
var (
	// stormProfile strikes leaders so often that half of its runs change theirs twice, see stormSometimes.
	stormProfile    = withPCT(busy(aiming("storm", "isolate-leader:20 isolate-next:8 kill-leader:24 split-quorum:8 flap:8 crash-after:16 tear:4"), 10, 20), 8)
	lightProfile    = aiming("light", "isolate-leader:6 crash-after:12")
	lockstepProfile = withPCT(aiming("lockstep", "kill-leader:8 isolate-next:6 flap:6"), 8)
	diskProfile     = aiming("disk", "crash-after:30 tear:12")
	networkProfile  = aiming("network", "isolate-leader:15 isolate-next:10 split-quorum:15 flap:20")
	blackoutProfile = aiming("blackout", "crash-after:10")
	stuckProfile    = aiming("stuck", "crash-after:8")
	snapshotProfile = swarm.Profile{
		Name: "snapshots", Doc: "lagging followers: long partitions, crashes, many small writes", StormUs: swarm.Range{700_000, 1_500_000}, Actions: swarm.Range{5, 14},
		Faults: swarm.Weights("kill:14 power:16 power-all:3 crash-op:40 pause:8 cut-one:8 cut-out:16 isolate:22 clog:6 filter:8 " +
			"jump:3 stop:4 isolate-leader:8 crash-after:14 tear:4 flap:5"),
		LatencyUs: swarm.Range{100, 1_500}, JitterUs: swarm.Range{0, 2_000}, TailPercent: 20, ResetPpm: 2_000,
		SyncNs: swarm.Range{20_000, 1_500_000}, TimeoutMs: swarm.Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 5_000,
	}
)

// aiming is a profile of swarm's stock with faults that know what raft is about.
func aiming(stock, weights string) swarm.Profile {
	f := *swarm.Stock(stock)
	f.Faults = append(f.Faults, swarm.Weights(weights)...)
	return f
}

// busy is a profile whose plans have from least to most actions.
func busy(f swarm.Profile, least, most int64) swarm.Profile {
	f.Actions = swarm.Range{least, most}
	return f
}

// withPCT is a profile of which a share of the plans is ordered by priorities.
func withPCT(f swarm.Profile, percent int64) swarm.Profile {
	f.PCTPercent = percent
	return f
}

// profiles lists what `list profiles` shows: a scenario is run with one of them in place of its own.
func profiles() []*swarm.Profile {
	return []*swarm.Profile{
		&stormProfile, &lightProfile, &lockstepProfile, &diskProfile, &networkProfile, &blackoutProfile,
		&stuckProfile, &snapshotProfile, &reconfigProfile, &evenProfile, &rotProfile, &wireProfile, &crossedProfile,
		&clientsProfile, &discoveryProfile, &kipProfile, &upgradeProfile, &topicProfile,
	}
}
