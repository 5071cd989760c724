package scenarios

import (
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// asking makes a test for the plans of a question.
func asking(id string) func(*cluster, *plan.Plan) bool {
	return func(_ *cluster, p *plan.Plan) bool { return p.Params[whatIfParam] == id }
}

// operatorHazards are what operators bring about themselves, where a question is about just that.
func operatorHazards() []hazard {
	return []hazard{{
		doc: sim.HazardDoc{
			ID: "U14-two-voter-lists", Invariant: "voters-follow-log", Scenario: operatorFamily + "u14", Fault: "quorum_voters",
			Doc: "a static quorum was enlarged on the new nodes only: with two lists of voters in force, two majorities need not overlap, and nothing that " +
				"rests on majorities holds (operator-cases U-14)",
			DuePerMillion: 200_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies: func(c *cluster, p *plan.Plan) bool {
			return asking("u14")(c, p) && c.twoLists()
		},
		covers: func(string, string) bool { return true },
	}, {
		doc: sim.HazardDoc{
			ID: "U23-disk-before-majority", Invariant: "acknowledged-survives", Scenario: operatorFamily + "u23", Fault: "wipe",
			Doc: "the disk of a static voter was replaced while another one lagged: what only the two others had acknowledged is on one disk, and lost " +
				"with that node (operator-cases U-23)",
			DuePerMillion: 200_000,
		},
		invariants: everyInvariant(),
		stops:      true,
		applies:    asking("u23"),
		covers:     func(evidence, _ string) bool { return evidence == evidenceWiped },
	}}
}

// twoLists reports whether hosts are configured with different voters.
func (s *settings) twoLists() bool {
	for i := range s.hosts {
		if s.hosts[i].quorum != nil {
			return true
		}
	}
	return false
}
