package reports

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TraceLine prints one line of a trace, without a newline. See the package comment for the columns.
func TraceLine(l *sim.TraceLine) string {
	cause := "-"
	if l.Cause >= 0 {
		cause = itoa(l.Cause)
	}
	where := "world"
	if l.Host != "" {
		where = l.Host
		if l.Lane != "" {
			where += "/" + l.Lane
		}
		if l.Boot > 0 {
			where += fmt.Sprintf("#%d", l.Boot)
		}
	}
	return fmt.Sprintf("%6d <%-6s %12s  %-18s %-8s  %s", l.ID, cause, clock(l.AtUs), where, l.What, l.Text)
}

// TraceJSON is a trace line for programs.
type TraceJSON struct {
	Type   string     `json:"type"` // "trace"
	Event  int64      `json:"event"`
	Cause  int64      `json:"cause"` // -1: the plan
	AtUs   int64      `json:"at_us"`
	Host   string     `json:"host,omitempty"`
	Lane   string     `json:"lane,omitempty"`
	Boot   int32      `json:"boot,omitempty"`
	What   string     `json:"what"`
	Text   string     `json:"text"`
	Digest plan.Hex64 `json:"digest"`
}

// NewTraceJSON converts a trace line.
func NewTraceJSON(l *sim.TraceLine) TraceJSON {
	return TraceJSON{
		Type: "trace", Event: l.ID, Cause: l.Cause, AtUs: l.AtUs, Host: l.Host, Lane: l.Lane, Boot: l.Boot, What: l.What,
		Text: l.Text, Digest: plan.Hex64(l.Digest),
	}
}
