package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Record runs a plan and returns what happened. The run is the same as without: hashes and verdict do not change. It takes about ten
// times as long. An error means that the plan can't be run.
func Record(e *sim.Engine, p *plan.Plan) (*History, error) { return RecordOn(e.Catalogue(), e, p) }

// Runner runs plans of a catalogue. *sim.Engine is one.
type Runner interface {
	Run(p *plan.Plan, o sim.Options) (sim.Result, error)
}

// RecordOn is Record for a runner that is more than an engine: one that turns a panic into a verdict, for example.
func RecordOn(c *sim.Catalogue, on Runner, p *plan.Plan) (*History, error) {
	r := newRecorder(c, p)
	result, err := on.Run(p, sim.Options{Trace: r.line, Digests: r.settled})
	if err != nil {
		return nil, err
	}
	return r.finish(result.Verdict), nil
}

// recorder turns trace lines into events.
type recorder struct {
	catalogue *sim.Catalogue
	history   *History
	hosts     map[string]int32
	nodes     map[nodeKey]string // "" for a number that several hosts have
	groups    []string           // of the hosts
	causes    []int64            // of the events, by id of the world's event; parallel to History.Events
	files     []*disk            // of the hosts; nil: not seen yet
	state     [][]Facet          // of the hosts, as told last
	exited    []bool             // whether the last process of the host ended in order
	owned     map[string]bool    // facets that observations tell of: the state does not
	posix     bool               // names become durable one by one
	handled   *sim.Host          // whose handler runs or ran last
	at        int                // index of the event that it is

	keptFirst, keptLast int // as the constants, for tests shorter
}

func newRecorder(c *sim.Catalogue, p *plan.Plan) *recorder {
	r := &recorder{
		catalogue: c, history: &History{Plan: p.Clone()}, hosts: map[string]int32{}, nodes: map[nodeKey]string{}, groups: make([]string, len(p.Hosts)),
		files: make([]*disk, len(p.Hosts)), state: make([][]Facet, len(p.Hosts)), exited: make([]bool, len(p.Hosts)), owned: map[string]bool{},
	}
	r.posix, r.keptFirst, r.keptLast = p.Disk.Profile == "posix", keptFirst, keptLast
	for i := range p.Actions {
		if name := c.Caught(&p.Actions[i]); name != "" {
			if r.history.Caught == nil {
				r.history.Caught = make([]string, len(p.Actions))
			}
			r.history.Caught[i] = name
		}
	}
	for i := range p.Hosts {
		id := p.Hosts[i].ID
		r.history.Hosts = append(r.history.Hosts, id)
		r.hosts[id] = int32(i)
		if c.NodeOf == nil {
			continue
		}
		node, group, ok := c.NodeOf(p, i)
		r.groups[i] = group
		if !ok {
			node = -1
		}
		r.history.Nodes = append(r.history.Nodes, node)
		if ok {
			key := nodeKey{group, node}
			if _, twice := r.nodes[key]; twice {
				id = ""
			}
			r.nodes[key] = id
		}
	}
	return r
}

// nodeKey is a number within a group of hosts.
type nodeKey struct {
	group string
	node  int32
}

// namer is what a host calls the nodes of its group.
func (r *recorder) namer(host int32) func(node int32) string {
	return func(node int32) string {
		if id := r.nodes[nodeKey{r.groups[host], node}]; id != "" {
			return id
		}
		return fmt.Sprintf("node %d", node)
	}
}

// line takes in a line of the trace.
func (r *recorder) line(t sim.TraceLine) {
	e := Event{ID: t.ID, AtUs: t.AtUs, Host: -1, Peer: -1, Boot: t.Boot, Lane: t.Lane, Kind: World, Text: t.Text, Action: t.Action,
		Message: t.Number}
	if t.Host != "" {
		e.Host = r.hosts[t.Host]
	}
	if i, ok := r.hosts[t.Peer]; ok && t.Peer != "" {
		e.Peer = i
	}
	r.meaning(&e, &t)
	at := len(r.history.Events)
	if e.Kind == Action || e.Kind == Refused { // told when it has struck: its effects stand before it
		for at > 0 && r.history.Events[at-1].ID == t.ID {
			at--
		}
	}
	if e.Kind == Input || e.Kind == Boot {
		r.handled, r.at = t.Of, at
	}
	r.history.Events = slices.Insert(r.history.Events, at, e)
	r.causes = slices.Insert(r.causes, at, t.Cause)
	if len(r.history.Events) > r.keptFirst+2*r.keptLast {
		r.omit()
	}
}

