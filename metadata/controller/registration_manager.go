package controller

import (
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// RegistrationManager keeps one controller registered: Kafka's ControllerRegistrationManager (KIP-919), on a lane of its own and fed by
// what the loader publishes. Every controller has one, active or not; its requests go to the active controller through the network,
// to its own node too.
//
// It registers as soon as the node knows its cluster id, the metadata.version has registrations and the published image lacks this
// incarnation. What was
// acknowledged and is not in the image yet is not asked for again before the next image. One request is out at a time; failures
// double the pause before the next, which begins anew with a success.
type RegistrationManager struct {
	cfg  RegistrationConfig
	send func(*ControllerRegistration)

	level    int16
	awaits   bool // the cluster id
	inImage  bool
	out      bool
	failures int32
	nextNs   int64 // of the next attempt, noDeadline: none is due
}

// RegistrationConfig is what a controller introduces itself with.
type RegistrationConfig struct {
	ControllerRegistration
	BackoffNs    int64 // after a first failure: 100 ms in Kafka
	BackoffMaxNs int64 // 60 s in Kafka
	// AwaitClusterID: the node has no cluster id yet, and is not introduced before SetClusterID (KIP-1262; metadata-bootstrap 4.7).
	AwaitClusterID bool
}

// NewRegistrationManager returns a manager that has seen no image. send carries a request to the active controller; each is answered by
// one call of Answered. Requests are immutable.
func NewRegistrationManager(cfg RegistrationConfig, send func(*ControllerRegistration)) *RegistrationManager {
	return &RegistrationManager{cfg: cfg, send: send, nextNs: noDeadline, awaits: cfg.AwaitClusterID}
}

// Published takes in an image.
func (m *RegistrationManager) Published(nowNs int64, img *image.Image) {
	own := img.Controller(m.cfg.ControllerID)
	m.level, m.inImage = img.MetadataVersion(), own != nil && own.IncarnationID == m.cfg.IncarnationID
	m.consider(nowNs)
}

// SetClusterID tells that the node knows the id of its cluster, and has persisted it.
func (m *RegistrationManager) SetClusterID(nowNs int64) {
	if m.awaits {
		m.awaits = false
		m.consider(nowNs)
	}
}

// consider decides whether a request is due.
func (m *RegistrationManager) consider(nowNs int64) {
	if m.wants() {
		if m.nextNs == noDeadline {
			m.nextNs = nowNs
		}
	} else {
		m.nextNs = noDeadline
	}
	m.Poll(nowNs)
}

func (m *RegistrationManager) wants() bool {
	return !m.awaits && !m.inImage && features.SupportsControllerRegistration(m.level)
}

// Answered takes what came of the request that is out: ok is false for an error, and for no answer in time.
func (m *RegistrationManager) Answered(nowNs int64, ok bool) {
	if m.out = false; ok {
		m.failures = 0
		return
	}
	m.failures++
	if m.wants() {
		m.nextNs = nowNs + m.backoffNs()
	}
}

func (m *RegistrationManager) backoffNs() int64 {
	ns := max(1, m.cfg.BackoffNs)
	for n := int32(1); n < m.failures && ns < m.cfg.BackoffMaxNs; n++ {
		ns *= 2
	}
	return min(ns, max(1, m.cfg.BackoffMaxNs))
}

// DeadlineNs returns when Poll wants to be called, -1 for not at all.
func (m *RegistrationManager) DeadlineNs() int64 {
	if m.out {
		return noDeadline
	}
	return m.nextNs
}

// Poll sends the request that is due. Calls before the deadline do nothing.
func (m *RegistrationManager) Poll(nowNs int64) {
	if m.out || m.nextNs == noDeadline || nowNs < m.nextNs {
		return
	}
	m.out, m.nextNs = true, noDeadline
	m.send(&m.cfg.ControllerRegistration)
}

// AppendState appends the canonical bytes of the state. The protocol view leaves out absolute times.
func (m *RegistrationManager) AppendState(buf []byte, protocolView bool) []byte {
	buf = record.AppendBool(record.AppendBool(record.AppendInt16(buf, m.level), m.inImage), m.out)
	if m.awaits {
		buf = append(buf, 'w')
	}
	buf = record.AppendInt32(buf, m.failures)
	if protocolView {
		return buf
	}
	return record.AppendInt64(buf, m.nextNs)
}

// IncarnationID returns the id that the process registers with.
func (m *RegistrationManager) IncarnationID() record.UUID { return m.cfg.IncarnationID }
