package controller

import (
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// BrokerRegistration is the request of API key 62: an incarnation of a broker introduces itself (metadata-bootstrap 5.8). The
// controller keeps the lists, so nobody may write to them afterwards.
type BrokerRegistration struct {
	BrokerID            int32
	ClusterID           string
	IncarnationID       record.UUID
	Listeners           []image.Endpoint
	Features            []image.FeatureRange
	Rack                *string
	IsMigratingZkBroker bool
	LogDirs             []record.UUID
	PreviousBrokerEpoch int64 // of the incarnation that ended with a clean shutdown here, -1 for none; from version 3 on
	Version             int16 // of the request
}

// BrokerHeartbeat is the request of API key 63 (metadata-bootstrap 7.5).
type BrokerHeartbeat struct {
	BrokerID              int32
	BrokerEpoch           int64
	CurrentMetadataOffset int64 // of the last record that the broker has applied, -1 for none
	WantFence             bool
	WantShutDown          bool
	OfflineLogDirs        []record.UUID
	CordonedLogDirs       []record.UUID // nil: says nothing about it
}

// ControllerRegistration is the request of API key 70 (KIP-919).
type ControllerRegistration struct {
	ControllerID  int32
	IncarnationID record.UUID
	Listeners     []image.Endpoint
	Features      []image.FeatureRange
}

// BrokerReply is what a broker is told: of a registration BrokerEpoch, of a heartbeat the rest.
type BrokerReply struct {
	BrokerEpoch          int64
	IsCaughtUp           bool
	IsFenced             bool
	InControlledShutdown bool
	ShouldShutDown       bool
}

// registrationName is Kafka's name of the errors that only registrations have.
func (c ErrorCode) registrationName() string {
	switch c {
	case StaleBrokerEpoch:
		return "STALE_BROKER_EPOCH"
	case DuplicateBrokerRegistration:
		return "DUPLICATE_BROKER_REGISTRATION"
	case BrokerIDNotRegistered:
		return "BROKER_ID_NOT_REGISTERED"
	case InconsistentClusterID:
		return "INCONSISTENT_CLUSTER_ID"
	case InvalidRegistration:
		return "INVALID_REGISTRATION"
	case ControllerIDNotRegistered:
		return "CONTROLLER_ID_NOT_REGISTERED"
	}
	return ""
}

// decideRegistration makes the records of an operation about who belongs to the cluster.
func (c *Controller) decideRegistration(nowNs int64, op *Op) {
	switch op.Kind {
	case RegisterBroker:
		c.decideBroker(nowNs, op.Broker)
	case Heartbeat:
		c.decideHeartbeat(nowNs, op.Heartbeat)
	case UnregisterBroker:
		c.decideUnregisterBroker(op.NodeID)
	case RegisterController:
		c.decideController(op.Controller)
	case UnregisterController:
		c.decideUnregisterController(op.NodeID)
	}
}
