package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// ambush fails a node at a step of the protocol: when it, whichever it is, does the n-th thing of a kind from now on. Faults at fixed
// times meet such a step once in a thousand runs.
type ambush struct {
	action int
	id     string // of the action
	on     raft.EventKind
	left   int64 // to let pass, this one included
	waitNs int64
	downNs int64
	how    string
	word   string // of on
}

type ambushes struct{ list []ambush }

// steps are the words of the action for kinds of events.
var steps = []struct {
	word string
	kind raft.EventKind
}{
	{"change-started", raft.VoterChangeStarted}, {"change-ended", raft.VoterChangeEnded}, {"voters-changed", raft.VotersChanged},
	{"kraft-version", raft.KRaftVersionChanged}, {"role", raft.RoleChanged}, {"watermark", raft.HighWatermarkAdvanced},
	{"snapshot-sent", raft.SnapshotOffered}, {"snapshot-stored", raft.SnapshotStored}, {"log-replaced", raft.LogReplaced},
}

func stepWords() (words []string) {
	for _, s := range steps {
		words = append(words, s.word)
	}
	return words
}

// raftEventOf returns the event of a replica, nil for other observations.
func raftEventOf(x sim.Observation) *raft.Event {
	if r, ok := x.(*invariants.RaftObservation); ok {
		return &r.E
	}
	return nil
}

// lay is the action's handler.
func (x *ambushes) lay(_ *sim.World, a *sim.Act) string {
	word := a.Word("on", "")
	for _, s := range steps {
		if s.word == word {
			x.list = append(x.list, ambush{action: a.Index, id: a.ID, on: s.kind, left: max(1, a.Number("n", 1)), waitNs: a.DurationNs("after", 0),
				downNs: a.DurationNs("down", 50*million), how: a.Word("how", "kill"), word: word})
			return ""
		}
	}
	return "on=" + word + " is no step"
}

// heard looks at an event. Only leaders are met, except where the step is not theirs.
func (x *ambushes) heard(c *cluster, h *sim.Host, e *raft.Event) {
	for i := range x.list {
		a := &x.list[i]
		if a.left == 0 || a.on != e.Kind || c.w.Calm() || e.Role != raft.Leader && e.Kind != raft.SnapshotStored && e.Kind != raft.LogReplaced {
			continue
		}
		if a.left--; a.left > 0 {
			continue
		}
		boot, hit := h.Boot(), *a
		c.w.At(c.w.NowNs()+a.waitNs, decide.HashString("ambush"), uint64(a.action), func() { c.strike(h, boot, &hit) })
	}
}

// resolved is the fault of the core that does the same at the same time.
func (a *ambush) resolved(h *sim.Host, nowNs int64) plan.Action {
	as := plan.Action{AtUs: plan.Int64((nowNs + 999) / 1000), Kind: a.how, Params: plan.Params{"down": plan.FormatDurationUs(a.downNs / 1000)}}
	if a.how == "power" {
		as.Params["hosts"] = h.ID()
		return as
	}
	as.Params["host"] = h.ID()
	if a.how == "stop" {
		as.Params["grace"] = plan.FormatDurationUs(ambushGraceNs / 1000)
	}
	return as
}

// ambushGraceNs is how long a node that is asked to stop may take.
const ambushGraceNs = 200 * million

// strike fails a host, unless another fault was faster.
func (c *cluster) strike(h *sim.Host, boot int32, a *ambush) {
	if c.w.Calm() || !h.Up() || h.Boot() != boot {
		return
	}
	*c.w.Stat("ambushes")++
	*c.w.Stat("ambush-" + a.word)++
	c.w.Resolved(a.id, a.resolved(h, c.w.NowNs()))
	switch a.how {
	case "power":
		c.w.PowerOff(h)
	case "stop":
		if c.ops.restarting(h) { // two ambushes met it at once
			return
		}
		c.w.Stop(h, ambushGraceNs)
		c.ops.restarts = append(c.ops.restarts, restart{host: h.Index(), change: func(*hostSettings) {}, downNs: a.downNs})
		return
	default:
		c.w.Kill(h)
	}
	c.ops.startAfter(h, a.downNs)
}
