package invariants

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// dynamicUp is a cluster at kraft.version 1 with voters 1 to n of a 0-0 checkpoint, led by 1 in epoch 1; its first batch is
// committed.
func dynamicUp(t testing.TB, n int32, cfg Config) *lab {
	t.Helper()
	l := &lab{t: t, seen: map[string]*int64{}}
	for id := int32(1); id <= n; id++ {
		l.boot = append(l.boot, id)
	}
	l.start(cfg)
	for id := int32(1); id <= n; id++ {
		l.add(id)
	}
	l.elect(1, 1)
	return l
}

// elect makes a voter leader with the votes of all other voters up, and commits its first batch.
func (l *lab) elect(id, epoch int32) {
	m := l.node(id)
	var others []int32
	for _, k := range l.core.votersOf(m.r).keys {
		if k.id != id && l.node(k.id).r.up {
			others = append(others, k.id)
		}
	}
	m.lead(epoch, others...)
	for _, o := range others {
		l.node(o).follow(epoch, id)
		m.replicate(l.node(o), epoch)
	}
}

// controlBatch is a batch of control records: LeaderChange, and kraft.version 1 with voters, as far as they are given.
func (l *lab) controlBatch(base int64, epoch int32, change *record.LeaderChangeMessage, ids []int32) []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: epoch, Control: true})
	if change != nil {
		b.AddControl(record.LeaderChange, change.AppendTo(nil, 0))
	}
	if ids != nil {
		b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: 1}).AppendTo(nil))
		b.AddControl(record.KRaftVoters, votersRecord(ids...).AppendTo(nil))
	}
	return b.Finish()
}

// votersRecord lists voters with the directory ids of a lab; a negative id is that of a host whose disk was replaced.
func votersRecord(ids ...int32) *record.VotersRecord {
	m := &record.VotersRecord{}
	for _, id := range ids {
		e := record.VoterEntry{VoterID: id, VoterDirectoryID: record.UUIDFromHalves(1, uint64(id)), MaxSupportedVersion: 1}
		if id < 0 {
			e.VoterID, e.VoterDirectoryID = -id, record.UUIDFromHalves(7, uint64(-id))
		}
		m.Voters = append(m.Voters, e)
	}
	return m
}

// setVoters appends a voter set alone, as a leader does for a change.
func (m *member) setVoters(epoch int32, ids ...int32) {
	for id := int32(-9); id <= 9 && !m.lab.alone; id++ {
		if id == 0 {
			continue
		}
		k := votersRecord(id).Voters[0]
		key := voterKey{k.VoterID, k.VoterDirectoryID}
		m.lab.core.asked(voterWish{key, true})
		m.lab.core.asked(voterWish{key, false})
		m.lab.core.oldReach = append(m.lab.core.oldReach, reach{dir: key.dir, epoch: epoch, end: m.end})
	}
	m.writeVoters(epoch, votersRecord(ids...))
}

// writeVoters appends a VotersRecord as leader.
func (m *member) writeVoters(epoch int32, v *record.VotersRecord) {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{BaseOffset: m.end, LeaderEpoch: epoch, Control: true})
	b.AddControl(record.KRaftVoters, v.AppendTo(nil))
	m.write(b.Finish())
	m.flush()
}

// setVersion appends a kraft.version alone.
func (m *member) setVersion(epoch int32, version int16) {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{BaseOffset: m.end, LeaderEpoch: epoch, Control: true})
	b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: version}).AppendTo(nil))
	m.write(b.Finish())
	m.flush()
}

// tellVoters is the event of a replica that uses the voters that its log and snapshots say.
func (m *member) tellVoters() {
	if m.lab.mute || !m.r.up {
		return
	}
	c := &m.lab.core
	offset := c.votersOffset(m.r)
	if f := m.r.snapshots.newest(); f != nil && f.voters != noSet && f.offset-1 > offset {
		offset = f.offset - 1
	}
	if offset < 0 && c.votersAfter(m.r, m.r.log.last()) == noSet {
		offset = raft.NoVotersInLog
	}
	m.event(raft.Event{Kind: raft.VotersChanged, Offset: offset})
}

