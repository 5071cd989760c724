package sim

import (
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// mostLanes is how many lanes of a process a scheduler tells apart; those behind share the last.
const mostLanes = 16

// laneCount is how many queues a laneQueue needs: the world's own, two for the lanes of every host (what comes to them, and what they have
// begun), every link.
func (w *World) laneCount() int { return int(w.firstLink()) + len(w.hosts)*len(w.hosts) }

func (w *World) firstLink() int32 { return 1 + 2*int32(len(w.hosts))*mostLanes }

// laneOf is the queue of an event.
func (w *World) laneOf(e *event) int32 {
	switch e.kind {
	case eventPacket:
		from, to := w.net.Route(e.ref)
		return w.firstLink() + from*int32(len(w.hosts)) + to
	case eventInput, eventWake:
		return 1 + e.host*mostLanes + min(e.lane, mostLanes-1)
	case eventCommit, eventResume:
		return 1 + (int32(len(w.hosts))+e.host)*mostLanes + min(e.lane, mostLanes-1)
	}
	return 0
}

// laneName is the identity of a queue in decisions.
func (w *World) laneName(lane int32) (entity, key uint64) {
	h, l, from, to := w.laneParts(lane)
	switch {
	case h >= 0:
		return w.hosts[h].hash, uint64(l) + 1
	case from >= 0:
		return decide.Combine(w.hosts[from].hash, w.hosts[to].hash), 0
	}
	return 0, 0
}

// laneParts is what a queue belongs to: a host's lane, a link, or neither.
func (w *World) laneParts(lane int32) (host, number, from, to int32) {
	n := int32(len(w.hosts))
	switch {
	case lane == 0:
		return -1, 0, -1, -1
	case lane < w.firstLink():
		return (lane - 1) / mostLanes % n, (lane - 1) % mostLanes, -1, -1
	}
	link := lane - w.firstLink()
	return -1, 0, link / n, link % n
}

// usePolicy sets the scheduler that the plan asks for.
func (w *World) usePolicy() {
	s := &w.plan.Scheduler
	w.chooseFrom = int64(s.FromUs) * 1000
	switch s.Policy {
	case "pct":
		w.pct.start(w, max(1, s.Depth), max(1, s.Steps), s.WindowUs*1000)
		w.policy = &w.pct
	case "uniform":
		w.uniform.start(w, s.WindowUs*1000)
		w.policy = &w.uniform
		w.faultsLeft = s.Faults
	}
}

// calmPolicy ends what a scheduler does to time.
func (w *World) calmPolicy() {
	w.pct.calm()
	w.uniform.calm()
}

// choiceFault is a fault that takes the place of an event at a choice.
type choiceFault struct {
	kind byte // 'k': the process of host dies, and starts again; 'p': host loses power with all that it has not flushed, and starts again; 'l': the same, and the operation that its lane is in has no effect; 'm': the next message of the link is lost, and its connection with it; 'c': the link is cut until the calm
	host int32
	from int32
	to   int32
}

// choiceFaults lists the faults that may take the place of an event, as far as the plan grants any.
//
// At an inner choice, where a handler is under way, that is the end of its process alone: the operations that it has issued go no further.
func (w *World) choiceFaults(open []int32, inner bool) []choiceFault {
	list := w.choosable[:0]
	switch {
	case w.faultsLeft <= 0:
	case inner:
		if host, _, _, _ := w.laneParts(open[0]); w.hosts[host].up {
			list = append(list, choiceFault{kind: 'k', host: host})
			list = append(list, choiceFault{kind: 'l', host: host, from: (open[0] - 1) % mostLanes})
			if w.plan.Scheduler.Power {
				list = append(list, choiceFault{kind: 'p', host: host})
			}
		}
	default:
		for _, lane := range open {
			if _, _, from, to := w.laneParts(lane); from >= 0 {
				list = append(list, choiceFault{kind: 'm', from: from, to: to})
			}
		}
		for _, h := range w.hosts {
			if h.up && !h.Booting() {
				list = append(list, choiceFault{kind: 'k', host: h.index})
				if w.plan.Scheduler.Power {
					list = append(list, choiceFault{kind: 'p', host: h.index})
				}
			}
		}
		for _, a := range w.hosts {
			for _, b := range w.hosts {
				if a.index < b.index && !w.net.IsCut(a.index, b.index) {
					list = append(list, choiceFault{kind: 'c', from: a.index, to: b.index})
				}
			}
		}
	}
	w.choosable = list
	return list
}

// strike makes such a fault happen.
func (w *World) strike(f choiceFault) {
	w.faultsLeft--
	w.eventID++
	w.fold(uint64(f.kind)<<32 ^ uint64(f.host)<<16 ^ uint64(f.from)<<8 ^ uint64(f.to))
	*w.Stat("chosen-faults")++
	if w.opts.Trace != nil {
		w.traceWorld(nil, "chosen", w.describeFault(f))
	}
	switch f.kind {
	case 'k':
		w.crashHost(w.hosts[f.host], false, inputCostNs)
	case 'p':
		w.takesAll = true
		w.crashHost(w.hosts[f.host], true, inputCostNs)
		w.takesAll = false
	case 'l':
		h := w.hosts[f.host]
		if first, ok := h.lanes[f.from].first(); ok && first.kind == effectDisk {
			if site, kind, key, value, ok := h.volume.CutNothing(vdisk.OpID(first.num)); ok {
				w.source.Force(site, h.hash, kind, key, value)
			}
		}
		w.crashHost(h, false, inputCostNs)
	case 'm':
		w.uniform.lose(f)
	case 'c':
		w.net.Cut(f.from, f.to)
		w.net.Cut(f.to, f.from)
	}
}

func (w *World) describeFault(f choiceFault) string {
	switch f.kind {
	case 'k':
		return "kill " + w.hosts[f.host].spec.ID
	case 'p':
		return "power " + w.hosts[f.host].spec.ID
	case 'l':
		return "kill " + w.hosts[f.host].spec.ID + ", its operation lost"
	case 'm':
		return "lose " + w.hosts[f.from].spec.ID + ">" + w.hosts[f.to].spec.ID
	}
	return "cut " + w.hosts[f.from].spec.ID + "-" + w.hosts[f.to].spec.ID
}

// lose takes the head of a link away: a datagram alone, a message of a connection together with the connection.
func (u *Uniform) lose(f choiceFault) {
	w := u.w
	lane := w.firstLink() + f.from*int32(len(w.hosts)) + f.to
	it := u.queue.take(lane)
	e := w.events[it.Event]
	w.events[it.Event].msg = nil
	w.free = append(w.free, it.Event)
	w.net.Lose(w.now, e.ref, w.eventID)
}

// What Options.Choice may return in place of an option.
const (
	Leave int64 = -1 // to the decisions of the plan
	Stop  int64 = -2 // the run ends here
)

// Choice is a point of a run at which more than one thing could be next, as Options.Choice sees it. It is good during the call.
type Choice struct {
	Step    int64 // from 1
	Events  int   // the first so many options are events, in the order of their time
	Options []Option
	// Inner: a handler is under way, whose operations complete one after the other; the only other option is that its process dies.
	Inner bool
	w     *World
}

// Option is one of the things that could be next.
type Option struct {
	Name string // "n1/raft", "n1>n2", "kill n1"
	// Hosts are those that it concerns, by index; what it does commutes with everything that concerns none of them. -1: it may concern all.
	Hosts [2]int32
	Fault bool
}

// describePacket says what is first on a link.
func (w *World) describePacket(lane int32) string {
	e := &w.events[w.uniform.queue.lanes[lane].items[0].Event]
	if m, ok := w.net.Payload(e.ref).(Message); ok {
		return " " + messageName(unsealed(m))
	}
	return ""
}

// describeOwn names the world's own next event.
func (w *World) describeOwn() string {
	switch e := &w.events[w.uniform.queue.lanes[0].items[0].Event]; e.kind {
	case eventBoot:
		return "boot " + w.hosts[e.host].spec.ID
	case eventAction, eventUndo:
		return "action " + w.actions[e.ref].act.ID
	}
	return "world"
}

// tellChoice asks Options.Choice.
func (w *World) tellChoice(open []int32, faults []choiceFault, inner bool) int64 {
	c := Choice{Step: w.uniform.choices, Events: len(open), Inner: inner, w: w}
	for _, lane := range open {
		if lane == 0 {
			c.Options = append(c.Options, Option{Name: w.describeOwn(), Hosts: [2]int32{-1, -1}})
			continue
		}
		host, l, from, to := w.laneParts(lane)
		if host >= 0 {
			h := w.hosts[host]
			name := h.spec.ID
			if int(l) < len(h.lanes) {
				name += "/" + h.lanes[l].name
			}
			c.Options = append(c.Options, Option{Name: name, Hosts: [2]int32{host, host}})
			continue
		}
		c.Options = append(c.Options, Option{Name: w.hosts[from].spec.ID + ">" + w.hosts[to].spec.ID + w.describePacket(lane), Hosts: [2]int32{to, to}})
	}
	for _, f := range faults {
		o := Option{Name: w.describeFault(f), Hosts: [2]int32{f.from, f.to}, Fault: true}
		if f.kind == 'k' || f.kind == 'l' || f.kind == 'p' {
			o.Hosts = [2]int32{f.host, f.host}
		}
		c.Options = append(c.Options, o)
	}
	return w.opts.Choice(&c)
}

// State is the hash of what the future of the run depends on, as the protocol views of the processes have it: without absolute times and
// counters. Beside those views it has, for each host, whether it runs and how long its files are in the cache and on the platter; for each
// link the kinds and keys of the messages under way, and whether it is cut; for each lane what waits for it and how many choices it has had. The virtual time, and how far
// away each pending event is, count in units of the quantum: what the program knows of times beside that does not. A quantum of zero leaves time out: then a program that comes
// nearer to a timeout by waking up for nothing is taken to stand still.
func (c *Choice) State(quantumNs int64) uint64 {
	w := c.w
	hash := digest.Word(0, uint64(w.faultsLeft))
	if quantumNs > 0 {
		hash = digest.Word(hash, uint64(w.now/quantumNs))
	}
	for _, h := range w.hosts {
		up := uint64(0)
		if h.up {
			up = 1
		}
		hash = digest.Word(hash, up)
		if h.process != nil {
			w.scratch = h.process.AppendState(w.scratch[:0], ProtocolView)
			hash = digest.Bytes(hash, w.scratch)
		}
		w.scratch = h.volume.AppendShape(w.scratch[:0])
		hash = digest.Bytes(hash, w.scratch)
		if w.plan.Scheduler.Power && w.faultsLeft > 0 { // what is on the platter may be all that the host has in the next moment
			w.scratch = h.volume.AppendPlatter(w.scratch[:0])
			hash = digest.Bytes(hash, w.scratch)
		}
		for i := range h.lanes {
			l := &h.lanes[i]
			hash = digest.Word(hash, uint64(len(l.queue)-l.head)<<32^uint64(len(l.journal)-l.next))
		}
	}
	return w.hashPending(hash, quantumNs)
}

// hashPending adds what is under way.
func (w *World) hashPending(hash uint64, quantumNs int64) uint64 {
	q := &w.uniform.queue
	for lane := 1; lane < len(q.lanes); lane++ {
		if n := w.uniform.taken[lane]; n > 0 { // a wake-up for nothing is no way back to where one was
			hash = digest.Word(hash, uint64(lane)<<32^uint64(n))
		}
		if len(q.lanes[lane].items) == 0 {
			continue
		}
		hash = digest.Word(hash, uint64(lane))
		w.order = append(w.order[:0], q.lanes[lane].items...)
		for n := len(w.order); n > 0; n-- { // in order of time: a heap is not
			first := 0
			for i := 1; i < n; i++ {
				if less(&w.order[i], &w.order[first]) == 1 {
					first = i
				}
			}
			e := &w.events[w.order[first].Event]
			if quantumNs > 0 {
				hash = digest.Word(hash, uint64(max(0, w.order[first].At-w.now)/quantumNs))
			}
			w.order[first] = w.order[n-1]
			v := uint64(e.kind)
			if e.kind == eventPacket {
				v ^= w.net.Content(e.ref)
			} else if e.msg != nil {
				v ^= uint64(e.msg.Kind())<<40 ^ e.msg.Key()<<8
			}
			hash = digest.Word(hash, v)
		}
	}
	for _, a := range w.hosts {
		for _, b := range w.hosts {
			if w.net.IsCut(a.index, b.index) {
				hash = digest.Word(hash, uint64(a.index)<<32^uint64(b.index))
			}
		}
	}
	return hash
}
