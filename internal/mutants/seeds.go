package mutants

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// order asks for seeds First, First+1, ... of all scenarios, seed by seed.
type order struct {
	Scenarios []string `json:"scenarios"`
	First     uint64   `json:"first"`
	Count     int64    `json:"count"`
	Skip      int64    `json:"skip"`              // runs at the beginning that are not wanted any more
	Without   []string `json:"without,omitempty"` // faults that are taken out of the plans
	Stop      []string `json:"stop"`              // invariants that end the order when one of them is broken
	// Plan is run instead of seeds, once, and its whole verdict is the result; Record wants the faults that were drawn, too.
	Plan   *plan.Plan `json:"plan,omitempty"`
	Record bool       `json:"record,omitempty"`
	// MostEvents gives the run of Plan up that takes more.
	MostEvents int64 `json:"most_events,omitempty"`
}

// result is one run of an order, or its end.
type result struct {
	Run        int64        `json:"run"` // position in the order
	Outcome    plan.Outcome `json:"outcome,omitempty"`
	Invariants []string     `json:"invariants,omitempty"` // broken: one, or in a stuck run every bound that was missed
	Evidence   string       `json:"evidence,omitempty"`
	Detail     string       `json:"detail,omitempty"`
	Done       bool         `json:"done,omitempty"`
	GivenUp    bool         `json:"given_up,omitempty"` // the run of a plan took too many events
	// Verdict and Drawn are of an order with a plan. Drawn lists what was neither benign nor a spread.
	Verdict *plan.Verdict        `json:"verdict,omitempty"`
	Drawn   []plan.DrawnDecision `json:"drawn,omitempty"`
}

// brokenAmong returns the first of the names that the run broke, "" for none.
func (r *result) brokenAmong(names []string) string {
	for _, name := range r.Invariants {
		if slices.Contains(names, name) {
			return name
		}
	}
	return ""
}

// at returns scenario and seed of a run.
func (o *order) at(run int64) (scenario string, seed uint64) {
	n := int64(len(o.Scenarios))
	return o.Scenarios[run%n], o.First + uint64(run/n)
}

func (o *order) runs() int64 { return o.Count * int64(len(o.Scenarios)) }

// seedsCommand is the child's side: it serves orders until its input ends.
func seedsCommand(catalogue *sim.Catalogue) *cobra.Command {
	return &cobra.Command{
		Use: "seeds", Short: "Serve runs of seeds to `mutants`", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			debug.SetGCPercent(400)
			return serve(catalogue, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
}

func serve(catalogue *sim.Catalogue, in io.Reader, out io.Writer) error {
	runner := campaign.Guard(func() campaign.Runner { return sim.NewEngine(catalogue) })
	orders, results := json.NewDecoder(in), json.NewEncoder(out)
	for {
		var o order
		if err := orders.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("mutants: order: %w", err)
		}
		if o.Plan != nil {
			r := planResult(runner, &o)
			if err := errors.Join(results.Encode(&r), results.Encode(&result{Run: 1, Done: true})); err != nil {
				return fmt.Errorf("mutants: result: %w", err)
			}
			continue
		}
		run := o.Skip
		for ; run < o.runs(); run++ {
			name, seed := o.at(run)
			s := catalogue.Scenario(name)
			if s == nil {
				return fmt.Errorf("mutants: no scenario is called %q", name)
			}
			r := result{Run: run}
			p := s.Draw(seed)
			for _, fault := range o.Without {
				strip(p, fault)
			}
			verdict, err := runner.Run(p, sim.Options{})
			if err != nil {
				r.Outcome, r.Invariants, r.Detail = plan.Panic, []string{campaign.PlanIsRunnable}, err.Error()
			} else {
				r.fill(verdict.Verdict)
			}
			if err := results.Encode(&r); err != nil {
				return fmt.Errorf("mutants: result: %w", err)
			}
			if r.brokenAmong(o.Stop) != "" {
				break
			}
		}
		if err := results.Encode(&result{Run: run, Done: true}); err != nil {
			return fmt.Errorf("mutants: result: %w", err)
		}
	}
}

// planResult runs the plan of an order. A plan that can't be run has no verdict.
func planResult(runner campaign.Runner, o *order) (r result) {
	got, err := runner.Run(o.Plan, sim.Options{RecordDecisions: o.Record, MostEvents: o.MostEvents})
	if err != nil {
		r.Detail, r.GivenUp = err.Error(), errors.Is(err, sim.ErrGivenUp)
		return r
	}
	r.fill(got.Verdict)
	r.Verdict = got.Verdict
	for i := range got.Decisions {
		if d := &got.Decisions[i]; i == 0 || !d.Benign && !d.Spread { // the first, so that none is told from nothing known
			r.Drawn = append(r.Drawn, *d)
		}
	}
	return r
}

// fill notes the outcome, and the finding when there is one. A declared hazard is none.
func (r *result) fill(v *plan.Verdict) {
	r.Outcome = v.Outcome
	if !v.Outcome.Finding() {
		return
	}
	for i := range v.Broken {
		if b := &v.Broken[i]; b.Hazard == "" {
			r.Invariants, r.Evidence, r.Detail = []string{b.Invariant}, b.Evidence, b.Detail
			return
		}
	}
	for _, waiting := range v.Waiting { // each begins with the name of the bound
		name, detail, _ := strings.Cut(waiting, ": ")
		if r.Invariants == nil {
			r.Detail = detail
		}
		r.Invariants = append(r.Invariants, name)
	}
	if r.Invariants == nil {
		r.Invariants = []string{string(v.Outcome)}
	}
}
