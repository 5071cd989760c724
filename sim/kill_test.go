package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// A script may kill: the process dies at once, its host stays down until somebody starts it, and its power stays on.
func TestKill(t *testing.T) {
	boots := 0
	p := labPlan(1)
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return &program{boot: func(*sim.Env) error { boots++; return nil }} })
		w.At(20*ms, 1, 1, func() { w.Kill(w.Host("n1")); w.Kill(w.Host("n1")) })
		w.At(30*ms, 1, 2, func() { require.False(t, w.Host("n1").Up()); w.Start(w.Host("n1")) })
	})
	r, err := l.engine().Run(p, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, r.Verdict.Outcome)
	require.Equal(t, 2, boots)
	require.Equal(t, int64(1), r.Verdict.Stats["crashes"])
	require.Zero(t, r.Verdict.Stats["power-losses"])
}
