package invariants

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// file makes the content of a snapshot.
type file struct {
	epoch   int32
	version int16
	voters  []int32
	footer  bool
	timeMs  int64 // of the last batch that it covers; those of tests have none
	values  []records.Record
}

func (f *file) bytes() []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{LeaderEpoch: f.epoch, Control: true})
	b.AddControl(record.SnapshotHeader, (&record.SnapshotHeaderRecord{LastContainedLogTimestampMs: f.timeMs}).AppendTo(nil))
	if f.version > 0 {
		b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: f.version}).AppendTo(nil))
	}
	if f.voters != nil {
		b.AddControl(record.KRaftVoters, votersRecord(f.voters...).AppendTo(nil))
	}
	next := b.NextOffset()
	out := b.Finish()
	if len(f.values) > 0 {
		var frames [][]byte
		for _, r := range f.values {
			frames = append(frames, records.Append(nil, r, 0))
		}
		out = record.AppendBatch(out, record.BatchSpec{BaseOffset: next, LeaderEpoch: f.epoch}, frames...)
		next += int64(len(frames))
	}
	if f.footer {
		b.Reset(out, record.BatchSpec{BaseOffset: next, LeaderEpoch: f.epoch, Control: true})
		b.AddControl(record.SnapshotFooter, (&record.SnapshotFooterRecord{}).AppendTo(nil))
		out = b.Finish()
	}
	return out
}

// freeze writes a snapshot and gives it its name; synced: the directory too.
func (m *member) freeze(offset int64, epoch int32, content []byte, synced bool) {
	t := m.lab.t
	part := fmt.Sprintf("%s/%020d-%010d-1.checkpoint.part", testPartition, offset, epoch)
	fd, err := m.files.Open(part, true)
	require.NoError(t, err)
	require.NoError(t, m.files.WriteAt(fd, content, 0))
	require.NoError(t, m.files.Sync(fd))
	require.NoError(t, m.files.Close(fd))
	require.NoError(t, m.files.Rename(part, snapshotName(offset, epoch)))
	if synced {
		require.NoError(t, m.files.SyncDir(testPartition))
	}
}

// segmentAt goes on in a new segment.
func (m *member) segmentAt(base int64) {
	m.path = fmt.Sprintf("%s/%020d.log", testPartition, base)
	fd, err := m.files.Open(m.path, true)
	require.NoError(m.lab.t, err)
	require.NoError(m.lab.t, m.files.SyncDir(testPartition))
	m.fd, m.size, m.end, m.positions = fd, 0, base, nil
}

// withState is three voters, static or dynamic, with a committed log: a=1, b=2, then a transaction that is aborted, b gone.
func withState(t testing.TB, dynamic bool) *lab {
	t.Helper()
	l := (*lab)(nil)
	if dynamic {
		l = dynamicUp(t, 3, Config{})
	} else {
		l = threeUp(t, Config{})
	}
	one := l.node(1)
	one.append(1, config("a", "1"), config("b", "2"))
	one.append(1, begin(), config("a", "9"), config("c", "9"))
	one.append(1, removed("a"))
	one.append(1, abort())
	one.append(1, removed("b"))
	l.commit(one, 1, 2, 3)
	l.clean()
	return l
}

// stateFile is the snapshot of that state.
func stateFile(dynamic bool) *file {
	f := &file{epoch: 1, footer: true, values: []records.Record{config("a", "1")}}
	if dynamic {
		f.version, f.voters = 1, []int32{1, 2, 3}
	}
	return f
}

func TestSnapshotFit(t *testing.T) {
	t.Run("committed, at the end of a batch", func(t *testing.T) {
		l := withState(t, false)
		two := l.node(2)
		two.freeze(two.end, 1, stateFile(false).bytes(), true)
		l.clean()
		l.evaluated("snapshot-fit", "snapshot-content")
	})
	t.Run("above what is committed", func(t *testing.T) {
		l := withState(t, false)
		one := l.node(1)
		one.noOp(1)
		one.freeze(one.end, 1, stateFile(false).bytes(), true)
		l.breaks("snapshot-fit/not-committed")
	})
	t.Run("inside a batch", func(t *testing.T) {
		l := withState(t, false)
		l.node(1).freeze(2, 1, stateFile(false).bytes(), true)
		l.breaks("snapshot-fit/not-committed")
	})
	t.Run("of another epoch", func(t *testing.T) {
		l := withState(t, false)
		f := stateFile(false)
		f.epoch = 2
		l.node(1).freeze(l.node(1).end, 2, f.bytes(), true)
		l.breaks("snapshot-fit/other-epoch")
	})
	prefix := func(t testing.TB, snapshot, synced bool) *lab {
		l := withState(t, false)
		one := l.node(1)
		end := one.end
		one.segmentAt(end)
		one.noOp(1)
		if snapshot {
			one.freeze(end, 1, stateFile(false).bytes(), synced)
		}
		require.NoError(t, one.files.Rename(testSegment, testSegment+".deleted"))
		require.EqualValues(t, end, one.r.log.start)
		return l
	}
	t.Run("the prefix goes when a snapshot covers it", func(t *testing.T) {
		l := prefix(t, true, true)
		l.commit(l.node(1), 1, 2)
		l.clean()
		require.EqualValues(t, 1, *l.seen["log-prefix-deleted"])
		l.node(3).lead(2, 2) // lacks the last record
		l.breaks("leader-completeness/lost-at-election")
	})
	t.Run("the prefix goes without a snapshot", func(t *testing.T) { prefix(t, false, false).breaks("snapshot-fit/start-not-covered") })
	t.Run("the prefix goes while the snapshot is in the cache only", func(t *testing.T) {
		prefix(t, true, false).breaks("snapshot-fit/start-not-covered")
	})
}

