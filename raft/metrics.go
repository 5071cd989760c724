package raft

import "github.com/kraftsim/kraftsim/raft/record"

// Metrics is what Kafka publishes as raft-metrics, as one snapshot. Rates and averages are over Kafka's window of the last
// 30 to 60 seconds, in the time of the inputs; rates are in thousandths of a record per second, latencies in
// milliseconds. What is not known is -1.
type Metrics struct {
	State    Role  // current-state
	Leader   int32 // current-leader
	Epoch    int32 // current-epoch
	Vote     int32 // current-vote; a leader's is its own
	Observer bool  // is-observer

	VoteDirectoryID record.UUID // current-vote-directory-id; zero: none

	HighWatermark  int64 // high-watermark
	LogStartOffset int64
	LogEndOffset   int64 // log-end-offset
	LogEndEpoch    int32 // log-end-epoch

	Voters                  int32 // number-of-voters
	Observers               int32 // number-of-observers; 0 unless leading
	UncommittedVoterChange  bool  // uncommitted-voter-change; false unless leading
	UnknownVoterConnections int32 // number-unknown-voter-connections: voters without endpoint for the raft listener
	KRaftVersion            int16
	IgnoredStaticVoters     bool // ignored-static-voters: configured, and overruled by log or snapshot

	CommitLatencyAverageMs    int64 // commit-latency-avg: from the writing of a record to its commit, by a leader
	CommitLatencyMaximumMs    int64 // commit-latency-max
	ElectionLatencyAverageMs  int64 // election-latency-avg: from the start of an election to a known leader
	ElectionLatencyMaximumMs  int64 // election-latency-max
	FetchedRecordsMilliPerSec int64 // fetch-records-rate
	AppendRecordsMilliPerSec  int64 // append-records-rate
	FetchedRecords            int64 // records taken from leaders since the start
	AppendedRecords           int64 // records written as leader since the start
}

// metrics is what a replica measures. It decides nothing and is no part of AppendState.
type metrics struct {
	electionStartMs int64 // 0: no election under way
	election        window
	commit          window
	fetched         window
	appended        window
	fetchedTotal    int64
	appendedTotal   int64
}

// Metrics returns the replica's metrics at the time of the last input. The replica must be open.
func (r *Replica) Metrics() Metrics {
	b, set := r.base(), r.control.voters()
	m := Metrics{
		State: r.role.kind(), Leader: b.leaderID, Epoch: b.epoch, Vote: b.voted.ID, VoteDirectoryID: b.voted.DirectoryID,
		Observer: !r.isVoter(), HighWatermark: b.highWatermark, LogStartOffset: r.log.StartOffset(),
		LogEndOffset: r.log.EndOffset(), LogEndEpoch: r.log.LastEpoch(), Voters: set.Len(), KRaftVersion: r.KRaftVersion(),
		IgnoredStaticVoters: r.cfg.StaticVoters.Len() > 0 && r.control.votersOffset() != NoVotersInLog,
		FetchedRecords:      r.metrics.fetchedTotal, AppendedRecords: r.metrics.appendedTotal,
	}
	for i := int32(0); i < set.Len(); i++ {
		if _, found := set.At(i).Endpoint(r.cfg.ListenerName); !found {
			m.UnknownVoterConnections++
		}
	}
	if l, ok := r.role.(*leader); ok {
		m.Vote, m.VoteDirectoryID = r.cfg.NodeID, r.cfg.DirectoryID // which its quorum-state does not keep (1.3)
		m.Observers = int32(len(l.observers))
		if l.voterProgress(r.localKey()) == nil { // it is removing itself, and observes by now
			m.Observers++
		}
		m.UncommittedVoterChange = r.control.votersOffset() != NoVotersInLog && !r.votersCommitted(l)
	}
	m.CommitLatencyAverageMs, m.CommitLatencyMaximumMs = r.metrics.commit.averageAndMaximum(r.nowMs)
	m.ElectionLatencyAverageMs, m.ElectionLatencyMaximumMs = r.metrics.election.averageAndMaximum(r.nowMs)
	m.FetchedRecordsMilliPerSec = r.metrics.fetched.milliPerSec(r.nowMs)
	m.AppendRecordsMilliPerSec = r.metrics.appended.milliPerSec(r.nowMs)
	return m
}

