package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// A run that is given up has no verdict; one that stays below the limit is the same run as without, and so is the next of the engine.
func TestARunThatTakesTooManyEventsIsGivenUp(t *testing.T) {
	l := lab(func(w *sim.World) {
		for _, h := range w.Hosts() {
			w.Install(h, func() sim.Process { return every(1_000_000, func(*sim.Env, int64) error { return nil }) })
		}
	})
	e := l.engine()
	plain, err := e.Run(labPlan(1), sim.Options{})
	require.NoError(t, err)
	events := int64(plain.Verdict.Events)
	require.Greater(t, events, int64(10))
	_, err = e.Run(labPlan(1), sim.Options{MostEvents: events / 2})
	require.ErrorIs(t, err, sim.ErrGivenUp)
	for _, most := range []int64{0, events} {
		again, err := e.Run(labPlan(1), sim.Options{MostEvents: most})
		require.NoError(t, err)
		require.Equal(t, plain.Verdict, again.Verdict)
	}
}
