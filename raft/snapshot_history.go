package raft

import "github.com/kraftsim/kraftsim/raft/raftlog"

// headerAt returns kraft.version and voters as of an offset: the newest entries at or below it. The static voters are no part
// of a snapshot.
func (c *controlState) headerAt(offset int64) (h raftlog.SnapshotHeader) {
	for i := len(c.versions) - 1; i >= 0; i-- {
		if c.versions[i].offset <= offset {
			h.KRaftVersion = c.versions[i].version
			break
		}
	}
	if h.KRaftVersion < 1 {
		return h
	}
	for i := len(c.sets) - 1; i >= 0; i-- {
		if c.sets[i].offset <= offset {
			record := c.sets[i].set.Record()
			h.Voters = &record
			break
		}
	}
	return h
}

// forgetBelow drops the history that a frozen snapshot at offset covers: all but the newest entry strictly below it, and
// whatever comes after. Kafka keeps the newest at or below: an uncommitted entry exactly at offset then evicts the one that
// a truncation to offset would bring back (5.1).
func (c *controlState) forgetBelow(offset int64) {
	n := 0
	for n+1 < len(c.sets) && c.sets[n+1].offset < offset {
		n++
	}
	c.sets = append(c.sets[:0], c.sets[n:]...)
	n = 0
	for n+1 < len(c.versions) && c.versions[n+1].offset < offset {
		n++
	}
	c.versions = append(c.versions[:0], c.versions[n:]...)
}

// reloadControlState starts over with the latest snapshot, after the log gave way to it.
func (r *Replica) reloadControlState() error {
	before, votersBefore, versionBefore := r.control.voters(), r.control.votersOffset(), r.control.kraftVersion()
	r.control.sets, r.control.versions = r.control.sets[:0], r.control.versions[:0]
	if err := r.loadControlState(); err != nil {
		return err
	}
	r.emitControlChanges(votersBefore, versionBefore)
	if offset := r.control.votersOffset(); offset == votersBefore && !r.control.voters().Equal(before) {
		r.emit(VotersChanged, offset, votersBefore, &NoReplica, false) // what the log had there was never committed
	}
	return nil
}
