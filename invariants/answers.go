package invariants

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var answersDoc = sim.InvariantDoc{
	Name: "answers", Source: "invariants, operations and answers; metadata-bootstrap 5.2, 5.3, 5.8, 7.1, 7.5 to 7.8",
	Doc: "A controller answers each operation that it took once: as soon as its records are stable, or when it renounces. What it says follows from its memory " +
		"before and after the operation: a change that is acknowledged is there, a refusal has its reason and changes nothing, and a read shows the last stable state.",
}

// AnswersDoc describes the invariant that Answers checks.
func AnswersDoc() sim.InvariantDoc { return answersDoc }

// Answers checks what active controllers and standbys tell those who ask. It takes requests and answers where they enter and leave the
// controller, and judges them by the controller's memory at both ends of the operation, which images-equal holds against the log; the
// reasons of refusals and the effects of requests are worked out here again (answers_judge.go, answers_partitions.go). Reads are
// compared with the configurations that replicas deliver as committed.
type Answers struct {
	report Reporter
	count  *int64
	at     []answering // by host
	writes []configWrite
	epochs []epochStart // of what was read
	next   int64        // offset that comes next
	blind  bool         // offsets are missing: a snapshot was loaded before anybody delivered them
	it     record.Iterator
	raw    record.Record
}

// answering is the controller of one host in one life.
type answering struct {
	active  bool
	gaveUp  bool  // it renounced, and everything that waits has to be answered before it does anything else
	stable  int64 // as it says
	highest int64 // of its own writes in this leadership
	pending []pendingOperation
	reports []brokerReport // in this leadership
}

// brokerReport is what a broker incarnation told an active controller: how far its metadata are, or, where leaves, since which offset it has
// to wait for others before it may go.
type brokerReport struct {
	broker       int32
	leaves       bool
	epoch, since int64
}

// leaving returns the offset from which a broker waits, -1 for one that does not.
func (s *answering) leaving(broker int32, epoch int64) int64 { return s.report(broker, epoch, true) }

// applied returns the metadata offset that a broker had told last when the controller came to an operation, -1 for none.
func (p *pendingOperation) applied(broker int32, epoch int64) int64 {
	return reported(p.told, broker, epoch, false)
}

func (s *answering) report(broker int32, epoch int64, leaves bool) int64 {
	return reported(s.reports, broker, epoch, leaves)
}

func reported(list []brokerReport, broker int32, epoch int64, leaves bool) int64 {
	for i := range list {
		if x := &list[i]; x.broker == broker && x.epoch == epoch && x.leaves == leaves {
			return x.since
		}
	}
	return -1
}

// beat notes what a heartbeat tells that the controller took. One that is refused, for it waited too long or is of a former process, tells nothing.
func (s *answering) beat(op *controller.Op) {
	if op.Kind == controller.RegisterBroker { // the same process too begins anew, with what it told and with its leaving (metadata-bootstrap 7.5)
		s.over(op.Broker.BrokerID, true)
		return
	}
	h := op.Heartbeat
	if op.Kind != controller.Heartbeat || !s.active {
		return
	}
	for i := range s.reports {
		if x := &s.reports[i]; x.broker == h.BrokerID && x.epoch == h.BrokerEpoch && !x.leaves {
			x.since = h.CurrentMetadataOffset
			return
		}
	}
	s.reports = append(s.reports, brokerReport{broker: h.BrokerID, epoch: h.BrokerEpoch, since: h.CurrentMetadataOffset})
}

// pendingOperation has no answer yet.
type pendingOperation struct {
	op     controller.Op
	before *image.Image
	after  *image.Image   // nil as long as the controller works on it
	waits  int64          // stable offset with which it has to be answered
	told   []brokerReport // what brokers had told when the controller came to it, where that decides whether one may go
	leaves int64          // since when the one that asks leaves, -1 for not
	former bool           // that is over since
}

// NewAnswers returns a checker for World.Add.
func NewAnswers() *Answers { return &Answers{} }

// Attach implements sim.Checker.
func (a *Answers) Attach(w *sim.World) { a.reset(w.Violate, w.Evaluated, len(w.Hosts())) }

