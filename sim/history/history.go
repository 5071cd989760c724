// Package history is what happened in one run, as data: every event with its host, its cause and what it changed.
//
// A verdict says that something broke; a history says how it came about. It is made by running a plan again with the full trace
// (Record), never during a campaign, and it is what everything that explains a failure is cut from: the story, the stepper, the HTML
// timeline, the exports for other viewers. None of these sees the World, so each can be tested on a history written by hand.
//
//	h, err := history.Record(engine, p)
//	for i := range h.Events { ... }
//
// The simulator knows no protocol. What an observation means for its host (a role, an epoch, a high watermark), what the bytes
// of a write hold and what a process knows come through optional hooks: sim.Describer on observations, sim.StateDescriber on
// processes, sim.Catalogue.Decode for bytes. Without them there is still a history, of plainer words.
//
// Refused: a log of text lines that viewers parse (each would parse it in its own way); keeping histories in capsules (they are
// large, and a plan says the same).
package history

import (
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// History is one run.
type History struct {
	Plan    *plan.Plan    `json:"plan"`
	Verdict *plan.Verdict `json:"verdict"`
	Hosts   []string      `json:"hosts"`           // in plan order; Event.Host is an index into it
	Nodes   []int32       `json:"nodes,omitempty"` // the numbers by which the processes know the hosts, -1 for none
	Events  []Event       `json:"events"`          // in the order in which they took effect
	// Caught are the messages that each action of the plan catches, as people call them: "" for an action that catches none, and for a
	// kind without a name. It is parallel to Plan.Actions, and nil where all are "".
	Caught []string `json:"caught,omitempty"`
	// Omitted counts the events in the middle of a very long run that are left out.
	Omitted int64 `json:"omitted,omitempty"`
}

// Event is one thing that happened: an input that was handled, a message that left, an operation of the disk, an observation, an action
// of the plan, the end of a process.
type Event struct {
	Seq   int32  `json:"seq"`            // index in History.Events
	ID    int64  `json:"id"`             // of the event of the world that brought it about; several share one
	Cause int32  `json:"cause"`          // Seq of what brought it about, -1 for the plan itself
	AtUs  int64  `json:"at_us"`          // virtual time
	Host  int32  `json:"host"`           // -1: the world
	Boot  int32  `json:"boot,omitempty"` // which life of the process, from 1
	Lane  string `json:"lane,omitempty"`
	Kind  Kind   `json:"kind"`
	// Peer is the other host of a message, -1 for none. Message numbers the messages of a run from 1: a send and the input that
	// it became carry the same number; a send whose number never comes back as an input was lost.
	Peer    int32  `json:"peer"`
	Message int32  `json:"message,omitempty"`
	Text    string `json:"text"`             // one line
	Action  string `json:"action,omitempty"` // id of the plan's action, for Kind Action and Undo
	Weight  Weight `json:"weight,omitempty"`
	// Claim is what the host does or holds to be true from here on, for stories; nil for most events.
	Claim *sim.Claim `json:"claim,omitempty"`
	// Facets are what is true of the host from here on, by name; an empty value takes a facet back. A crash takes all back.
	Facets []Facet   `json:"facets,omitempty"`
	Log    []LogEdit `json:"log,omitempty"`
	// Unflushed are the small files, such as a vote, whose content a power loss would have taken when an invariant broke.
	Unflushed []Unflushed `json:"unflushed,omitempty"`
	gap       bool        // stands for events that are left out
}

// Unflushed is a file whose newest content is not durable.
type Unflushed struct {
	Host  int32  `json:"host"`
	Seq   int32  `json:"seq"`             // event that wrote the content, or gave the file its name
	Path  string `json:"path"`            // base name
	Text  string `json:"text"`            // what it says
	Named bool   `json:"named"`           // its name is durable
	Whole bool   `json:"whole,omitempty"` // its content was flushed: only the name is missing
}

// Kind says what an event is.
type Kind string

// The kinds of event.
const (
	Input     Kind = "input"     // a handler ran
	Send      Kind = "send"      // a message left
	Post      Kind = "post"      // a message left for another lane of the same process
	Protocol  Kind = "protocol"  // an observation
	Disk      Kind = "disk"      // an operation took effect
	Lost      Kind = "lost"      // what a crash took from a disk
	Down      Kind = "down"      // a process ended
	Boot      Kind = "boot"      // a process began
	Action    Kind = "action"    // an action of the plan struck
	Undo      Kind = "undo"      // what it did has ended
	Refused   Kind = "refused"   // an action that came to nothing
	Calm      Kind = "calm"      // the calm began
	Violation Kind = "violation" // an invariant broke
	Hazard    Kind = "hazard"    // one that is declared
	World     Kind = "world"     // anything else that the world tells
)

// Weight says how much an event matters to somebody who reads only a few.
type Weight = sim.Weight

// The weights.
const (
	Noise   = sim.Noise   // a fetch that brought nothing
	Detail  = sim.Detail  // an append, a raised high watermark
	Turning = sim.Turning // a role, a vote, a crash, a cut, an action
)

// Facet is one property of a host by name.
type Facet = sim.Facet

// LogEdit changes the log that a host shows. Exactly one of its three forms is meant by Do.
type LogEdit struct {
	Do     string `json:"do"` // "append": Offset and Text; "truncate": the log ends at Offset; "start": it begins at Offset
	Offset int64  `json:"offset"`
	Epoch  int32  `json:"epoch,omitempty"`
	Text   string `json:"text,omitempty"` // a decoded record
}
