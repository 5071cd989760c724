package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

// show prints the event at the cursor.
func (s *stepper) show(all bool) {
	e := s.cursor.Event()
	if e == nil {
		fmt.Fprintln(s.w, "before the first event")
		return
	}
	fmt.Fprintln(s.w, s.line(e))
	if !all {
		return
	}
	if e.Claim != nil {
		fmt.Fprintf(s.w, "    %s %s\n", s.host(e.Host), e.Claim.Clause)
	}
	for _, f := range e.Facets {
		value := f.Value
		if value == "" {
			value = "(none)"
		}
		fmt.Fprintf(s.w, "    %s %s\n", f.Name, value)
	}
	for _, edit := range e.Log {
		fmt.Fprintf(s.w, "    log: %s\n", editLine(&edit))
	}
}

func editLine(edit *history.LogEdit) string {
	switch edit.Do {
	case "truncate":
		return fmt.Sprintf("cut at %d", edit.Offset)
	case "start":
		return fmt.Sprintf("begins at %d", edit.Offset)
	}
	return fmt.Sprintf("%d epoch %d %s", edit.Offset, edit.Epoch, edit.Text)
}

// line is an event in one line: number, time, where, what.
func (s *stepper) line(e *history.Event) string {
	where := s.host(e.Host)
	if e.Lane != "" {
		where += "/" + e.Lane
	}
	if e.Boot > 0 {
		where += fmt.Sprintf("#%d", e.Boot)
	}
	text := strings.TrimSpace(string(e.Kind) + " " + e.Text)
	if e.Message > 0 {
		text += fmt.Sprintf(" (message %d)", e.Message)
	}
	return fmt.Sprintf("#%d %s %s %s", e.Seq, seconds(e.AtUs), where, text)
}

func seconds(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', 6, 64) + "s" }

func (s *stepper) host(i int32) string {
	if i < 0 {
		return "world"
	}
	return s.cursor.History.Hosts[i]
}

// whyLines bounds the chain of causes.
const whyLines = 40

// why prints the chain of causes, the event first.
func (s *stepper) why() {
	e := s.cursor.Event()
	for n := 0; e != nil; n++ {
		if n == whyLines {
			fmt.Fprintln(s.w, "and so on")
			return
		}
		fmt.Fprintln(s.w, s.line(e))
		if e.Cause < 0 {
			return
		}
		e = &s.cursor.History.Events[e.Cause]
	}
}

// state prints what a host knows, or all hosts in a line each.
func (s *stepper) state(name string) {
	found := false
	for i, id := range s.cursor.History.Hosts {
		h := &s.cursor.Hosts[i]
		switch name {
		case "":
			fmt.Fprintln(s.w, stateLine(id, h))
		case id:
			fmt.Fprintf(s.w, "%s: %s\n", id, life(h))
			for _, f := range ordered(h.Facets) {
				fmt.Fprintf(s.w, "    %-18s %s\n", f.Name, f.Value)
			}
		}
		found = found || name == "" || name == id
	}
	if !found {
		s.noHost(name)
	}
}

func (s *stepper) noHost(name string) {
	fmt.Fprintf(s.w, "no host %q: they are %s\n", name, strings.Join(s.cursor.History.Hosts, ", "))
}

func life(h *history.HostState) string {
	switch {
	case h.Up:
		return fmt.Sprintf("up, boot %d", h.Boot)
	case h.Boot == 0:
		return "not started"
	}
	return "down"
}

// lineFacets are those of a line for each host.
var lineFacets = []string{"role", "epoch", "leader", "vote", "log-start", "log-end", "high-watermark", "voters", "controller"}

// ordered lists facets with those of a line first.
func ordered(facets []history.Facet) []history.Facet {
	facets = slices.Clone(facets)
	rank := func(f *history.Facet) int {
		if i := slices.Index(lineFacets, f.Name); i >= 0 {
			return i
		}
		return len(lineFacets)
	}
	slices.SortStableFunc(facets, func(a, b history.Facet) int {
		return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.Name, b.Name))
	})
	return facets
}

func stateLine(id string, h *history.HostState) string {
	text := id + ": " + life(h)
	for _, name := range lineFacets {
		if v := h.Value(name); v != "" && v != "none" {
			text += ", " + name + " " + v
		}
	}
	return text
}

// logTail is how many records l prints without a place to begin.
const logTail = 20

// log prints the records of a host, from an offset on, else the last ones.
func (s *stepper) log(args string) {
	name, from, _ := strings.Cut(args, " ")
	i := -1
	for k, id := range s.cursor.History.Hosts {
		if id == name {
			i = k
		}
	}
	if i < 0 {
		s.noHost(name)
		return
	}
	records := s.cursor.Hosts[i].Log
	first, most := max(0, len(records)-logTail), len(records)
	if from = strings.TrimSpace(from); from != "" {
		offset, err := strconv.ParseInt(from, 10, 64)
		if err != nil {
			fmt.Fprintf(s.w, "%q is not an offset\n", from)
			return
		}
		for first = 0; first < len(records) && records[first].Offset < offset; first++ {
		}
		most = min(len(records), first+logTail)
	}
	if len(records) == 0 {
		fmt.Fprintf(s.w, "%s: no records\n", name)
		return
	}
	fmt.Fprintf(s.w, "%s: %d records, %d to %d\n", name, len(records), records[0].Offset, records[len(records)-1].Offset)
	for _, r := range records[first:most] {
		fmt.Fprintf(s.w, "    %s\n", editLine(&r))
	}
}

// contents is a message in lines.
func (a *App) contents(m sim.Message) []string {
	if a.Catalogue.Contents != nil {
		if lines := a.Catalogue.Contents(m); len(lines) > 0 {
			return lines
		}
	}
	if text, ok := m.(fmt.Stringer); ok {
		return []string{text.String()}
	}
	return []string{fmt.Sprintf("kind %d, key %d", m.Kind(), m.Key())}
}

// message prints what the message of the event holds. The history keeps a line of it only, so the plan runs once more up to there.
func (s *stepper) message() {
	e := s.cursor.Event()
	if e == nil || e.Message == 0 {
		fmt.Fprintln(s.w, "the event has no message")
		return
	}
	var text []string
	_, err := s.app.NewRunner().Run(s.plan, sim.Options{Trace: func(t sim.TraceLine) {
		if t.Number == e.Message && t.What != "input" && t.Message != nil {
			text = s.app.contents(t.Message)
		}
	}})
	if err != nil {
		fmt.Fprintln(s.w, err)
		return
	}
	for _, line := range text {
		fmt.Fprintln(s.w, "    "+line)
	}
}
