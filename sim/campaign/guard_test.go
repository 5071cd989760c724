package campaign_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// clumsy is the register whose n2 panics at its third input.
type clumsy struct{ sim.Scenario }

type clumsyProcess struct{ inputs int }

func (*clumsyProcess) Boot(env *sim.Env) error { env.Listen(1, 0); return nil }
func (c *clumsyProcess) Input(*sim.Env, *sim.Input) error {
	if c.inputs++; c.inputs == 3 {
		panic("three is too many")
	}
	return nil
}
func (*clumsyProcess) Stop(env *sim.Env)                       { env.Exit() }
func (*clumsyProcess) AppendState(b []byte, _ sim.View) []byte { return b }

func (c clumsy) Build(w *sim.World, p *plan.Plan) error {
	err := c.Scenario.Build(w, p)
	w.Install(w.Host("n2"), func() sim.Process { return new(clumsyProcess) })
	return err
}

// The verdict of a panic says what panicked, where in the run, on which host, and in which code.
func TestGuardTellsWhereAPanicCameFrom(t *testing.T) {
	c := register.Catalogue()
	c.Scenarios = []sim.Scenario{clumsy{c.Scenario("register/fixed")}}
	p := c.Scenarios[0].Draw(1)
	p.Actions = nil
	guarded := campaign.Guard(func() campaign.Runner { return sim.NewEngine(c) })
	for range 2 { // it goes on with a fresh engine
		r, err := guarded.Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.Panic, r.Verdict.Outcome)
		b := r.Verdict.Broken[0]
		require.Equal(t, "three is too many in campaign_test.(*clumsyProcess).Input, while n2 handled it", b.Detail)
		require.Equal(t, "three is too many in campaign_test.(*clumsyProcess).Input", b.Evidence, "the host is no part of the fingerprint")
		require.Positive(t, b.Event)
		require.Positive(t, b.AtUs)
		require.Regexp(t, `^campaign_test\.\(\*clumsyProcess\)\.Input \(guard_test\.go:[0-9]+\)$`, b.Stack[0])
		require.Regexp(t, `^sim\.\(\*World\)\.handle \(dispatch\.go:[0-9]+\)$`, b.Stack[1])
		require.Zero(t, r.Verdict.TraceHash)
	}
}
