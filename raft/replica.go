package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
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
	// Pool gives messages; nil means a pool of the replica's own.
	Pool *Pool
}

// Replica is one member of a KRaft quorum, voter or observer. See the package comment for how it is driven. Not safe
// for concurrent use: the owner serialises all calls, the client calls of other lanes included.
type Replica struct {
	cfg  Config
	deps Deps
	pool *Pool

	log     *raftlog.Log
	store   *quorumstate.Store
	control controlState
	role    role
	channel channel

	listeners   []*listener
	batchChunk  []Batch
	parked      []parkedFetch
	parkedSpare []parkedFetch

	nowMs      int64 // the largest seen
	deadlineMs int64

	shuttingDown       bool
	shutdownDeadlineMs int64
	done               bool
	shutdownTimedOut   bool

	event Event // scratch of emit
}

// New makes a replica that has not touched its directory yet. Errors of the configuration show in Open.
func New(cfg Config, deps Deps) *Replica {
	r := &Replica{cfg: cfg, deps: deps, pool: deps.Pool, deadlineMs: -1}
	if r.pool == nil {
		r.pool = &Pool{}
	}
	if r.cfg.Log.Alloc == nil {
		r.cfg.Log.Alloc = deps.Alloc
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
	case *FetchResponse:
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
	case *VoteResponse:
		success, err = r.handleVoteResponse(p, m)
	case *BeginQuorumEpochResponse:
		success, err = r.handleBeginQuorumEpochResponse(p, m)
	case *EndQuorumEpochResponse:
		success, err = r.handleEndQuorumEpochResponse(p, m)
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
			r.deadlineMs = min(nextMs, r.expireParked())
			if r.shuttingDown {
				r.deadlineMs = min(r.deadlineMs, r.shutdownDeadlineMs)
			}
			return r.pollListeners()
		}
	}
	r.deadlineMs = r.nowMs + 1
	return nil
}

// Shutdown begins a graceful shutdown that may take timeoutMs. The caller polls until Done; the replica must be open.
func (r *Replica) Shutdown(nowMs int64, timeoutMs int64) {
	r.tick(nowMs)
	if !r.shuttingDown {
		r.shuttingDown = true
		r.shutdownDeadlineMs = r.nowMs + timeoutMs
		r.deadlineMs = r.nowMs
	}
}

// Done reports whether the graceful shutdown is finished, in time or not. A finished replica ignores every input.
func (r *Replica) Done() bool { return r.done }

// ShutdownTimedOut reports whether a finished shutdown ended because its time was over and no successor was seen.
func (r *Replica) ShutdownTimedOut() bool { return r.shutdownTimedOut }

// finishShutdown ends the shutdown at once for whoever nobody depends on, or who has seen another leader (1.10).
func (r *Replica) finishShutdown() bool {
	if !r.shuttingDown {
		return false
	}
	b := r.base()
	hasRemoteLeader := r.role.kind() == Follower && b.leaderID != r.cfg.NodeID
	switch {
	case !r.isVoter() || r.isOnlyVoter() || hasRemoteLeader:
	case r.nowMs >= r.shutdownDeadlineMs:
		r.shutdownTimedOut = true
	default:
		return false
	}
	r.done = true
	r.emit(ShutdownFinished, 0, 0, NoReplica, r.shutdownTimedOut)
	return true
}

// Open recovers the log, reads its control records and the quorum-state, and enters the role that these call for,
// durably (kraft-protocol 1.6). Nothing is sent: the first Poll, due at once, does.
func (r *Replica) Open(nowMs int64) error {
	r.tick(nowMs)
	if err := r.cfg.validate(); err != nil {
		return err
	}
	log, err := raftlog.Open(r.deps.Files, r.deps.Dir, r.cfg.Log)
	if err != nil {
		return err
	}
	r.log = log
	r.store = quorumstate.NewStore(r.deps.Files, r.deps.Dir)
	r.emit(LogRecovered, log.EndOffset(), log.Recovered().BytesCut, NoReplica, false)
	if err := r.loadControlState(); err != nil {
		return err
	}
	if err := r.openBootstrap(); err != nil {
		return err
	}
	if err := r.restore(); err != nil {
		return err
	}
	r.deadlineMs = r.nowMs
	return nil
}

// restore enters the initial role. Being leader is not among the outcomes: a former leader of an epoch never writes in
// it again (KAFKA-10527).
func (r *Replica) restore() error {
	stored, found, err := r.store.Read()
	if err != nil {
		return err
	}
	if !found {
		stored = quorumstate.State{LeaderID: -1, VotedID: -1}
	}
	initial, err := r.initialRole(&stored)
	if err != nil {
		return err
	}
	if err := r.persist(initial.common()); err != nil {
		return err
	}
	r.role = initial
	r.emit(RoleChanged, 0, 0, NoReplica, false)
	r.emitControlChanges(NoVotersInLog, 0)
	if c, ok := initial.(*candidate); ok {
		return r.enteredCandidate(c)
	}
	if r.isOnlyVoter() {
		return r.becomeProspective()
	}
	return nil
}

