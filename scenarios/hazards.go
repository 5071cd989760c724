//nodet:room

package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// hazard is a declaration and where it holds.
type hazard struct {
	doc     sim.HazardDoc
	variant controller.Variant
	covers  func(c *cluster, p *plan.Plan, evidence, detail string) bool
}

// hazards are what a variant of KIP-1262 is known to break; docs/findings.md tells each in plain words.
func hazards() []hazard { return nil }

func hazardDocs() (docs []sim.HazardDoc) {
	for _, h := range hazards() {
		docs = append(docs, h.doc)
	}
	return docs
}

// declare tells the world which violations are declared in this run.
func (c *cluster) declare(p *plan.Plan) {
	for _, h := range hazards() {
		if h.variant == c.variant {
			c.w.Declare(sim.Declaration{ID: h.doc.ID, Invariant: h.doc.Invariant, Covers: func(evidence, detail string) bool {
				return h.covers(c, p, evidence, detail)
			}})
		}
	}
}
