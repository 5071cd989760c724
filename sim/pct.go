package sim

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// The decisions of schedulers that are not Timed.
var (
	sitePriority = decide.NewSpread("sim/pct-priority", "priority of a lane or link")
	siteChange   = decide.NewSpread("sim/pct-change", "choice at which the lane that would be next falls behind all others")
	siteChoice   = decide.NewSite("sim/choice", "which of the lanes and links whose events are due comes next, 0: the earliest", 0)
)

// PCT is probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): every lane of a process and every link has a random priority,
// and of the events that are due within a window the one whose lane has the highest is next. At depth-1 random choices the lane
// that would be next falls behind all others. A bug that needs d orderings to be as they are is found with a probability of at least
// 1/(n k^(d-1)) for n lanes and k choices.
//
// What is not chosen is late, never early, and by no more than the window: time goes on to that of the chosen event. What a lane has
// begun goes on in its time: effects of a handler, inputs that wait for the lane. The world's own events keep their times. In the calm the
// window is zero.
type PCT struct {
	queue    laneQueue
	windowNs int64
	depth    int64
	names    func(lane int32) (entity, key uint64)
	source   *decide.Source
	events   *[]event
	priority []int64 // by lane, 0: not drawn
	changes  []int64 // choices at which priorities change, ascending
	choices  int64   // so far
	changed  int64   // changes so far
}

func (p *PCT) start(w *World, depth, steps, windowNs int64) {
	p.queue.reset(w.laneCount())
	p.windowNs, p.depth, p.names, p.source, p.events = windowNs, depth, w.laneName, &w.source, &w.events
	p.priority = append(p.priority[:0], make([]int64, w.laneCount())...)
	p.changes, p.choices, p.changed = p.changes[:0], 0, 0
	for i := range depth - 1 {
		p.changes = append(p.changes, 1+p.source.Choose(siteChange, 0, 0, uint64(i), steps))
	}
	slices.Sort(p.changes)
}

// Reset implements Scheduler.
func (p *PCT) Reset() { p.queue.reset(len(p.queue.lanes)) }

// Push implements Scheduler.
func (p *PCT) Push(it Item) { p.queue.push(it) }

// Len implements Scheduler.
func (p *PCT) Len() int { return p.queue.count }

// Pop implements Scheduler.
func (p *PCT) Pop() (Item, bool) {
	open := p.queue.eligible(p.windowNs, *p.events)
	switch len(open) {
	case 0:
		return Item{}, false
	case 1:
		return p.queue.take(open[0]), true
	}
	if local := p.queue.local(p.events); local >= 0 {
		return p.queue.take(local), true
	}
	p.choices++
	best := p.highest(open)
	for len(p.changes) > int(p.changed) && p.changes[p.changed] <= p.choices {
		p.changed++
		p.priority[best] = p.depth - p.changed // below all that are drawn, the later the lower
		best = p.highest(open)
	}
	return p.queue.take(best), true
}

// highest is the lane with the highest priority; of two that are equal the one whose event is earlier in the list.
func (p *PCT) highest(open []int32) (best int32) {
	best = open[0]
	for _, lane := range open {
		if p.priority[lane] == 0 {
			entity, key := p.names(lane)
			p.priority[lane] = p.depth + p.source.Choose(sitePriority, entity, 0, key, 1<<30)
		}
		if p.priority[lane] > p.priority[best] {
			best = lane
		}
	}
	return best
}

// calm is told that the storm is over.
func (p *PCT) calm() { p.windowNs = 0 }
