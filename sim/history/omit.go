package history

import (
	"fmt"
	"slices"
)

// A run that is stuck may repeat itself millions of times until its calm is over, which no memory holds and nobody reads. So a recorder keeps
// the beginning and the end of a long run. Of what lies between it keeps what changes the fate of a process or of the plan (ends, boots,
// losses, actions, the calm), and what the rest changed: facets and log edits pass to the next event of the host that is kept, so that a
// cursor shows the same state behind the gap as without it.
//
// Refused: keeping every n-th event (causes would lead nowhere all through the run); keeping only the end (how it began is what a
// story tells).

// keptFirst and keptLast are how many events a history has at the most before and behind the gap; it may grow by as many as keptLast before
// the gap is widened again. That is ten times what a storm takes, and some 300 MB.
const (
	keptFirst = 150_000
	keptLast  = 100_000
)

// standing reports whether events of a kind are kept within the gap: they are few, and a state makes no sense without them.
func standing(k Kind) bool {
	switch k {
	case Lost, Down, Boot, Action, Undo, Calm, Violation, Hazard:
		return true
	}
	return false
}

// pending is what the events left out changed on a host, and no event kept tells yet.
type pending struct {
	facets []Facet
	log    []LogEdit
}

// take adds what an event changes.
func (p *pending) take(e *Event) {
	p.facets = merged(p.facets, e.Facets)
	for _, edit := range e.Log {
		p.edit(edit)
	}
}

// merged is what two lists of facets come to, one after the other.
func merged(facets, later []Facet) []Facet {
	for _, f := range later {
		if i := slices.IndexFunc(facets, func(have Facet) bool { return have.Name == f.Name }); i >= 0 {
			facets[i].Value = f.Value
		} else {
			facets = append(facets, f)
		}
	}
	return facets
}

// edit adds a log edit, and forgets the earlier ones that it takes back.
func (p *pending) edit(edit LogEdit) {
	if edit.Do == "truncate" {
		for n := len(p.log); n > 0 && p.log[n-1].Do != "start" && p.log[n-1].Offset >= edit.Offset; n-- {
			p.log = p.log[:n-1]
		}
	}
	if n := len(p.log); n > 0 && edit.Do == "start" && p.log[n-1].Do == "start" {
		p.log = p.log[:n-1]
	}
	p.log = append(p.log, edit)
}

// give passes what is pending to an event that is kept. The end of a process takes its facets along.
func (p *pending) give(e *Event) {
	e.Log = slices.Concat(p.log, e.Log)
	if p.log = nil; e.Kind != Down {
		e.Facets = merged(slices.Clone(p.facets), e.Facets)
	}
	p.facets = nil
}

// omit makes room in a history that has become too long.
func (r *recorder) omit() {
	events := r.history.Events
	to := len(events) - r.keptLast
	for to > r.keptFirst && events[to].ID == events[to-1].ID { // a step stays whole
		to--
	}
	left := make([]pending, len(r.history.Hosts))
	kept, causes := slices.Clone(events[:r.keptFirst]), slices.Clone(r.causes[:r.keptFirst])
	for i := r.keptFirst; i < to; i++ {
		e := &events[i]
		if !standing(e.Kind) {
			if !e.gap {
				r.history.Omitted++
			}
			if e.Host >= 0 {
				left[e.Host].take(e)
			}
			continue
		}
		if e.Host >= 0 {
			left[e.Host].give(e)
		}
		kept, causes = append(kept, *e), append(causes, r.causes[i])
	}
	until := &events[to-1]
	gaps := make([]int, len(left)) // events that stand for those left out, by host
	for host := range left {
		gaps[host] = len(kept)
		kept = append(kept, Event{ID: until.ID, AtUs: until.AtUs, Host: int32(host), Peer: -1, Kind: World, Weight: Noise, gap: true,
			Facets: left[host].facets, Log: left[host].log,
			Text: fmt.Sprintf("left out: what repeats itself, %d events of all hosts so far", r.history.Omitted)})
		causes = append(causes, until.ID)
	}
	moved := to - len(kept)
	for host, d := range r.files {
		if d == nil {
			continue
		}
		//nodet:allow maprange each file is changed by itself
		for _, f := range d.files {
			switch {
			case f.wrote >= to:
				f.wrote -= moved
			case f.wrote >= r.keptFirst:
				f.wrote = gaps[host]
			}
		}
	}
	r.at -= moved
	r.history.Events, r.causes = append(kept, events[to:]...), append(causes, r.causes[to:]...)
}
