package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// aims are faults that wait for the program to come to a step: the n-th disk operation behind an event of the protocol (crash-after), the
// write of a batch that is torn between two of its records (tear). An ambush is struck after a time, they are struck in an operation.
type aims struct {
	c     *cluster
	after []aimAfter
	tears []aimTear
}

// aimAfter waits for an event.
type aimAfter struct {
	id       string
	word     string
	on       raft.EventKind
	left, op int64 // events to come, this one included; which operation behind it
	power    bool
	downNs   int64
	host     *sim.Host // nil: any
}

// aimTear waits for a write that can be torn.
type aimTear struct {
	id     string
	left   int64
	downNs int64
	host   *sim.Host // nil: any
}

const (
	crashAfterKind = "crash-after"
	tearKind       = "tear"
)

// eventWords are the names of raft's events.
func eventWords() (words []string) {
	for k := raft.EventKind(1); k.String() != raft.EventKind(0).String(); k++ {
		words = append(words, k.String())
	}
	return words
}

func eventNamed(word string) raft.EventKind {
	return raft.EventKind(1 + slices.Index(eventWords(), word))
}

// aimKinds are the actions.
func aimKinds() []plan.Kind {
	host := plan.Field{Name: "host", Type: plan.HostField, Symbolic: true, Doc: "only on this host; absent: on whichever it happens"}
	nth := plan.Field{Name: "n", Type: plan.NumberField, Min: 1, Max: million, Doc: "the how manyth from now on; absent: 1"}
	return []plan.Kind{
		{Name: crashAfterKind, Doc: "a node dies inside a disk operation that follows a step of the protocol", Fields: []plan.Field{
			{Name: "on", Type: plan.WordField, Words: eventWords(), Required: true, Doc: "the step, by the name of raft's event"}, nth,
			{Name: "op", Type: plan.NumberField, Min: 1, Max: million, Doc: "which disk operation behind it; absent: 1, the first"}, host,
			{Name: "how", Type: plan.WordField, Words: []string{"kill", "power"}, Doc: "kill (default) or power"}, fieldDowntime}},
		{Name: tearKind, Doc: "a node dies inside the write of a batch: some of its records are in the file, others are not", Fields: []plan.Field{
			nth, host, fieldDowntime}},
	}
}

// build registers the kinds; only a plan that has some is watched.
func (x *aims) build(c *cluster, p *plan.Plan) {
	*x = aims{c: c, after: x.after[:0], tears: x.tears[:0]}
	c.w.Handle(crashAfterKind, sim.ActionHandler{Do: x.layAfter})
	c.w.Handle(tearKind, sim.ActionHandler{Do: x.layTear})
	if slices.ContainsFunc(p.Actions, func(a plan.Action) bool { return a.Kind == crashAfterKind }) {
		c.w.Add(x)
	}
}

// Attach implements sim.Checker.
func (x *aims) Attach(*sim.World) {}

// where is the host of an action, nil for any.
func (x *aims) where(a *sim.Act) *sim.Host {
	if a.Params["host"] == "" {
		return nil
	}
	return a.Host("host")
}

func (x *aims) layAfter(_ *sim.World, a *sim.Act) string {
	word := a.Word("on", "")
	aim := aimAfter{id: a.ID, word: word, on: eventNamed(word), left: a.Number("n", 1), op: a.Number("op", 1), power: a.Word("how", "kill") == "power",
		downNs: a.DurationNs("down", 20*million), host: x.where(a)}
	if a.Error == nil {
		x.after = append(x.after, aim)
	}
	return ""
}

// OnProtocol implements sim.ProtocolChecker.
func (x *aims) OnProtocol(h *sim.Host, o sim.Observation) {
	if len(x.after) == 0 {
		return
	}
	e := raftEventOf(o)
	if e == nil || x.c.w.Calm() {
		return
	}
	for i := range x.after {
		a := &x.after[i]
		if a.left == 0 || a.on != e.Kind || a.host != nil && a.host != h {
			continue
		}
		if a.left--; a.left > 0 {
			continue
		}
		if x.c.w.CrashAtOp(h, laneRaft, a.op, a.power, a.downNs, a.id) != "" {
			a.left = 1 // another crash was faster: the next event counts
			continue
		}
		*x.c.w.Stat(crashAfterKind)++
		*x.c.w.Stat(crashAfterKind + "-" + a.word)++
	}
}

func (x *aims) layTear(w *sim.World, a *sim.Act) string {
	aim := aimTear{id: a.ID, left: a.Number("n", 1), downNs: a.DurationNs("down", 20*million), host: x.where(a)}
	if a.Error == nil {
		x.tears = append(x.tears, aim)
		w.SetTrap(x.look)
	}
	return ""
}

// look is the trap: it looks for a write to the metadata log in which a sector ends between two records of one batch.
func (x *aims) look(h *sim.Host, op *vdisk.Op) (cut bool, lost int64) {
	if op.Kind != vdisk.OpWrite || !strings.HasSuffix(op.Path, ".log") || len(op.Data) <= vdisk.SectorSize/4 {
		return false, 0
	}
	for i := range x.tears {
		t := &x.tears[i]
		if t.left == 0 || t.host != nil && t.host != h {
			continue
		}
		lost, ok := tearing(op.Data, op.Offset, decide.HashString(t.id))
		if !ok {
			return false, 0
		}
		if t.left--; t.left > 0 {
			continue
		}
		*x.c.w.Stat("torn-batches")++
		x.c.w.Trapped(h, op, t.downNs, t.id)
		return true, lost
	}
	return false, 0
}

// tearing returns how many sectors at the end of a write have to be missing for a batch in it to lose some of its records and keep others. The
// choice among several ways goes by pick. ok is false when there is none: no batch of several records has a sector that ends behind
// its first record.
func tearing(data []byte, offset int64, pick uint64) (lost int64, ok bool) {
	var ways []int64
	end := offset + int64(len(data))
	last := (end + vdisk.SectorSize - 1) / vdisk.SectorSize
	for rest := data; len(rest) > 0; {
		batch, more, err := record.NextBatch(rest)
		if err != nil || len(batch) == 0 { // a full disk cut it short
			break
		}
		from := end - int64(len(rest))
		first := from + int64(len(batch)) // where its second record begins
		if n := int64(batch.RecordCount()); n > 1 && batch.Compression() == 0 {
			first = from + firstRecordEnd(batch)
		}
		for s := first/vdisk.SectorSize + 1; s*vdisk.SectorSize < from+int64(len(batch)); s++ {
			if s*vdisk.SectorSize > offset {
				ways = append(ways, last-s)
			}
		}
		rest = more
	}
	if len(ways) == 0 {
		return 0, false
	}
	return ways[pick%uint64(len(ways))], true
}

// batchHeader is the size of what comes before the records of a batch (formats 3).
const batchHeader = 61

// firstRecordEnd is the offset behind the first record of an uncompressed batch.
func firstRecordEnd(b record.Batch) int64 {
	var r record.Reader
	r.Reset(b[batchHeader:])
	size := r.Varint()
	if r.Err() != nil || size < 0 {
		return int64(len(b))
	}
	return int64(len(b)) - int64(r.Remaining()) + int64(size)
}
