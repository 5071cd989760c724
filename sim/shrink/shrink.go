package shrink

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Runner runs a plan. *sim.Engine is one. A runner with a method Catalogue() *sim.Catalogue, as the engine has one, lets shrinking leave out
// optional parameters of actions.
type Runner interface {
	Run(p *plan.Plan, o sim.Options) (sim.Result, error)
}

// Stats tell what shrinking did.
type Stats struct {
	Reproduced bool  `json:"reproduced"` // the plan as given shows the target; otherwise nothing was tried
	Runs       int64 `json:"runs"`
	// ActionsBefore and the others are sizes of the plan as given and as returned.
	ActionsBefore  int64      `json:"actions_before"`
	ActionsAfter   int64      `json:"actions_after"`
	HostsBefore    int64      `json:"hosts_before"`
	HostsAfter     int64      `json:"hosts_after"`
	WorkloadBefore int64      `json:"workload_before"`
	WorkloadAfter  int64      `json:"workload_after"`
	StormBeforeUs  plan.Int64 `json:"storm_before_us"`
	StormAfterUs   plan.Int64 `json:"storm_after_us"`
	// DecisionsBefore counts the faults that the models drew in the plan as given (its materialised form lists them), DecisionsAfter those
	// that the returned plan lists.
	DecisionsBefore int64 `json:"decisions_before"`
	DecisionsAfter  int64 `json:"decisions_after"`
	RatesBefore     int64 `json:"rates_before"` // rates, spreads and errors of clocks that are not benign
	RatesAfter      int64 `json:"rates_after"`
	// Materialised: what is returned lists its faults one by one. TakenBack names the steps towards that which lost the target.
	Materialised bool     `json:"materialised"`
	TakenBack    []string `json:"taken_back,omitempty"`
	// Minimal: without any single action, decision, rate, clock, host or workload of the plan returned the target does not show. All were
	// tried.
	Minimal   bool `json:"minimal"`
	Exhausted bool `json:"exhausted,omitempty"` // the budget of runs, or goesOn, ended the search
}

// Shrink returns the shortest plan found that still shows the target, and never changes p. budgetRuns bounds the runs.
// goesOn, when not nil, is called after each run, and says whether there may be another one.
func Shrink(r Runner, p *plan.Plan, target string, budgetRuns int64, goesOn func(Stats) bool) (*plan.Plan, Stats) {
	s := newSearch(r, p, target, budgetRuns, goesOn)
	if !s.reproduce() {
		return s.best, s.stats
	}
	s.materialise()
	s.stats.DecisionsBefore = int64(len(s.best.Decisions))
	s.obvious()
	s.order()
	s.actions()
	s.hosts()
	s.workloads()
	s.decisions()
	s.actions() // fewer hosts and decisions may need fewer actions
	s.operations()
	s.time()
	s.values()
	s.params()
	if s.targets(s.verdict.Resolved) { // of what is left, which may be another run than that of the plan as given
		s.stats.TakenBack = slices.DeleteFunc(s.stats.TakenBack, func(step string) bool { return step == targetStep })
	}
	s.minimal()
	s.stormEnd() // the last deletions may have moved the evidence
	return s.best, s.stats
}

// obvious drops in one step what the verdict says had no part in it: whatever comes after the evidence.
func (s *search) obvious() {
	until, known := s.evidenceAt()
	if !known {
		return
	}
	if until < s.best.StormUs {
		candidate := s.best.Clone()
		dropActions(candidate, func(a *plan.Action) bool { return a.AtUs > until })
		candidate.StormUs = until + 1
		if s.try(candidate) {
			return
		}
	}
	candidate := s.best.Clone()
	if dropActions(candidate, func(a *plan.Action) bool { return a.AtUs > until }) {
		s.try(candidate)
	}
}

// order lets events come in the order of time, before anything is deleted: under a scheduler whatever goes changes the order of the rest.
func (s *search) order() {
	if candidate, ok := Without(s.best, &Part{Kind: RatePart, ID: schedulerName}); ok {
		s.try(candidate)
	}
}

// minimal deletes single parts until none can go, whatever earlier steps left.
func (s *search) minimal() {
	s.thorough = true
	defer func() { s.thorough = false }()
	for {
		removed := false
		for _, part := range Parts(s.best) {
			if part.Kind == HostPart && len(s.best.Hosts) == 1 {
				continue
			}
			if candidate, ok := Without(s.best, &part); ok { // earlier deletions of this round may have taken it along
				removed = s.try(candidate) || removed
			}
		}
		if !removed || s.stats.Exhausted {
			s.stats.Minimal = !s.stats.Exhausted
			return
		}
	}
}
