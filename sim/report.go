package sim

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// report collects what the verdict will say.
type report struct {
	broken       []plan.Broken
	finding      bool
	declarations []Declaration
	ended        []plan.Stopped
	refused      []plan.Refused
	resolved     []plan.Resolved
	evaluated    counters
	sometimes    counters
	stats        counters
}

func (r *report) reset() {
	r.broken, r.finding, r.ended, r.refused, r.resolved = nil, false, nil, nil, nil
	r.declarations = r.declarations[:0]
	r.evaluated.reset()
	r.sometimes.reset()
	r.stats.reset()
}

func (r *report) stopped(h *Host, nowNs int64, kind DownKind, err error) {
	if len(r.ended) < 64 {
		r.ended = append(r.ended, plan.Stopped{Host: h.spec.ID, AtUs: plan.Int64(nowNs / 1000), AtBoot: kind == RefusedToStart, Error: err.Error()})
	}
}

// counters are named int64 values with stable addresses.
type counters struct {
	names  []string
	values []*int64
	next   int // where the name after the one asked for last is: each run asks for them in the same order
}

func (c *counters) reset() {
	for _, v := range c.values {
		*v = 0
	}
	c.next = 0
}

func (c *counters) get(name string) *int64 {
	if c.next < len(c.names) && c.names[c.next] == name {
		c.next++
		return c.values[c.next-1]
	}
	if i := slices.Index(c.names, name); i >= 0 {
		c.next = i + 1
		return c.values[i]
	}
	v := new(int64)
	c.names, c.values = append(c.names, name), append(c.values, v)
	return v
}

func (c *counters) export() map[string]int64 {
	n := 0
	for _, v := range c.values {
		if *v != 0 {
			n++
		}
	}
	m := make(map[string]int64, n)
	for i, name := range c.names {
		if *c.values[i] != 0 {
			m[name] = *c.values[i]
		}
	}
	return m
}

// Evaluated returns the counter of evaluations of an invariant. Fetch it once, in Attach; it stays valid.
func (w *World) Evaluated(invariant string) *int64 { return w.report.evaluated.get(invariant) }

// Sometimes returns the counter of a sometimes-condition: *w.Sometimes("name")++ says that it held. Fetch it once, in
// Attach; it stays valid. It panics for a name that is missing in a catalogue that lists any (Catalogue.Sometimes).
func (w *World) Sometimes(name string) *int64 {
	list := w.catalogue.Sometimes
	if len(list) > 0 && !slices.ContainsFunc(list, func(d SometimesDoc) bool { return d.Name == name }) {
		panic("sim: sometimes-condition " + name + " is not declared: add it to Catalogue.Sometimes")
	}
	return w.report.sometimes.get(name)
}

// Stat returns a counter of the verdict's statistics.
func (w *World) Stat(name string) *int64 { return w.report.stats.get(name) }

// Declare excuses violations as declared hazards in this run.
func (w *World) Declare(d ...Declaration) {
	w.report.declarations = append(w.report.declarations, d...)
}

// Met reports whether the declared hazard with that id was met in this run.
func (w *World) Met(hazard string) bool {
	for i := range w.report.broken {
		if w.report.broken[i].Hazard == hazard {
			return true
		}
	}
	return false
}

// Violate reports a broken invariant: its name, a fixed word for the kind of evidence, and one sentence with offsets, epochs
// and hosts. The run ends, unless a declaration covers the evidence: then it goes on and the verdict names the hazard.
// It panics for a name that is missing in a catalogue that lists any (Catalogue.Invariants).
func (w *World) Violate(invariant, evidence, detail string) {
	list := w.catalogue.Invariants
	if len(list) > 0 && !slices.ContainsFunc(list, func(d InvariantDoc) bool { return d.Name == invariant }) {
		panic("sim: invariant " + invariant + " is not declared: add it to Catalogue.Invariants")
	}
	b := plan.Broken{Invariant: invariant, Evidence: evidence, Detail: detail, AtUs: plan.Int64(w.now / 1000), Event: plan.Int64(w.eventID)}
	for i := range w.report.declarations {
		d := &w.report.declarations[i]
		if d.Invariant == invariant && d.Covers(evidence, detail) {
			b.Hazard = d.ID
			for _, have := range w.report.broken {
				if have.Hazard == d.ID {
					return
				}
			}
			w.report.broken = append(w.report.broken, b)
			if w.opts.Trace != nil {
				w.traceBroken(&b, "hazard", d.ID+": "+detail)
			}
			return
		}
	}
	if w.report.finding {
		return // the run is over: the first finding is the one that it is about
	}
	if w.opts.Trace != nil {
		w.traceBroken(&b, "violation", invariant+": "+detail)
	}
	w.report.broken = append([]plan.Broken{b}, w.report.broken...)
	w.report.finding = true
	w.outcome, w.done = plan.Violation, true
}

