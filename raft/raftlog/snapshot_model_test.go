package raftlog_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// snapshotModel is a log with snapshots as plain lists.
type snapshotModel struct {
	batches   [][]byte // from the first segment's base on; those below start are covered
	start     int64
	snapshots []raftlog.OffsetAndEpoch
}

func (m *snapshotModel) end() int64 {
	if len(m.batches) == 0 {
		return m.start
	}
	return record.Batch(m.batches[len(m.batches)-1]).NextOffset()
}

// epochAt is the epoch of the record before an offset, as far as batches say.
func (m *snapshotModel) lastEpoch() int32 {
	if n := len(m.batches); n > 0 {
		return record.Batch(m.batches[n-1]).LeaderEpoch()
	}
	for _, s := range m.snapshots {
		if s.Offset == m.start {
			return s.Epoch
		}
	}
	return 0
}

// snapshotMachine runs the log and the model side by side.
type snapshotMachine struct {
	files *memfiles.Files
	cfg   raftlog.Config
	log   *raftlog.Log
	model snapshotModel
	nowMs int64
}

// TestSnapshotModel runs random histories of appends, snapshots made and downloaded, retention, crashes and restarts against
// lists.
func TestSnapshotModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &snapshotMachine{files: newFiles(), cfg: raftlog.Config{
			SegmentBytes:   rapid.Int64Range(1, 500).Draw(t, "segmentBytes"),
			RetentionBytes: rapid.SampledFrom([]int64{1, 600, 1200, -1}).Draw(t, "retentionBytes"),
			RetentionMs:    rapid.SampledFrom([]int64{1, 30, -1}).Draw(t, "retentionMs"),
			DeleteDelayMs:  rapid.Int64Range(1, 20).Draw(t, "deleteDelayMs"),
		}}
		m.log = openRapid(t, m.files, m.cfg)
		t.Repeat(map[string]func(*rapid.T){
			"append":   m.append,
			"create":   m.create,
			"download": m.download,
			"clean":    m.clean,
			"reopen":   func(t *rapid.T) { m.files.Kill(); m.reopen(t) },
			"crash": func(t *rapid.T) {
				m.files.Crash()
				m.reopen(t)
			},
			"wait": func(t *rapid.T) {
				m.nowMs += rapid.Int64Range(1, 40).Draw(t, "ms")
				require.NoError(t, m.log.RemoveDeleted(m.nowMs))
			},
			"": m.check,
		})
	})
}

func (m *snapshotMachine) append(t *rapid.T) {
	epoch := m.model.lastEpoch() + rapid.SampledFrom([]int32{0, 0, 1}).Draw(t, "epoch step")
	b := batch(m.model.end(), epoch, rapid.IntRange(1, 3).Draw(t, "records"))
	require.NoError(t, m.log.AppendLeader(b))
	require.NoError(t, m.log.Flush())
	m.model.batches = append(m.model.batches, b)
}

// create makes a snapshot at a batch boundary, or is refused everywhere else.
func (m *snapshotMachine) create(t *rapid.T) {
	if len(m.model.batches) == 0 {
		t.Skip("empty")
	}
	b := record.Batch(rapid.SampledFrom(m.model.batches).Draw(t, "batch"))
	at := raftlog.OffsetAndEpoch{Offset: b.NextOffset(), Epoch: b.LeaderEpoch()}
	before := slices.Contains(m.model.snapshots, at)
	if at.Offset < m.model.start || before {
		w, err := m.log.CreateSnapshot(at, m.model.end(), 1)
		require.NoError(t, err)
		require.Nil(t, w)
		return
	}
	if earliest, ok := m.log.EarliestSnapshot(); ok && at.Epoch < earliest.Epoch {
		t.Skip("older than what the log judges by")
	}
	require.NoError(t, writeSnapshot(m.log, at, m.log.CreateSnapshot))
	m.model.snapshots = append(m.model.snapshots, at)
	if b.RecordCount() > 1 {
		_, err := m.log.CreateSnapshot(raftlog.OffsetAndEpoch{Offset: at.Offset - 1, Epoch: at.Epoch}, m.model.end(), 1)
		if at.Offset-1 >= m.model.start {
			require.ErrorIs(t, err, raftlog.ErrSnapshotID)
		}
	}
}