func TestVoterChange(t *testing.T) {
	t.Run("one at a time", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		one, two, three, four := l.node(1), l.node(2), l.node(3), l.add(4)
		four.follow(1, 1)
		one.replicate(four, 1)
		one.setVoters(1, 1, 2, 3, 4)
		two.copyFrom(one, one.end)
		two.fetch(one, 1, two.r.watermark)
		require.True(t, l.core.voterChangeOpen(one.r), "two of four are no majority")
		one.replicate(three, 1)
		one.setVoters(1, 2, 3, 4) // the leader itself
		two.copyFrom(one, one.end)
		two.fetch(one, 1, two.r.watermark)
		one.replicate(three, 1)
		l.clean()
		l.evaluated("voter-change", "last-voter", "kraft-version", "voters-follow-log")
		require.EqualValues(t, 1, *l.seen["voter-added"])
		require.EqualValues(t, 1, *l.seen["voter-removed"])
		one.role(raft.Resigned, 1, 1)
		require.EqualValues(t, 1, *l.seen["removed-leader-resigned"])
	})
	t.Run("two at once", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVoters(1, 1, 2)
		l.core.raise(l.node(1).r, &l.core.leaders[0], l.node(1).end) // nobody has it: another invariant's
		l.found = nil
		l.node(1).setVoters(1, 1, 3)
		l.breaks("voter-change/several-voters")
	})
	t.Run("before the leader has committed a record of its epoch", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(2).lead(2, 3)
		l.node(2).setVoters(2, 1, 2)
		l.breaks("voter-change/before-own-commit")
	})
	t.Run("while the previous one is uncommitted", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVoters(1, 1, 2)
		l.node(1).setVoters(1, 1)
		l.breaks("voter-change/previous-uncommitted")
	})
	t.Run("endpoints one after the other", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVoters(1, 1, 2)
		l.node(1).replicate(l.node(2), 1)
		l.node(1).setVoters(1, 1, 2)
		l.clean()
	})
	t.Run("endpoints before the set is committed", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVoters(1, 1, 2)
		l.node(1).setVoters(1, 1, 2)
		l.breaks("voter-change/entry-uncommitted")
	})
	t.Run("a replaced disk is another voter", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVoters(1, 1, 2, -3)
		l.breaks("voter-change/several-voters")
	})
	t.Run("directory ids come with the upgrade", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.write(l.controlBatch(one.end, 1, nil, []int32{1, 2, 3}))
		one.flush()
		one.replicate(l.node(2), 1)
		l.clean()
		require.EqualValues(t, 1, *l.seen["kraft-version-upgraded"])
	})
}

func TestLastVoter(t *testing.T) {
	l := dynamicUp(t, 2, Config{})
	l.node(1).setVoters(1)
	l.breaks("last-voter/nobody-left")
}

func TestKRaftVersion(t *testing.T) {
	t.Run("goes back", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(1).setVersion(1, 0)
		l.node(1).replicate(l.node(2), 1)
		l.breaks("kraft-version/went-back")
	})
	t.Run("uncommitted, back and quorum-state with it", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.write(l.controlBatch(one.end, 1, nil, []int32{1, 2, 3}))
		one.version = 1
		one.quorum(1, 1, -1)
		two.lead(2, 3)
		one.follow(2, 2)
		one.truncate(1)
		one.version = 0
		one.quorum(2, 2, -1)
		l.clean()
		require.EqualValues(t, 1, *l.seen["voter-change-rolled-back"])
	})
	t.Run("voters at version 0", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).setVoters(1, 1, 2, 3)
		l.node(1).replicate(l.node(2), 1)
		l.breaks("kraft-version/voters-at-0")
	})
	t.Run("quorum-state of version 1", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).version = 1
		l.node(2).quorum(1, 1, -1)
		l.breaks("kraft-version/quorum-state")
	})
	t.Run("reported", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.kraftVersionReported(l.node(1).r, 1) // the leader's upgrade may be pending
		l.clean()
		l.core.kraftVersionReported(l.node(2).r, 1)
		l.breaks("kraft-version/reported")
	})
}

func TestVotersInUse(t *testing.T) {
	t.Run("after a truncation", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		one, two := l.node(1), l.node(2)
		one.setVoters(1, 1, 2)
		l.core.votersUsed(one.r)
		two.lead(2, 3)
		one.follow(2, 2)
		l.mute = true
		one.truncate(3)
		l.core.votersUsed(one.r)
		l.breaks("voters-follow-log/in-use")
	})
	t.Run("of a record that is gone, with the same members", func(t *testing.T) {
		for _, tells := range []bool{true, false} {
			l := dynamicUp(t, 3, Config{})
			one, two := l.node(1), l.node(2)
			one.setVoters(1, 1, 2, 3)
			l.core.votersUsed(one.r)
			two.lead(2, 3)
			one.follow(2, 2)
			l.mute = !tells
			one.truncate(3)
			l.core.votersUsed(one.r)
			if tells {
				l.clean()
			} else {
				l.breaks("voters-follow-log/in-use-gone")
			}
		}
	})
	t.Run("from the log again", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		one, two := l.node(1), l.node(2)
		one.setVoters(1, 1, 2)
		two.lead(2, 3)
		one.follow(2, 2)
		one.truncate(3)
		l.core.votersUsed(one.r)
		one.crash(false)
		one.boot()
		one.role(raft.Unattached, 2, -1)
		l.core.votersUsed(one.r)
		l.clean()
		l.evaluated("voters-follow-log")
	})
	t.Run("another disk is asked", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.core.voteAsked(l.node(1).r, voterKey{2, record.UUIDFromHalves(7, 2)})
		l.breaks("voters-follow-log/asks-non-voter")
	})
}

