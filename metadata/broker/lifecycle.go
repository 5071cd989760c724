package broker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// What callers match. Both end the process, as they end Kafka's.
var (
	// ErrRegistration: nobody acknowledged the first registration within initial.broker.registration.timeout.ms.
	ErrRegistration = errors.New("broker: the initial registration timed out")
	// ErrNoLogDirs: all log directories are offline.
	ErrNoLogDirs = errors.New("broker: all log directories failed")
	// ErrConfig names a field of Config that no broker can run with.
	ErrConfig = errors.New("broker: bad configuration")
)

// State is where a broker stands, Kafka's BrokerState.
type State uint8

// The states.
const (
	NotRunning State = iota
	Starting
	Recovery
	Running
	PendingControlledShutdown
	ShuttingDown
)

// String returns Kafka's name of the state.
func (s State) String() string {
	switch s {
	case NotRunning:
		return "NOT_RUNNING"
	case Starting:
		return "STARTING"
	case Recovery:
		return "RECOVERY"
	case Running:
		return "RUNNING"
	case PendingControlledShutdown:
		return "PENDING_CONTROLLED_SHUTDOWN"
	case ShuttingDown:
		return "SHUTTING_DOWN"
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// The defaults of Kafka's configuration.
const (
	DefaultHeartbeatIntervalNs   int64 = 2_000_000_000
	DefaultRegistrationTimeoutNs int64 = 60_000_000_000
	DefaultBackoffNs             int64 = 100_000_000
	DefaultSessionTimeoutNs      int64 = 9_000_000_000
	// soonNs is how soon the first "not yet" of a controlled shutdown is asked about again.
	soonNs int64 = 50_000_000
)

// Config is what a broker introduces itself with, and its periods.
type Config struct {
	BrokerID            int32
	ClusterID           string      // "" while unknown: the registration waits for SetClusterID
	IncarnationID       record.UUID // new at each start of the process
	Listeners           []image.Endpoint
	Features            []image.FeatureRange // of its release
	Rack                *string
	LogDirs             []record.UUID // those that are online; ascending or not
	PreviousBrokerEpoch int64         // that a clean shutdown left on the disk, -1 for none
	RequestVersion      int16         // of BrokerRegistration, as the release has it

	HeartbeatIntervalNs   int64 // broker.heartbeat.interval.ms
	RegistrationTimeoutNs int64 // initial.broker.registration.timeout.ms
	BackoffNs             int64 // after a first failure; doubles
	BackoffMaxNs          int64 // broker.session.timeout.ms in Kafka
}

func (c *Config) validate() error {
	switch {
	case c.BrokerID < 0:
		return fmt.Errorf("%w: broker id %d", ErrConfig, c.BrokerID)
	case len(c.LogDirs) == 0:
		return fmt.Errorf("%w: no log directories", ErrConfig)
	case c.HeartbeatIntervalNs < 1 || c.RegistrationTimeoutNs < 1 || c.BackoffNs < 1 || c.BackoffMaxNs < c.BackoffNs:
		return fmt.Errorf("%w: heartbeats every %d ns, registration timeout %d ns, backoff %d to %d ns", ErrConfig,
			c.HeartbeatIntervalNs, c.RegistrationTimeoutNs, c.BackoffNs, c.BackoffMaxNs)
	}
	return nil
}

// Channel carries requests to the active controller, wherever that is. Each is answered by one call of Answered: with what the
// controller said, or that there was nothing in time. Requests are immutable from then on.
type Channel interface {
	Register(r *controller.BrokerRegistration)
	Heartbeat(h *controller.BrokerHeartbeat)
}

// Deps are the life cycle's neighbours.
type Deps struct {
	Channel Channel
	// AppliedOffset is the offset of the last record that the loader has published, -1 for none.
	AppliedOffset func() int64
}

// Answer is what came of a request.
type Answer struct {
	Lost  bool // none came in time, or the connection broke
	Code  controller.ErrorCode
	Reply controller.BrokerReply
}

const noDeadline int64 = -1

// outstanding is the request that is out.
type outstanding uint8

const (
	nothingOut outstanding = iota
	registrationOut
	heartbeatOut
)

// Lifecycle is the life of one broker process. All methods belong to its lane.
type Lifecycle struct {
	cfg  Config
	deps Deps

	state      State
	epoch      int64 // that the controller gave, -1 until then
	registered bool
	out        outstanding
	caughtUp   bool
	published  bool
	toldToWait bool // a heartbeat of the controlled shutdown was answered
	failures   int32
	giveUpNs   int64 // of the first registration
	nextNs     int64 // of the next request, noDeadline: none is due
	offline    []record.UUID
}

// New returns the life cycle of a process that has not started.
func New(cfg Config, deps Deps) (*Lifecycle, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Lifecycle{cfg: cfg, deps: deps, epoch: -1, giveUpNs: noDeadline, nextNs: noDeadline}, nil
}

// State returns where the broker stands.
func (l *Lifecycle) State() State { return l.state }

// Epoch returns the epoch that the controller gave to this incarnation, -1 until it is known.
func (l *Lifecycle) Epoch() int64 { return l.epoch }

// IncarnationID returns the id that the process registers with.
func (l *Lifecycle) IncarnationID() record.UUID { return l.cfg.IncarnationID }

// Start begins the life. Without a cluster id nothing is sent before SetClusterID: a registration that names none would be refused
// by a cluster that has one (KIP-1262, metadata-bootstrap 4.7).
func (l *Lifecycle) Start(nowNs int64) error {
	l.state = Starting
	l.giveUpNs = nowNs + l.cfg.RegistrationTimeoutNs
	if l.cfg.ClusterID != "" {
		return l.communicate(nowNs)
	}
	return nil
}

// SetClusterID tells the id of the cluster, once it is known and persisted.
func (l *Lifecycle) SetClusterID(nowNs int64, id string) error {
	if l.cfg.ClusterID = id; l.state == Starting && !l.registered {
		return l.communicate(nowNs)
	}
	return nil
}

// FirstPublish says that the broker's components have their first image. Together with having caught up it makes the broker ready
// to be unfenced.
func (l *Lifecycle) FirstPublish(nowNs int64) error {
	if l.published {
		return nil
	}
	l.published = true
	if l.ready() {
		return l.communicate(nowNs)
	}
	return nil
}

func (l *Lifecycle) ready() bool { return l.published && l.caughtUp }

// Reregister repeats the registration of a broker that is registered without log directories: the metadata.version reached the one
// that has them (KIP-858).
func (l *Lifecycle) Reregister(nowNs int64) error {
	if !l.registered || l.state >= PendingControlledShutdown {
		return nil
	}
	l.registered = false
	return l.communicate(nowNs)
}

// BeginControlledShutdown asks for leave. A broker that is not running has nothing that others need to take over, and goes.
func (l *Lifecycle) BeginControlledShutdown(nowNs int64) error {
	switch l.state {
	case Running:
		l.state = PendingControlledShutdown
		return l.communicate(nowNs)
	case PendingControlledShutdown:
	default:
		l.end()
	}
	return nil
}

func (l *Lifecycle) end() { l.state, l.nextNs, l.giveUpNs = ShuttingDown, noDeadline, noDeadline }

// DirectoryFailed says that a log directory is offline. The controller hears of it at once; when it was the last one the error
// wraps ErrNoLogDirs.
func (l *Lifecycle) DirectoryFailed(nowNs int64, dir record.UUID) error {
	if slices.Contains(l.offline, dir) || !slices.Contains(l.cfg.LogDirs, dir) {
		return nil
	}
	l.offline = append(slices.Clone(l.offline), dir)
	if len(l.offline) == len(l.cfg.LogDirs) {
		return fmt.Errorf("%w: broker %d has %d", ErrNoLogDirs, l.cfg.BrokerID, len(l.cfg.LogDirs))
	}
	if l.registered {
		return l.communicate(nowNs)
	}
	return nil
}
