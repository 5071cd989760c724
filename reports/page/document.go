package page

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// document is the history as the script reads it: columns by event, texts as indexes into Texts (0 is the empty one).
type document struct {
	Title   string   `json:"title"`
	Texts   []string `json:"texts"`
	Kinds   []string `json:"kinds"`
	Hosts   []host   `json:"hosts"`
	Actions []act    `json:"actions"`
	Calm    int64    `json:"calm_us"` // -1: unknown

	At      []int64 `json:"at"` // microseconds since the event before
	Cause   []int32 `json:"cause"`
	Host    []int32 `json:"host"`
	Boot    []int32 `json:"boot"`
	Lane    []int32 `json:"lane"`
	Kind    []int32 `json:"kind"`
	Peer    []int32 `json:"peer"`
	Message []int32 `json:"message"`
	Text    []int32 `json:"text"`
	Action  []int32 `json:"action"` // index into Actions plus 1, 0: none
	Weight  []int32 `json:"weight"`

	FacetSeq   []int32 `json:"facet_seq"`
	FacetName  []int32 `json:"facet_name"`
	FacetValue []int32 `json:"facet_value"`

	LogSeq    []int32 `json:"log_seq"`
	LogDo     []int32 `json:"log_do"` // 0 append, 1 truncate, 2 start
	LogOffset []int64 `json:"log_offset"`
	LogEpoch  []int32 `json:"log_epoch"`
	LogText   []int32 `json:"log_text"`
}

// host is a lane of the timeline.
type host struct {
	ID      string `json:"id"`
	Kind    string `json:"kind,omitempty"`
	Release string `json:"release,omitempty"`
}

// act is an action of the plan.
type act struct {
	ID    string  `json:"id"`
	Kind  string  `json:"kind"`
	Text  string  `json:"text"`
	Need  Need    `json:"need,omitempty"`
	Hosts []int32 `json:"hosts"` // that it names
}

// kinds are the kinds of event, in the order of their numbers in the document.
var kinds = []history.Kind{
	history.Input, history.Send, history.Protocol, history.Disk, history.Lost, history.Down, history.Boot, history.Action,
	history.Undo, history.Refused, history.Calm, history.Violation, history.Hazard, history.World, history.Post,
}

// builder fills a document.
type builder struct {
	document
	texts   map[string]int32
	kinds   map[history.Kind]int32
	actions map[string]int32
	hosts   map[string]int32
}

func newDocument(p *Page) *document {
	h := p.History
	b := &builder{
		document: document{Title: p.title(), Texts: []string{""}, Calm: -1, Hosts: []host{}, Actions: []act{}},
		texts:    map[string]int32{"": 0}, kinds: map[history.Kind]int32{}, actions: map[string]int32{}, hosts: map[string]int32{},
	}
	for i, k := range kinds {
		b.kinds[k] = int32(i)
		b.Kinds = append(b.Kinds, string(k))
	}
	for i, id := range h.Hosts {
		b.hosts[id] = int32(i)
		b.Hosts = append(b.Hosts, host{ID: id})
	}
	if h.Plan != nil {
		b.plan(p, h.Plan)
	}
	b.grow(len(h.Events))
	last := int64(0)
	for i := range h.Events {
		b.event(&h.Events[i], last)
		last = h.Events[i].AtUs
	}
	return &b.document
}

// plan takes over what the page shows of hosts and actions.
func (b *builder) plan(p *Page, of *plan.Plan) {
	for i := range of.Hosts {
		spec := &of.Hosts[i]
		if at, ok := b.hosts[spec.ID]; ok {
			b.Hosts[at].Kind, b.Hosts[at].Release = spec.Kind, spec.Release
		}
	}
	need := map[string]Need{}
	for _, part := range p.Parts {
		if part.Action != "" {
			need[part.Action] = part.Need
		}
	}
	for _, a := range of.InOrder() {
		b.addAction(act{ID: a.ID, Kind: a.Kind, Text: p.Registry.FormatAction(&a), Need: need[a.ID], Hosts: b.named(&a)})
	}
	b.Calm = int64(of.StormUs)
}

func (b *builder) addAction(a act) int32 {
	b.Actions = append(b.Actions, a)
	b.actions[a.ID] = int32(len(b.Actions))
	return int32(len(b.Actions))
}

// named lists the hosts that the parameters of an action name, in host order.
func (b *builder) named(a *plan.Action) []int32 {
	list := []int32{}
	seen := map[string]bool{}
	for _, value := range a.Params {
		for word := range strings.SplitSeq(value, ",") {
			seen[word] = true
		}
	}
	for i := range b.Hosts {
		if seen[b.Hosts[i].ID] {
			list = append(list, int32(i))
		}
	}
	return list
}

func (b *builder) grow(n int) {
	for _, column := range []*[]int32{
		&b.Cause, &b.Host, &b.Boot, &b.Lane, &b.Kind, &b.Peer, &b.Message, &b.Text, &b.Action, &b.Weight,
	} {
		*column = make([]int32, 0, n)
	}
	b.At = make([]int64, 0, n)
	b.FacetSeq, b.FacetName, b.FacetValue = []int32{}, []int32{}, []int32{}
	b.LogSeq, b.LogDo, b.LogOffset, b.LogEpoch, b.LogText = []int32{}, []int32{}, []int64{}, []int32{}, []int32{}
}

// event appends one row. What a history written by hand may get wrong (an unknown kind, a host that is none) shows as an event of the
// world.
func (b *builder) event(e *history.Event, lastUs int64) {
	seq := int32(len(b.At))
	kind, ok := b.kinds[e.Kind]
	if !ok {
		kind = b.kinds[history.World]
	}
	inRange := func(host int32) int32 {
		if host < 0 || int(host) >= len(b.Hosts) {
			return -1
		}
		return host
	}
	b.At = append(b.At, max(e.AtUs-lastUs, 0))
	cause := e.Cause
	if cause >= seq {
		cause = -1
	}
	b.Cause = append(b.Cause, cause)
	b.Host = append(b.Host, inRange(e.Host))
	b.Boot = append(b.Boot, e.Boot)
	b.Lane = append(b.Lane, b.text(e.Lane))
	b.Kind = append(b.Kind, kind)
	b.Peer = append(b.Peer, inRange(e.Peer))
	b.Message = append(b.Message, e.Message)
	b.Text = append(b.Text, b.text(e.Text))
	b.Weight = append(b.Weight, int32(e.Weight))
	action := int32(0)
	if e.Action != "" {
		if action, ok = b.actions[e.Action]; !ok {
			action = b.addAction(act{ID: e.Action, Kind: string(e.Kind), Text: e.Text, Hosts: []int32{}})
		}
	}
	b.Action = append(b.Action, action)
	for _, f := range e.Facets {
		b.FacetSeq = append(b.FacetSeq, seq)
		b.FacetName = append(b.FacetName, b.text(f.Name))
		b.FacetValue = append(b.FacetValue, b.text(f.Value))
	}
	for i := range e.Log {
		edit := &e.Log[i]
		do := map[string]int32{"append": 0, "truncate": 1, "start": 2}[edit.Do]
		b.LogSeq, b.LogDo = append(b.LogSeq, seq), append(b.LogDo, do)
		b.LogOffset, b.LogEpoch = append(b.LogOffset, edit.Offset), append(b.LogEpoch, edit.Epoch)
		b.LogText = append(b.LogText, b.text(edit.Text))
	}
}

func (b *builder) text(s string) int32 {
	i, ok := b.texts[s]
	if !ok {
		i = int32(len(b.Texts))
		b.Texts = append(b.Texts, s)
		b.texts[s] = i
	}
	return i
}
