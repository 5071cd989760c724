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

// model is a log as a plain list of batches and epochs.
type model struct {
	batches [][]byte
	epochs  []raftlog.OffsetAndEpoch // first offset of each epoch
	flushed int64
}

func (m *model) end() int64 {
	if len(m.batches) == 0 {
		return 0
	}
	return record.Batch(m.batches[len(m.batches)-1]).NextOffset()
}

func (m *model) flush() {
	m.flushed = m.end()
}

func (m *model) lastEpoch() int32 {
	if len(m.epochs) == 0 {
		return 0
	}
	return m.epochs[len(m.epochs)-1].Epoch
}

func (m *model) begin(epoch int32, offset int64) {
	if len(m.epochs) > 0 && m.lastEpoch() == epoch {
		return
	}
	m.dropEpochs(offset)
	m.epochs = append(m.epochs, raftlog.OffsetAndEpoch{Offset: offset, Epoch: epoch})
}

func (m *model) dropEpochs(offset int64) {
	m.epochs = slices.DeleteFunc(m.epochs, func(e raftlog.OffsetAndEpoch) bool { return e.Offset >= offset })
}

func (m *model) append(b []byte) {
	m.begin(record.Batch(b).LeaderEpoch(), record.Batch(b).BaseOffset())
	m.batches = append(m.batches, b)
}

func (m *model) truncate(offset int64) {
	m.batches = slices.DeleteFunc(m.batches, func(b []byte) bool { return record.Batch(b).LastOffset() >= offset })
	m.dropEpochs(offset)
	m.flush()
}

// endOffsetForEpoch is kraft-protocol 3.3, row by row.
func (m *model) endOffsetForEpoch(epoch int32) raftlog.OffsetAndEpoch {
	if len(m.epochs) == 0 || epoch >= m.lastEpoch() {
		return raftlog.OffsetAndEpoch{Offset: m.end(), Epoch: m.lastEpoch()}
	}
	floor := epoch
	for _, e := range m.epochs {
		if e.Epoch > epoch {
			return raftlog.OffsetAndEpoch{Offset: e.Offset, Epoch: floor}
		}
		floor = e.Epoch
	}
	panic("unreachable")
}

// machine runs the log and the model side by side.
type machine struct {
	files *memfiles.Files
	cfg   raftlog.Config
	log   *raftlog.Log
	model model
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{files: newFiles(), cfg: raftlog.Config{
			SegmentBytes: rapid.Int64Range(1, 600).Draw(t, "segmentBytes"),
			SegmentMs:    rapid.Int64Range(1, 100).Draw(t, "segmentMs")}}
		m.log = openRapid(t, m.files, m.cfg)
		t.Repeat(map[string]func(*rapid.T){
			"appendLeader":   m.appendLeader,
			"appendFollower": m.appendFollower,
			"assignEpoch": func(t *rapid.T) {
				epoch := m.model.lastEpoch() + rapid.Int32Range(0, 2).Draw(t, "more")
				require.NoError(t, m.log.AssignEpoch(epoch))
				m.model.begin(epoch, m.model.end())
			},
			"flush": func(t *rapid.T) {
				require.NoError(t, m.log.Flush())
				m.model.flush()
			},
			"truncate": m.truncate,
			"read":     m.read,
			"reopen":   func(t *rapid.T) { m.files.Kill(); m.reopen(t, m.model.batches) },
			"crash":    m.crash,
			"":         m.check,
		})
	})
}

func openRapid(t *rapid.T, files *memfiles.Files, cfg raftlog.Config) *raftlog.Log {
	l, err := raftlog.Open(files, dir, cfg)
	require.NoError(t, err)
	return l
}

// draw makes one to three batches that follow on the log.
func (m *machine) draw(t *rapid.T) (list [][]byte) {
	next, epoch := m.model.end(), m.model.lastEpoch()
	for range rapid.IntRange(1, 3).Draw(t, "batches") {
		epoch += rapid.SampledFrom([]int32{0, 0, 0, 1, 3}).Draw(t, "epoch step")
		b := batch(next, epoch, rapid.IntRange(1, 4).Draw(t, "records"))
		list = append(list, b)
		next = record.Batch(b).NextOffset()
	}
	return list
}

func (m *machine) appendLeader(t *rapid.T) {
	list := m.draw(t)
	require.NoError(t, m.log.AppendLeader(bytes.Join(list, nil)))
	for _, b := range list {
		m.model.append(b)
	}
}

