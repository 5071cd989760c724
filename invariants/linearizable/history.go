package linearizable

import (
	"cmp"
	"slices"
)

// Kind says what an operation does to its key.
type Kind uint8

// The kinds. Set works on a value, Create and Delete on whether there is something, Raise and Lower on a level.
const (
	Set    Kind = iota
	Create      // legal where there is nothing
	Delete      // legal where there is something
	Raise       // to Level: legal where the level is not higher
	Lower       // to Level: legal where it is not lower
	Read        // judged by Reads, no part of the linear order
)

// Open is the ReturnNs of an operation whose effect may still come: there was no answer, or one that does not say.
const Open int64 = 1<<63 - 1

// Operation is a request of a client and what came of it.
type Operation struct {
	Client   int32
	ID       int64
	Kind     Kind
	Key      string
	Value    string // Set: written, unique among those of its key; Read: what was read, "" for nothing
	Level    int32
	CallNs   int64
	ReturnNs int64
	Offset   int64  // of its last record, -1 for unknown
	Server   string // the process that answered
}

// acknowledged reports whether a client was told that it happened.
func (o *Operation) acknowledged() bool { return o.ReturnNs != Open }

// State is a key when everything is over, from the committed log.
type State struct {
	Key    string
	Value  string
	Exists bool
	Level  int32
}

// Write is a committed record of a key.
type Write struct {
	Key, Value string
	Offset     int64
}

// History is what clients did in a run.
type History struct {
	Operations []Operation
	// Final is the committed state of each key after the run; nil when there is none to be had, which judges no losses.
	Final []State
	// Committed lists the committed writes of Set, in the order of offsets, from the beginning of the log; nil judges no reads.
	Committed []Write
	// Initial are the levels of keys of Raise and Lower before the first operation; others begin with nothing.
	Initial map[string]int32
}

// Bounds keep the search finite.
type Bounds struct {
	OperationsPerKey  int32
	ConcurrencyPerKey int32 // open at one time, those without an answer for ever
}

// DefaultBounds are what a search answers within milliseconds.
var DefaultBounds = Bounds{OperationsPerKey: 300, ConcurrencyPerKey: 16}

// Verdict is what a check comes to.
type Verdict uint8

// The verdicts.
const (
	Legal Verdict = iota
	Illegal
	Unknown
)

// Result is a verdict and why. Deterministic.
type Result struct {
	Verdict  Verdict
	Evidence string // a fixed word; "" when legal
	Detail   string
	Checked  int64 // operations that were part of it
	Keys     int64
}

// byKey splits a history, keys ascending. What nobody can have seen is left out: a Set without an answer whose value is not the last one.
func (h *History) byKey() (keys []string, of map[string][]Operation) {
	of = map[string][]Operation{}
	final := map[string]string{}
	for i := range h.Final {
		final[h.Final[i].Key] = h.Final[i].Value
	}
	for i := range h.Operations {
		o := &h.Operations[i]
		if o.Kind == Read || o.Kind == Set && !o.acknowledged() && (h.Final == nil || final[o.Key] != o.Value) {
			continue
		}
		if of[o.Key] == nil {
			keys = append(keys, o.Key)
		}
		of[o.Key] = append(of[o.Key], *o)
	}
	slices.Sort(keys)
	for _, k := range keys {
		slices.SortStableFunc(of[k], func(a, b Operation) int { return cmp.Compare(a.CallNs, b.CallNs) })
	}
	return keys, of
}

// concurrency is the most operations that are open at one moment. The list is sorted by call.
func concurrency(list []Operation) (most int32) {
	for i := range list {
		open := int32(0)
		for k := range i + 1 {
			if list[k].ReturnNs >= list[i].CallNs {
				open++
			}
		}
		most = max(most, open)
	}
	return most
}
