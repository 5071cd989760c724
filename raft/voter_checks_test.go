package raft

import (
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// checkVoters holds voters-follow-log and voter-change (invariants.md "Snapshots and voter sets") for a node after an
// input in which its log or its voter set changed: both are derived again from log and snapshot, as they are on disk.
func (n *node) checkVoters() {
	r := n.replica
	changed := false
	for ; n.checked < len(n.events); n.checked++ {
		switch n.events[n.checked].Kind {
		case VotersChanged, LogTruncated, LogRecovered:
			changed = true
		}
	}
	if !changed || r.Done() {
		return
	}
	sets, version := n.votersOnDisk()
	require.Equal(n.c.t, version, r.control.kraftVersion(), "node %d: kraft-version", n.id)
	last := sets[len(sets)-1]
	require.True(n.c.t, last.set.Equal(r.Voters()), "node %d: voters-follow-log: %v at %d, not %v at %d", n.id, r.Voters(), r.VotersOffset(), last.set, last.offset)
	if id, found := r.LatestSnapshotID(); !found || last.offset != id.Offset-1 || last.offset < r.VotersOffset() {
		require.Equal(n.c.t, last.offset, r.VotersOffset(), "node %d: voters-follow-log", n.id)
	} // else the set of the newest snapshot, whose record keeps its own offset until a restart (5.1)
	for i := 1; i < len(sets); i++ {
		if sets[i-1].offset == NoVotersInLog { // a formatted or upgraded quorum begins
			require.True(n.c.t, sets[i-1].set.Len() == 0 || sameIDs(sets[i-1].set, sets[i].set), "node %d: voter-change", n.id)
			continue
		}
		require.True(n.c.t, sets[i-1].set.MajoritiesOverlap(sets[i].set), "node %d: voter-change at %d", n.id, sets[i].offset)
		require.Positive(n.c.t, sets[i].set.Len(), "node %d: last-voter", n.id)
	}
}

// votersOnDisk derives the history of voter sets and the kraft.version from snapshot and log.
func (n *node) votersOnDisk() (sets []votersAt, version int16) {
	t, log := n.c.t, n.replica.log
	sets = []votersAt{{offset: NoVotersInLog, set: n.cfg.StaticVoters}}
	covered := int64(0) // by the newest snapshot
	read := func(bytes []byte, snapshotOffset int64) {
		for len(bytes) > 0 {
			batch, rest, err := record.NextBatch(bytes)
			require.NoError(t, err)
			bytes = rest
			if len(batch) == 0 || !batch.IsControl() {
				continue
			}
			var it record.Iterator
			var rec record.Record
			for it.Reset(batch); it.Next(&rec); {
				kind, err := record.ParseControlKey(rec.Key)
				require.NoError(t, err)
				at := rec.Offset
				if snapshotOffset < 0 && at < covered {
					continue
				}
				if snapshotOffset >= 0 {
					at = snapshotOffset - 1
				}
				switch kind {
				case record.KRaftVersion:
					var v record.KRaftVersionRecord
					require.NoError(t, v.Decode(rec.Value))
					version = v.KRaftVersion
				case record.KRaftVoters:
					var v record.VotersRecord
					require.NoError(t, v.Decode(rec.Value))
					set, err := voters.FromRecord(&v)
					require.NoError(t, err)
					sets = append(sets, votersAt{offset: at, set: set})
				}
			}
			require.NoError(t, it.Err())
		}
	}
	if id, found := log.LatestSnapshot(); found {
		content, err := log.ReadSnapshot(id)
		require.NoError(t, err)
		read(content, id.Offset)
		covered = id.Offset
	}
	for at := log.StartOffset(); at < log.EndOffset(); { // a read ends with its segment
		bytes, err := log.Read(at, 1<<30)
		require.NoError(t, err)
		read(bytes, -1)
		for len(bytes) > 0 {
			batch, rest, err := record.NextBatch(bytes)
			require.NoError(t, err)
			bytes, at = rest, batch.LastOffset()+1
		}
	}
	return sets, version
}

// checkNewVoters holds the guards of voter-change where a leader appends a voter set with other keys than before: the
// set before was committed, and so was a record of the leader's own epoch.
func (c *cluster) checkNewVoters(n *node, e *Event) {
	if e.Role != Leader || e.Other == NoVotersInLog {
		return
	}
	sets := n.replica.control.sets
	require.GreaterOrEqual(c.t, len(sets), 2)
	before, now := sets[len(sets)-2].set, sets[len(sets)-1].set
	apart := keysApart(before, now) + keysApart(now, before)
	if apart == 0 {
		return
	}
	highWatermark, known := n.replica.HighWatermark()
	require.True(c.t, known, "node %d: voter-change before an own commit", n.id)
	require.Greater(c.t, highWatermark, e.Other, "node %d: voter-change on an uncommitted one", n.id)
	require.LessOrEqual(c.t, apart, 1, "node %d: voter-change", n.id)
}

// keysApart counts the keys of a that b lacks.
func keysApart(a, b *voters.Set) (count int) {
	for i := int32(0); i < a.Len(); i++ {
		if v := b.Find(a.At(i).ID); v == nil || v.ReplicaKey != a.At(i).ReplicaKey {
			count++
		}
	}
	return count
}
