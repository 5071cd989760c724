package cli

import (
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// sticky never ends a run of a plan without hosts.
type sticky struct{ release chan struct{} }

func (s *sticky) Run(p *plan.Plan, _ sim.Options) (sim.Result, error) {
	if len(p.Hosts) == 0 {
		<-s.release
	}
	return sim.Result{Verdict: &plan.Verdict{Outcome: plan.OK}}, nil
}

// A candidate that never ends is a verdict, the next one runs on a fresh runner, and after a few nothing is run any more.
func TestPatienceEnds(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	made := 0
	fresh := func() campaign.Runner { made++; return &sticky{release} }
	r := &patience{fresh: fresh, runner: fresh(), limit: 100 * time.Millisecond}
	good, bad := &plan.Plan{Hosts: []plan.Host{{ID: "a"}}}, &plan.Plan{}
	for i := range mostHung {
		result, err := r.Run(good, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.OK, result.Verdict.Outcome)
		result, err = r.Run(bad, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.Spin, result.Verdict.Outcome)
		require.Equal(t, i+2, made)
	}
	_, err := r.Run(good, sim.Options{})
	require.ErrorIs(t, err, errHung)
	require.Nil(t, r.Catalogue())
}
