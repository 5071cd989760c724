package raft

import "github.com/kraftsim/kraftsim/raft/voters"

// ReplicaKey names a replica by node id and directory id.
type ReplicaKey = voters.ReplicaKey

// EventKind says what happened; see the constants for the fields of Event that have a meaning.
type EventKind uint8

// The kinds of protocol events. Epoch, Role and Leader are always those of the replica at that point; the other
// fields have a meaning only where a kind says so. Events tell an observer where to look, they are no ground truth.
const (
	_ EventKind = iota
	// RoleChanged: the replica is in Role now (any durable part is written).
	RoleChanged
	// EpochAdopted: the epoch grew; Other is the one before.
	EpochAdopted
	// ElectionStarted: a candidacy in Epoch is durable.
	ElectionStarted
	// PreVoteStarted: the replica asks whether it could win.
	PreVoteStarted
	// VotePersisted: a standard vote for Peer is durable. Sent before the answer.
	VotePersisted
	// VoteGranted: a standard vote for Peer goes out, also a repeated one; Flag says that it is repeated.
	VoteGranted
	// PreVoteGranted: a pre-vote for Peer goes out.
	PreVoteGranted
	// VoteRefused: Peer gets no vote; Flag says that it asked for a pre-vote.
	VoteRefused
	// FetchTimeout: a follower heard nothing from its leader for too long.
	FetchTimeout
	// ElectionTimeout: the election timer of Role ran out.
	ElectionTimeout
	// ElectionLost: a majority refused; Flag says that it was a pre-vote.
	ElectionLost
	// CheckQuorumExpired: a leader has not been fetched from by a majority for too long.
	CheckQuorumExpired
	// HighWatermarkAdvanced: Offset is the new high watermark, Other the one before or -1. Flag marks the first of
	// this leader state or this follower process life.
	HighWatermarkAdvanced
	// LogAppended: Offset is the new log end offset, Other the one before.
	LogAppended
	// LogFlushed: everything below Offset is durable.
	LogFlushed
	// LogTruncated: the log was cut at Offset; Other is the high watermark known then, or -1.
	LogTruncated
	// LogRecovered: at start the log ends at Offset; Other is the number of bytes that recovery cut.
	LogRecovered
	// LeaderChangeAnnounced: listener Other was told (Leader, Epoch).
	LeaderChangeAnnounced
	// BatchDelivered: listener Other was given committed records up to Offset (exclusive).
	BatchDelivered
	// SnapshotDelivered: listener Other was given the snapshot that ends at Offset.
	SnapshotDelivered
	// FetchAccepted: a leader recorded that Peer holds everything below Offset.
	FetchAccepted
	// DivergenceAnswered: Peer was told that its log diverges; Offset and Other are the end offset and epoch sent.
	DivergenceAnswered
	// DivergenceReceived: the leader says that the log diverges; Offset and Other as above.
	DivergenceReceived
	// SnapshotOffered: a Fetch answer carries the snapshot id (Offset, Other); Flag: sent, otherwise received.
	SnapshotOffered
	// VotersChanged: the voter set in force is the one at Offset (-1: the bootstrap snapshot; NoVotersInLog: static).
	VotersChanged
	// KRaftVersionChanged: the kraft.version in force is Offset.
	KRaftVersionChanged
	// PeerUnavailable: a request to Peer failed for want of a connection.
	PeerUnavailable
	// RequestTimeout: Peer did not answer in time.
	RequestTimeout
	// UnexpectedAnswer: Peer answered with error code Offset, which the replica can only wait out.
	UnexpectedAnswer
	// ShutdownFinished: the graceful shutdown ended; Flag says that time ran out.
	ShutdownFinished
	// VoterChangeStarted: a leader took on a change of the voter set; Offset: 1 add, 2 remove, 3 update; Peer: the voter.
	VoterChangeStarted
	// VoterChangeEnded: that change is over; Offset is the error code, Other the offset of its record or -1; Flag: the
	// answer had been given before.
	VoterChangeEnded
	// SnapshotStored: the snapshot (Offset, Other: its epoch) is durable, made here or downloaded, and takes part from now on.
	SnapshotStored
	// LogReplaced: the log, which ended at Other, gave way to the downloaded snapshot at Offset and is empty.
	LogReplaced
	// LogPrefixDeleted: retention moved the log start from Other to Offset.
	LogPrefixDeleted
	// VoterHeard: a leader took a request of Peer other than a Fetch for a sign of life, which counts like one for
	// check-quorum if Peer is a voter (3.8): a FetchSnapshot that it serves, an UpdateRaftVoter that it takes.
	VoterHeard
	// numEventKinds counts the kinds; it stays last.
	numEventKinds
)