func (a *Answers) reset(report Reporter, evaluated Counters, hosts int) {
	*a = Answers{report: report, count: evaluated(answersDoc.Name), at: a.at[:0], writes: a.writes[:0], epochs: a.epochs[:0]}
	for range hosts {
		a.at = append(a.at, answering{stable: -1, highest: -1})
	}
}

// OnBoot implements sim.LifeChecker.
func (a *Answers) OnBoot(h *sim.Host) { a.forget(h.Index()) }

// OnDown implements sim.LifeChecker: who dies owes nobody an answer.
func (a *Answers) OnDown(h *sim.Host, _ sim.DownKind, _ error) { a.forget(h.Index()) }

func (a *Answers) forget(host int) {
	s := &a.at[host]
	*s = answering{stable: -1, highest: -1, pending: s.pending[:0], reports: s.reports[:0]}
}

// OnProtocol implements sim.ProtocolChecker.
func (a *Answers) OnProtocol(h *sim.Host, o sim.Observation) {
	switch x := o.(type) {
	case *CommitDelivered:
		for i := range x.Batches {
			a.take(&x.Batches[i])
		}
	case *MetadataObservation:
		a.event(h.ID(), &a.at[h.Index()], &x.E)
	case *OperationAsked:
		a.asked(&a.at[h.Index()], x)
	case *OperationTaken:
		a.taken(h.ID(), &a.at[h.Index()], x)
	case *OperationAnswered:
		a.answered(h.ID(), &a.at[h.Index()], x)
	}
}

// event keeps up with what a controller is, and holds it to answering in time: nothing comes between a step that makes an answer due and
// that answer, but other answers.
func (a *Answers) event(host string, s *answering, e *controller.Event) {
	if e.Kind == controller.OpDone || e.Kind == controller.ActivationStable {
		return
	}
	a.overdue(host, s)
	switch e.Kind {
	case controller.ControllerClaimed:
		s.active, s.gaveUp, s.highest, s.reports = true, false, -1, s.reports[:0]
	case controller.Renounced:
		s.active, s.gaveUp = false, true
	case controller.Committed:
		s.stable = e.Other
	case controller.SnapshotLoaded:
		s.stable = e.Offset
	case controller.ActivationCompleted:
		s.highest = max(s.highest, e.Other)
	case controller.NoOpWritten, controller.BrokerSessionExpired, controller.OpAppended:
		s.highest = max(s.highest, e.Offset)
	}
}

func (a *Answers) overdue(host string, s *answering) {
	for i := range s.pending {
		p := &s.pending[i]
		switch {
		case p.after == nil: // it works on it
		case s.gaveUp:
			a.fail("left-waiting", host, p, "the controller has renounced, and this waits")
		case p.waits <= s.stable:
			a.fail("late", host, p, fmt.Sprintf("everything up to %d is stable, and this waits for %d", s.stable, p.waits))
		default:
			continue
		}
		p.waits, p.after = 1<<62, nil // once is enough
	}
}

// asked notes an operation that the controller begins to work on, and what it goes by: a broker is told to go by what others had told until
// then. The answer comes when that is stable, and others may have told less by then, as a process that was fenced meanwhile and starts over.
func (a *Answers) asked(s *answering, x *OperationAsked) {
	p := pendingOperation{op: x.Op, before: x.Image, waits: -1, leaves: -1}
	if x.Op.Kind == controller.Heartbeat {
		b := x.Image.Broker(x.Op.Heartbeat.BrokerID)
		if b != nil && b.Fenced { // who is fenced has left its shutdown: when it is let in again and asks to go, it waits for nobody (7.5)
			s.over(b.ID, false)
		}
		if b != nil && !b.Fenced && (b.InControlledShutdown || s.leaving(b.ID, b.Epoch) >= 0) {
			p.told, p.leaves = slices.Clone(s.reports), s.leaving(b.ID, b.Epoch)
		}
	}
	s.pending = append(s.pending, p)
}

// over forgets that a broker leaves, of answers too that are on their way, and with all what it told.
func (s *answering) over(broker int32, all bool) {
	s.reports = slices.DeleteFunc(s.reports, func(r brokerReport) bool { return r.broker == broker && (all || r.leaves) })
	for i := range s.pending {
		if h := s.pending[i].op.Heartbeat; h != nil && h.BrokerID == broker {
			s.pending[i].former = true
		}
	}
}

