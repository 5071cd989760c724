package raft

import "errors"

// Errors that callers match. Those of the client calls (PrepareAppend, Resign) are answers and leave the replica
// running; any error of Open, Poll, Receive, Connected and Disconnected is what Kafka calls fatal: the process stops
// with it and the replica must not be called again.
var (
	// ErrConfig: a field of Config that no replica can run with.
	ErrConfig = errors.New("raft: bad configuration")
	// ErrNotLeader: the replica does not lead the epoch that the caller means.
	ErrNotLeader = errors.New("raft: not leader")
	// ErrFutureEpoch: the caller names an epoch that this replica has not reached (illegal argument in Kafka).
	ErrFutureEpoch = errors.New("raft: epoch is ahead of the current one")
	// ErrNoRecords: an append of nothing.
	ErrNoRecords = errors.New("raft: no records to append")
	// ErrRecordBatchTooLarge: the records of one append do not fit into one batch.
	ErrRecordBatchTooLarge = errors.New("raft: records exceed the largest batch")
	// ErrTooManyBatches: the accumulator is full; fatal for the controller (kraft-protocol 3.9).
	ErrTooManyBatches = errors.New("raft: too many batches wait to be written")
	// ErrInvalidUpdateVersion: a kraft.version that the quorum cannot go to (INVALID_UPDATE_VERSION).
	ErrInvalidUpdateVersion = errors.New("raft: kraft.version cannot be updated")

	// ErrVoterSet: the voter set that an upgrade would write does not fit; UpgradeKRaftVersion's only fatal error.
	ErrVoterSet = errors.New("raft: voter set does not fit")
	// ErrIllegalTransition: a change of role that the transition table does not have.
	ErrIllegalTransition = errors.New("raft: illegal transition")
	// ErrInconsistentLeader: two leaders of one epoch, or a peer that takes this replica for a leader that it is not.
	ErrInconsistentLeader = errors.New("raft: inconsistent leader")
	// ErrUnknownEndpoint: a voter or leader that must be contacted has no endpoint for the raft listener.
	ErrUnknownEndpoint = errors.New("raft: endpoint unknown")
	// ErrClusterAuthorization: a peer refused this node's requests as unauthorised.
	ErrClusterAuthorization = errors.New("raft: cluster authorization failed")
	// ErrInvalidRequest: a peer found this node's request malformed, which only a defect explains.
	ErrInvalidRequest = errors.New("raft: peer refused the request as invalid")
	// ErrTruncationBelowHighWatermark: the leader asks to cut committed records (KAFKA-12460).
	ErrTruncationBelowHighWatermark = errors.New("raft: truncation below the high watermark")
	// ErrHighWatermark: a high watermark that goes back or beyond the log.
	ErrHighWatermark = errors.New("raft: illegal high watermark")
	// ErrQuorumState: the quorum-state file does not fit this node.
	ErrQuorumState = errors.New("raft: quorum-state does not fit")
	// ErrVoteTally: an answer that contradicts an earlier one or comes from no voter.
	ErrVoteTally = errors.New("raft: illegal vote")
	// ErrSnapshotDownload: a piece of a snapshot that was not asked for, or a snapshot that does not lead the log on.
	ErrSnapshotDownload = errors.New("raft: snapshot download does not fit")
	// ErrListener: a listener cannot be brought to the log's start.
	ErrListener = errors.New("raft: listener cannot follow")
)
