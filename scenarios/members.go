package scenarios

import (
	"encoding/binary"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Members are the registered nodes of a cluster (metadata-bootstrap 5.8, 7.5): brokers with a life cycle, controllers with a registration
// manager, each on a lane of its own, and on controllers the handlers of their requests. Where a plan says nothing of it nobody
// registers, and none of these lanes is there.
//
// Their requests go over connections of their own to a port of their own, where those of clients arrive too (client_machine.go), as
// structs, in the version that a greeting found (request_versions.go).

// The lanes of members, behind those of every node.
const (
	laneRequests sim.LaneID = laneSnapshot + 1 + iota // a controller's request handlers; where clients ask over the network too
	laneMember                                        // a broker's life cycle; a controller's registration manager
)

// memberPort is where controllers take requests of members.
const memberPort = 9094

// The kinds of messages between members, apart from raft's and from posts.
const (
	kindRegisterBroker uint32 = 1200 + iota
	kindHeartbeat
	kindRegisterController
	kindMemberAnswer
	postMemberImage
	postMemberDone
	postMemberStop
	postMemberDirectory
	kindMemberGreeting
	kindMemberVersions
	kindClientRequest
	kindClientAnswer
	postClientDone
)

// memberOps is the bit of an operation's id that says that a member asked.
const memberOps int64 = 1 << 62

// memberSettings is what a plan says of members.
type memberSettings struct {
	register       bool
	sessionMs      int64
	heartbeatMs    int64
	registrationMs int64
	refuseOld      bool
	balanceMs      int64
	uncleanMs      int64
}

func (m *memberSettings) read(r *reader) {
	m.register = r.word("members", "silent", "silent", "register") == "register"
	m.sessionMs = r.number("broker_session_timeout_ms", 9000)
	m.heartbeatMs = r.number("broker_heartbeat_interval_ms", 2000)
	m.registrationMs = r.number("broker_registration_timeout_ms", 60_000)
	m.balanceMs = r.number("leader_imbalance_check_ms", 0)
	m.uncleanMs = r.number("unclean_election_check_ms", 0)
	m.refuseOld = r.word("old_controllers", "take", "take", "refuse") == "refuse"
}

// sessionNs is how long a broker may be silent; 0 where nobody registers.
func (m *memberSettings) sessionNs() int64 {
	if !m.register {
		return 0
	}
	return m.sessionMs * million
}

// memberParameters are those of plan.params.
func memberParameters() []plan.Field {
	return []plan.Field{
		wordField("members", "brokers and controllers register at the active controller, or nobody does; absent: silent", "silent", "register"),
		usually(numberField("broker_session_timeout_ms", 1, longestMs, "broker.session.timeout.ms; absent: 9000"), 9000),
		below(numberField("broker_heartbeat_interval_ms", 1, longestMs, "broker.heartbeat.interval.ms; absent: 2000"), 2000, "broker_session_timeout_ms"),
		numberField("broker_registration_timeout_ms", 1, longestMs, "initial.broker.registration.timeout.ms; absent: 60000"),
		numberField("leader_imbalance_check_ms", 0, longestMs, "how often leadership goes back to preferred replicas (leader.imbalance.check.interval.seconds), 0: never; absent: 0"),
		numberField("unclean_election_check_ms", 0, longestMs, "how often partitions without leader get one uncleanly where that is allowed, 5 minutes in Kafka, 0: never; absent: 0"),
		wordField("old_controllers", "what becomes of the registration of a controller that does not support what is finalized; Kafka takes it; absent: take",
			"take", "refuse"),
	}
}

// memberRequest is a request of a member; exactly one of the three is set.
type memberRequest struct {
	number     int64 // of this attempt, unique on its host
	from       int32 // node id
	broker     *controller.BrokerRegistration
	heartbeat  *controller.BrokerHeartbeat
	controller *controller.ControllerRegistration
}

func (m *memberRequest) Kind() uint32 {
	switch {
	case m.broker != nil:
		return kindRegisterBroker
	case m.heartbeat != nil:
		return kindHeartbeat
	}
	return kindRegisterController
}

// rpc is the request's API key.
func (m *memberRequest) rpc() int16 {
	switch {
	case m.broker != nil:
		return rpcBrokerRegistration
	case m.heartbeat != nil:
		return rpcBrokerHeartbeat
	}
	return rpcControllerRegistration
}

// in is the request as a version carries it.
func (m *memberRequest) in(version int16) *memberRequest {
	same := *m
	switch {
	case m.broker != nil:
		same.broker = registrationIn(m.broker, version)
	case m.heartbeat != nil:
		same.heartbeat = heartbeatIn(m.heartbeat, version)
	}
	return &same
}

func (m *memberRequest) Key() uint64 {
	key := uint64(uint32(m.from)) << 40
	if m.heartbeat != nil {
		key ^= uint64(m.heartbeat.CurrentMetadataOffset)
	}
	return key
}

func (m *memberRequest) AppendTo(buf []byte) []byte {
	buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(append(buf, 'm'), uint32(m.from)), uint64(m.number))
	switch {
	case m.broker != nil:
		b := m.broker
		buf = append(binary.BigEndian.AppendUint64(append(buf, b.ClusterID...), uint64(b.PreviousBrokerEpoch)), b.IncarnationID[:]...)
		return appendRanges(appendIDs(buf, b.LogDirs), b.Features)
	case m.heartbeat != nil:
		h := m.heartbeat
		buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(buf, uint64(h.BrokerEpoch)), uint64(h.CurrentMetadataOffset))
		return appendIDs(append(buf, bit(h.WantFence)|bit(h.WantShutDown)<<1), h.OfflineLogDirs)
	}
	return appendRanges(append(buf, m.controller.IncarnationID[:]...), m.controller.Features)
}

