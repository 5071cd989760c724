package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// PlanLine sums a plan up in a few words: seed, sizes, length.
func PlanLine(p *plan.Plan) string {
	kinds := make(map[string]int64)
	var order []string
	for i := range p.Hosts {
		if kinds[p.Hosts[i].Kind] == 0 {
			order = append(order, p.Hosts[i].Kind)
		}
		kinds[p.Hosts[i].Kind]++
	}
	hosts := make([]string, len(order))
	for i, kind := range order {
		hosts[i] = Plural(kinds[kind], kind)
	}
	line := fmt.Sprintf("%s, seed %d: %s; %s, %s, storm %s", p.Scenario, p.Seed, strings.Join(hosts, ", "),
		Plural(int64(len(p.Actions)), "action"), Plural(int64(len(p.Workload)), "workload"), plan.FormatDurationUs(int64(p.StormUs)))
	if p.Profile != "" {
		line += ", profile " + p.Profile
	}
	if p.Unrestricted {
		line += ", unrestricted"
	}
	if n := len(p.Decisions); n > 0 {
		line += ", " + Plural(int64(n), "fixed decision")
	}
	return line
}

// Plan prints a plan for people: what it consists of, then its actions, one a line, in order of time.
func Plan(w io.Writer, p *plan.Plan, r *plan.Registry) error {
	var b strings.Builder
	fmt.Fprintln(&b, PlanLine(p))
	if len(p.Params) > 0 {
		fmt.Fprintf(&b, "params:%s\n", params(p.Params))
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		fmt.Fprintf(&b, "host %s %s", h.ID, h.Kind)
		if h.Release != "" {
			fmt.Fprintf(&b, " release=%s", h.Release)
		}
		if h.OffsetMs != 0 || h.DriftPpm != 0 {
			fmt.Fprintf(&b, " clock=%+dms%+dppm", h.OffsetMs, h.DriftPpm)
		}
		if h.StartUs != 0 {
			fmt.Fprintf(&b, " start=%s", plan.FormatDurationUs(int64(h.StartUs)))
		}
		fmt.Fprintf(&b, "%s\n", params(h.Params))
	}
	for i := range p.Workload {
		fmt.Fprintf(&b, "workload %s %s%s\n", p.Workload[i].ID, p.Workload[i].Kind, params(p.Workload[i].Params))
	}
	for _, a := range p.InOrder() {
		fmt.Fprintln(&b, r.FormatAction(&a))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func params(p plan.Params) (text string) {
	names := make([]string, 0, len(p))
	for name := range p {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text += " " + name + "=" + p[name]
	}
	return text
}
