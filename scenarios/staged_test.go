package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// runStaged runs seed 1 of a scenario that a test has changed, in the place of the one that it is named after, without faults: what
// a checker says of the scene that the test plays in the middle of it.
func runStaged(t *testing.T, staged func(*sim.Catalogue) sim.Scenario) sim.Result {
	t.Helper()
	c := Catalogue()
	s := staged(c)
	for i := range c.Scenarios {
		if c.Scenarios[i].Name() == s.Name() {
			c.Scenarios[i] = s
		}
	}
	p := s.Draw(1)
	p.Actions = nil
	r, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	return r
}