// meaning fills in what the kind of the line says.
func (r *recorder) meaning(e *Event, t *sim.TraceLine) {
	switch t.What {
	case "input":
		e.Kind = Input
	case "send":
		e.Kind = Send
	case "post":
		e.Kind = Post
	case "protocol":
		e.Kind, e.Weight = Protocol, Detail
		r.describe(e, t.Seen)
	case "disk":
		e.Kind = Disk
		r.disk(e, t)
	case "down":
		e.Kind, e.Weight = Down, Turning
		e.Claim = downClaim(t)
		if r.exited[e.Host] = t.Down == sim.Exited; r.exited[e.Host] {
			e.Weight = Detail
		}
		r.state[e.Host] = nil
		if d := r.files[e.Host]; d != nil && t.Down == sim.PowerLost {
			d.lost = true // also where nothing was: what was pending has become durable
		}
	case "boot":
		e.Kind, e.Weight = Boot, Turning
		if t.Boot > 1 && !r.exited[e.Host] {
			e.Claim = &sim.Claim{Topic: sim.TopicBoot, Clause: "starts again", Because: []sim.Premise{{Topics: sim.TopicLost + "," + sim.TopicDown, Host: sim.Self, Offset: -1}}}
		}
		r.look(e, t.Of)
	case "action":
		e.Kind, e.Weight = Action, Turning
	case "undo":
		e.Kind, e.Weight = Undo, Turning
	case "refused":
		e.Kind, e.Weight = Refused, Detail
	case "calm":
		e.Kind, e.Weight = Calm, Turning
	case "violation":
		e.Kind, e.Weight, e.Unflushed = Violation, Turning, r.unflushed()
	case "hazard":
		e.Kind, e.Weight = Hazard, Turning
	case "wipe", "swap", "flip":
		e.Kind, e.Weight, e.Text = Lost, Turning, t.What+": "+t.Text
		r.look(e, t.Of)
	default:
		e.Weight, e.Text = Detail, t.What+": "+t.Text
	}
}

// describe asks an observation what it means.
func (r *recorder) describe(e *Event, o sim.Observation) {
	d, ok := o.(sim.Describer)
	if !ok {
		return
	}
	about := sim.NewDescription(r.namer(e.Host))
	d.Describe(about)
	e.Weight, e.Facets = about.Weight, about.Facets
	if about.Text != "" {
		e.Text = about.Text
	}
	if about.Claim.Clause != "" {
		claim := about.Claim
		e.Claim = &claim
	}
	for _, f := range about.Facets {
		r.owned[f.Name] = true
	}
}

// settled is called when the handler of an event is over: the state of its process, as far as observations do not tell it, belongs to
// the event.
func (r *recorder) settled(id int64, _ uint64) {
	h := r.handled
	if h == nil || r.history.Events[r.at].ID != id {
		return
	}
	r.handled = nil
	p, ok := h.Process().(sim.StateDescriber)
	if !ok {
		return
	}
	e := &r.history.Events[r.at]
	now := p.DescribeState()
	for _, f := range now {
		if !r.owned[f.Name] && !slices.Contains(r.state[e.Host], f) {
			e.Facets = append(e.Facets, f)
		}
	}
	for _, f := range r.state[e.Host] {
		if !r.owned[f.Name] && !slices.ContainsFunc(now, func(g Facet) bool { return g.Name == f.Name }) {
			e.Facets = append(e.Facets, Facet{Name: f.Name})
		}
	}
	r.state[e.Host] = now
}

// finish numbers the events and finds their causes.
func (r *recorder) finish(v *plan.Verdict) *History {
	h := r.history
	h.Verdict = v
	head := make(map[int64]int32)   // first event of the world's event
	sent := make(map[int32]int32)   // by message number
	lanes := make(map[int64]string) // of the handlers
	calm := make(map[int64]int32)   // the calm, by the world's event that it came after
	for i := range h.Events {
		e := &h.Events[i]
		e.Seq = int32(i)
		if _, have := head[e.ID]; !have {
			head[e.ID] = e.Seq
		}
		if e.Kind == Input {
			lanes[e.ID] = e.Lane
		}
		e.Cause = -1
		if from, ok := sent[e.Message]; ok && e.Kind == Input && e.Message > 0 {
			e.Cause = from
		} else if seq, ok := head[r.causes[i]]; ok && seq != e.Seq {
			e.Cause = seq
		} else if seq := head[e.ID]; seq != e.Seq {
			e.Cause = seq
		}
		switch e.Kind {
		case Calm:
			calm[e.ID], e.Cause = e.Seq, -1
		case Boot: // the calm is no event of its own: what it starts bears the number of the event before it
			if seq, ok := calm[r.causes[i]]; ok {
				e.Cause = seq
			}
		case Send, Post:
			sent[e.Message] = e.Seq
		case Disk:
			e.Lane = lanes[r.causes[i]]
		}
	}
	return h
}

// downClaim is how a process ended, as a clause; nil when it wanted to.
func downClaim(t *sim.TraceLine) *sim.Claim {
	c := &sim.Claim{Topic: sim.TopicDown}
	switch t.Down {
	case sim.Killed:
		c.Clause = "is killed"
	case sim.PowerLost:
		c.Clause = "loses power"
	case sim.Exited:
		return nil
	case sim.RefusedToStart:
		c.Clause = "refuses to start" + reason(t.Text)
	default:
		c.Clause = "stops with an error" + reason(t.Text)
	}
	return c
}

// reason is what a line says behind its first colon.
func reason(text string) string {
	if _, why, ok := strings.Cut(text, ": "); ok {
		return ": " + why
	}
	return ""
}