// taken notes the memory after an operation was worked on. One that is answered already has changed nothing, unless the controller lost its
// leadership over it.
func (a *Answers) taken(host string, s *answering, x *OperationTaken) {
	for i := range s.pending {
		p := &s.pending[i]
		if p.op.ID != x.OpID {
			continue
		}
		p.after, p.waits = x.Image, s.highest
		s.beat(&p.op)
		return
	}
	if x.Answered && s.active && x.Image != x.Before {
		a.report(answersDoc.Name, "changed-unsaid", fmt.Sprintf("%s answered operation %d at once, and its memory is not what it was", host, x.OpID))
	}
}

// answered takes the answer out of the list, and judges it.
func (a *Answers) answered(host string, s *answering, x *OperationAnswered) {
	at := slices.IndexFunc(s.pending, func(p pendingOperation) bool { return p.op.ID == x.OpID })
	if at < 0 {
		a.report(answersDoc.Name, "unasked", fmt.Sprintf("%s answers operation %d, which waits for no answer", host, x.OpID))
		return
	}
	p := s.pending[at]
	s.pending = slices.Delete(s.pending, at, at+1)
	*a.count++
	r := &x.Result
	if p.after == nil { // it was answered while the controller worked on it
		p.after = p.before
		if r.Code == controller.None {
			defer s.beat(&p.op)
		}
	}
	if evidence, why := a.judge(s, &p, r); evidence != "" {
		a.fail(evidence, host, &p, fmt.Sprintf("the answer is %v at offset %d: %s", r.Code, r.Offset, why))
	}
}

func (a *Answers) fail(evidence, host string, p *pendingOperation, why string) {
	a.report(answersDoc.Name, evidence, fmt.Sprintf("%s, %s, %v: %s", host, operationName(p.op.ID), p.op.Kind, why))
}

// judge returns what is wrong with an answer, "" for nothing.
func (a *Answers) judge(s *answering, p *pendingOperation, r *controller.Result) (evidence, why string) {
	switch {
	case p.op.Kind == controller.ReadConfig:
		return a.judgeRead(s, p, r)
	case r.Code == controller.NotController:
		if s.active && p.after == p.before && p.waits < 0 {
			return "not-controller", "it is the active controller"
		}
		return "", ""
	case r.Code == controller.UnknownServerError:
		return "server-error", r.Message
	case r.Code == controller.RequestTimedOut:
		return "", ""
	case !s.active && r.Code == controller.None:
		return "inactive", "it is not the active controller"
	case r.Code != controller.None && r.Offset >= 0:
		return "refused-and-written", "a refusal has no offset"
	case r.Code == controller.None && r.Offset < 0 && p.after != p.before && p.after.Digest() != p.before.Digest():
		return "changed-unsaid", "nothing was written, and the memory is not what it was"
	case r.Code == controller.None && r.Offset > s.stable:
		return "unstable", fmt.Sprintf("the stable offset is %d", s.stable)
	}
	j := judgement{at: s, p: p, r: r, before: p.before, after: p.after}
	j.operation()
	return j.evidence, j.why
}

// OperationAsked is an operation as it comes to the controller, with the controller's memory before it. Neither changes.
type OperationAsked struct {
	Op    controller.Op
	Image *image.Image
}

// AppendTo implements sim.Observation.
func (o *OperationAsked) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint64(append(buf, 'Q', byte(o.Op.Kind)), uint64(o.Op.ID))
}

// String is the line in traces.
func (o *OperationAsked) String() string {
	return fmt.Sprintf("takes operation %d, %v", o.Op.ID, o.Op.Kind)
}

// OperationTaken says that the controller has worked on an operation, and what its memory was before and is now. Answered: it has said what
// came of it.
type OperationTaken struct {
	OpID          int64
	Before, Image *image.Image
	Answered      bool
}

// AppendTo implements sim.Observation.
func (o *OperationTaken) AppendTo(buf []byte) []byte {
	return binary.BigEndian.AppendUint64(append(buf, 'T', bit(o.Answered)), uint64(o.OpID))
}

// String is the line in traces.
func (o *OperationTaken) String() string {
	if o.Answered {
		return fmt.Sprintf("operation %d is answered", o.OpID)
	}
	return fmt.Sprintf("operation %d waits", o.OpID)
}
