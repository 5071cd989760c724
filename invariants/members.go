package invariants

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

var memberDocs = [...]sim.InvariantDoc{
	{Name: "levels-supported", Source: "KIP-584; KIP-919; KAFKA-13990; metadata-bootstrap 5.2, 5.8",
		Doc: "Finalized feature levels lie within the ranges of every registered broker, fenced ones too, and, at the moment of an update, of " +
			"every registered controller."},
	{Name: "broker-epochs", Source: "KIP-631; KAFKA-15213; KAFKA-17304; metadata-bootstrap 5.8",
		Doc: "A new broker incarnation is registered fenced, with an epoch that no registration had and that is not above its offset; one that " +
			"registers again keeps its epoch."},
}

// MemberDocs lists the invariants that Members checks.
func MemberDocs() []sim.InvariantDoc { return memberDocs[:] }

// Members checks what the committed log says of registered brokers and controllers. It reads the batches that replicas deliver to their
// listeners, each offset once, whoever is first; what another invariant says of them, that all get the same, is not asked again.
// In a cluster where nobody registers it evaluates nothing.
type Members struct {
	report Reporter
	img    *image.Image
	before *image.Image // at the Begin of the open transaction, nil without one
	delta  image.Delta
	next   int64 // offset that comes next
	blind  bool  // offsets are missing: a snapshot was loaded before anybody delivered them
	top    int64 // highest broker epoch so far
	reader image.BatchReader
	leads  []raft.LeaderAndEpoch // that anybody was told, ascending by epoch
	levels *int64
	epochs *int64
}

// NewMembers returns a checker for World.Add.
func NewMembers() *Members { return &Members{} }

// Attach implements sim.Checker.
func (m *Members) Attach(w *sim.World) { m.reset(w.Violate, w.Evaluated) }

func (m *Members) reset(report Reporter, evaluated Counters) {
	*m = Members{report: report, img: image.New(), top: -1, leads: m.leads[:0], levels: evaluated(memberDocs[0].Name),
		epochs: evaluated(memberDocs[1].Name)}
}

// OnProtocol implements sim.ProtocolChecker.
func (m *Members) OnProtocol(_ *sim.Host, o sim.Observation) {
	switch x := o.(type) {
	case *LeaderDelivered:
		if n := len(m.leads); x.Leader.LeaderID >= 0 && (n == 0 || m.leads[n-1].Epoch < x.Leader.Epoch) {
			m.leads = append(m.leads, x.Leader)
		}
	case *CommitDelivered:
		for i := range x.Batches {
			m.take(&x.Batches[i])
		}
	}
}

func (m *Members) take(b *raft.Batch) {
	if b.LastOffset < m.next || m.blind {
		return
	}
	if b.BaseOffset != m.next {
		m.blind = true
		return
	}
	if m.next = b.LastOffset + 1; b.Control {
		return
	}
	for m.reader.Reset(b.Bytes); m.reader.Next(); {
		m.record(m.reader.Offset, b.Epoch, m.reader.Record)
	}
}

func (m *Members) record(offset int64, epoch int32, r records.Record) {
	switch x := r.(type) {
	case *records.BeginTransactionRecord:
		m.before = m.img
		return
	case *records.EndTransactionRecord:
		m.before = nil
		return
	case *records.AbortTransactionRecord:
		if m.before != nil {
			m.img, m.before = m.before, nil
		}
		return
	case *records.RegisterBrokerRecord:
		m.registered(offset, x)
	}
	m.delta.Reset(m.img)
	if m.delta.Replay(r) != nil {
		m.blind = true // nodes stop at such a record, which is for another invariant to judge
		return
	}
	m.img = m.delta.Apply(image.Provenance{Offset: offset, Epoch: epoch})
	switch x := r.(type) {
	case *records.RegisterBrokerRecord:
		for _, f := range m.img.Features() {
			m.supported(offset, m.img.Broker(x.BrokerId), f.Name, f.Level)
		}
	case *records.FeatureLevelRecord:
		for b := range m.img.Brokers() {
			m.supported(offset, b, x.Name, x.FeatureLevel)
		}
		m.asked(offset, epoch, x)
	}
}

// registered checks a registration against the one before.
func (m *Members) registered(offset int64, x *records.RegisterBrokerRecord) {
	*m.epochs++
	old := m.img.Broker(x.BrokerId)
	switch {
	case old != nil && old.IncarnationID == x.IncarnationId:
		if x.BrokerEpoch != old.Epoch {
			m.report(memberDocs[1].Name, "changed", fmt.Sprintf("the same incarnation of broker %d has epoch %d at offset %d, it had %d",
				x.BrokerId, x.BrokerEpoch, offset, old.Epoch))
		}
	case x.BrokerEpoch <= m.top:
		m.report(memberDocs[1].Name, "not-new", fmt.Sprintf("broker %d registers at offset %d with epoch %d, and %d was given before",
			x.BrokerId, offset, x.BrokerEpoch, m.top))
	case x.BrokerEpoch > offset:
		m.report(memberDocs[1].Name, "from-the-future", fmt.Sprintf("broker %d registers at offset %d with epoch %d", x.BrokerId, offset,
			x.BrokerEpoch))
	case !x.Fenced:
		m.report(memberDocs[1].Name, "unfenced", fmt.Sprintf("a new incarnation of broker %d is registered unfenced at offset %d", x.BrokerId,
			offset))
	}
	m.top = max(m.top, x.BrokerEpoch)
}

func (m *Members) supported(offset int64, b *image.Broker, feature string, level int16) {
	*m.levels++
	if r := b.FeatureRange(feature); level < r.Minimum || level > r.Maximum {
		m.report(memberDocs[0].Name, "broker", fmt.Sprintf("at offset %d %s is %d, and broker %d supports %d to %d", offset, feature, level,
			b.ID, r.Minimum, r.Maximum))
	}
}

// asked checks an update against the controllers that are registered. The one that made it goes by its own software, whatever an
// earlier process of its registered.
func (m *Members) asked(offset int64, epoch int32, x *records.FeatureLevelRecord) {
	if !features.SupportsControllerRegistration(m.img.MetadataVersion()) {
		return
	}
	for c := range m.img.Controllers() {
		if m.leader(epoch) == c.ID {
			continue
		}
		*m.levels++
		if r := c.FeatureRange(x.Name); x.FeatureLevel < r.Minimum || x.FeatureLevel > r.Maximum {
			m.report(memberDocs[0].Name, "controller", fmt.Sprintf("at offset %d %s becomes %d, and controller %d supports %d to %d", offset, x.Name,
				x.FeatureLevel, c.ID, r.Minimum, r.Maximum))
		}
	}
}

// leader returns who led an epoch as far as anybody was told, -1: nobody was.
func (m *Members) leader(epoch int32) int32 {
	for n := len(m.leads) - 1; n >= 0; n-- {
		if m.leads[n].Epoch == epoch {
			return m.leads[n].LeaderID
		}
	}
	return -1
}
