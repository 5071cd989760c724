package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// Faults that are active while a voter set changes: a campaign has to show that each kind of change was disturbed, and not only hope so.

// changeWords are the conditions, by the number that VoterChangeStarted has for its kind; the first is that of kraft.version.
var changeWords = [...]string{"fault-during-kraft-upgrade", "fault-during-add", "fault-during-remove", "fault-during-update"}

func changeSometimes() []sim.SometimesDoc {
	docs := make([]sim.SometimesDoc, 0, len(changeWords))
	for i, what := range []string{"kraft.version goes up", "a voter is added", "a voter is removed", "a voter changes its address"} {
		docs = append(docs, sim.SometimesDoc{Name: changeWords[i], Scenario: "reconfig/", DuePerMillion: 10_000,
			Doc: "a fault is active while " + what + ": a process is down or paused, a link cut, slow or narrow, a disk hurt"})
	}
	return docs
}

// changing is the checker.
type changing struct {
	w       *sim.World
	pending []int64 // by host, kind of the change that it has under way as leader; 0: none
	reached [len(changeWords)]*int64
}

// Attach is sim.Checker.
func (c *changing) Attach(w *sim.World) {
	c.w = w
	c.pending = append(c.pending[:0], make([]int64, len(w.Hosts()))...)
	for i, word := range changeWords {
		c.reached[i] = w.Sometimes(word)
	}
}

// OnProtocol is sim.ProtocolChecker.
func (c *changing) OnProtocol(h *sim.Host, o sim.Observation) {
	x, ok := o.(*invariants.RaftObservation)
	if !ok {
		return
	}
	switch e := &x.E; {
	case e.Kind == raft.VoterChangeStarted && e.Offset > 0 && e.Offset < int64(len(changeWords)):
		c.pending[h.Index()] = e.Offset
		c.note(e.Offset, h)
	case e.Kind == raft.VoterChangeEnded:
		c.note(c.pending[h.Index()], h)
		c.pending[h.Index()] = 0
	case e.Kind == raft.KRaftVersionChanged && e.Offset > 0:
		c.note(0, h)
	}
}

// note counts a change, kind 0 only when it is that of kraft.version, if something is wrong anywhere.
func (c *changing) note(kind int64, h *sim.Host) {
	if (kind > 0 || c.pending[h.Index()] == 0) && c.w.Disturbed() {
		*c.reached[kind]++
	}
}

// OnBoot is sim.LifeChecker.
func (c *changing) OnBoot(h *sim.Host) { c.pending[h.Index()] = 0 }

// OnDown is sim.LifeChecker: a crash while a change is under way, of whomever.
func (c *changing) OnDown(_ *sim.Host, kind sim.DownKind, _ error) {
	if kind != sim.Killed && kind != sim.PowerLost {
		return
	}
	for _, change := range c.pending {
		if change > 0 {
			*c.reached[change]++
		}
	}
}
