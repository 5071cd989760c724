package raft

import (
	"github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// leader writes. Its high watermark starts unknown and moves only past its own epoch's first record (3.5). It may lead on
// for a while without being a voter: until its own removal is committed (5.5).
type leader struct {
	base
	epochStartOffset int64
	voters           []replicaProgress // of the set in force at the last own append, ascending by id; self included
	votersOf         *voters.Set       // that set, as far as they are known to be in line with it
	observers        []replicaProgress // ascending by key
	accumulator      accumulator
	uncommitted      []Batch // appended, not below the high watermark yet: handed to listeners without a disk read

	checkQuorumDeadlineMs int64
	fetchedVoters         []int32 // that fetched since that timer was set, in order of arrival
	beginEpochDeadlineMs  int64
	resignRequested       bool

	change  voterChange    // the one change of the voter set under way
	upgrade versionUpgrade // kraft.version 0 to 1

	endOffsets []int64 // scratch of updateHighWatermark
}

// newLeader makes the role object of a leader whose log ends where its epoch will start.
func newLeader(r *Replica, epoch int32) *leader {
	l := &leader{
		base: base{
			epoch: epoch, leaderID: r.cfg.NodeID, leaderEndpoints: r.cfg.Listeners,
			voted: NoReplica, highWatermark: unknown,
		},
		epochStartOffset:      r.log.EndOffset(),
		checkQuorumDeadlineMs: r.nowMs + checkQuorumTimeoutMs(r.cfg.FetchTimeoutMs),
		beginEpochDeadlineMs:  r.nowMs, // the first round goes out at once
	}
	l.accumulator.open(epoch, r.log.EndOffset(), &r.cfg, r.deps.Alloc)
	r.pool.lend(l)
	l.refreshVoters(r)
	l.upgrade = r.newVersionUpgrade()
	return l
}

// close ends a leadership: whoever waits for a change of the voter set learns that its outcome is open, and what was not
// written is discarded.
func (l *leader) close(r *Replica) {
	if l.change.kind != noChange {
		r.endChange(l, NotLeaderOrFollower, "the leadership was lost; the change may be committed or not")
	}
	l.accumulator.close()
}

// checkQuorumTimeoutMs is how long a leader may be without fetches from a majority (3.8).
func checkQuorumTimeoutMs(fetchTimeoutMs int64) int64 { return fetchTimeoutMs + fetchTimeoutMs/2 }

// kind implements role.
func (*leader) kind() Role { return Leader }

// poll implements role; the order of its steps is that of 1.9.
func (l *leader) poll(r *Replica) (int64, error) {
	r.announceLeader()
	if r.shuttingDown || l.resignRequested {
		return r.nowMs, r.becomeResigned(l.successors(r))
	}
	if r.nowMs >= l.checkQuorumDeadlineMs && r.control.voters().Len() > 1 {
		r.emit(CheckQuorumExpired, 0, 0, &NoReplica, false)
		return r.nowMs, r.becomeResigned(l.successors(r))
	}
	r.expireChange(l)
	drainMs, err := r.appendDrained(l)
	if err != nil {
		return 0, err
	}
	if l.resignRequested { // the own removal was committed just now
		return r.nowMs, nil
	}
	next, err := r.beginQuorumEpoch(l)
	if err != nil {
		return 0, err
	}
	if r.control.voters().Len() > 1 {
		next = min(next, l.checkQuorumDeadlineMs)
	}
	return min(next, drainMs, l.changeDeadlineMs()), nil
}

// appendDrained writes what the accumulator has to give and returns when it will have more. The order is Kafka's
// (3.6): append all, let parked fetches go with the new records, then flush, before the next message is handled. It is
// safe because the high watermark needs a follower's next fetch, which is handled after the flush; a sole voter commits
// before its fsync, which is the declared loss sole-voter-unflushed.
func (r *Replica) appendDrained(l *leader) (int64, error) {
	drainMs := l.accumulator.drainDeadlineMs(r.nowMs)
	if drainMs > r.nowMs {
		return drainMs, nil
	}
	batches := l.accumulator.drain(r.nowMs)
	for _, bytes := range batches {
		if err := r.appendAsLeader(l, bytes); err != nil {
			return 0, err
		}
	}
	if len(batches) > 0 {
		if err := r.ownEndOffsetChanged(l); err != nil {
			return 0, err
		}
		if err := r.flush(); err != nil {
			return 0, err
		}
	}
	return l.accumulator.drainDeadlineMs(r.nowMs), nil
}

// appendAsLeader appends one batch and reads its control records.
func (r *Replica) appendAsLeader(l *leader, bytes []byte) error {
	before := r.log.EndOffset()
	if err := r.log.AppendLeader(bytes); err != nil {
		return err
	}
	r.emit(LogAppended, r.log.EndOffset(), before, &NoReplica, false)
	l.uncommitted = append(l.uncommitted, Batch{})
	l.uncommitted[len(l.uncommitted)-1].set(bytes)
	r.measureAppended(r.log.EndOffset() - before)
	return r.readControlRecords(bytes)
}

// flush makes the whole log durable.
func (r *Replica) flush() error {
	if r.log.FlushedOffset() == r.log.EndOffset() {
		return nil
	}
	if err := r.log.Flush(); err != nil {
		return err
	}
	r.emit(LogFlushed, r.log.FlushedOffset(), 0, &NoReplica, false)
	return nil
}

// ownEndOffsetChanged counts the leader's own log, which may move the high watermark, and answers parked fetches.
func (r *Replica) ownEndOffsetChanged(l *leader) error {
	l.refreshVoters(r)
	if own := l.voterProgress(r.localKey()); own != nil {
		own.endOffset = r.log.EndOffset()
	}
	if err := r.updateHighWatermark(l); err != nil {
		return err
	}
	return r.completeParked()
}

// updateHighWatermark moves the high watermark to what a majority of the voter set holds, if that includes a record of
// this epoch (a strict comparison with the epoch's start: KAFKA-12619) and is an advance.
func (r *Replica) updateHighWatermark(l *leader) error {
	l.endOffsets = l.endOffsets[:0]
	for i := range l.voters {
		l.endOffsets = append(l.endOffsets, l.voters[i].endOffset)
	}
	candidate := quorum.CommittedOffset(l.endOffsets)
	if candidate <= l.epochStartOffset || candidate <= l.highWatermark {
		return nil
	}
	before := l.highWatermark
	l.highWatermark = candidate
	r.emit(HighWatermarkAdvanced, candidate, before, &NoReplica, before == unknown)
	r.highWatermarkPassedVoters(l)
	if err := r.updateListeners(); err != nil {
		return err
	}
	l.forgetCommitted(r)
	return r.completeParked()
}

// forgetCommitted drops the batches below the high watermark from memory.
func (l *leader) forgetCommitted(r *Replica) {
	n := 0
	for n < len(l.uncommitted) && l.uncommitted[n].LastOffset < l.highWatermark {
		r.measureCommit(&l.uncommitted[n])
		n++
	}
	rest := copy(l.uncommitted, l.uncommitted[n:])
	clear(l.uncommitted[rest:])
	l.uncommitted = l.uncommitted[:rest]
}

// appendTo implements role.
func (l *leader) appendTo(buf []byte, protocolView bool) []byte {
	buf = record.AppendInt64(buf, l.epochStartOffset)
	for _, list := range [2][]replicaProgress{l.voters, l.observers} {
		buf = record.AppendInt32(buf, int32(len(list)))
		for i := range list {
			buf = record.AppendInt64(appendKey(buf, list[i].key), list[i].endOffset)
			if !protocolView {
				buf = record.AppendInt64(record.AppendInt64(buf, list[i].lastFetchMs), list[i].lastCaughtUpMs)
			}
		}
	}
	buf = record.AppendInt32(buf, int32(len(l.fetchedVoters)))
	for _, id := range l.fetchedVoters {
		buf = record.AppendInt32(buf, id)
	}
	buf = record.AppendBool(l.accumulator.appendTo(buf), l.resignRequested)
	buf = l.upgrade.appendTo(l.change.appendTo(buf, protocolView))
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, l.checkQuorumDeadlineMs), l.beginEpochDeadlineMs)
}
