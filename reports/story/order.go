package story

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
)

// order is the happened-before relation of a history: the program order of each lane, messages and posts, what a handler did, a crash
// and a boot as barriers of their host (what a boot reads is what all lanes of the life before had written), and an action of the plan
// or a verdict on an invariant against what happens on the hosts that it names: who acts on a host or looks at it does so at a point of
// its life. Everything else is concurrent, whatever the clock of the world says.
type order struct {
	h       *history.History
	thread  []int32   // of each event; -1: a line of the world that nothing comes after
	place   []int32   // in its thread, from 1
	clocks  [][]int32 // vector clocks
	depth   []int32   // longest chain of turning events that ends here
	threads int32
	touched [][]int32 // hosts that an action acts on, by event; nil for all others
}

// threadKey names a thread: a lane of a host.
type threadKey struct {
	host int32
	lane string
}

func newOrder(h *history.History) *order {
	n := len(h.Events)
	o := &order{h: h, thread: make([]int32, n), place: make([]int32, n), clocks: make([][]int32, n), depth: make([]int32, n),
		touched: make([][]int32, n)}
	o.threadsOf()
	last := make(map[int32]int32, o.threads) // event, by thread
	base := make([]int32, len(h.Hosts))      // last barrier of each host, -1: none
	lanes := make([][]int32, len(h.Hosts))   // threads of each host that have events since the barrier
	counts := make([]int32, o.threads)
	for i := range base {
		base[i] = -1
	}
	for i := range h.Events {
		e := &h.Events[i]
		at := int32(i)
		if e.Cause >= 0 {
			o.join(at, e.Cause)
		}
		hosts := o.touched[i]
		if e.Host >= 0 {
			hosts = []int32{e.Host}
		}
		barrier := e.Host < 0 || isBarrier(e.Kind)
		for _, host := range hosts {
			if base[host] >= 0 {
				o.join(at, base[host])
			}
			if !barrier {
				continue
			}
			for _, thread := range lanes[host] {
				o.join(at, last[thread])
			}
			lanes[host], base[host] = lanes[host][:0], at
		}
		t := o.thread[i]
		if t < 0 {
			o.own(at)
			continue
		}
		if before, ok := last[t]; ok {
			o.join(at, before)
		} else if e.Host >= 0 && !barrier {
			lanes[e.Host] = append(lanes[e.Host], t)
		}
		if e.Host >= 0 && !barrier && !slices.Contains(lanes[e.Host], t) {
			lanes[e.Host] = append(lanes[e.Host], t)
		}
		last[t] = at
		counts[t]++
		o.place[i] = counts[t]
		o.own(at)
	}
	return o
}

// isBarrier tells whether an event concerns all lanes of its host.
func isBarrier(k history.Kind) bool {
	return k == history.Down || k == history.Lost || k == history.Boot
}

// threadsOf numbers lanes and actions in the order of their first event, which changes no answer.
func (o *order) threadsOf() {
	threads := map[threadKey]int32{}
	for i := range o.h.Events {
		e := &o.h.Events[i]
		o.thread[i] = -1
		switch {
		case e.Host >= 0:
			key := threadKey{e.Host, e.Lane}
			t, ok := threads[key]
			if !ok {
				t = o.threads
				threads[key] = t
				o.threads++
			}
			o.thread[i] = t
		case e.Kind == history.Action || e.Kind == history.Undo:
			o.thread[i] = o.threads
			o.threads++
			o.touched[i] = o.named(e.Action)
		case e.Kind == history.Violation || e.Kind == history.Hazard:
			o.thread[i] = o.threads
			o.threads++
			for word := range strings.FieldsSeq(e.Text) {
				if host := slices.Index(o.h.Hosts, bare(word)); host >= 0 && !slices.Contains(o.touched[i], int32(host)) {
					o.touched[i] = append(o.touched[i], int32(host))
				}
			}
		case e.Kind == history.Calm:
			o.thread[i] = o.threads
			o.threads++
			for host := range o.h.Hosts {
				o.touched[i] = append(o.touched[i], int32(host))
			}
		}
	}
}

// named lists the hosts that the parameters of an action name.
func (o *order) named(id string) (hosts []int32) {
	for i := range o.h.Plan.Actions {
		a := &o.h.Plan.Actions[i]
		if a.ID != id {
			continue
		}
		for host, name := range o.h.Hosts {
			//nodet:allow maprange whichever parameter names it
			for _, value := range a.Params {
				if listed(value, name) {
					hosts = append(hosts, int32(host))
					break
				}
			}
		}
	}
	return hosts
}

// listed reports whether a comma separated value has the name.
func listed(value, name string) bool {
	for part := range strings.SplitSeq(value, ",") {
		if strings.TrimSpace(part) == name {
			return true
		}
	}
	return false
}

// join makes an event come after another one.
func (o *order) join(at, before int32) {
	if o.clocks[at] == nil {
		o.clocks[at] = make([]int32, o.threads)
	}
	clock := o.clocks[at]
	for t, n := range o.clocks[before] {
		clock[t] = max(clock[t], n)
	}
	o.depth[at] = max(o.depth[at], o.depth[before])
}

// own counts the event itself.
func (o *order) own(at int32) {
	if o.clocks[at] == nil {
		o.clocks[at] = make([]int32, o.threads)
	}
	if t := o.thread[at]; t >= 0 {
		o.clocks[at][t] = o.place[at]
	}
	if o.h.Events[at].Weight >= history.Turning {
		o.depth[at]++
	}
}

// before reports whether event a happened before event b.
func (o *order) before(a, b int32) bool {
	t := o.thread[a]
	return a != b && t >= 0 && o.clocks[b][t] >= o.place[a]
}
