package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// CompareStatus is what a run says about a rule or a case.
type CompareStatus string

// The statuses, the worst last. A rule or case that a run did not reach has not passed in it.
const (
	StatusNotReached CompareStatus = "not-reached"
	StatusOK         CompareStatus = "ok"
	StatusHazard     CompareStatus = "hazard"
	StatusStuck      CompareStatus = "stuck"
	StatusFinding    CompareStatus = "finding"
)

// CompareRow is a line of the sheet: a rule (C1) or a case (T1).
type CompareRow struct {
	Name string
	Doc  string
	// invariants judge a rule: a violation counts when its evidence begins with evidence. waits is what a stuck run waits for.
	invariants []string
	evidence   string
	waits      string
	released   bool   // the rule means something without the record, too
	kase       string // scenario's case, "" for a rule
	variants   []string
}

// Applies reports whether the row means anything in a variant.
func (r *CompareRow) Applies(variant string) bool { return slices.Contains(r.variants, variant) }

// Case reports whether the row is the case of one of these scenarios, written as a family (sim.InFamily).
func (r *CompareRow) Case(family string) bool {
	return r.kase != "" && family != "" && sim.InFamily(family, kipFamily+r.kase)
}

// KIPRows are the rules C1 to C8 and the cases T1 to T34 and X1 to X3 of metadata-bootstrap 4.5 and 4.10, in that order. Without the record
// only C5 means anything.
func KIPRows() []CompareRow {
	rows := []CompareRow{
		{Name: "C1", Doc: "no ClusterIdRecord below its level", invariants: []string{"no-early-cluster-id"}},
		{Name: "C2", Doc: "the level implies a cluster id", invariants: []string{"mv-implies-cluster-id"}},
		{Name: "C3", Doc: "one cluster id", invariants: []string{"one-cluster-id"}},
		{Name: "C4", Doc: "every write of the level has the id with it", invariants: []string{"level-with-cluster-id", "leader-without-cluster-id-writes-it"}},
		{Name: "C5", Doc: "a stored id never changes", released: true, invariants: []string{"persisted-is-stable"}, evidence: "changed"},
		{Name: "C6", Doc: "stored ids are the record's", invariants: []string{"published-id"}},
		{Name: "C7", Doc: "only stable ids are stored or shown, and in every directory", invariants: []string{"persisted-is-stable", "own-id-in-requests"}, waits: "id-discovered"},
		{Name: "C8", Doc: "an id that was known is the one that is written", invariants: []string{"upgrade-keeps-id", "bootstrap-keeps-id"}},
	}
	for i := range rows {
		if rows[i].variants = kipVariants; rows[i].released {
			rows[i].variants = everyVariant
		}
	}
	var cases []CompareRow
	for _, c := range kipCases() {
		number := strings.TrimLeft(c.id[1:], "0")
		cases = append(cases, CompareRow{Name: strings.ToUpper(c.id[:1]) + number, Doc: c.doc, kase: c.id, variants: c.variants})
	}
	slices.SortStableFunc(cases, func(a, b CompareRow) int { return strings.Compare(a.kase, b.kase) })
	return append(rows, cases...)
}

// CompareTask is one plan of a comparison, to be run once under each variant.
type CompareTask struct {
	Scenario string
	Seed     uint64
	Plan     *plan.Plan
}

// KIPTasks draws the plans of a comparison: n seeds, shared evenly by the cases.
func KIPTasks(c *sim.Catalogue, first uint64, n int64) (tasks []CompareTask) {
	return compareTasks(c, kipScenarioNames(), first, n)
}

func kipScenarioNames() (names []string) {
	for _, s := range kipScenarios() {
		names = append(names, s.name)
	}
	return names
}

func compareTasks(c *sim.Catalogue, names []string, first uint64, n int64) (tasks []CompareTask) {
	for i := range n {
		name, seed := names[i%int64(len(names))], first+uint64(i/int64(len(names)))
		tasks = append(tasks, CompareTask{Scenario: name, Seed: seed, Plan: c.Scenario(name).Draw(seed)})
	}
	return tasks
}

// UnderVariant is the plan with another variant of the metadata bootstrap. Seed and names of decisions stay: what both runs draw, they
// draw alike.
func UnderVariant(p *plan.Plan, variant string) *plan.Plan {
	q := p.Clone()
	q.Params["variant"] = variant
	return q
}

// Judge returns what a run under a variant says about each of the rows, in their order, with the fingerprint that tells why, "" for ok
// and not reached.
func Judge(rows []CompareRow, p *plan.Plan, variant string, v *plan.Verdict) (status []CompareStatus, target []string) {
	status, target = make([]CompareStatus, len(rows)), make([]string, len(rows))
	for i := range rows {
		switch r := &rows[i]; {
		case !r.Applies(variant):
		case r.kase == "":
			status[i], target[i] = r.judgeRule(v)
		case r.kase == p.Params[caseParam]:
			status[i], target[i] = r.judgeCase(v)
		}
	}
	return status, target
}

func (r *CompareRow) judgeRule(v *plan.Verdict) (CompareStatus, string) {
	status, target := StatusNotReached, ""
	for _, name := range r.invariants {
		if v.Evaluated[name] > 0 {
			status = StatusOK
		}
	}
	for i := range v.Broken {
		b := &v.Broken[i]
		if !slices.Contains(r.invariants, b.Invariant) || r.evidence != "" && b.Evidence != r.evidence || r.evidence == "" && b.Evidence == "changed" {
			continue
		}
		if b.Hazard == "" {
			return StatusFinding, v.Fingerprint()
		}
		status, target = StatusHazard, "hazard/"+b.Hazard
	}
	if v.Outcome == plan.Stuck && r.waits != "" {
		for _, w := range v.Waiting {
			if strings.HasPrefix(w, r.waits) {
				return StatusStuck, v.Fingerprint()
			}
		}
	}
	return status, target
}

func (r *CompareRow) judgeCase(v *plan.Verdict) (CompareStatus, string) {
	hazard := ""
	for i := range v.Broken {
		if h := v.Broken[i].Hazard; h != "" {
			hazard = "hazard/" + h
		}
	}
	switch reached := v.Sometimes[kipCaseName+"-"+r.kase] > 0; {
	case v.Outcome == plan.Stuck:
		return StatusStuck, v.Fingerprint()
	case v.Outcome != plan.OK && v.Outcome != plan.LegitimatelyStuck:
		return StatusFinding, v.Fingerprint()
	case hazard != "":
		return StatusHazard, hazard
	case reached:
		return StatusOK, ""
	}
	return StatusNotReached, ""
}
