package scenarios

import (
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// The profiles that several scenarios share. What they have in common with other programs is in swarm's stock.
var (
	stormProfile    = *swarm.Stock("storm")
	lightProfile    = *swarm.Stock("light")
	lockstepProfile = *swarm.Stock("lockstep")
	diskProfile     = *swarm.Stock("disk")
	blackoutProfile = *swarm.Stock("blackout")
	stuckProfile    = *swarm.Stock("stuck")
	snapshotProfile = swarm.Profile{
		Name: "snapshots", Doc: "lagging followers: long partitions, crashes, many small writes", StormUs: swarm.Range{700_000, 1_500_000}, Actions: swarm.Range{5, 14},
		Faults: swarm.Weights("kill:14 power:16 power-all:3 crash-op:40 pause:8 cut-one:8 cut-out:16 isolate:22 clog:6 filter:8 " +
			"jump:3 stop:4"),
		LatencyUs: swarm.Range{100, 1_500}, JitterUs: swarm.Range{0, 2_000}, TailPercent: 20, ResetPpm: 2_000,
		SyncNs: swarm.Range{20_000, 1_500_000}, TimeoutMs: swarm.Range{30, 90},
		Lanes: plan.Lanes{PostJitterUs: 100, WakeJitterUs: 300, SpuriousPpm: 200}, PeriodUs: 5_000,
	}
)

// profiles lists what `list profiles` shows: a scenario is run with one of them in place of its own.
func profiles() []*swarm.Profile {
	list := swarm.StockProfiles()
	for _, f := range []*swarm.Profile{&snapshotProfile, &reconfigProfile, &evenProfile, &rotProfile, &wireProfile, &crossedProfile, &clientsProfile,
		&discoveryProfile, &kipProfile, &upgradeProfile, &topicProfile} {
		list = append(list, f)
	}
	return list
}
