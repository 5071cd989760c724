package story

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// MaxLines is how many lines a story has at most.
const MaxLines = 12

// Story is a failure in words.
type Story struct {
	Target string `json:"target"` // the fingerprint, or "hazard/<id>", or the outcome of a run that is stuck
	Lines  []Line `json:"lines"`
	// Incidental counts the faults of the plan that it fails without: none in a plan that was shrunk.
	Incidental int64 `json:"incidental"`
}

// Line is a sentence of a story.
type Line struct {
	Text      string `json:"text"`
	Seq       int32  `json:"seq"`            // event of the history that it tells of, -1: none
	Host      string `json:"host,omitempty"` // where it happened, "" for the world
	Fault     bool   `json:"fault,omitempty"`
	Necessary bool   `json:"necessary,omitempty"`
}

// String is the story as numbered lines, each with a newline.
func (s *Story) String() string {
	var b strings.Builder
	for i := range s.Lines {
		fmt.Fprintf(&b, "%2d. %s\n", i+1, s.Lines[i].Text)
	}
	return b.String()
}

// Tell cuts the story out of a history. parts are those of the plan that ran, with what is necessary found out; without any, no fault
// is called necessary and none is named.
func Tell(h *history.History, parts []shrink.Part) *Story {
	t := &teller{h: h, order: newOrder(h), parts: parts, story: &Story{}}
	t.necessary()
	t.index()
	if t.findRoot() {
		t.follow()
		t.faults()
	} else {
		t.wait()
	}
	t.write()
	return t.story
}

// target is what a verdict is about.
func target(v *plan.Verdict) string {
	if f := v.Fingerprint(); f != "" {
		return f
	}
	for _, f := range v.HazardFingerprints() {
		return f
	}
	return string(v.Outcome)
}
