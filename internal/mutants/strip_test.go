package mutants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

func TestStrip(t *testing.T) {
	full := func() *plan.Plan {
		return &plan.Plan{Hosts: []plan.Host{{DriftPpm: 7, OffsetMs: 3}, {DriftPpm: 9}}, Lanes: plan.Lanes{SpuriousPpm: 4, WakeJitterUs: 2},
			Disk: plan.Disk{Profile: "posix", FailedSync: "keep"}, Network: plan.Network{BytesPerSecond: 9_000, QueueBytes: 9},
			Actions: []plan.Action{{Kind: "power", Params: plan.Params{"rack": "r"}}, {Kind: "power", Params: plan.Params{"hosts": "n"}},
				{Kind: "restore"}, {Kind: "throttle", Params: plan.Params{"queue": "7"}}}}
	}
	for fault, left := range map[string]func(p *plan.Plan){
		"disk.profile":     func(p *plan.Plan) { p.Disk.Profile = "" },
		"disk.failed_sync": func(p *plan.Plan) { p.Disk.FailedSync = "" },
		"network.bytes_per_second": func(p *plan.Plan) {
			p.Network, p.Actions = plan.Network{}, p.Actions[:3]
		},
		"network.queue_bytes": func(p *plan.Plan) { p.Network.QueueBytes, p.Actions[3].Params = 0, plan.Params{} },
		"power by rack":       func(p *plan.Plan) { p.Actions = p.Actions[1:] },
		"hosts.drift_ppm":     func(p *plan.Plan) { p.Hosts[0].DriftPpm, p.Hosts[1].DriftPpm = 0, 0 },
		"lanes.spurious_ppm":  func(p *plan.Plan) { p.Lanes.SpuriousPpm = 0 },
		"restore":             func(p *plan.Plan) { p.Actions = append(p.Actions[:2:2], p.Actions[3]) },
	} {
		got, want := full(), full()
		strip(got, fault)
		left(want)
		require.Equal(t, want, got, fault)
		require.NotEqual(t, full(), got, fault)
	}
}

func TestAloneSaysSo(t *testing.T) {
	r := &Row{Patch: &Patch{Fault: "restore"}, Status: Killed}
	r.alone(&Exposure{Faults: []string{"restore"}}, &hunt{})
	require.Equal(t, Killed, r.Status)
	r.alone(&Exposure{Faults: []string{"restore"}}, &hunt{best: &Kill{Invariant: "x", Scenario: "s", Seed: 3}})
	require.Equal(t, NotAlone, r.Status)
	require.Contains(t, r.Error, "without restore it is killed too, by x at s:3")
}

func TestExposures(t *testing.T) {
	p := &Patch{Scenarios: []string{"a/b"}, Fault: "clone; swap, flip in raft/rot, x/y"}
	require.Equal(t, []Exposure{{Faults: []string{"clone"}, Scenarios: []string{"a/b"}},
		{Faults: []string{"swap", "flip"}, Scenarios: []string{"raft/rot", "x/y"}}}, p.Exposures())
	require.Empty(t, (&Patch{}).Exposures())
}
