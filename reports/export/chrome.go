package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/history"
)

// traceEvent is one entry of Chromium's trace format. Times are microseconds.
type traceEvent struct {
	Name  string         `json:"name"`
	Phase string         `json:"ph"` // M name, X slice, i instant, C counter, s and f both ends of an arrow, b and e both ends of a span
	Pid   int32          `json:"pid"`
	Tid   int32          `json:"tid"`
	Ts    int64          `json:"ts"`
	Dur   int64          `json:"dur,omitempty"`
	ID    int32          `json:"id,omitempty"`
	Cat   string         `json:"cat,omitempty"`
	Scope string         `json:"s,omitempty"`  // of an instant: t thread, p process, g all
	Bind  string         `json:"bp,omitempty"` // e: the arrow ends at the slice around it
	Args  map[string]any `json:"args,omitempty"`
}

// Rows (threads) of a process that are no lane: what it is, and what concerns no lane.
const (
	rowState = 1
	rowOther = 2
	rowLanes = 3
)

// chrome writes one trace.
type chrome struct {
	out   *bufio.Writer
	h     *history.History
	first bool
	err   error
	lanes []map[string]int32 // of each host: row
	state []slice            // of each host: what it is, and since when
	role  []string
	epoch []string
	sent  map[int32]bool // messages whose send was written
}

type slice struct {
	name string
	from int64
}

// ChromeTrace writes a history as a trace: a process a host with a row a lane, one for its role and epoch, slices of a microsecond for
// events, arrows for messages, counters for the end of its log and its high watermark; faults are spans of the world.
func ChromeTrace(w io.Writer, h *history.History) error {
	c := &chrome{
		out: bufio.NewWriter(w), h: h, first: true, lanes: make([]map[string]int32, len(h.Hosts)), state: make([]slice, len(h.Hosts)),
		role: make([]string, len(h.Hosts)), epoch: make([]string, len(h.Hosts)), sent: map[int32]bool{},
	}
	c.text(`{"displayTimeUnit":"ms","traceEvents":[` + "\n")
	c.names()
	last := int64(0)
	for i := range h.Events {
		c.event(&h.Events[i])
		last = max(last, h.Events[i].AtUs)
	}
	for host := range h.Hosts {
		c.close(int32(host), last)
	}
	c.text("\n]}\n")
	if c.err == nil {
		c.err = c.out.Flush()
	}
	if c.err != nil {
		return fmt.Errorf("export: chrome trace: %w", c.err)
	}
	return nil
}

func (c *chrome) text(s string) {
	if c.err == nil {
		_, c.err = c.out.WriteString(s)
	}
}

func (c *chrome) put(e *traceEvent) {
	if !c.first {
		c.text(",\n")
	}
	c.first = false
	data, err := json.Marshal(e)
	if err != nil && c.err == nil {
		c.err = err
	}
	c.text(string(data))
}

// pid numbers the processes: the world is 1, the hosts follow.
func pid(host int32) int32 { return host + 2 }

func (c *chrome) names() {
	c.name("process_name", pid(-1), 0, "world")
	for i, id := range c.h.Hosts {
		c.name("process_name", pid(int32(i)), 0, id)
		c.name("thread_name", pid(int32(i)), rowState, "state")
		c.name("thread_name", pid(int32(i)), rowOther, "host")
	}
}

func (c *chrome) name(what string, pid, tid int32, name string) {
	c.put(&traceEvent{Name: what, Phase: "M", Pid: pid, Tid: tid, Args: map[string]any{"name": name}})
}

// row is the row of an event's lane, named when it is met first.
func (c *chrome) row(e *history.Event) int32 {
	if e.Lane == "" || c.world(e) {
		return rowOther
	}
	if c.lanes[e.Host] == nil {
		c.lanes[e.Host] = map[string]int32{}
	}
	row, ok := c.lanes[e.Host][e.Lane]
	if !ok {
		row = rowLanes + int32(len(c.lanes[e.Host]))
		c.lanes[e.Host][e.Lane] = row
		c.name("thread_name", pid(e.Host), row, e.Lane)
	}
	return row
}