func (m *snapshotMachine) download(t *rapid.T) {
	at := raftlog.OffsetAndEpoch{
		Offset: m.model.end() + rapid.Int64Range(-2, 4).Draw(t, "ahead"),
		Epoch:  m.model.lastEpoch() + rapid.Int32Range(0, 2).Draw(t, "epoch step"),
	}
	latest, _ := m.log.LatestSnapshot()
	if at.Offset <= latest.Offset || at.Offset < m.model.start {
		t.Skip("a leader offers nothing older")
	}
	want := at.Epoch > m.model.lastEpoch() || at.Offset > m.model.end()
	create := func(id raftlog.OffsetAndEpoch, _ int64, suffix uint64) (*raftlog.SnapshotWriter, error) {
		return m.log.DownloadSnapshot(id, suffix)
	}
	require.NoError(t, writeSnapshot(m.log, at, create))
	if !want {
		truncated, err := m.log.TruncateToLatestSnapshot()
		require.NoError(t, err)
		require.False(t, truncated)
		m.model.snapshots = append(m.model.snapshots, at)
		return
	}
	if rapid.Bool().Draw(t, "crash before the truncation") {
		m.files.Crash()
		m.log = openRapid(t, m.files, m.cfg)
		require.True(t, m.log.Recovered().TruncatedToSnapshot)
	} else {
		truncated, err := m.log.TruncateToLatestSnapshot()
		require.NoError(t, err)
		require.True(t, truncated)
	}
	m.model = snapshotModel{start: at.Offset, snapshots: []raftlog.OffsetAndEpoch{at}}
}

func (m *snapshotMachine) clean(t *rapid.T) {
	hw := rapid.Int64Range(-1, m.model.end()).Draw(t, "highWatermark")
	earliest, latest := m.log.StartOffset(), m.model.end()
	changed, err := m.log.Clean(m.nowMs, hw)
	require.NoError(t, err)
	start := m.log.StartOffset()
	require.Equal(t, changed, start > earliest)
	require.LessOrEqual(t, start, latest)
	if !changed {
		return
	}
	require.LessOrEqual(t, start, hw)
	m.model.start = start
	m.model.snapshots = slices.DeleteFunc(m.model.snapshots, func(s raftlog.OffsetAndEpoch) bool { return s.Offset < start })
	require.NotEmpty(t, m.model.snapshots, "the start is covered")
}

// reopen takes over what a start knows: the log begins with a segment, at or below the start of before.
func (m *snapshotMachine) reopen(t *rapid.T) {
	m.log = openRapid(t, m.files, m.cfg)
	require.Zero(t, m.log.Recovered().BytesCut)
	require.LessOrEqual(t, m.log.StartOffset(), m.model.start)
	m.model.start = m.log.StartOffset()
}

func (m *snapshotMachine) check(t *rapid.T) {
	require.Equal(t, m.model.start, m.log.StartOffset())
	require.Equal(t, m.model.end(), m.log.EndOffset())
	require.Equal(t, m.model.end(), m.log.FlushedOffset())
	require.Equal(t, m.model.lastEpoch(), m.log.LastEpoch())
	require.EqualValues(t, len(m.model.snapshots), m.log.Snapshots())
	for _, s := range m.model.snapshots {
		require.True(t, m.log.HasSnapshot(s))
	}
	if m.model.start > 0 {
		latest, ok := m.log.LatestSnapshot()
		require.True(t, ok && latest.Offset >= m.model.start, "a start above 0 is covered")
	}
	var want [][]byte
	for _, b := range m.model.batches {
		if record.Batch(b).NextOffset() > m.model.start {
			want = append(want, b)
		}
	}
	require.Equal(t, string(bytes.Join(want, nil)), string(readAllRapid(t, m.log)))
	if n := len(want); n > 0 { // whoever has the whole log may fetch on
		v, _ := m.log.Validate(m.model.end(), m.model.lastEpoch())
		require.Equal(t, raftlog.Valid, v)
	}
}
