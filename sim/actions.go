package sim

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// ActionHandler makes an action of a registered kind happen and, for kinds that last, takes it back.
//
// An action lasts as long as its parameter "for" says, a DurationField of that name; without one it lasts until the calm. A
// parameter that can't be read (Act.Error) counts as a refusal, whatever Do returns.
type ActionHandler struct {
	// Do makes it happen. It returns why that was refused, in words for the verdict, and has then changed nothing; "" means
	// that it happened.
	Do func(w *World, a *Act) (refused string)
	// Undo takes it back: when "for" is over, or when the calm begins, whichever comes first, and exactly once. nil is for
	// kinds that do not last. It must not mind that hosts crashed or booted in between.
	Undo func(w *World, a *Act)
	// Rates says that it changes rates of chances, other than by ending the storm. Chances at a rate of zero count as occurrences then, so that
	// the decisions of such a run can be played, see decide.Source.CountIdle.
	Rates bool

	healed bool // the calm takes it back without Undo: the core's own kinds
}

// Act is an action of the plan with its parameters parsed.
type Act struct {
	plan.Action
	w     *World
	image *vdisk.Image // restore: the copy that was taken
	Index int
	Error error // first parameter that could not be read

	symbols []symbolic // what symbolic targets came to
	told    bool       // what it came to is in the verdict already
}

// action is an action of this run.
type action struct {
	act     Act
	handler ActionHandler
	on      bool // done and not undone
}

// Handle registers what a kind of action does in this run. Scenarios call it in Build for kinds of their own, which the
// catalogue's registry must know; it panics for one that it does not know, since no plan could hold such an action.
func (w *World) Handle(kind string, h ActionHandler) {
	if w.registry.Action(kind) == nil {
		panic("sim: Handle(" + kind + "): no such kind of action: add it to Catalogue.Registry with AddAction")
	}
	if h.Do == nil {
		panic("sim: Handle(" + kind + "): ActionHandler.Do is nil")
	}
	w.handlers[kind] = h
}

// Handler returns what a kind of action does so far: a scenario that knows a reason to refuse a fault of the core puts its own handler
// before it.
func (w *World) Handler(kind string) ActionHandler { return w.handlers[kind] }

// Number returns an integer parameter, or the default when it is absent.
func (a *Act) Number(field string, absent int64) int64 {
	s, ok := a.Params[field]
	if !ok {
		return absent
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		a.fail(field, "not a whole number")
	}
	return v
}

// DurationNs returns a duration parameter in nanoseconds, or the default when it is absent.
func (a *Act) DurationNs(field string, absent int64) int64 {
	s, ok := a.Params[field]
	if !ok {
		return absent
	}
	us, err := plan.ParseDurationUs(s)
	if err != nil || us > foreverNs/1000 || us < -foreverNs/1000 {
		a.fail(field, "not a duration such as 20ms")
		return absent
	}
	return us * 1000
}

// Word returns a parameter as it stands, or the default when it is absent.
func (a *Act) Word(field, absent string) string {
	if s, ok := a.Params[field]; ok {
		return s
	}
	return absent
}

func (a *Act) fail(field, why string) {
	if a.Error == nil {
		a.Error = fmt.Errorf("plan: action %s: %s=%q: %s", a.ID, field, a.Params[field], why)
	}
}

// scheduleActions puts the plan's actions and host starts into the queue.
func (w *World) scheduleActions() error {
	for i := range w.plan.Actions {
		pa := w.plan.Actions[i]
		h, ok := w.handlers[pa.Kind]
		if !ok {
			return fmt.Errorf("plan: actions[%d].kind %q is not known to scenario %s: see `list faults`", i, pa.Kind, w.plan.Scenario)
		}
		if h.Rates {
			w.source.CountIdle()
		}
		w.actions = append(w.actions, action{act: Act{Action: pa, w: w, Index: i}, handler: h})
		w.copyAhead(i)
		w.schedule(int64(pa.AtUs)*1000, event{kind: eventAction, ref: int32(i), cause: -1}, actionHash(pa.ID), 0)
	}
	for _, h := range w.hosts {
		w.schedule(int64(h.spec.StartUs)*1000, event{kind: eventBoot, host: h.index, cause: -1}, h.hash, 0)
	}
	w.schedule(int64(w.plan.StormUs)*1000, event{kind: eventCalm, cause: -1}, 0, 0)
	return nil
}

func (w *World) runAction(i int) {
	a := &w.actions[i]
	w.eventID++
	w.fold(actionHash(a.act.ID))
	why := a.handler.Do(w, &a.act)
	if a.act.Error != nil {
		why = a.act.Error.Error()
	}
	if why != "" {
		w.refuse(&a.act, why)
		return
	}
	a.on, w.coverage.stale = true, true
	w.stats.actions++
	*w.Stat("fault-" + a.act.Kind)++
	text := a.act.Action
	if len(a.act.symbols) > 0 {
		if text = a.act.concrete(); !a.act.told {
			w.Resolved(a.act.ID, text)
		}
	}
	if w.opts.Trace != nil {
		w.traceAction(&a.act, "action", w.catalogue.inTrace(&text))
	}
	if d := a.act.DurationNs("for", 0); d > 0 && a.handler.Undo != nil {
		w.schedule(w.now+d, event{kind: eventUndo, ref: int32(i), cause: w.eventID}, actionHash(a.act.ID), 1)
	}
}

func (w *World) undoAction(i int) {
	a := &w.actions[i]
	if !a.on {
		return // the calm took it back
	}
	a.on, w.coverage.stale = false, true
	w.eventID++
	if w.opts.Trace != nil {
		w.traceAction(&a.act, "undo", w.catalogue.inTrace(&a.act.Action))
	}
	a.handler.Undo(w, &a.act)
}

// undoAll takes back what still lasts when the storm ends. The calm itself heals what the core's own kinds do.
func (w *World) undoAll() {
	for i := range w.actions {
		a := &w.actions[i]
		if a.on && a.handler.Undo != nil && !a.handler.healed {
			a.handler.Undo(w, &a.act)
		}
		a.on = false
	}
	w.coverage.stale = true
}

func (w *World) refuse(a *Act, why string) {
	if w.opts.Trace != nil {
		w.traceAction(a, "refused", w.registry.FormatAction(&a.Action)+": "+why)
	}
	w.report.refused = append(w.report.refused, plan.Refused{Action: a.ID, Reason: why})
}
