package scenarios

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// idle is a scenario in which actions of one kind happen and do nothing.
type idle struct {
	sim.Scenario
	kind string // "" for none
}

func (s *idle) Build(w *sim.World, p *plan.Plan) error {
	if err := s.Scenario.Build(w, p); err != nil {
		return err
	}
	if s.kind != "" {
		w.Handle(s.kind, sim.ActionHandler{Do: func(*sim.World, *sim.Act) string { return "" }, Undo: w.Handler(s.kind).Undo}) // what ends it stays
	}
	return nil
}

// kindsOf are the kinds of the actions of a plan, each once.
func kindsOf(p *plan.Plan) (kinds []string) {
	for i := range p.Actions {
		kinds = append(kinds, p.Actions[i].Kind)
	}
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// TestEachActionHasAnEffect: a counter says that an action was asked for, and not that it did something. Some run with each kind of action that
// the scenarios have beside those of the core (sim.TestEachFaultHasAnEffectOfItsOwn) behaves in another way where that kind does nothing; so a
// handler that is switched off is red.
func TestEachActionHasAnEffect(t *testing.T) {
	c := Catalogue()
	wanted := map[string]bool{}
	for _, k := range c.Registry.Actions() {
		wanted[k.Name] = true
	}
	for _, k := range sim.Faults() {
		delete(wanted, k.Name)
	}
	require.NotEmpty(t, wanted)
	for seed := uint64(1); seed <= 16 && len(wanted) > 0; seed++ {
		for _, s := range c.Scenarios {
			kinds := slices.DeleteFunc(kindsOf(s.Draw(seed)), func(kind string) bool { return !wanted[kind] })
			if len(kinds) == 0 {
				continue
			}
			run := func(kind string) *plan.Verdict {
				c.Scenarios = []sim.Scenario{&idle{Scenario: s, kind: kind}}
				return verdictOf(t, sim.NewEngine(c), s.Draw(seed), sim.Options{})
			}
			all := c.Scenarios
			with := run("")
			for _, kind := range kinds {
				if with.Stats["fault-"+kind] > 0 && run(kind).BehaviourHash != with.BehaviourHash {
					delete(wanted, kind)
				}
			}
			c.Scenarios = all
		}
	}
	require.Empty(t, wanted, "no run behaves in another way with these")
}
