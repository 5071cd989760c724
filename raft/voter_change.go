package raft

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// changeKind is what a pending change of the voter set does.
type changeKind uint8

const (
	noChange changeKind = iota
	addVoter
	removeVoter
	updateVoter
)

// voterChange is the one change of the voter set that a leader has under way, over all three kinds (kraft-protocol 5.3):
// two at once could lead to voter sets whose majorities do not overlap. It goes through at most three stages: the replica
// concerned is asked for its versions, which proves that its endpoint works (KAFKA-20661); the new set is appended; the
// high watermark passes it. The deadline, one request timeout from the request on, ends it at any stage; a record that is
// in the log by then stays there and may still be committed.
type voterChange struct {
	kind             changeKind
	conn             int64 // where the answer goes, with that correlation id
	correlation      int32
	answered         bool
	ackWhenCommitted bool
	voter            voters.Voter // the entry as it is to be; its key alone for removeVoter
	probe            int32        // correlation id of the ApiVersions request that is out; 0: none
	offset           int64        // of the VotersRecord; -1: not appended yet
	deadlineMs       int64
}

// isChangePending reports whether a change is under way. One whose time is over is ended first.
func (r *Replica) isChangePending(l *leader) bool {
	r.expireChange(l)
	return l.change.kind != noChange
}

// expireChange ends the pending change when its time is over.
func (r *Replica) expireChange(l *leader) {
	if l.change.kind != noChange && r.nowMs >= l.change.deadlineMs {
		r.endChange(l, RequestTimedOut, "the change was not finished in time")
	}
}

// changeDeadlineMs is when the pending change runs out of time.
func (l *leader) changeDeadlineMs() int64 {
	if l.change.kind == noChange {
		return never
	}
	return l.change.deadlineMs
}

// checkChange applies the guards that adding and removing share (2.11 rows 5 to 8). A leader that has not committed a
// record of its own epoch, or whose latest voter set is not committed, must not make another one: the sets of two leaders
// could differ by two voters then (KB-20).
func (r *Replica) checkChange(l *leader) (ErrorCode, string) {
	switch {
	case r.isChangePending(l):
		return RequestTimedOut, "another change of the voter set is under way"
	case l.highWatermark == unknown:
		return RequestTimedOut, "the leader has not committed a record of its epoch yet"
	case r.control.kraftVersion() < 1:
		return UnsupportedVersion, "kraft.version 0 has a static voter set"
	case !r.votersCommitted(l):
		return RequestTimedOut, "the latest voter set is not committed yet"
	}
	return None, ""
}

// votersCommitted reports whether the latest voter set stands in log or snapshot, below the high watermark.
func (r *Replica) votersCommitted(l *leader) bool {
	offset := r.control.votersOffset()
	return offset != NoVotersInLog && offset < l.highWatermark
}

// startChange makes c the pending change.
func (r *Replica) startChange(l *leader, c voterChange) {
	c.deadlineMs = r.nowMs + r.cfg.RequestTimeoutMs
	l.change = c
	r.emit(VoterChangeStarted, int64(c.kind), 0, &c.voter.ReplicaKey, false)
}

// endChange forgets the pending change and answers it, unless it was answered before.
func (r *Replica) endChange(l *leader, code ErrorCode, why string) {
	c := l.change
	l.change = voterChange{}
	r.emit(VoterChangeEnded, int64(code), c.offset, &c.voter.ReplicaKey, c.answered)
	if !c.answered {
		r.answerChange(&c, code, why)
	}
}

// answerChange sends the answer of a change to whoever asked for it.
func (r *Replica) answerChange(c *voterChange, code ErrorCode, why string) {
	switch c.kind {
	case addVoter:
		r.answerAddVoter(c.conn, c.correlation, code, why)
	case removeVoter:
		r.answerRemoveVoter(c.conn, c.correlation, code, why)
	case updateVoter:
		r.answerUpdateVoter(c.conn, c.correlation, code)
	}
}

// acknowledgeChange answers a change that has been appended and stays pending until it is committed.
func (r *Replica) acknowledgeChange(l *leader) {
	l.change.answered = true
	r.answerChange(&l.change, None, "")
}

// appendVoters puts set into the log, without linger, and returns the offset of its record. It is in force from the
// moment the raft lane writes it, which is in this turn.
func (r *Replica) appendVoters(l *leader, set *voters.Set) (offset int64) {
	offset = l.accumulator.nextOffset
	var batch record.Builder
	batch.Reset(nil, record.BatchSpec{BaseOffset: offset, LeaderEpoch: l.epoch, TimestampMs: r.nowMs, Control: true})
	votersRecord := set.Record()
	batch.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
	l.accumulator.appendControl(batch.Finish(), 1)
	return offset
}

// highWatermarkPassedVoters runs after each advance of a leader's high watermark: a change whose record is committed is
// over, and a leader that is no voter any more resigns. The original resigns only while the removal is still pending; had
// its time run out before the commit, the removed leader would go on leading (trap of 2.12), so membership is tested
// whenever the latest voter set is committed.
func (r *Replica) highWatermarkPassedVoters(l *leader) {
	if c := &l.change; c.kind != noChange && c.offset >= 0 && c.offset < l.highWatermark {
		r.endChange(l, None, "")
	}
	if !r.isVoter() && r.votersCommitted(l) {
		l.resignRequested = true
	}
}

// errorMessage makes the message of a response: none goes with NONE.
func errorMessage(code ErrorCode, text string) ErrorMessage {
	return ErrorMessage{Text: text, Known: code != None}
}

// appendTo appends canonical bytes.
func (c *voterChange) appendTo(buf []byte, protocolView bool) []byte {
	buf = append(buf, byte(c.kind))
	if c.kind == noChange {
		return buf
	}
	buf = record.AppendBool(record.AppendBool(buf, c.answered), c.ackWhenCommitted)
	buf = appendEndpoints(appendKey(buf, c.voter.ReplicaKey), c.voter.Endpoints)
	buf = record.AppendInt16(record.AppendInt16(buf, c.voter.MinKRaftVersion), c.voter.MaxKRaftVersion)
	buf = record.AppendInt64(record.AppendBool(buf, c.probe != 0), c.offset)
	if protocolView {
		return buf
	}
	buf = record.AppendInt32(record.AppendInt64(buf, c.conn), c.correlation)
	return record.AppendInt64(record.AppendInt32(buf, c.probe), c.deadlineMs)
}
