package raft

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft/quorum"
)

// replicaProgress is what a leader knows of one replica.
type replicaProgress struct {
	key         ReplicaKey // as in the voter set, or as the observer calls itself
	endOffset   int64      // fetch offset of its last valid fetch, which is what it holds; -1 unknown
	lastFetchMs int64      // -1: it has not fetched
	// lastCaughtUpMs is the latest time at which it is known to have had everything that the leader's log had, -1 for
	// never: the time of a fetch at the log end, or of the fetch before one that reaches what was the log end then.
	lastCaughtUpMs int64
	leaderEnd      int64 // the leader's log end at its last fetch
	acknowledged   bool  // it answered BeginQuorumEpoch (informational)
}

// observerSessionMs is how long an observer that stopped fetching is remembered; fixed in Kafka.
const observerSessionMs = 300_000

// refreshVoters brings the progress lists in line with the latest voter set (3.5). A voter keeps the progress of the
// key that it had, even as an observer; whoever left goes to the observers; new ones start unknown.
func (l *leader) refreshVoters(r *Replica) {
	set := r.control.voters()
	if set == l.votersOf && set != nil {
		return // a set never changes
	}
	l.votersOf = set
	if l.matches(r) {
		return
	}
	l.fetchedVoters = slices.DeleteFunc(l.fetchedVoters, func(id int32) bool { return set.Find(id) == nil })
	before := l.voters
	l.voters = make([]replicaProgress, 0, set.Len())
	for i := int32(0); i < set.Len(); i++ {
		next := newProgress(set.At(i).ReplicaKey)
		for j := range before {
			if sameReplica(next.key, before[j].key) {
				next.inherit(&before[j])
			}
		}
		if at := slices.IndexFunc(l.observers, func(o replicaProgress) bool { return next.key.Matches(o.key) }); at >= 0 {
			if next.lastFetchMs == unknown {
				next.inherit(&l.observers[at])
			}
			l.observers = slices.Delete(l.observers, at, at+1)
		}
		l.voters = append(l.voters, next)
	}
	for j := range before {
		gone := !slices.ContainsFunc(l.voters, func(v replicaProgress) bool { return sameReplica(v.key, before[j].key) })
		if gone && before[j].key.ID != r.cfg.NodeID {
			l.observers = append(l.observers, before[j])
		}
	}
}

// newProgress is the entry of a replica that nothing is known of.
func newProgress(key ReplicaKey) replicaProgress {
	return replicaProgress{key: key, endOffset: unknown, lastFetchMs: unknown, lastCaughtUpMs: unknown}
}

// inherit takes over how far another entry of the same replica got.
func (p *replicaProgress) inherit(from *replicaProgress) {
	key := p.key
	*p = *from
	p.key, p.acknowledged = key, false
}

// fetched notes a valid fetch at offset, while the leader's log ends at leaderEnd.
func (p *replicaProgress) fetched(offset, leaderEnd, nowMs int64) {
	switch {
	case offset >= leaderEnd:
		p.lastCaughtUpMs = max(p.lastCaughtUpMs, nowMs)
	case p.leaderEnd > 0 && offset >= p.leaderEnd:
		p.lastCaughtUpMs = max(p.lastCaughtUpMs, p.lastFetchMs)
	}
	p.endOffset, p.lastFetchMs, p.leaderEnd = offset, max(p.lastFetchMs, nowMs), leaderEnd
}

// sameReplica reports whether two entries of voter sets mean the same replica: a kraft.version upgrade gives entries
// that had none a directory id, and their progress stays.
func sameReplica(a, b ReplicaKey) bool { return a.Matches(b) || b.Matches(a) }

// matches reports whether the progress lists belong to the latest voter set already.
func (l *leader) matches(r *Replica) bool {
	set := r.control.voters()
	if set.Len() != int32(len(l.voters)) {
		return false
	}
	for i := range l.voters {
		if l.voters[i].key != set.At(int32(i)).ReplicaKey {
			return false
		}
	}
	return true
}

// voterProgress returns the entry of the voter that calls itself key, or nil.
func (l *leader) voterProgress(key ReplicaKey) *replicaProgress {
	for i := range l.voters {
		if l.voters[i].key.Matches(key) {
			return &l.voters[i]
		}
	}
	return nil
}

// observerProgress returns the entry of the observer key, made on first use. Observers that have been silent for their
// session are dropped on that occasion.
func (l *leader) observerProgress(key ReplicaKey, nowMs int64) *replicaProgress {
	for i := range l.observers {
		if l.observers[i].key == key {
			return &l.observers[i]
		}
	}
	l.dropSilentObservers(nowMs)
	l.observers = append(l.observers, newProgress(key))
	return &l.observers[len(l.observers)-1]
}

// dropSilentObservers forgets the observers that have not fetched for their session.
func (l *leader) dropSilentObservers(nowMs int64) {
	l.observers = slices.DeleteFunc(l.observers, func(o replicaProgress) bool {
		return nowMs-o.lastFetchMs >= observerSessionMs
	})
}

// recordFetch notes a valid fetch of key at offset and moves the high watermark if a voter's fetch allows it. A lower
// offset than before is taken as it is: the follower may have lost unflushed data (KAFKA-12181).
func (r *Replica) recordFetch(l *leader, key ReplicaKey, offset int64) error {
	voter := l.voterProgress(key)
	progress := voter
	if progress == nil {
		progress = l.observerProgress(key, r.nowMs)
	}
	progress.fetched(offset, r.log.EndOffset(), r.nowMs)
	r.emit(FetchAccepted, offset, 0, &key, false)
	l.countForQuorum(r, key)
	if voter == nil {
		return nil
	}
	return r.updateHighWatermark(l)
}

// hear counts a request other than a Fetch for check-quorum.
func (r *Replica) hear(l *leader, key ReplicaKey) {
	r.emit(VoterHeard, 0, 0, &key, false)
	l.countForQuorum(r, key)
}

// countForQuorum notes that a replica still follows, and restarts the check-quorum timer once a majority of the voters did
// (3.8). An observer counts for nothing, but its fetch is an occasion to look: a sole voter needs nobody, and its timer must
// not have run out long ago when a second voter joins.
func (l *leader) countForQuorum(r *Replica, key ReplicaKey) {
	set := r.control.voters()
	if key.ID == r.cfg.NodeID {
		return
	}
	if set.Contains(key) && !slices.Contains(l.fetchedVoters, key.ID) {
		l.fetchedVoters = append(l.fetchedVoters, key.ID)
	}
	if int32(len(l.fetchedVoters)) >= quorum.FetchersNeeded(set.Len(), r.isVoter()) {
		l.fetchedVoters = l.fetchedVoters[:0]
		l.checkQuorumDeadlineMs = r.nowMs + checkQuorumTimeoutMs(r.cfg.FetchTimeoutMs)
	}
}

// successors orders the other voters for EndQuorumEpoch: furthest fetch offset first, unknown last, ties by key.
func (l *leader) successors(r *Replica) []ReplicaKey {
	order := make([]replicaProgress, 0, len(l.voters))
	for i := range l.voters {
		if l.voters[i].key.ID != r.cfg.NodeID {
			order = append(order, l.voters[i])
		}
	}
	slices.SortStableFunc(order, func(a, b replicaProgress) int {
		if a.endOffset != b.endOffset {
			if a.endOffset > b.endOffset {
				return -1
			}
			return 1
		}
		return int(a.key.Compare(b.key))
	})
	keys := make([]ReplicaKey, len(order))
	for i := range order {
		keys[i] = order[i].key
	}
	return keys
}
