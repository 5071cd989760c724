package scenarios

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

var snapshotTriggers = sim.InvariantDoc{
	Name: "snapshot-triggers", Source: "KIP-630; KAFKA-14300; KAFKA-14531; metadata-bootstrap 7.3",
	Doc: "A node asks for a snapshot when enough bytes were published since the last one or enough time is over, at the end of a batch, one at a time, and at no " +
		"other moment. What controllers wrote at a metadata.version can be written at it: no snapshot is given up for its content.",
}

// snapshotCheck counts what a loader was given and holds its generator to the limits of the plan. Bytes are counted from the batches that raft
// delivers; the loader's events say which of them were published, and when.
type snapshotCheck struct {
	c         *cluster
	at        []snapshotCount // by host
	evaluated *int64
}

// snapshotCount is one process.
type snapshotCount struct {
	ready     bool // the generator hears of what is published
	loading   bool // the next change is a snapshot that was loaded: as good as one that was made
	busy      bool
	asked     bool  // since the last change
	bytes     int64 // published since the last snapshot
	flushed   int64 // of the change that is being published
	lastNs    int64
	delivered []deliveredBytes
}

type deliveredBytes struct{ last, size int64 }

// clockSlackNs is what a handler's clock and the time at which its effects count may differ, where time alone makes a snapshot due.
const clockSlackNs = 200 * million

// Attach is sim.Checker.
func (s *snapshotCheck) Attach(w *sim.World) {
	s.evaluated, s.at = w.Evaluated(snapshotTriggers.Name), s.at[:0]
	for range w.Hosts() {
		s.at = append(s.at, snapshotCount{})
	}
}

// OnBoot is sim.LifeChecker.
func (s *snapshotCheck) OnBoot(h *sim.Host) {
	s.at[h.Index()] = snapshotCount{delivered: s.at[h.Index()].delivered[:0]}
}

// OnDown is sim.LifeChecker.
func (s *snapshotCheck) OnDown(*sim.Host, sim.DownKind, error) {}

// OnProtocol is sim.ProtocolChecker.
func (s *snapshotCheck) OnProtocol(h *sim.Host, o sim.Observation) {
	n := &s.at[h.Index()]
	switch x := o.(type) {
	case *invariants.CommitDelivered:
		if x.Listener != "loader" {
			return
		}
		for i := range x.Batches {
			n.delivered = append(n.delivered, deliveredBytes{x.Batches[i].LastOffset, int64(len(x.Batches[i].Bytes))})
		}
	case *snapshotNote:
		if x.done {
			n.busy = false
			return
		}
		if n.busy {
			s.fail(h, "two", "it asks for two at once")
		}
		n.busy, n.asked = true, true
	case *invariants.LoaderObservation:
		s.event(h, n, &x.E)
	}
}

func (s *snapshotCheck) event(h *sim.Host, n *snapshotCount, e *loader.Event) {
	switch e.Kind {
	case loader.PublisherInitialized:
		if e.Text == "SnapshotGenerator" {
			n.ready, n.bytes, n.lastNs = true, 0, h.MonotonicNs()
		}
	case loader.SnapshotLoaded:
		n.loading = true // what was delivered behind it is still to be published
		n.delivered = slices.DeleteFunc(n.delivered, func(d deliveredBytes) bool { return d.last <= e.Offset })
	case loader.ImageAdvanced:
		n.flushed = 0
		k := 0
		for ; k < len(n.delivered) && n.delivered[k].last <= e.Offset; k++ {
			n.flushed += n.delivered[k].size
		}
		n.delivered = append(n.delivered[:0], n.delivered[k:]...)
		if n.asked {
			s.fail(h, "unpublished", "it asked when nothing was published")
		}
	case loader.ImagePublished:
		s.published(h, n, e)
	}
}

// published judges one change that the generator heard of.
func (s *snapshotCheck) published(h *sim.Host, n *snapshotCount, e *loader.Event) {
	asked := n.asked
	n.asked = false
	now, limits := h.MonotonicNs(), &s.c.snapshots
	if n.loading {
		n.loading, n.bytes, n.lastNs = false, 0, now
		return
	}
	if !n.ready {
		return
	}
	*s.evaluated++
	n.bytes += n.flushed
	elapsed := now - n.lastNs
	enough := n.bytes >= limits.maxBytes
	overdue := limits.intervalNs > 0 && elapsed >= limits.intervalNs+clockSlackNs
	perhaps := limits.intervalNs > 0 && elapsed >= limits.intervalNs-clockSlackNs
	before := n.busy && !asked // another one is under way
	switch {
	case asked && !e.Flag:
		s.fail(h, "unaligned", fmt.Sprintf("the image ends within a batch, at %d", e.Offset))
	case asked && !enough && !perhaps:
		s.fail(h, "early", fmt.Sprintf("it asks for a snapshot too early: %d bytes of %d since the last one, %d us of %d", n.bytes, limits.maxBytes, elapsed/1000, limits.intervalNs/1000))
	case !asked && !before && e.Flag && (enough || overdue):
		s.fail(h, "late", fmt.Sprintf("it asks for no snapshot, and one is due: %d bytes of %d since the last one, %d us of %d", n.bytes, limits.maxBytes, elapsed/1000, limits.intervalNs/1000))
	}
	if asked {
		n.bytes, n.lastNs = 0, now
	}
}

// notMade judges a snapshot that was given up since its image holds what its metadata.version has no words for (metadata-bootstrap 7.2). No way down
// leads there: 5.3 refuses a downgrade over a level that changed metadata. A tree that somebody brought may hold anything.
func (s *snapshotCheck) notMade(h *sim.Host, id raft.OffsetAndEpoch, err error) {
	if s.c.w.Plan().Params[fromParam] == "" {
		s.fail(h, "not-made", fmt.Sprintf("snapshot %d of epoch %d is given up: %v", id.Offset, id.Epoch, err))
	}
}

func (s *snapshotCheck) fail(h *sim.Host, evidence, why string) {
	s.c.w.Violate(snapshotTriggers.Name, evidence, h.ID()+": "+why)
}

// snapshotNote says that the generator asks for a snapshot, or that the lane of snapshots is done with it.
type snapshotNote struct {
	id   raft.OffsetAndEpoch
	done bool
}

// AppendTo is sim.Observation.
func (o *snapshotNote) AppendTo(buf []byte) []byte {
	if o.done {
		return append(buf, 'n')
	}
	return binary.BigEndian.AppendUint64(append(buf, 'N'), uint64(o.id.Offset))
}

// String is the line in traces.
func (o *snapshotNote) String() string {
	if o.done {
		return "the snapshot job is over"
	}
	return fmt.Sprintf("asks for snapshot %d of epoch %d", o.id.Offset, o.id.Epoch)
}