func TestSnapshotContent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(f *file)
		want   string
	}{
		"no footer":             {func(f *file) { f.footer = false }, "not-whole"},
		"an aborted record":     {func(f *file) { f.values = append(f.values, config("c", "9")) }, "other-state"},
		"a removed record":      {func(f *file) { f.values = append(f.values, config("b", "2")) }, "other-state"},
		"nothing":               {func(f *file) { f.values = nil }, "other-state"},
		"another value":         {func(f *file) { f.values = []records.Record{config("a", "2")} }, "other-state"},
		"another time":          {func(f *file) { f.timeMs = 1 }, "other-time"},
		"another voter set":     {func(f *file) { f.voters = []int32{1, 2} }, "voters"},
		"another disk":          {func(f *file) { f.voters = []int32{1, 2, -3} }, "voters"},
		"no voters":             {func(f *file) { f.voters = nil }, "voters"},
		"the record twice":      {func(f *file) { f.values = append(f.values, f.values[0]) }, ""},
		"a record and its undo": {func(f *file) { f.values = append(f.values, config("d", "1"), removed("d")) }, ""},
		"as it should be":       {func(*file) {}, ""},
		"a no-op more":          {func(f *file) { f.values = append(f.values, &records.NoOpRecord{}) }, ""},
		"kraft.version in data": {func(f *file) {
			f.values = append(f.values, &records.FeatureLevelRecord{Name: "kraft.version", FeatureLevel: 1})
		}, ""},
		"another feature at 0":   {func(f *file) { f.values = append(f.values, &records.FeatureLevelRecord{Name: "x"}) }, ""},
		"an upgrade out of turn": {func(f *file) { f.values = append(f.values, level(30)) }, "other-state"},
	} {
		t.Run(name, func(t *testing.T) {
			l := withState(t, true)
			f := stateFile(true)
			c.change(f)
			l.node(2).freeze(l.node(2).end, 1, f.bytes(), true)
			if c.want == "" {
				l.clean()
				return
			}
			l.breaks("snapshot-content/" + c.want)
		})
	}
	t.Run("inside a transaction", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.append(1, begin(), config("a", "1"))
		l.commit(one, 1, 2)
		one.freeze(one.end, 1, stateFile(false).bytes(), true)
		l.breaks("snapshot-content/open-transaction")
	})
	t.Run("an earlier offset", func(t *testing.T) {
		l := withState(t, false)
		end := l.node(1).end
		l.node(1).append(1, config("z", "1"))
		l.commit(l.node(1), 1, 2)
		l.node(1).freeze(end, 1, stateFile(false).bytes(), true)
		l.clean()
	})
	t.Run("voters at kraft.version 0", func(t *testing.T) {
		l := withState(t, true)
		f := stateFile(true)
		f.version = 0
		l.node(2).freeze(l.node(2).end, 1, f.bytes(), true)
		l.breaks("kraft-version/file", "snapshot-content/kraft-version")
	})
	t.Run("a metadata version without a cluster id", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"), end())
		l.commit(one, 1, 2)
		one.freeze(one.end, 1, (&file{epoch: 1, footer: true, values: []records.Record{level(34)}}).bytes(), true)
		l.breaks("snapshot-content/other-state", "mv-implies-cluster-id/snapshot")
	})
	t.Run("voters as of the end, not the newest", func(t *testing.T) {
		l := withState(t, true)
		one := l.node(1)
		end := one.end
		one.setVoters(1, 1, 2)
		one.replicate(l.node(2), 1)
		f := stateFile(true)
		l.node(2).freeze(end, 1, f.bytes(), true)
		l.clean()
		f.voters = []int32{1, 2}
		l.node(3).freeze(end, 1, f.bytes(), true)
		l.breaks("snapshot-content/voters")
	})
}