// NoVotersInLog is the offset of a VotersChanged event that falls back to the static voters.
const NoVotersInLog int64 = -2

// eventNames are the texts of the kinds, in order.
var eventNames = [numEventKinds]string{
	RoleChanged: "role-changed", EpochAdopted: "epoch-adopted", ElectionStarted: "election-started",
	PreVoteStarted: "pre-vote-started", VotePersisted: "vote-persisted", VoteGranted: "vote-granted",
	PreVoteGranted: "pre-vote-granted", VoteRefused: "vote-refused", FetchTimeout: "fetch-timeout",
	ElectionTimeout: "election-timeout", ElectionLost: "election-lost", CheckQuorumExpired: "check-quorum-expired",
	HighWatermarkAdvanced: "high-watermark-advanced", LogAppended: "log-appended", LogFlushed: "log-flushed",
	LogTruncated: "log-truncated", LogRecovered: "log-recovered", LeaderChangeAnnounced: "leader-change-announced",
	BatchDelivered: "batch-delivered", SnapshotDelivered: "snapshot-delivered", FetchAccepted: "fetch-accepted",
	DivergenceAnswered: "divergence-answered", DivergenceReceived: "divergence-received",
	SnapshotOffered: "snapshot-offered", VotersChanged: "voters-changed", KRaftVersionChanged: "kraft-version-changed",
	PeerUnavailable: "peer-unavailable", RequestTimeout: "request-timeout", UnexpectedAnswer: "unexpected-answer",
	SnapshotStored: "snapshot-stored", LogReplaced: "log-replaced", LogPrefixDeleted: "log-prefix-deleted",
	VoterHeard:       "voter-heard",
	ShutdownFinished: "shutdown-finished", VoterChangeStarted: "voter-change-started", VoterChangeEnded: "voter-change-ended",
}

// String returns the kind in lower case with hyphens.
func (k EventKind) String() string {
	if k < numEventKinds && eventNames[k] != "" {
		return eventNames[k]
	}
	return "unknown-event"
}

// Event is a protocol event, by value; which fields mean something depends on Kind.
type Event struct {
	Kind   EventKind
	Epoch  int32
	Role   Role
	Leader int32
	Offset int64
	Other  int64
	Peer   ReplicaKey
	Flag   bool
}

// Observer is told of protocol events, at the point in program order at which they happen. It must not call the
// replica and must not keep the pointer.
type Observer interface {
	Observe(e *Event)
}

// emit sends an event of that kind with the fields that every event carries.
func (r *Replica) emit(kind EventKind, offset, other int64, peer *ReplicaKey, flag bool) {
	if r.deps.Observer == nil {
		return
	}
	e := &r.event // field by field, the peer by pointer: what is made first and then copied waits for its own stores
	e.Kind, e.Offset, e.Other, e.Peer, e.Flag = kind, offset, other, *peer, flag
	e.Role, e.Epoch, e.Leader = 0, 0, -1
	if b := r.inForce; b != nil {
		e.Role, e.Epoch, e.Leader = r.is, b.epoch, b.leaderID
	}
	r.deps.Observer.Observe(e)
}