func (w *World) spin(h *Host, l *lane) {
	w.outcome, w.done = plan.Spin, true
	w.report.broken = append([]plan.Broken{{
		Invariant: "spin", Evidence: l.name, AtUs: plan.Int64(w.now / 1000), Event: plan.Int64(w.eventID),
		Detail: fmt.Sprintf("lane %s of %s was woken %d times in a row, each less than a millisecond after the one before, with no input between",
			l.name, h.spec.ID, spinLimit),
	}}, w.report.broken...)
}

func (w *World) tooLong() {
	if w.mostEvents < maxEvents { // asked for in the events of a verdict, of which there are fewer
		left := w.opts.MostEvents - w.stats.inputs - w.stats.disk
		w.givenUp, w.done = left < 0, left < 0
		w.mostEvents, w.lookAt = min(maxEvents, w.eventID+max(0, left)), 0
		return
	}
	w.outcome, w.done = plan.Spin, true
	w.report.broken = append([]plan.Broken{{
		Invariant: "bounded-work", Evidence: "events", AtUs: plan.Int64(w.now / 1000), Event: plan.Int64(w.eventID),
		Detail: fmt.Sprintf("the run did not end after %d events", maxEvents),
	}}, w.report.broken...)
}

// statistics are the world's own counts.
type statistics struct {
	inputs, disk, sent, boots, syncs                                              int64
	kills, powerLosses, exits, fatals, refusals, insideHandler, cutsAtOp, actions int64
	spurious, latePosts, lateWakes                                                int64
}

func (w *World) verdict() *plan.Verdict {
	s, f := &w.stats, &w.net.Faults
	put := func(name string, v int64) {
		if v != 0 {
			*w.Stat(name) += v
		}
	}
	put("inputs", s.inputs)
	put("disk-completions", s.disk)
	put("messages", s.sent)
	put("boots", s.boots)
	put("fsyncs", s.syncs)
	put("crashes", s.kills+s.powerLosses)
	put("power-losses", s.powerLosses)
	put("crashes-in-handler", s.insideHandler)
	put("crashes-at-operation", s.cutsAtOp)
	put("fatal-stops", s.fatals)
	put("refused-starts", s.refusals)
	put("graceful-stops", s.exits)
	put("fault-actions", s.actions)
	put("spurious-wakes", s.spurious)
	put("late-posts", s.latePosts)
	put("late-wakes", s.lateWakes)
	for _, h := range w.hosts {
		put("disk-stalls", h.volume.Stalls())
		d := h.volume.Struck()
		put("sectors-lost", d.SectorsLost)
		put("sectors-misdirected", d.SectorsMisdirected)
		put("fsyncs-kept-dirty", d.KeptDirty)
		put("read-only-refusals", d.ReadOnly)
		put("read-errors", d.ReadErrors)
		put("write-errors", d.WriteErrors)
		put("fsync-errors", d.SyncErrors)
		put("no-space", d.NoSpace)
		put("slow-fsyncs", d.SlowSyncs)
		put("names-out-of-order", d.NamesOutOfOrder)
		put("sectors-with-holes", d.Holes)
	}
	put("net-resets", f.Resets)
	put("net-losses", f.Losses)
	put("net-lost", f.Lost)
	put("net-duplicates", f.Duplicates)
	put("net-reorders", f.Reorders)
	put("net-tails", f.Tails)
	put("net-held", f.Held)
	put("net-refused", f.Refused)
	put("net-half-open", f.HalfOpen)
	put("net-filtered", f.Filtered)
	put("net-clogged", f.Clogged)
	put("net-dropped", f.Dropped)
	put("net-corrupted", f.Corrupted)
	put("net-queued", f.Queued)
	put("net-overflows", f.Overflows)
	put("net-cross-rack", f.Crossed)
	fold, draws := w.source.Digest()
	w.hash = digest.Word(w.hash, fold)
	return &plan.Verdict{
		Outcome: w.outcome, Broken: w.report.broken, Waiting: w.waitsFor,
		TraceHash: plan.Hex64(w.hash), BehaviourHash: plan.Hex64(w.behaviour.hash),
		Events: plan.Int64(s.inputs + s.disk), VirtualUs: plan.Int64(w.now / 1000), Decisions: plan.Int64(draws),
		Stats: w.report.stats.export(), Sometimes: w.report.sometimes.export(), Evaluated: w.report.evaluated.export(),
		Refused: w.report.refused, Resolved: w.report.resolved, Stopped: w.report.ended,
	}
}
