package scenarios

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// OperatorAnswer is a row of an operator's question, played once.
type OperatorAnswer struct {
	Row      string       `json:"row"`
	Expected string       `json:"expected"`
	Seen     string       `json:"seen"`
	Outcome  plan.Outcome `json:"outcome"`
	Hazards  []string     `json:"hazards,omitempty"` // declared, that the run met
	AsTold   bool         `json:"as_told"`           // seen is what is expected
}

// IsOperatorQuestion reports whether a scenario is one of operator/*.
func IsOperatorQuestion(scenario string) bool { return strings.HasPrefix(scenario, operatorFamily) }

// OperatorTable plays every row of an operator's question with one seed, on an engine of its own. Deterministic.
func OperatorTable(scenario string, seed uint64) ([]OperatorAnswer, error) {
	id := strings.TrimPrefix(scenario, operatorFamily)
	cases := operatorCases()
	for i := range cases {
		if c := &cases[i]; c.id == id {
			catalogue := Catalogue()
			engine, table := sim.NewEngine(catalogue), []OperatorAnswer(nil)
			for k := range c.rows {
				answer, err := playRow(catalogue, engine, scenario, c, &c.rows[k], seed)
				if err != nil {
					return nil, err
				}
				table = append(table, *answer)
			}
			return table, nil
		}
	}
	return nil, fmt.Errorf("scenarios: no question %q", scenario)
}

func playRow(catalogue *sim.Catalogue, engine *sim.Engine, scenario string, c *operatorCase, r *operatorRow, seed uint64) (*OperatorAnswer, error) {
	p := rowPlan(scenario, c, r, seed)
	result, err := engine.Run(p, sim.Options{})
	if err != nil {
		return nil, fmt.Errorf("scenarios: row %q: %w", r.name, err)
	}
	v, o := result.Verdict, &clusterOf(catalogue.Scenario(scenario)).asked
	a := &OperatorAnswer{Row: r.name, Expected: r.expect, Seen: o.seen, Outcome: v.Outcome, AsTold: o.judged && o.evidence == "" && !v.Outcome.Finding()}
	for _, b := range v.Broken {
		if b.Hazard != "" {
			a.Hazards = append(a.Hazards, b.Hazard)
		}
	}
	return a, nil
}

// rowPlan is the plan of a row with a seed.
func rowPlan(scenario string, c *operatorCase, r *operatorRow, seed uint64) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: scenario, Seed: plan.Uint64(seed), Params: plan.Params{}}
	drawRow(dice{seed: seed}, p, c, r)
	return p
}