func TestReplacedDisk(t *testing.T) {
	t.Run("is another replica", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		two := l.node(2)
		two.follow(1, 1)
		l.core.wiped(two.r)
		require.Empty(t, l.core.loss)
		l.core.claim(l.node(1).r, 1, "role")
		l.clean()
		l.core.wiped(l.node(1).r)
		l.core.claim(l.node(1).r, 1, "role")
		l.breaks("election-safety/role")
	})
	t.Run("a static voter's is a declared loss", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.wiped(l.node(2).r)
		require.Equal(t, staticVoterWiped, l.core.loss)
	})
}

func TestTwoLeadersBoundedWithVoterChanges(t *testing.T) {
	// A sole voter leads for ever, and gets its time for a majority when a second one comes.
	l := dynamicUp(t, 1, Config{FetchTimeoutNs: 1e9})
	one, two := l.node(1), l.add(2)
	l.core.expose(one.r, 1, one.end, "fetch-answer")
	one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: one.end})
	two.follow(1, 1)
	l.tick(60_000)
	two.served(one, 1)
	one.setVoters(1, 1, 2)
	l.tick(1_000)
	l.core.signOfLife(one.r, 1)
	l.tick(10)
	l.core.signOfLife(one.r, 1)
	l.clean()
	l.tick(5_000)
	for range 3 {
		l.core.signOfLife(one.r, 1)
		l.tick(10)
	}
	l.breaks("two-leaders-bounded/leads-without-majority")
}

// TestContactsOfVoters: who counts for the majority is a voter by its directory id, has sent a request, and not long ago.
func TestContactsOfVoters(t *testing.T) {
	for _, row := range []struct {
		name string
		dir  record.UUID
		call bool
		ok   bool
	}{
		{"the voter", record.UUIDFromHalves(1, 2), true, true},
		{"on another disk", record.UUIDFromHalves(7, 2), true, false},
		{"no request", record.UUIDFromHalves(1, 2), false, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			l := dynamicUp(t, 2, Config{FetchTimeoutNs: 1e9})
			one, two := l.node(1), l.node(2)
			for range 9 {
				l.tick(900)
				if row.call {
					l.core.called(two.r, one.r, voterKey{2, row.dir})
				}
				one.event(raft.Event{Kind: raft.FetchAccepted, Role: raft.Leader, Epoch: 1, Peer: voters.ReplicaKey{ID: 2, DirectoryID: row.dir}})
				l.core.signOfLife(one.r, 1)
			}
			if row.ok {
				l.clean()
			} else {
				l.breaks("two-leaders-bounded/leads-without-majority")
			}
		})
	}
}

func TestVoterChangesEnd(t *testing.T) {
	l := dynamicUp(t, 3, Config{})
	one := l.node(1)
	require.True(t, l.core.changesMet())
	one.setVoters(1, 1, 2)
	require.False(t, l.core.changesMet())
	require.Contains(t, l.core.waitsForChanges(), "[1 2] from offset 3")
	one.replicate(l.node(2), 1)
	require.True(t, l.core.changesMet())
	one.event(raft.Event{Kind: raft.VoterChangeStarted, Role: raft.Leader, Epoch: 1})
	require.False(t, l.core.changesMet())
	one.event(raft.Event{Kind: raft.VoterChangeEnded, Role: raft.Leader, Epoch: 1})
	require.True(t, l.core.changesMet())
	one.setVoters(1, 2)
	one.replicate(l.node(2), 1)
	require.False(t, l.core.changesMet(), "the removal is committed, and the leader leads on")
	l.clean()
}

// config is a record that says which of two states it is part of.
func config(name, value string) records.Record {
	return &records.ConfigRecord{ResourceType: 4, Name: name, Value: &value}
}

func removed(name string) records.Record { return &records.ConfigRecord{ResourceType: 4, Name: name} }

func snapshotName(offset int64, epoch int32) string {
	return fmt.Sprintf("%s/%020d-%010d.checkpoint", testPartition, offset, epoch)
}

// TestAcknowledgedBeforeTheDiskWasReplaced: voter 2 had everything when it sent its Fetch; that its disk is gone when the
// leader reads it does not un-acknowledge. What comes from its new disk does not count for the voter of before.
func TestAcknowledgedBeforeTheDiskWasReplaced(t *testing.T) {
	run := func(before bool) *lab {
		l := dynamicUp(t, 3, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, one.end)
		if before {
			two.fetch(one, 1, two.r.watermark)
		}
		l.core.wiped(two.r)
		two.r.directoryID = record.UUIDFromHalves(7, 2)
		if !before {
			two.fetch(one, 1, two.r.watermark)
		}
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: one.end})
		return l
	}
	l := run(true)
	l.clean()
	l.node(2).fetch(l.node(1), 0, -1) // from its new disk, of no epoch yet
	l.node(2).fetch(l.node(1), 1, -1)
	require.True(t, l.core.acknowledges(l.node(2).r, &voterKey{2, record.UUIDFromHalves(1, 2)}, 1, l.node(1).r.log.last(), l.node(1).end))
	require.Contains(t, run(false).found, "hw-durable/too-few-durable")
}
