package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// drawer is a scenario whose storms come from a profile.
type drawer struct {
	sim.Scenario
	own *swarm.Profile
}

func (d drawer) Name() string { return "drawn" }
func (d drawer) Draw(seed uint64) *plan.Plan {
	p, _ := d.DrawFrom(seed, d.own)
	return p
}

func (d drawer) DrawFrom(seed uint64, f *swarm.Profile) (*plan.Plan, bool) {
	p := &plan.Plan{Format: plan.Format, Scenario: d.Name(), Seed: plan.Uint64(seed), Hosts: []plan.Host{{ID: "a", Kind: "x"}, {ID: "b", Kind: "x"}}}
	swarm.Storm(swarm.Dice{Seed: seed}, p, f, nil)
	return p, true
}

// own is a scenario with a storm of its own.
type own struct{ drawer }

func (own) Name() string                                       { return "own" }
func (own) DrawFrom(uint64, *swarm.Profile) (*plan.Plan, bool) { return nil, false }

func TestAScenarioUnderAnotherProfile(t *testing.T) {
	c := &sim.Catalogue{Program: "x", Registry: sim.NewRegistry(), Profiles: swarm.StockProfiles()}
	c.Scenarios = []sim.Scenario{drawer{own: swarm.Stock("light")}, own{}}
	s := c.Scenario("drawn@disk")
	require.NotNil(t, s)
	require.Equal(t, "drawn@disk", s.Name())
	p := s.Draw(7)
	require.Equal(t, "drawn", p.Scenario, "the plan is the scenario's")
	require.Equal(t, "disk", p.Profile)
	require.Equal(t, "drawn@disk", c.DrawnAs(p))
	require.Equal(t, "drawn", c.DrawnAs(c.Scenario("drawn").Draw(7)))
	require.Nil(t, c.Scenario("drawn@none"))
	require.Nil(t, c.Scenario("own@disk"), "its storm is its own")
	require.Nil(t, c.Scenario("nobody@disk"))
	require.NoError(t, plan.Validate(p, c.Registry))
}
