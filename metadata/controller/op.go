package controller

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrorCode is the number that Kafka's protocol gives an error.
type ErrorCode int16

// The errors that the controller answers with.
const (
	None                        ErrorCode = 0
	UnknownServerError          ErrorCode = -1
	RequestTimedOut             ErrorCode = 7
	UnsupportedVersion          ErrorCode = 35
	InvalidConfig               ErrorCode = 40
	NotController               ErrorCode = 41
	InvalidRequest              ErrorCode = 42
	StaleBrokerEpoch            ErrorCode = 77
	InvalidUpdateVersion        ErrorCode = 95
	DuplicateBrokerRegistration ErrorCode = 101
	BrokerIDNotRegistered       ErrorCode = 102
	InconsistentClusterID       ErrorCode = 104
	InvalidRegistration         ErrorCode = 119
	ControllerIDNotRegistered   ErrorCode = 136
)

// String returns Kafka's name for the error.
func (c ErrorCode) String() string {
	switch c {
	case None:
		return "NONE"
	case UnknownServerError:
		return "UNKNOWN_SERVER_ERROR"
	case RequestTimedOut:
		return "REQUEST_TIMED_OUT"
	case UnsupportedVersion:
		return "UNSUPPORTED_VERSION"
	case InvalidConfig:
		return "INVALID_CONFIG"
	case NotController:
		return "NOT_CONTROLLER"
	case InvalidRequest:
		return "INVALID_REQUEST"
	case InvalidUpdateVersion:
		return "INVALID_UPDATE_VERSION"
	}
	if name := c.registrationName(); name != "" {
		return name
	}
	if name := c.partitionName(); name != "" {
		return name
	}
	return fmt.Sprintf("error %d", int16(c))
}

// OpKind says what an operation does.
type OpKind uint8

// The operations. The unexported ones are the controller's own and have no OpID.
const (
	_ OpKind = iota
	// AppendConfig sets the default configuration Name of all brokers to Value: a plain stream of writes for storms.
	AppendConfig
	// ReadConfig reads what AppendConfig wrote, as of the last stable offset, on any controller, active or not (7.1).
	ReadConfig
	// UpdateFeatures changes finalized feature levels (API key 57, 5.1 to 5.4).
	UpdateFeatures
	// RegisterBroker registers an incarnation of a broker (API key 62, 5.8).
	RegisterBroker
	// Heartbeat is a broker's sign of life, and what it wants (API key 63, 7.5).
	Heartbeat
	// UnregisterBroker removes a broker's registration (API key 64).
	UnregisterBroker
	// RegisterController registers an incarnation of a controller (API key 70, 5.8).
	RegisterController
	// UnregisterController removes a controller's registration (API key 94, KIP-1312).
	UnregisterController
	activation
	noOp
	fenceStale
)

// String returns the operation's name.
func (k OpKind) String() string {
	switch k {
	case AppendConfig:
		return "append-config"
	case ReadConfig:
		return "read-config"
	case UpdateFeatures:
		return "update-features"
	case RegisterBroker:
		return "register-broker"
	case Heartbeat:
		return "heartbeat"
	case UnregisterBroker:
		return "unregister-broker"
	case RegisterController:
		return "register-controller"
	case UnregisterController:
		return "unregister-controller"
	case activation:
		return "activation"
	case noOp:
		return "no-op"
	case fenceStale:
		return "fence-stale"
	}
	if name := k.partitionKind(); name != "" {
		return name
	}
	return fmt.Sprintf("op %d", uint8(k))
}

// The upgrade types of UpdateFeatures; every other number is answered INVALID_UPDATE_VERSION.
const (
	Upgrade         int8 = 1
	SafeDowngrade   int8 = 2
	UnsafeDowngrade int8 = 3
)

// FeatureUpdate asks for one feature at one level.
type FeatureUpdate struct {
	Feature     string
	Level       int16
	UpgradeType int8
}

// Op is one request of a client. The controller reads it only during Submit.
type Op struct {
	ID           int64 // the client's; Responder.Done names it
	Kind         OpKind
	DeadlineNs   int64 // covers waiting in the queue only (7.1); 0 for none
	Name, Value  string
	Updates      []FeatureUpdate
	ValidateOnly bool

	Broker     *BrokerRegistration     // RegisterBroker
	Heartbeat  *BrokerHeartbeat        // Heartbeat
	Controller *ControllerRegistration // RegisterController
	NodeID     int32                   // UnregisterBroker, UnregisterController: who
	// Request is the typed request of the kinds that have one; its Kind is the operation's.
	Request Request
}

// Request is a typed request, such as *CreateTopicsRequest. Its documentation names the type of Result.Answer.
type Request interface {
	// Kind says which operation it asks for.
	Kind() OpKind
	// decide fills c.outcome from memory, which it does not touch: with an error for the whole request, or with an answer
	// and the records that go with it. What is returned is fatal.
	decide(c *Controller, nowNs int64) error
}

// Result is the answer to one operation.
type Result struct {
	Code     ErrorCode
	Message  string
	Offset   int64       // of the last record written for it, -1 for none
	LeaderID int32       // NOT_CONTROLLER: the leader as this node knows it, -1 for none
	Value    string      // ReadConfig
	Found    bool        // ReadConfig
	Broker   BrokerReply // RegisterBroker, Heartbeat
	Answer   any         // to a Request whose Code is None; see there for its type
}

// deferredOp waits for its offset to be stable.
type deferredOp struct {
	id     int64
	kind   OpKind
	offset int64 // answered when stable reaches it
	wrote  int64 // offset of its own last record, -1 for none
	broker BrokerReply
	answer any // what the client hears then
}

// deferredOps is a queue in the order of offsets.
type deferredOps struct {
	queue []deferredOp
	head  int32
}

func (d *deferredOps) waiting() []deferredOp { return d.queue[d.head:] }

func (d *deferredOps) add(op deferredOp) { d.queue = append(d.queue, op) }

// pop takes the first operation whose offset is at most upTo.
func (d *deferredOps) pop(upTo int64) (op deferredOp, ok bool) {
	if int(d.head) == len(d.queue) || d.queue[d.head].offset > upTo {
		return deferredOp{}, false
	}
	op = d.queue[d.head]
	d.head++
	switch {
	case int(d.head) == len(d.queue):
		d.queue, d.head = d.queue[:0], 0
	case d.head >= 64 && int(d.head) > len(d.queue)/2:
		n := copy(d.queue, d.queue[d.head:])
		d.queue, d.head = d.queue[:n], 0
	}
	return op, true
}

// highest returns the offset that the last operation waits for.
func (d *deferredOps) highest() (offset int64, ok bool) {
	if n := len(d.queue); n > int(d.head) {
		return d.queue[n-1].offset, true
	}
	return 0, false
}

func (d *deferredOps) appendTo(buf []byte) []byte {
	buf = record.AppendInt32(buf, int32(len(d.waiting())))
	for _, op := range d.waiting() {
		buf = record.AppendInt64(append(record.AppendInt64(buf, op.id), byte(op.kind)), op.offset)
	}
	return buf
}
