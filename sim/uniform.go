package sim

import "github.com/kraftsim/kraftsim/sim/decide"

// Uniform lets any event that is due within a window be next, each choice a decision of its own. Where the plan is explicit, every choice
// that it does not list comes out as the earliest event, so that a list of decisions is a schedule: that is what sim/explore makes.
//
// The rules of time are those of PCT: late by no more than the window, never early.
type Uniform struct {
	queue    laneQueue
	windowNs int64
	w        *World
	choices  int64
	taken    []int64 // by queue: how many events were next
}

func (u *Uniform) start(w *World, windowNs int64) {
	u.queue.reset(w.laneCount())
	u.windowNs, u.w, u.choices = windowNs, w, 0
	u.taken = append(u.taken[:0], make([]int64, w.laneCount())...)
}

// Reset implements Scheduler.
func (u *Uniform) Reset() { u.queue.reset(len(u.queue.lanes)) }

// Push implements Scheduler.
func (u *Uniform) Push(it Item) { u.queue.push(it) }

// Len implements Scheduler.
func (u *Uniform) Len() int { return u.queue.count }

// Pop implements Scheduler.
func (u *Uniform) Pop() (Item, bool) {
	open := u.queue.eligible(u.windowNs, u.w.events)
	if len(open) == 0 {
		return Item{}, false
	}
	w := u.w
	if len(open) == 1 && open[0] == 0 || w.calm || w.now < w.chooseFrom {
		return u.queue.take(open[0]), true
	}
	inner := false
	if local := u.queue.local(&w.events); local >= 0 {
		open, inner = append(open[:0], local), true
	}
	faults := w.choiceFaults(open, inner)
	if len(open)+len(faults) == 1 {
		return u.queue.take(open[0]), true
	}
	u.choices++
	name := uint64(len(faults))
	for _, lane := range open {
		entity, key := w.laneName(lane)
		name = decide.Combine(name, entity^key)
	}
	if w.opts.Choice != nil {
		switch v := w.tellChoice(open, faults, inner); v {
		case Leave:
		case Stop:
			w.done = true
			return u.queue.take(open[0]), true
		default:
			w.source.Force(siteChoice, 0, 0, name, v)
		}
	}
	v := w.source.Choose(siteChoice, 0, 0, name, int64(len(open)+len(faults)))
	if v >= int64(len(open)) {
		w.strike(faults[v-int64(len(open))])
		return u.Pop()
	}
	u.taken[open[v]]++
	return u.queue.take(open[v]), true
}

func (u *Uniform) calm() { u.windowNs = 0 }
