package sim

// Process is the program under test as it runs on one host between a boot and a crash. It is a state machine: the world
// calls it, it never calls back but through Env, and between two calls it does nothing. After a crash the object is
// dropped and the host's factory makes a new one.
//
// A process must be deterministic: no goroutines, wall clock, map order or randomness but Env.Choose.
type Process interface {
	// Boot starts the process. An error is a refusal to start: it is on record in the verdict, the host is down.
	Boot(env *Env) error
	// Input handles one input on the lane that it came to. A returned error is fatal: what the handler did up to there has
	// happened, then the process stops with that error on record.
	Input(env *Env, in *Input) error
	// Stop asks for a graceful end. The process goes on receiving inputs until it calls Env.Exit.
	Stop(env *Env)
	// AppendState appends canonical bytes of the state. The protocol view leaves out absolute times and counters.
	AppendState(buf []byte, view View) []byte
}

// View selects what AppendState writes.
type View uint8

// The views.
const (
	FullView     View = iota // everything that the future depends on
	ProtocolView             // without absolute times and counters: for coverage and comparison of schedules
)

// Message is what crosses a link or a lane. It is immutable from the moment it is given to Send or Post.
type Message interface {
	// Kind is a stable number; with Key it names the decisions about the message.
	Kind() uint32
	// Key is what the protocol says the message is: a vote's epoch, a fetch's epoch and offset.
	Key() uint64
	// AppendTo appends canonical bytes, which go into the trace hash.
	AppendTo(buf []byte) []byte
}

// Carrier is a message that is another one in the form in which it travels: a frame of bytes. Checkers and traces are shown what it
// carries; Kind, Key and AppendTo are those of what it carries too, so that both forms hash alike.
type Carrier interface {
	Message
	Carried() Message
}

// Observation is a protocol event, told through Env.Observe: a role change, a raised high watermark. Checkers use it to know where
// to look; the behaviour hash is made of observations alone. If it has a String method, traces print that.
type Observation interface {
	AppendTo(buf []byte) []byte
}

// LaneID numbers the lanes of a process from 0, in the order of Env.Lanes.
type LaneID int32

// Conn is a connection id, unique within a run. 0 is none.
type Conn = int64

// InputKind says what an Input is.
type InputKind uint8

// The kinds of input.
const (
	InMessage      InputKind = iota + 1 // Msg arrived on Conn (stream) or from From (datagram)
	InConnected                         // the connection Conn that this lane dialled is open
	InDisconnected                      // Conn is closed; Refused when it never opened
	InWake                              // the lane's deadline passed, or a spurious wake-up
	InPost                              // Msg was posted by a lane of the same process
	InLocal                             // Msg is a request of an operator or a client on the same host

	inStop // the world calls Stop: no process sees it
)

// String returns the word used in traces.
func (k InputKind) String() string {
	return [...]string{"?", "message", "connected", "disconnected", "wake", "post", "local", "stop"}[k]
}

// Input is one input. It is valid during the call of Process.Input only; Msg may be kept.
type Input struct {
	Kind    InputKind
	Lane    LaneID
	Refused bool
	Conn    Conn
	From    string // host id of the sender of a datagram or of a stream message
	Msg     Message

	spurious bool
	poster   int32 // lane that posted it
	sender   int32 // index of the host From, of a message
	cause    int64 // id of the event that sent it
	number   int32 // of the message, 0: not traced
}

// DownKind says how a process ended.
type DownKind uint8

// How a process ends.
const (
	Killed         DownKind = iota + 1 // the page cache survives
	PowerLost                          // it does not
	Exited                             // gracefully
	FatalError                         // Input returned an error
	RefusedToStart                     // Boot returned an error
)

// String returns the word used in traces.
func (k DownKind) String() string {
	return [...]string{"?", "killed", "power lost", "exited", "fatal", "refused to start"}[k]
}