// CurrentState is Kafka's current-state: the role, but "observer" for a follower that is no voter, "unattached-voted" and
// "prospective-voted" for one that has voted for another replica, and "unattached" for a leader that has resigned.
func (m *Metrics) CurrentState() string {
	switch {
	case m.State == Follower && m.Observer:
		return "observer"
	case m.State == Resigned:
		return Unattached.String()
	case (m.State == Unattached || m.State == Prospective) && m.Vote != -1:
		return m.State.String() + "-voted"
	}
	return m.State.String()
}

// measureElection looks at a transition: an election begins with Prospective and ends with a leader, whoever it is.
func (r *Replica) measureElection(next role) {
	switch next.kind() {
	case Prospective:
		if r.metrics.electionStartMs == 0 {
			r.metrics.electionStartMs = r.nowMs
		}
	case Leader, Follower:
		if start := r.metrics.electionStartMs; start != 0 {
			r.metrics.election.add(r.nowMs-start, r.nowMs)
			r.metrics.electionStartMs = 0
		}
	}
}

// measureCommit notes that a batch of the leader is committed: its share of the time for each record.
func (r *Replica) measureCommit(b *Batch) {
	elapsedMs := max(r.nowMs-b.AppendTimestampMs, 0)
	r.metrics.commit.add(elapsedMs/(b.LastOffset-b.BaseOffset+1), r.nowMs)
}

// measureFetched notes records taken from a leader.
func (r *Replica) measureFetched(records int64) {
	r.metrics.fetchedTotal += records
	r.metrics.fetched.add(records, r.nowMs)
}

// measureAppended notes records written as leader.
func (r *Replica) measureAppended(records int64) {
	r.metrics.appendedTotal += records
	r.metrics.appended.add(records, r.nowMs)
}

// windowMs is the length of one sample and windowSamples their number; Kafka's defaults.
const (
	windowMs      = 30_000
	windowSamples = 2
)

// sample is what was noted in one stretch of windowMs.
type sample struct {
	startMs, sum, count, maximum int64
}

// window is the last samples of a measurement.
type window struct {
	samples [windowSamples]sample
	at      int32
	began   bool
}

// current returns the sample that takes what is noted now.
func (w *window) current(nowMs int64) *sample {
	s := &w.samples[w.at]
	if !w.began {
		w.began = true
		*s = sample{startMs: nowMs}
	} else if nowMs-s.startMs >= windowMs {
		w.at = (w.at + 1) % windowSamples
		s = &w.samples[w.at]
		*s = sample{startMs: nowMs}
	}
	return s
}

// add notes a value.
func (w *window) add(value, nowMs int64) {
	s := w.current(nowMs)
	if s.count == 0 || value > s.maximum {
		s.maximum = value
	}
	s.sum += value
	s.count++
}

// total combines the samples that are not too old; startMs is the beginning of the oldest, nowMs when there is none.
func (w *window) total(nowMs int64) (t sample) {
	t.startMs = nowMs
	for i := range w.samples {
		s := &w.samples[i]
		if s.count == 0 || nowMs-s.startMs >= windowSamples*windowMs {
			continue
		}
		if t.count == 0 || s.maximum > t.maximum {
			t.maximum = s.maximum
		}
		t.sum += s.sum
		t.count += s.count
		t.startMs = min(t.startMs, s.startMs)
	}
	return t
}

// averageAndMaximum returns both over the window, -1 for none.
func (w *window) averageAndMaximum(nowMs int64) (average, maximum int64) {
	t := w.total(nowMs)
	if t.count == 0 {
		return -1, -1
	}
	return t.sum / t.count, t.maximum
}

// milliPerSec returns the sum over the window in thousandths per second. A window that has not filled yet counts as one
// full sample at least besides the present one, so that a single early value is no burst.
func (w *window) milliPerSec(nowMs int64) int64 {
	t := w.total(nowMs)
	elapsedMs := nowMs - t.startMs
	if full := elapsedMs / windowMs; full < windowSamples-1 {
		elapsedMs += (windowSamples - 1 - full) * windowMs
	}
	return t.sum * 1_000_000 / max(elapsedMs, windowMs)
}
