package raft

import (
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// Transport is the network as one replica sees it: stream connections. None of its methods blocks or fails.
type Transport interface {
	// Dial opens a connection and returns its id; the outcome comes as Connected or Disconnected.
	Dial(host string, port uint16) (conn int64)
	// Send hands over a message, which is immutable from then on. It is lost silently when the connection is down.
	Send(conn int64, m Message)
	// CloseConn closes a connection that Dial returned. Nothing comes from it any more, Disconnected included.
	CloseConn(conn int64)
}

// Site names a choice for which no rule is given.
type Site uint8

// The choices of a replica.
const (
	// SiteElectionTimeout: the random part of an election timer, 0 to ElectionTimeoutMs-1 ms, keyed by epoch and role.
	SiteElectionTimeout Site = iota
	// SiteBootstrapServer: which bootstrap server is asked first, keyed by epoch and log end.
	SiteBootstrapServer
	// SiteReconnectBackoff: the jitter of the pause before a lost connection is dialled again, keyed by peer and number
	// of failures.
	SiteReconnectBackoff
	// SiteSnapshotSuffix: the random part in the name of a snapshot that is being written, keyed by its id.
	SiteSnapshotSuffix
)

// Chooser makes the replica's choices: 0 <= v < n. A simulator draws it from the name (site, key), production from a
// random source.
type Chooser interface {
	Choose(site Site, key uint64, n int64) int64
}

// Waker asks for a Poll of the raft lane soon. A client call from another lane ends with it.
type Waker interface {
	Wake()
}

// Files is how a replica reaches its directory.
type Files = raftlog.Files

// Deps is what a replica is given to work with.
type Deps struct {
	// Files reaches the disk.
	Files Files
	// Dir is the partition directory, .../__cluster_metadata-0.
	Dir       string
	Transport Transport
	Chooser   Chooser
	Observer  Observer // nil: nobody watches
	Waker     Waker    // nil: the caller polls by itself after client calls
	// Alloc gives buffers for batches and reads, which are never given back; nil means make.
	Alloc func(n int) []byte
	// Pool gives messages and lists of batches; nil means a pool of the replica's own.
	Pool *Pool
}

// Replica is one member of a KRaft quorum, voter or observer. See the package comment for how it is driven. Not safe
// for concurrent use: the owner serialises all calls, the client calls of other lanes included.
type Replica struct {
	cfg  Config
	self ReplicaKey // of cfg, put together once: a key made for a call and then copied waits for its own stores
	deps Deps
	pool *Pool

	log     *raftlog.Log
	store   *quorumstate.Store
	control controlState
	role    role
	inForce *base // of role
	is      Role  // kind of role
	channel channel

	listeners   []*listener
	parked      []parkedFetch
	parkedSpare []parkedFetch

	nowMs      int64 // the largest seen
	deadlineMs int64
	cleanMs    int64 // when the retention limits are looked at next

	// logHighWatermark is the largest high watermark of this process life, in whatever role: the log's in Kafka. Snapshots,
	// retention and truncation go by it, since a new leader does not know its own at first and a former one has given it up.
	logHighWatermark int64

	offered string // cluster id that a voter has shown while none was known

	shuttingDown       bool
	shutdownDeadlineMs int64
	done               bool
	shutdownTimedOut   bool

	someLeave bool // a listener was unregistered since the lane's last turn

	metrics metrics

	event Event // scratch of emit
}

// New makes a replica that has not touched its directory yet. Errors of the configuration show in Open.
func New(cfg Config, deps Deps) *Replica {
	r := &Replica{cfg: cfg, deps: deps, pool: deps.Pool, deadlineMs: -1, logHighWatermark: unknown}
	r.self = ReplicaKey{ID: cfg.NodeID, DirectoryID: cfg.DirectoryID}
	if r.pool == nil {
		r.pool = &Pool{}
	}
	if r.cfg.Log.Alloc == nil {
		r.cfg.Log.Alloc = deps.Alloc
	}
	if r.pool.retain {
		r.cfg.Log.Memory = &r.pool.logs
	}
	return r
}

// tick takes the time of an input. A wall clock that steps back stands still for the replica until it has caught up.
func (r *Replica) tick(nowMs int64) { r.nowMs = max(r.nowMs, nowMs) }

// Connected says that a dial of this replica succeeded.
func (r *Replica) Connected(nowMs int64, conn int64) error {
	if r.done {
		return nil
	}
	r.tick(nowMs)
	r.connected(conn)
	return r.step()
}

// Disconnected says that a dial failed (refused: nobody listens there) or that a connection broke.
func (r *Replica) Disconnected(nowMs int64, conn int64, refused bool) error {
	if r.done {
		return nil
	}
	r.tick(nowMs)
	r.disconnected(conn)
	return r.step()
}

// Receive handles one message that came over conn: a request, which is answered over the same connection, or the
// answer to a request of this replica.
func (r *Replica) Receive(nowMs int64, conn int64, m Message) error {
	if r.done {
		return nil
	}
	r.tick(nowMs)
	r.heard(conn)
	if err := r.handle(conn, m); err != nil {
		return err
	}
	return r.step()
}

// Poll runs timers and takes in what client calls left behind.
func (r *Replica) Poll(nowMs int64) error {
	if r.done {
		return nil
	}
	r.tick(nowMs)
	return r.step()
}

// DeadlineMs is the wall time of the next wake-up that the replica wants, or -1 for none. It lies behind the time of
// the last input, except after Open, Shutdown and client calls, which leave their work to the next Poll.
func (r *Replica) DeadlineMs() int64 {
	if r.done || r.deadlineMs == never {
		return -1
	}
	return r.deadlineMs
}

// handle dispatches one message.
func (r *Replica) handle(conn int64, m Message) error {
	switch m := m.(type) {
	case *FetchRequest:
		return r.handleFetchRequest(conn, m)
	case *VoteRequest:
		return r.handleVoteRequest(conn, m)
	case *BeginQuorumEpochRequest:
		return r.handleBeginQuorumEpochRequest(conn, m)
	case *EndQuorumEpochRequest:
		return r.handleEndQuorumEpochRequest(conn, m)
	case *AddRaftVoterRequest:
		return r.handleAddRaftVoterRequest(conn, m)
	case *RemoveRaftVoterRequest:
		return r.handleRemoveRaftVoterRequest(conn, m)
	case *UpdateRaftVoterRequest:
		return r.handleUpdateRaftVoterRequest(conn, m)
	case *DescribeQuorumRequest:
		return r.handleDescribeQuorumRequest(conn, m)
	case *ApiVersionsRequest:
		return r.handleApiVersionsRequest(conn, m)
	case *FetchSnapshotRequest:
		return r.handleFetchSnapshotRequest(conn, m)
	case *FetchResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *FetchSnapshotResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *AddRaftVoterResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *RemoveRaftVoterResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *UpdateRaftVoterResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *ApiVersionsResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *VoteResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *BeginQuorumEpochResponse:
		return r.handleResponse(conn, &m.Header, m)
	case *EndQuorumEpochResponse:
		return r.handleResponse(conn, &m.Header, m)
	}
	return nil // a message of another layer
}

// handleResponse drops an answer that is not the expected one of its peer, and settles the expectation by what the
// handler made of it.
func (r *Replica) handleResponse(conn int64, h *Header, m Message) (err error) {
	p := r.channel.byConn(conn)
	if p == nil || p.state != peerAwaiting || p.correlation != h.Correlation {
		return nil
	}
	correlation := h.Correlation
	success := false
	switch m := m.(type) {
	case *FetchResponse:
		success, err = r.handleFetchResponse(p, m)
	case *FetchSnapshotResponse:
		success, err = r.handleFetchSnapshotResponse(p, m)
	case *VoteResponse:
		success, err = r.handleVoteResponse(p, m)
	case *BeginQuorumEpochResponse:
		success, err = r.handleBeginQuorumEpochResponse(p, m)
	case *EndQuorumEpochResponse:
		success, err = r.handleEndQuorumEpochResponse(p, m)
	case *AddRaftVoterResponse:
		success, err = r.handleAddRaftVoterResponse(p, m)
	case *RemoveRaftVoterResponse:
		success, err = r.handleRemoveRaftVoterResponse(p, m)
	case *UpdateRaftVoterResponse:
		success, err = r.handleUpdateRaftVoterResponse(p, m)
	case *ApiVersionsResponse:
		success, err = r.handleApiVersionsResponse(p, m)
	}
	if err != nil {
		return err
	}
	r.answered(p, correlation, success)
	return nil
}

// maxRounds bounds the rounds of step: a role can follow from another at the same instant a few times (Resigned,
// Unattached, Prospective, Candidate, Leader), not for ever.
const maxRounds = 16

// step is what Kafka's raft thread does after each message (kraft-protocol 0): poll the listeners, finish a shutdown,
// poll the role, until nothing is due at this instant; then it computes the deadline.
func (r *Replica) step() error {
	for round := 0; round < maxRounds; round++ {
		if err := r.pollListeners(); err != nil {
			return err
		}
		if r.finishShutdown() {
			return r.log.Close()
		}
		nextMs, err := r.role.poll(r)
		if err != nil {
			return err
		}
		if nextMs > r.nowMs {
			maintainMs, err := r.maintain()
			if err != nil {
				return err
			}
			r.deadlineMs = min(nextMs, r.expireParked(), maintainMs)
			if r.shuttingDown {
				r.deadlineMs = min(r.deadlineMs, r.shutdownDeadlineMs)
			}
			return r.pollListeners()
		}
	}
	r.deadlineMs = r.nowMs + 1
	return nil
}
