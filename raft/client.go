package raft

import "github.com/kraftsim/kraftsim/raft/voters"

// The calls of the layer above (kraft-protocol 8). They may come from other lanes: they touch the accumulator, flags
// and a listener's position, and what they set off is a Wake. Everything else happens on the raft lane.

// wake asks for a poll of the raft lane.
func (r *Replica) wake() {
	if r.deps.Waker != nil {
		r.deps.Waker.Wake()
	}
}

// PrepareAppend assigns offsets to the records of one call, all in one batch, and returns the last one. They are not
// written before SchedulePreparedAppend. The record bytes are immutable from now on. ErrNotLeader when this replica
// does not lead that epoch, ErrFutureEpoch when it is ahead, ErrNoRecords, ErrRecordBatchTooLarge, ErrTooManyBatches.
func (r *Replica) PrepareAppend(epoch int32, records [][]byte) (lastOffset int64, err error) {
	l, ok := r.role.(*leader)
	switch {
	case !ok || r.done:
		return 0, ErrNotLeader
	case epoch < l.epoch:
		return 0, ErrNotLeader
	case epoch > l.epoch:
		return 0, ErrFutureEpoch
	}
	return l.accumulator.prepare(records)
}

// SchedulePreparedAppend lets everything prepared so far be written.
func (r *Replica) SchedulePreparedAppend() {
	l, ok := r.role.(*leader)
	if !ok {
		return
	}
	l.accumulator.schedule()
	if a := &l.accumulator; (a.lingerFromMs < 0 || len(a.completed) > 0) && !a.woken {
		a.woken = true
		r.wake() // the raft lane has to start the linger time, or to write a batch that is complete
	}
}

// Resign gives the leadership of epoch up at the raft lane's next turn. A past epoch is ignored, and so is one whose leadership
// this replica gave up already: the call is fulfilled. ErrFutureEpoch and ErrNotLeader tell of an epoch that is ahead or led by
// somebody else (3.8).
func (r *Replica) Resign(epoch int32) error {
	current := r.base().epoch
	if epoch < current {
		return nil
	}
	if epoch > current {
		return ErrFutureEpoch
	}
	switch role := r.role.(type) {
	case *leader:
		role.resignRequested = true
		r.wake()
	case *resigned:
	default:
		return ErrNotLeader
	}
	return nil
}

// LeaderAndEpoch returns who leads which epoch, as far as known; a resigned leader still names itself.
func (r *Replica) LeaderAndEpoch() LeaderAndEpoch {
	b := r.base()
	return LeaderAndEpoch{LeaderID: b.leaderID, Epoch: b.epoch}
}

// LeaderEndpoint is the address at which this replica fetches from the leader of its epoch, or will again when the election that it
// tries comes to nothing; false when it knows none, or leads. An open connection counts before the address that the leader has by now: it is kept as long as its other end keeps it, whoever that is.
func (r *Replica) LeaderEndpoint() (e voters.Endpoint, found bool) {
	b := r.base()
	if b.leaderID == r.cfg.NodeID || !b.hasReachableLeader() {
		return voters.Endpoint{}, false
	}
	for _, p := range r.channel.peers {
		if p.id == b.leaderID && p.link != linkDown {
			return p.dialled, true
		}
	}
	return endpointFor(b.leaderEndpoints, r.cfg.ListenerName)
}

// LogEndOffset is the offset that the next record will get, exclusive end of the log.
func (r *Replica) LogEndOffset() int64 { return r.log.EndOffset() }

// HighWatermark is the exclusive end of what is known to be committed.
func (r *Replica) HighWatermark() (offset int64, known bool) {
	b := r.base()
	return b.highWatermark, b.highWatermark != unknown
}

// KRaftVersion is the latest kraft.version in the log, committed or not, or the one to which this leader has scheduled
// an upgrade.
func (r *Replica) KRaftVersion() int16 {
	if r.is == Leader {
		if l, ok := r.role.(*leader); ok && l.upgrade.version != 0 {
			return l.upgrade.version
		}
	}
	return r.control.kraftVersion()
}

// Voters is the latest voter set in the log, committed or not. It is immutable.
func (r *Replica) Voters() *voters.Set { return r.control.voters() }

// VotersOffset is the offset of the record that put Voters in force: -1 for the bootstrap snapshot, NoVotersInLog for
// the static voters.
func (r *Replica) VotersOffset() int64 { return r.control.votersOffset() }

// SetClusterID tells the replica a cluster id that it did not know when it was made (KIP-1262).
func (r *Replica) SetClusterID(id string) { r.cfg.ClusterID = id }

// Role is what the replica is at the moment.
func (r *Replica) Role() Role { return r.is }

// localVoter is this replica as an entry of a voter set.
func (r *Replica) localVoter() voters.Voter {
	return voters.Voter{
		ReplicaKey: r.localKey(), Endpoints: r.cfg.Listeners,
		MinKRaftVersion: r.cfg.MinKRaftVersion, MaxKRaftVersion: r.cfg.MaxKRaftVersion,
	}
}