// initialRole is the table of kraft-protocol 1.6, in its order.
func (r *Replica) initialRole(stored *quorumstate.State) (role, error) {
	b := base{
		epoch: stored.LeaderEpoch, leaderID: stored.LeaderID, highWatermark: unknown,
		voted: ReplicaKey{ID: stored.VotedID, DirectoryID: stored.VotedDirectoryID},
	}
	if !b.hasVoted() {
		b.voted = NoReplica
	}
	if b.hasVoted() && r.cfg.NodeID < 0 {
		return nil, fmt.Errorf("%w: it holds a vote, and this node has no id", ErrQuorumState)
	}
	if logEpoch := r.log.LastEpoch(); b.epoch < logEpoch { // the file is behind the log: the log wins
		b.epoch, b.leaderID, b.voted = logEpoch, -1, NoReplica
		return &unattached{base: b, electionDeadlineMs: r.initialDeadlineMs(b.epoch)}, nil
	}
	if b.leaderID >= 0 && b.leaderID == r.cfg.NodeID {
		b.leaderEndpoints, b.voted = r.cfg.Listeners, NoReplica
		return &resigned{
			base: b, unacknowledged: r.otherVoterIDs(), electionDeadlineMs: r.newElectionDeadlineMs(b.epoch, Resigned),
		}, nil
	}
	if b.hasVoted() && b.voted.Matches(r.localKey()) {
		return r.storedCandidate(b)
	}
	if b.leaderID >= 0 {
		if v := r.control.voters().Find(b.leaderID); v != nil && len(v.Endpoints) > 0 {
			b.leaderEndpoints = v.Endpoints
			return &follower{base: b, fetchDeadlineMs: r.nowMs + r.cfg.FetchTimeoutMs}, nil
		}
	}
	return &unattached{base: b, electionDeadlineMs: r.initialDeadlineMs(b.epoch)}, nil
}

// storedCandidate resumes a candidacy in the epoch of the file. If it had been won, the file would name this replica
// as leader. The leader that the file may name besides (row 4 before row 5) is found again by the first answer.
func (r *Replica) storedCandidate(b base) (role, error) {
	if !r.isVoter() {
		return nil, fmt.Errorf("%w: it holds a candidacy, and this replica is no voter", ErrQuorumState)
	}
	b.leaderID = -1
	b.voted = r.localKey()
	t, err := newTally(r.control.voters(), r.cfg.NodeID, true)
	if err != nil {
		return nil, err
	}
	return &candidate{base: b, tally: t, electionDeadlineMs: r.newElectionDeadlineMs(b.epoch, Candidate)}, nil
}

// initialDeadlineMs is the election deadline of an Unattached at start.
func (r *Replica) initialDeadlineMs(epoch int32) int64 {
	if !r.isVoter() {
		return never
	}
	return r.newElectionDeadlineMs(epoch, Unattached)
}

// appendStartOfEpoch puts the first batch of a new epoch into the accumulator (3.2): the leader change, and once
// kraft.version is 1 also version and voters if the replicated log does not have them yet (the bootstrap checkpoint is
// never replicated) or has this replica with other listeners or versions.
func (r *Replica) appendStartOfEpoch(l *leader, grantingIDs []int32) error {
	change := record.LeaderChangeMessage{LeaderID: r.cfg.NodeID}
	set := r.control.voters()
	for i := int32(0); i < set.Len(); i++ {
		change.Voters = append(change.Voters, record.LeaderChangeVoter{VoterID: set.At(i).ID})
	}
	for _, id := range grantingIDs {
		change.GrantingVoters = append(change.GrantingVoters, record.LeaderChangeVoter{VoterID: id})
	}
	var batch record.Builder
	batch.Reset(nil, record.BatchSpec{
		BaseOffset: l.epochStartOffset, LeaderEpoch: l.epoch, TimestampMs: r.nowMs, Control: true,
	})
	batch.AddControl(record.LeaderChange, change.AppendTo(nil, 0))
	if version := r.control.kraftVersion(); version >= 1 {
		if r.control.votersOffset() == NoVotersInLog {
			return fmt.Errorf("%w: kraft.version %d without a voter set", ErrQuorumState, version)
		}
		self := r.localVoter()
		if r.control.votersOffset() == -1 || set.NeedsUpdate(&self) {
			updated, ok := set.Update(self)
			if !ok {
				return fmt.Errorf("%w: leader %d is not in its own voter set", ErrIllegalTransition, self.ID)
			}
			versionRecord := record.KRaftVersionRecord{KRaftVersion: version}
			votersRecord := updated.Record()
			batch.AddControl(record.KRaftVersion, versionRecord.AppendTo(nil))
			batch.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
		}
	}
	n := int64(batch.Count())
	l.accumulator.appendControl(batch.Finish(), n)
	return nil
}
