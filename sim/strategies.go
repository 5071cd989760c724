package sim

import (
	"strconv"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Kinds of action that aim: at the worst set of hosts, or at the rhythm of a protocol's own timeouts.
func aimedKinds() []plan.Kind {
	return []plan.Kind{
		{Name: "split", Doc: "nothing passes between a set of hosts and all others, in both directions; inside the set everything does", Fields: []plan.Field{
			{Name: "hosts", Type: plan.HostsField, Required: true, Symbolic: true, Doc: "the set"}, fieldFor}},
		{Name: "flap", Doc: "a link goes down and comes up with a period, in both directions", Fields: []plan.Field{
			fieldFrom, fieldTo, fieldFor,
			{Name: "period", Type: plan.DurationField, Min: 20, Max: longestUs, Doc: "from one outage to the next"},
			{Name: "of", Type: plan.TextField, Doc: "in place of period: the timeout of the program whose length it is"},
			{Name: "phase", Type: plan.NumberField, Max: 99, Doc: "how far into the period the action begins, in per cent: an outage begins at 0; absent: 0"},
			{Name: "down", Type: plan.NumberField, Min: 1, Max: 99, Doc: "share of the period that the link is down, in per cent; absent: 50"}}},
	}
}

func (w *World) installAimed() {
	w.fault("split", ActionHandler{
		Do:   func(w *World, a *Act) string { return w.eachBorder(a, w.net.Cut) },
		Undo: func(w *World, a *Act) { w.eachBorder(a, func(from, to int32) { w.net.Mend(w.now, from, to) }) }})
	w.fault("flap", ActionHandler{Do: actFlap, Undo: undoFlap})
}

// eachBorder does something to every link between the hosts of an action and the others.
func (w *World) eachBorder(a *Act, do func(from, to int32)) string {
	inside := a.Hosts("hosts")
	if a.Error != nil {
		return ""
	}
	in := make([]bool, len(w.hosts))
	for _, h := range inside {
		in[h.index] = true
	}
	others := false
	for _, h := range inside {
		for _, o := range w.hosts {
			if !in[o.index] {
				others = true
				do(h.index, o.index)
				do(o.index, h.index)
			}
		}
	}
	if !others {
		return "nobody is outside of the set"
	}
	return ""
}

// timeout is one of the program's, by name.
type timeout struct {
	name string
	ns   int64
}

// SetTimeout tells the length of one of the program's timeouts, for faults that go by it. A scenario calls it in Build.
func (w *World) SetTimeout(name string, ns int64) { w.timeouts = append(w.timeouts, timeout{name, ns}) }

func (w *World) timeoutNamed(name string) int64 {
	for _, t := range w.timeouts {
		if t.name == name {
			return t.ns
		}
	}
	return 0
}

// flap is a link that goes up and down.
type flap struct {
	action       int
	from, to     []*Host
	downNs, upNs int64
	down         bool
}

func actFlap(w *World, a *Act) string {
	from, to := a.Hosts("from"), a.Hosts("to")
	period := a.DurationNs("period", 0)
	name := a.Word("of", "")
	if name != "" {
		period = w.timeoutNamed(name)
	}
	phase, share := a.Number("phase", 0), a.Number("down", 50)
	switch {
	case a.Error != nil:
		return ""
	case period <= 0 && name != "":
		return "no timeout is called " + name
	case period <= 0:
		return "it needs a period, or of"
	}
	f := &flap{action: a.Index, from: from, to: to, downNs: max(1, period*share/100)}
	f.upNs = max(1, period-f.downNs)
	w.flaps = append(w.flaps, f)
	if into := period * phase / 100; into < f.downNs {
		w.flapDown(f, f.downNs-into)
	} else {
		w.flapLater(f, period-into)
	}
	if name != "" {
		c := a.concrete()
		delete(c.Params, "of")
		c.Params["period"] = plan.FormatDurationUs(period / 1000)
		w.Resolved(a.ID, c)
		a.told = true
	}
	return ""
}

// flapDown takes the link down for a while.
func (w *World) flapDown(f *flap, ns int64) {
	f.down = true
	*w.Stat("flaps")++
	w.eachFlap(f, w.net.Cut)
	w.flapLater(f, ns)
}

// flapLater turns the link over after a while, unless the storm or the action is over by then.
func (w *World) flapLater(f *flap, ns int64) {
	w.At(w.now+ns, decide.HashString("flap"), uint64(f.action), func() {
		switch {
		case w.calm || f.from == nil:
		case f.down:
			w.flapUp(f)
			w.flapLater(f, f.upNs)
		default:
			w.flapDown(f, f.downNs)
		}
	})
}

func (w *World) flapUp(f *flap) {
	f.down = false
	w.eachFlap(f, func(from, to int32) { w.net.Mend(w.now, from, to) })
}

func (w *World) eachFlap(f *flap, do func(from, to int32)) {
	for _, x := range f.from {
		for _, y := range f.to {
			if x != y {
				do(x.index, y.index)
				do(y.index, x.index)
			}
		}
	}
}

func undoFlap(w *World, a *Act) {
	for _, f := range w.flaps {
		if f.action == a.Index && f.from != nil {
			if f.down {
				w.flapUp(f)
			}
			f.from = nil
		}
	}
}

// crashText is the line of the core that does what a crash at an operation of a boot did: from the boot on it waits for that operation.
func crashText(h *Host, boot int32, n int64, power bool, downNs int64) plan.Action {
	a := plan.Action{Kind: "crash-op", AtUs: plan.Int64(h.bootedAt / 1000), Params: plan.Params{"host": h.spec.ID, "n": strconv.FormatInt(n, 10), "boot": strconv.FormatInt(int64(boot), 10)}}
	if power {
		a.Params["how"] = "power"
	}
	if downNs >= 0 {
		a.Params["down"] = plan.FormatDurationUs(downNs / 1000)
	}
	return a
}