func (c *chrome) world(e *history.Event) bool { return e.Host < 0 || int(e.Host) >= len(c.h.Hosts) }

func (c *chrome) event(e *history.Event) {
	at := pid(e.Host)
	if c.world(e) {
		at = pid(-1)
	}
	t := traceEvent{
		Name: e.Text, Phase: "X", Pid: at, Tid: c.row(e), Ts: e.AtUs, Dur: 1, Cat: string(e.Kind),
		Args: map[string]any{"seq": e.Seq, "cause": e.Cause, "kind": e.Kind, "boot": e.Boot},
	}
	if t.Name == "" {
		t.Name = string(e.Kind)
	}
	switch e.Kind {
	case history.Action, history.Undo:
		c.span(e, &t)
		return
	case history.Calm, history.Violation, history.Hazard, history.Refused:
		t.Phase, t.Dur, t.Scope = "i", 0, "g"
	}
	c.put(&t)
	if e.Message != 0 {
		c.arrow(e, &t)
	}
	if !c.world(e) {
		c.facets(e)
	}
}

// span begins or ends what a fault does.
func (c *chrome) span(e *history.Event, t *traceEvent) {
	for i := 0; c.h.Plan != nil && i < len(c.h.Plan.Actions); i++ {
		if c.h.Plan.Actions[i].ID == e.Action {
			t.ID = int32(i) + 1
		}
	}
	t.Phase, t.Dur = "i", 0
	t.Scope = "g"
	c.put(t)
	t.Scope, t.Phase, t.Cat = "", "b", "fault"
	if e.Kind == history.Undo {
		t.Phase = "e"
	}
	t.Name = e.Action // both ends of a span have one name
	c.put(t)
}

// arrow is one end of a message.
func (c *chrome) arrow(e *history.Event, t *traceEvent) {
	end := traceEvent{Name: "message", Cat: "message", Pid: t.Pid, Tid: t.Tid, Ts: t.Ts, ID: e.Message}
	switch {
	case e.Kind == history.Send:
		c.sent[e.Message] = true
		end.Phase = "s"
	case e.Kind == history.Input && c.sent[e.Message]:
		end.Phase, end.Bind = "f", "e"
	default:
		return
	}
	c.put(&end)
}

// facets follows role and epoch as slices, offsets as counters.
func (c *chrome) facets(e *history.Event) {
	changed := e.Kind == history.Down || e.Kind == history.Boot
	if changed {
		c.role[e.Host], c.epoch[e.Host] = "", ""
	}
	for _, f := range e.Facets {
		switch f.Name {
		case "role":
			c.role[e.Host], changed = f.Value, true
		case "epoch":
			c.epoch[e.Host], changed = f.Value, true
		case "high-watermark", "log-end":
			if n, err := strconv.ParseInt(f.Value, 10, 64); err == nil {
				c.put(&traceEvent{Name: f.Name, Phase: "C", Pid: pid(e.Host), Ts: e.AtUs, Args: map[string]any{"offset": n}})
			}
		}
	}
	name := c.role[e.Host]
	if c.epoch[e.Host] != "" {
		name += " of epoch " + c.epoch[e.Host]
	}
	if changed && name != c.state[e.Host].name {
		c.close(e.Host, e.AtUs)
		c.state[e.Host] = slice{name, e.AtUs}
	}
}

// close ends the slice of what a host is.
func (c *chrome) close(host int32, atUs int64) {
	s := &c.state[host]
	if s.name != "" && atUs > s.from {
		c.put(&traceEvent{Name: s.name, Phase: "X", Pid: pid(host), Tid: rowState, Ts: s.from, Dur: atUs - s.from, Cat: "state"})
	}
	s.name = ""
}