func (m *machine) appendFollower(t *rapid.T) {
	list := m.draw(t)
	all := bytes.Join(list, nil)
	valid := len(list)
	if rapid.Bool().Draw(t, "damage") {
		at := rapid.IntRange(0, len(all)-1).Draw(t, "at")
		all = slices.Clone(all)
		all[at] ^= 0xff
		valid = 0
		for size := 0; size+len(list[valid]) <= at; valid++ {
			size += len(list[valid])
		}
		if begin := len(bytes.Join(list[:valid], nil)); at >= begin+12 && at < begin+16 {
			all[begin+12] = 0x7f // an epoch above the leader's
		}
	}
	n, err := m.log.AppendFollower(all, 1<<20)
	require.NoError(t, err)
	require.EqualValues(t, valid, n)
	for _, b := range list[:valid] {
		m.model.append(b)
	}
}

func (m *machine) truncate(t *rapid.T) {
	if len(m.model.batches) == 0 {
		t.Skip("empty")
	}
	hw := rapid.Int64Range(-1, m.model.end()).Draw(t, "highWatermark")
	epoch := rapid.Int32Range(0, m.model.lastEpoch()+1).Draw(t, "epoch")
	i := rapid.IntRange(0, len(m.model.batches)-1).Draw(t, "batch")
	offset := record.Batch(m.model.batches[i]).BaseOffset()
	want := min(offset, m.model.end())
	if epoch > 0 {
		if local := m.model.endOffsetForEpoch(epoch); local.Epoch == epoch {
			want = min(local.Offset, offset)
		} else {
			want = local.Offset
		}
	}
	cut, err := m.log.TruncateToEndOffset(raftlog.OffsetAndEpoch{Offset: offset, Epoch: epoch}, hw)
	if want < hw {
		require.ErrorIs(t, err, raftlog.ErrBelowHighWatermark)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, cut)
	if want < m.model.end() {
		m.model.truncate(want)
	}
}

func (m *machine) read(t *rapid.T) {
	from := rapid.Int64Range(0, m.model.end()).Draw(t, "from")
	to := rapid.Int64Range(0, m.model.end()).Draw(t, "to")
	maxBytes := rapid.Int32Range(0, 400).Draw(t, "maxBytes")
	got, err := m.log.ReadUpTo(from, to, maxBytes)
	require.NoError(t, err)
	var want []byte
	for _, b := range m.model.batches {
		if v := record.Batch(b); v.LastOffset() >= from && v.NextOffset() <= to {
			want = append(want, b...)
		}
	}
	require.True(t, bytes.HasPrefix(want, got), "read is a prefix of what lies between")
	require.Equal(t, len(want) > 0, len(got) > 0, "at least one batch")
	if first, _, _ := record.NextBatch(got); len(got) > len(first) {
		require.LessOrEqual(t, len(got), int(maxBytes))
	}
}

// crash loses power: all that was flushed must come back; what was not may, as a prefix of what was written.
func (m *machine) crash(t *rapid.T) {
	flushed := m.log.FlushedOffset()
	require.GreaterOrEqual(t, flushed, m.model.flushed)
	m.files.Crash()
	m.log = openRapid(t, m.files, m.cfg)
	got := readAllRapid(t, m.log)
	require.True(t, bytes.HasPrefix(bytes.Join(m.model.batches, nil), got))
	require.GreaterOrEqual(t, m.log.EndOffset(), flushed)
	var kept [][]byte
	for size := 0; size < len(got); size += len(kept[len(kept)-1]) {
		kept = append(kept, m.model.batches[len(kept)])
	}
	m.reopen(t, kept)
}

// reopen takes over the model that a start makes of these batches.
func (m *machine) reopen(t *rapid.T, batches [][]byte) {
	m.files.Kill()
	m.log = openRapid(t, m.files, m.cfg)
	require.Zero(t, m.log.Recovered().BytesCut)
	m.model = model{batches: slices.Clone(batches)}
	for _, b := range batches {
		m.model.begin(record.Batch(b).LeaderEpoch(), record.Batch(b).BaseOffset())
	}
	m.model.flush()
}

func readAllRapid(t *rapid.T, l *raftlog.Log) (all []byte) {
	for from := l.StartOffset(); from < l.EndOffset(); {
		b, err := l.Read(from, 1)
		require.NoError(t, err)
		require.NotEmpty(t, b)
		all = append(all, b...)
		from = record.Batch(b).NextOffset()
	}
	return all
}

func (m *machine) check(t *rapid.T) {
	require.Zero(t, m.log.StartOffset())
	require.Equal(t, m.model.end(), m.log.EndOffset())
	require.Equal(t, m.model.lastEpoch(), m.log.LastEpoch())
	require.GreaterOrEqual(t, m.log.FlushedOffset(), m.model.flushed)
	require.LessOrEqual(t, m.log.FlushedOffset(), m.model.end())
	for epoch := int32(0); epoch <= m.model.lastEpoch()+1; epoch++ {
		require.Equal(t, m.model.endOffsetForEpoch(epoch), m.log.EndOffsetForEpoch(epoch), "epoch %d", epoch)
	}
	require.Equal(t, string(bytes.Join(m.model.batches, nil)), string(readAllRapid(t, m.log)))
}
