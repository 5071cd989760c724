package story

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
)

// aboutFlushing reports whether what broke speaks of what was durable. Only then is it news that a host counted its own records before
// it had flushed them.
func (t *teller) aboutFlushing() bool { return t.speaksOf("durabl", "flush", "lost") }

// aboutLoss reports whether what broke speaks of records that should still be there. Only then is it news that somebody relied on those of
// another host before they were flushed: an observer, for one, need not flush what it fetches.
func (t *teller) aboutLoss() bool {
	return t.aboutFlushing() || t.speaksOf("committed", "acknowledged")
}

func (t *teller) speaksOf(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(t.broken, word) })
}

// noteUnflushed says of a claim on records that somebody relied on it before its host had flushed them. It returns true when that makes a
// line of it.
func (t *teller) noteUnflushed(seq, relier int32) (chosen bool) {
	if t.flushed(sim.TopicFlush, seq, relier) {
		return false
	}
	e := &t.h.Events[seq]
	chosen = t.choose(seq, 1)
	p := t.chosen[seq]
	if note := t.missingFlush(seq, relier); !slices.Contains(p.notes, note) && e.Claim.Topic == sim.TopicAppend {
		p.notes, p.rank = append(p.notes, note), 1
	}
	return chosen
}

// flushed reports whether flushes of a topic between a claim on records and an event made all of them durable: each flush only what it says,
// which may be one file of several. What is still there after a loss of power is durable, too.
func (t *teller) flushed(topic string, seq, until int32) bool {
	e := &t.h.Events[seq]
	next := e.Claim.From
	for moved := true; moved && next < e.Claim.To; {
		moved = false
		for _, f := range t.claims[e.Host] {
			c := t.h.Events[f].Claim
			if !t.past(seq, f) || !t.past(f, until) {
				continue
			}
			if c.Topic == sim.TopicDown && strings.HasPrefix(t.h.Events[f].Text, sim.PowerLost.String()) {
				return true
			}
			if c.Topic == topic && c.From <= next && next < c.To {
				next, moved = c.To, true
			}
		}
	}
	return next >= e.Claim.To
}

// noteEarlier does noteUnflushed for the last claim on records below those of a claim that is not durable either, while others of it are: the log
// is only as durable as its first gap.
func (t *teller) noteEarlier(seq, relier int32) (next []int32) {
	e := &t.h.Events[seq]
	list := t.claims[e.Host]
	lowest := e.Claim.From
	for i := slices.Index(list, seq) - 1; i >= 0; i-- {
		c := t.h.Events[list[i]].Claim
		if c.Topic != sim.TopicAppend || c.To == c.From || !t.past(list[i], seq) {
			continue
		}
		if live := c.To <= lowest; live && !t.flushed(sim.TopicFlush, list[i], relier) {
			if t.noteUnflushed(list[i], relier) {
				next = append(next, list[i])
			}
			return next
		}
		lowest = min(lowest, c.From)
	}
	return next
}

// missingFlush says what a host did not flush before somebody relied on its records: all of it, or the name of the file alone.
func (t *teller) missingFlush(seq, relier int32) string {
	if t.flushed(sim.TopicNameless, seq, relier) {
		return "without flushing the directory that names its file first"
	}
	return "which no flush made durable"
}

// unflushed makes claims of the writes of hosts to small files that were not durable when the invariant broke.
func (t *teller) unflushed(hosts []int32) (seqs []int32) {
	for _, u := range t.h.Events[t.root].Unflushed {
		if !slices.Contains(hosts, u.Host) || u.Seq >= t.root || t.h.Events[u.Seq].Host != u.Host {
			continue
		}
		missing := "without flushing it"
		if u.Whole {
			missing = "without flushing the directory that names it"
		}
		t.extra[u.Seq] = &sim.Claim{Topic: "store", Clause: "writes " + u.Path + " (" + u.Text + ") " + missing}
		seqs = append(seqs, u.Seq)
	}
	return seqs
}
