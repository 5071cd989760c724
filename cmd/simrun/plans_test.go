package main

import (
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// Every scenario draws plans that a user could feed back with run --plan: valid, and with every action inside the storm.
func TestDrawnPlansAreValid(t *testing.T) {
	c := scenarios.Catalogue()
	require.NoError(t, c.Check())
	for _, s := range c.Scenarios {
		for seed := uint64(1); seed <= 300; seed++ {
			require.NoError(t, plan.Validate(s.Draw(seed), c.Registry), "%s:%d", s.Name(), seed)
		}
	}
}
