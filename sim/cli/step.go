package cli

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// stepper walks through a recorded run, forwards and backwards, by commands of one line each. It reads from a terminal as from a pipe.
type stepper struct {
	app    *App
	plan   *plan.Plan
	cursor *history.Cursor
	breaks []*predicate
	names  *predicateNames
	w      io.Writer
	asked  string // the command before: an empty line repeats it
}

// stepHelp is what help prints.
const stepHelp = `n [COUNT]      the next event, or that many
p [COUNT]      back
g SEQ          to an event by its number; g end, g start
t TIME         to the first event at that time or later, 1.2s
b PREDICATE    break where it holds: leaders(epoch) > 1, host.role == "leader", event.kind == "down"
bl             list the breaks; bd NUMBER deletes one, bd all of them
c              on to the next break, or the end
rc             back to the break before, or the start
e              the event again, with what it changes
w              why: the events that brought it about, back to the beginning
m              the message of the event, in full
s [HOST]       the state of a host, or of all in a line each
l HOST [FROM]  the log of a host, decoded
names          what predicates may speak of
q              the end
An empty line repeats the command before.`

// stepThrough is replay --step.
func (a *App) stepThrough(cmd *cobra.Command, args []string, src *source) error {
	if JSON(cmd) {
		return Usagef("--step is for people and has no --json: explain has one")
	}
	p, _, err := a.withStoredDecisions(src)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if err := Configure(cmd, args, src.plan).Print(w); err != nil {
		return err
	}
	return a.step(p, cmd.InOrStdin(), w)
}

// step records the plan and reads commands until the end of the input.
func (a *App) step(p *plan.Plan, in io.Reader, w io.Writer) error {
	h, err := history.RecordOn(a.Catalogue, campaign.Guard(a.NewRunner), p)
	if err != nil {
		return err
	}
	s := &stepper{app: a, plan: p, cursor: history.NewCursor(h), names: namesOf(h), w: w}
	fmt.Fprintf(w, "%d events; h for help\n", len(h.Events))
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		text := strings.TrimSpace(lines.Text())
		if text == "" {
			text = s.asked
		}
		s.asked = text
		if text == "q" || text == "quit" {
			return nil
		}
		s.do(text)
	}
	return lines.Err()
}

// do runs one command. What is wrong with it is said in one line.
func (s *stepper) do(text string) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
	case "n", "next":
		s.walk(rest, 1)
	case "p", "prev":
		s.walk(rest, -1)
	case "g", "go":
		s.goTo(rest)
	case "t", "time":
		s.goToTime(rest)
	case "b", "break":
		s.addBreak(rest)
	case "bl":
		s.listBreaks()
	case "bd":
		s.deleteBreak(rest)
	case "c", "continue":
		s.run(1)
	case "rc":
		s.run(-1)
	case "e", "event":
		s.show(true)
	case "w", "why":
		s.why()
	case "m", "message":
		s.message()
	case "s", "state":
		s.state(rest)
	case "l", "log":
		s.log(rest)
	case "names":
		fmt.Fprintln(s.w, s.names.String())
	case "h", "help", "?":
		fmt.Fprintln(s.w, stepHelp)
	default:
		fmt.Fprintf(s.w, "no command %q: n, p, g, t, b, bl, bd, c, rc, e, w, m, s, l, names, q, help\n", word)
	}
}

// walk moves by a number of events.
func (s *stepper) walk(count string, direction int32) {
	n := int64(1)
	if count != "" {
		var err error
		if n, err = strconv.ParseInt(count, 10, 32); err != nil || n < 1 {
			fmt.Fprintf(s.w, "%q is not a number of events\n", count)
			return
		}
	}
	s.move(int64(s.cursor.At) + n*int64(direction))
}

// move goes to an event and shows it.
func (s *stepper) move(seq int64) {
	last := int64(len(s.cursor.History.Events)) - 1
	switch {
	case seq > last:
		s.cursor.Go(int32(last))
		fmt.Fprintln(s.w, "the end")
	case seq < 0:
		s.cursor.Go(-1)
		fmt.Fprintln(s.w, "the start")
		return
	}
	s.cursor.Go(int32(min(seq, last)))
	s.show(false)
}

func (s *stepper) goTo(where string) {
	switch where {
	case "end":
		s.move(int64(len(s.cursor.History.Events)) - 1)
		return
	case "start":
		s.move(-1)
		return
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(where, "#"), 10, 32)
	if err != nil || n < 0 || n >= int64(len(s.cursor.History.Events)) {
		fmt.Fprintf(s.w, "%q is no event: they are 0 to %d, start and end\n", where, len(s.cursor.History.Events)-1)
		return
	}
	s.move(n)
}

func (s *stepper) goToTime(text string) {
	us, err := plan.ParseDurationUs(text)
	if err != nil {
		fmt.Fprintf(s.w, "%q is not a time such as 1.2s\n", text)
		return
	}
	events := s.cursor.History.Events
	at, _ := slices.BinarySearchFunc(events, us, func(e history.Event, us int64) int {
		if e.AtUs < us {
			return -1
		}
		return 1
	})
	s.move(int64(at))
}

func (s *stepper) addBreak(text string) {
	if text == "" {
		s.listBreaks()
		return
	}
	p, err := s.names.compile(text)
	if err != nil {
		fmt.Fprintln(s.w, err)
		return
	}
	s.breaks = append(s.breaks, p)
	fmt.Fprintf(s.w, "break %d: %s\n", len(s.breaks), text)
}

func (s *stepper) listBreaks() {
	if len(s.breaks) == 0 {
		fmt.Fprintln(s.w, "no breaks")
	}
	for i, b := range s.breaks {
		fmt.Fprintf(s.w, "break %d: %s\n", i+1, b.text)
	}
}

func (s *stepper) deleteBreak(which string) {
	if which == "" {
		s.breaks = nil
		return
	}
	n, err := strconv.Atoi(which)
	if err != nil || n < 1 || n > len(s.breaks) {
		fmt.Fprintf(s.w, "%q is no break: there are %d\n", which, len(s.breaks))
		return
	}
	s.breaks = slices.Delete(s.breaks, n-1, n)
}

// run goes on, or back, to where a break begins to hold: the predicate was false at the event before.
func (s *stepper) run(direction int32) {
	if len(s.breaks) == 0 {
		fmt.Fprintln(s.w, "no breaks: b PREDICATE sets one")
		return
	}
	hits := s.hits()
	events := int32(len(s.cursor.History.Events))
	for seq := s.cursor.At + direction; seq >= 0 && seq < events; seq += direction {
		if b := hits[seq]; b > 0 {
			fmt.Fprintf(s.w, "break %d: %s\n", b, s.breaks[b-1].text)
			s.move(int64(seq))
			return
		}
	}
	if direction > 0 {
		s.cursor.Go(events - 1)
		fmt.Fprintln(s.w, "the end")
		s.show(false)
		return
	}
	s.cursor.Go(-1)
	fmt.Fprintln(s.w, "the start")
}

// hits lists for each event the number of the first break that begins to hold there, 0 for none.
func (s *stepper) hits() []int32 {
	c := history.NewCursor(s.cursor.History)
	hits := make([]int32, len(c.History.Events))
	held := make([]bool, len(s.breaks))
	for c.Next() {
		for i, b := range s.breaks {
			holds, err := b.holds(c)
			if err != nil && !b.failed {
				b.failed = true
				fmt.Fprintln(s.w, err)
			}
			if holds && (!held[i] || b.momentary) && hits[c.At] == 0 {
				hits[c.At] = int32(i) + 1
			}
			held[i] = holds
		}
	}
	return hits
}
