package campaignpage

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Page is a campaign to show. Summary is required.
type Page struct {
	Summary *campaign.Summary
	Command string // the effective configuration as one command line
	// Link makes a relative address of the name of a file, "" for one that is not to be linked; nil links none.
	Link func(file string) string
	_    struct{}
}

//go:embed page.html
var markup string

//go:embed page.css
var style string

// Write writes the page. Errors are those of w.
func Write(w io.Writer, p *Page) error {
	if p.Summary == nil {
		panic("campaignpage: Write without a summary")
	}
	t, err := template.New("campaign").Funcs(template.FuncMap{
		"count": reports.Count, "plural": reports.Plural, "link": p.link, "outcome": outcome, "tenths": tenths, "ms": milliseconds, "base": base,
		"span": span, "rate": reports.Rate, "percent": percent, "or": cmp.Or[string], "saturation": saturation, "bucket": bucketOf, "len64": length,
		"n64": func(n int) int64 { return int64(n) }, "u64": func(n uint64) int64 { return int64(n) }, "f64": func(f float64) int64 { return int64(f) },
		"lastNew": func(s *campaign.CoverageSummary) int64 { return s.New[campaign.Tenths-1] },
	}).Parse(markup)
	if err != nil {
		return fmt.Errorf("campaignpage: template: %w", err)
	}
	if err := t.Execute(w, newView(p)); err != nil {
		return fmt.Errorf("campaignpage: write: %w", err)
	}
	return nil
}

// view is what the template sees.
type view struct {
	*campaign.Summary
	Command    string
	CSS        template.CSS
	Failed     bool
	Verdict    string
	VirtualUs  int64
	Fired      []count // actions that struck, by kind
	Other      []count // all other counts
	Invariants []count
	Struck     int64
	Evaluated  int64
	Red        []string
	Faults     []string // rows of the matrix
	Workloads  []string // its columns
	Matrix     [][]cell
	Time       string
}

// count is a named number, with its share of the largest of its list in per cent, for a bar.
type count struct {
	Name  string
	N     int64
	Share int64
}

// cell is one field of the matrix; Heat is 0 to 4.
type cell struct {
	N    int64
	Heat int
}

func newView(p *Page) *view {
	s := p.Summary
	v := &view{Summary: s, Command: p.Command, CSS: template.CSS(style), Failed: s.Failed(), //nolint:gosec // a file of this package
		Time: (time.Duration(s.RunMs) * time.Millisecond).Round(100 * time.Millisecond).String()}
	v.Verdict = "no findings"
	switch {
	case len(s.Findings) > 0:
		v.Verdict = reports.Plural(int64(len(s.Findings)), "finding")
	case v.Failed:
		v.Verdict = "no findings, but something that is due was not met"
	}
	stats := make(map[string]int64)
	for i := range s.Scenarios {
		v.VirtualUs += s.Scenarios[i].VirtualUs
		for name, n := range s.Scenarios[i].Stats {
			stats[name] += n
		}
	}
	fired, other := make(map[string]int64), make(map[string]int64)
	for name, n := range stats {
		if kind, ok := strings.CutPrefix(name, "fault-"); ok && name != "fault-actions" {
			fired[kind] = n
			v.Struck += n
		} else if name != "fault-actions" {
			other[name] = n
		}
	}
	v.Fired, v.Other, v.Invariants = counts(fired), counts(other), counts(s.Evaluated)
	for _, c := range v.Invariants {
		v.Evaluated += c.N
	}
	v.Red = s.Unmet()
	v.matrix()
	return v
}

// counts sorts by number, the largest first, then by name.
func counts(m map[string]int64) []count {
	list := make([]count, 0, len(m))
	for name, n := range m {
		list = append(list, count{Name: name, N: n})
	}
	slices.SortFunc(list, func(a, b count) int {
		if a.N != b.N {
			return int(max(-1, min(1, b.N-a.N)))
		}
		return strings.Compare(a.Name, b.Name)
	})
	for i := range list {
		list[i].Share = max(list[i].N*100/max(list[0].N, 1), 1)
	}
	return list
}

// matrix lays the cells of the coverage out: a row a fault, a column a kind of workload.
func (v *view) matrix() {
	if v.Coverage == nil {
		return
	}
	most, at := int64(1), make(map[[2]string]int64)
	for _, c := range v.Coverage.Cells {
		at[[2]string{c.Fault, c.Workload}] = c.States
		most = max(most, c.States)
		if !slices.Contains(v.Faults, c.Fault) {
			v.Faults = append(v.Faults, c.Fault)
		}
		if !slices.Contains(v.Workloads, c.Workload) {
			v.Workloads = append(v.Workloads, c.Workload)
		}
	}
	slices.Sort(v.Faults)
	slices.Sort(v.Workloads)
	for _, fault := range v.Faults {
		var row []cell
		for _, workload := range v.Workloads {
			n := at[[2]string{fault, workload}]
			row = append(row, cell{n, heat(n, most)})
		}
		v.Matrix = append(v.Matrix, row)
	}
}

// heat is the shade of a cell: 0 for nothing, 4 for the most, each shade up to a fifth of the one above.
func heat(n, most int64) int {
	if n == 0 {
		return 0
	}
	shade := 4
	for limit := most / 5; limit >= n && shade > 1; limit /= 5 {
		shade--
	}
	return shade
}

// outcome counts runs of a scenario by how they ended.
func outcome(s campaign.ScenarioSummary, o string) int64 { return s.Outcomes[plan.Outcome(o)] }

// bar is one of ten bars of what the tenths of the seeds brought.
type bar struct{ X, Y, Height, N int64 }

// tenths draws what each tenth of the seeds met first as bars of at most 18 pixels.
func tenths(s *campaign.CoverageSummary) []bar {
	most := int64(1)
	for _, n := range s.New {
		most = max(most, n)
	}
	var bars []bar
	for i, n := range s.New {
		h := n * 18 / most
		if n > 0 {
			h = max(h, 1)
		}
		bars = append(bars, bar{int64(i) * 7, 18 - h, h, n})
	}
	return bars
}

func milliseconds(us int64) string { return fmt.Sprintf("%d.%d", us/1000, us%1000/100) }

func percent(share float64) string { return fmt.Sprintf("%.1f %%", share*100) }

// span prints simulated time in words that people use.
func span(us int64) string {
	switch d := time.Duration(us) * time.Microsecond; {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%.1f days", d.Hours()/24)
	case d >= time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	case d >= time.Minute:
		return fmt.Sprintf("%.1f min", d.Minutes())
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

// saturation says what the last tenth means.
func saturation(s *campaign.CoverageSummary) string {
	switch share := s.LastTenth(); {
	case share >= 0.05:
		return "more seeds will bring more."
	case share >= 0.01:
		return "more seeds still bring some."
	default:
		return "more seeds of this kind bring little."
	}
}

// length is the number of elements of a list.
func length(list any) int64 { return int64(reflect.ValueOf(list).Len()) }

// bucketView is a bucket with the program that replays it.
type bucketView struct {
	Program string
	Bucket  *campaign.Bucket
}

// bucketOf takes a bucket by value, as in a list of findings, or by reference, as of a hazard.
func bucketOf(program string, b any) bucketView {
	if value, ok := b.(campaign.Bucket); ok {
		return bucketView{program, &value}
	}
	return bucketView{program, b.(*campaign.Bucket)}
}

// base is the last part of a name.
func base(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

func (p *Page) link(file string) string {
	if p.Link == nil {
		return ""
	}
	return p.Link(file)
}
