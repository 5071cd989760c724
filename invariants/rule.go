package invariants

import "github.com/kraftsim/kraftsim/sim"

// rule is one invariant at work: its documentation, its counter of evaluations, and where a violation goes.
type rule struct {
	doc   *sim.InvariantDoc
	count *int64
	core  *core
}

// eval counts one evaluation. An invariant that was never evaluated has not passed.
func (r *rule) eval() { *r.count++ }

// fail reports a violation. evidence is a fixed word, part of the fingerprint; detail is one sentence. After a declared
// loss what follows may be its consequence, and carries its evidence.
func (r *rule) fail(evidence, detail string) {
	if r.core.loss != "" {
		evidence = r.core.loss
	}
	r.core.report(r.doc.Name, evidence, detail)
}

// Reporter takes a violation. World.Violate is one.
type Reporter func(invariant, evidence, detail string)

// Counters hands out the counter of a name. World.Evaluated, World.Sometimes and World.Stat are such.
type Counters func(name string) *int64
