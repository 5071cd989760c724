package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
)

// ShiVizExpression is the regular expression that the viewer is to be given for this log: it is its default.
const ShiVizExpression = `(?<host>\S*) (?<clock>{.*})\n(?<event>.*)`

// clock is a vector clock: how many of the events told of each process are known. The last entry is that of the world.
type clock []int32

func (c clock) merge(o clock) {
	for i, n := range o {
		c[i] = max(c[i], n)
	}
}

// ShiViz writes the events that matter (no noise) with their vector clocks, two lines an event: process and clock, then time and text.
// What is left out still carries the order: an event knows of whatever happened before it, along any path.
func ShiViz(w io.Writer, h *history.History) error {
	out := bufio.NewWriter(w)
	world := len(h.Hosts)
	now := make([]clock, world+1) // of each process
	for i := range now {
		now[i] = make(clock, world+1)
	}
	after := make([]clock, len(h.Events)) // of each event; rows of one array would be large, most are shared
	for i := range h.Events {
		e := &h.Events[i]
		at := int(e.Host)
		if at < 0 || at >= world {
			at = world
		}
		mine := now[at]
		if e.Cause >= 0 && int(e.Cause) < i {
			cause := &h.Events[e.Cause]
			if int(cause.Host) != at { // along the process itself the clock is known
				mine.merge(after[e.Cause])
			}
		}
		if e.Weight > history.Noise {
			mine[at]++
			if _, err := fmt.Fprintf(out, "%s %s\n%s\n", process(h, at), mine.json(h), line(e)); err != nil {
				return fmt.Errorf("export: shiviz: %w", err)
			}
		}
		after[i] = append(clock(nil), mine...)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export: shiviz: %w", err)
	}
	return nil
}

// process is the name of a host, or of the world; the expression allows no space in it.
func process(h *history.History, at int) string {
	if at >= len(h.Hosts) {
		return "world"
	}
	return strings.Join(strings.Fields(h.Hosts[at]), "_")
}

// json prints the entries that are not zero.
func (c clock) json(h *history.History) string {
	var b strings.Builder
	for i, n := range c {
		if n > 0 {
			if b.Len() > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "%q:%d", process(h, i), n)
		}
	}
	return "{" + b.String() + "}"
}

func line(e *history.Event) string {
	text := strings.Join(strings.Fields(e.Text), " ")
	lane := ""
	if e.Lane != "" {
		lane = e.Lane + " "
	}
	return fmt.Sprintf("%d.%06ds %s%s: %s", e.AtUs/1_000_000, e.AtUs%1_000_000, lane, e.Kind, text)
}