func (m *memberRequest) String() string {
	switch {
	case m.broker != nil:
		return fmt.Sprintf("BrokerRegistration of %d, incarnation %s", m.from, m.broker.IncarnationID)
	case m.heartbeat != nil:
		h := m.heartbeat
		return fmt.Sprintf("BrokerHeartbeat of %d, epoch %d, offset %d, fence %t, shut down %t", m.from, h.BrokerEpoch, h.CurrentMetadataOffset,
			h.WantFence, h.WantShutDown)
	}
	return fmt.Sprintf("ControllerRegistration of %d, incarnation %s", m.from, m.controller.IncarnationID)
}

func appendIDs(buf []byte, ids []record.UUID) []byte {
	buf = append(buf, byte(len(ids)))
	for i := range ids {
		buf = append(buf, ids[i][:]...)
	}
	return buf
}

func appendRanges(buf []byte, ranges []image.FeatureRange) []byte {
	for i := range ranges {
		f := &ranges[i]
		buf = binary.BigEndian.AppendUint16(append(buf, f.Name...), uint16(f.Minimum))
		buf = binary.BigEndian.AppendUint16(buf, uint16(f.Maximum))
	}
	return buf
}

func bit(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// memberAnswer is what a controller says to a request of a member.
type memberAnswer struct {
	number int64
	to     int32
	code   controller.ErrorCode
	reply  controller.BrokerReply
}

func (m *memberAnswer) Kind() uint32 { return kindMemberAnswer }
func (m *memberAnswer) Key() uint64  { return uint64(uint32(m.to))<<32 ^ uint64(uint16(m.code)) }
func (m *memberAnswer) AppendTo(buf []byte) []byte {
	r := &m.reply
	buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(append(buf, 'n'), uint32(m.to)), uint64(m.number))
	buf = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(buf, uint16(m.code)), uint64(r.BrokerEpoch))
	return append(buf, bit(r.IsCaughtUp)|bit(r.IsFenced)<<1|bit(r.InControlledShutdown)<<2|bit(r.ShouldShutDown)<<3)
}
func (m *memberAnswer) String() string {
	return fmt.Sprintf("answer to member %d: %v, epoch %d, caught up %t, fenced %t, go %t", m.to, m.code, m.reply.BrokerEpoch, m.reply.IsCaughtUp,
		m.reply.IsFenced, m.reply.ShouldShutDown)
}