// TestSnapshotReplacesTheLog: voter 3 has fallen behind, downloads a snapshot, and goes on behind it.
func TestSnapshotReplacesTheLog(t *testing.T) {
	replace := func(t testing.TB, synced bool) *lab {
		l := dynamicUp(t, 3, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.append(1, config("a", "1"))
		l.commit(one, 1, 2)
		three.event(raft.Event{Kind: raft.SnapshotOffered, Offset: one.end, Other: 1})
		three.fetch(one, 1, 3)
		three.freeze(one.end, 1, (&file{epoch: 1, version: 1, voters: []int32{1, 2, 3}, footer: true,
			values: []records.Record{config("a", "1")}}).bytes(), synced)
		require.NoError(t, three.files.Remove(testSegment))
		three.segmentAt(one.end)
		three.event(raft.Event{Kind: raft.LogReplaced, Offset: one.end})
		three.tellVoters()
		l.core.votersUsed(three.r)
		_ = two
		return l
	}
	t.Run("and it goes on", func(t *testing.T) {
		l := replace(t, true)
		one, two, three := l.node(1), l.node(2), l.node(3)
		l.clean()
		l.core.snapshotDelivered(three.r, "loader", three.end)
		require.Equal(t, "[1 2 3]", l.core.votersOf(three.r).text())
		two.crash(true)
		b := one.noOp(1)
		three.fetch(one, 1, three.end)
		three.write(b)
		three.flush()
		three.fetch(one, 1, three.end-1)
		one.raise(three, 1, one.end) // one and three hold everything, the latter as snapshot and log
		l.clean()
		require.Positive(t, *l.seen["snapshot-replaced-the-log"])
		two.boot()
		three.follow(1, 1)
		three.lead(2, 2)
		l.clean()
		l.core.snapshotDelivered(three.r, "loader", 3)
		l.breaks("listener-order/snapshot-back")
	})
	t.Run("the snapshot in the cache only", func(t *testing.T) {
		require.Contains(t, replace(t, false).found, "truncation/below-own-watermark")
	})
	t.Run("what the snapshot stands for is not durable", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		one, three := l.node(1), l.node(3)
		one.noOp(1)
		l.commit(one, 1, 2)
		require.NoError(t, three.files.Remove(testSegment))
		three.segmentAt(one.end)
		l.found = nil
		one.noOp(1)
		three.copyFrom(one, one.end)
		three.fetch(one, 1, -1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: one.end})
		l.breaks("hw-durable/too-few-durable")
	})
	t.Run("broken off", func(t *testing.T) {
		l := dynamicUp(t, 3, Config{})
		l.node(3).event(raft.Event{Kind: raft.SnapshotOffered, Offset: 3, Other: 1})
		l.node(3).crash(false)
		require.EqualValues(t, 1, *l.seen["snapshot-download-broken-off"])
		l.clean()
	})
}

// TestBeginsWithASnapshot: the run begins with logs that start at a snapshot.
func TestBeginsWithASnapshot(t *testing.T) {
	l := &lab{t: t, seen: map[string]*int64{}, mute: true}
	l.start(Config{Variant: Draft})
	for id := int32(1); id <= 3; id++ {
		m := l.add(id)
		m.crash(false)
		require.NoError(t, m.v.Handle(vdisk.Immediate{}).Remove(testSegment))
		m.v.Load(fmt.Sprintf("%s/%020d.log", testPartition, 50), nil)
		m.v.Load(snapshotName(50, 4), (&file{epoch: 4, version: 1, voters: []int32{1, 2, 3}, footer: true,
			values: []records.Record{level(34), clusterID("x"), config("a", "1")}}).bytes())
		m.boot()
		m.segmentAt(50)
		m.quorum(4, -1, -1)
	}
	one, two := l.node(1), l.node(2)
	require.Equal(t, "[1 2 3]", l.core.votersOf(one.r).text())
	l.elect(1, 5)
	one.append(5, removed("a"), config("b", "1"))
	l.commit(one, 5, 2, 3)
	f := file{epoch: 5, version: 1, voters: []int32{1, 2, 3}, footer: true, values: []records.Record{level(34), clusterID("x"), config("b", "1")}}
	two.freeze(two.end, 5, f.bytes(), true)
	l.clean()
	l.evaluated("snapshot-content", "mv-implies-cluster-id")
	f.values = append(f.values, config("a", "1"))
	l.node(3).freeze(two.end, 5, f.bytes(), true)
	l.breaks("snapshot-content/other-state")
}
