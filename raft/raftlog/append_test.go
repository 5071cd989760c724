package raftlog_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

func TestRolling(t *testing.T) {
	one := int64(len(batch(0, 1, 2)))
	for _, c := range []struct {
		name string
		cfg  raftlog.Config
		want []string
	}{
		{"by bytes, one batch each", raftlog.Config{SegmentBytes: 1}, []string{"00000000000000000000.log", "00000000000000000002.log",
			"00000000000000000004.log", "00000000000000000006.log"}},
		{"by bytes, two batches fit exactly", raftlog.Config{SegmentBytes: 2 * one}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"by bytes, a byte short", raftlog.Config{SegmentBytes: 3*one - 1}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"by age", raftlog.Config{SegmentMs: 3}, []string{"00000000000000000000.log", "00000000000000000004.log"}},
		{"by age, not when it is just as old", raftlog.Config{SegmentMs: 4}, []string{"00000000000000000000.log", "00000000000000000006.log"}},
		{"never", raftlog.Config{}, []string{"00000000000000000000.log"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := newFiles()
			l := open(t, files, c.cfg)
			var all []byte
			for base := int64(0); base < 8; base += 2 {
				all = append(all, batch(base, 1, 2)...)
			}
			before := files.Writes
			n, err := l.AppendFollower(all, 1)
			require.NoError(t, err)
			require.EqualValues(t, 4, n)
			require.EqualValues(t, len(c.want), files.Writes-before-1, "one write per segment, one of the epoch checkpoint")
			require.Equal(t, c.want, segments(t, files))
			require.NoError(t, l.Close())
			require.Equal(t, all, readAll(t, open(t, files, c.cfg), 1))
		})
	}
}

// spanning makes a batch of one record that claims the offsets up to last, as a compacted one would.
func spanning(base, last int64) []byte {
	b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: base, LeaderEpoch: 1, TimestampMs: 5}, []byte("x"))
	binary.BigEndian.PutUint32(b[23:], uint32(last-base))
	binary.BigEndian.PutUint32(b[17:], record.Checksum(b[21:]))
	return b
}

// TestRollingBySpan: an index of a segment has offsets of 31 bits relative to its base, so that a batch which ends 2^31-1 behind the base
// is the last that may go into it (formats 9.4).
func TestRollingBySpan(t *testing.T) {
	const limit = math.MaxInt32
	for _, follower := range []bool{false, true} {
		files := newFiles()
		l := open(t, files, raftlog.Config{})
		batches := [][]byte{spanning(0, limit-1), spanning(limit, limit), spanning(limit+1, limit+1), spanning(limit+2, 2*limit+1), spanning(2*limit+2, 2*limit+2)}
		for _, b := range batches {
			if follower {
				n, err := l.AppendFollower(b, 1)
				require.NoError(t, err)
				require.EqualValues(t, 1, n)
			} else {
				require.NoError(t, l.AppendLeader(b))
			}
		}
		want := []string{"00000000000000000000.log", "00000000002147483648.log", "00000000004294967296.log"}
		require.Equal(t, want, segments(t, files))
		require.NoError(t, l.Close())
		l = open(t, files, raftlog.Config{})
		require.EqualValues(t, 2*limit+3, l.EndOffset())
		require.EqualValues(t, -1, l.Recovered().BadSegment)
	}
}

// A file where the next segment is to begin would be written behind what it holds, or rolled for ever when it is full.
func TestRollRefusesAFileThatExists(t *testing.T) {
	files := newFiles()
	l := open(t, files, raftlog.Config{SegmentBytes: 1})
	fill(t, l, 1)
	fd, err := files.Open(dir+"/00000000000000000002.log", true)
	require.NoError(t, err)
	require.NoError(t, files.WriteAt(fd, make([]byte, 7), 0))
	err = l.AppendLeader(batch(2, 1, 2))
	require.ErrorIs(t, err, raftlog.ErrDirectory)
	require.ErrorContains(t, err, "00000000000000000002.log, to be rolled to, exists already with 7 bytes")
}

func TestAppendLeaderRefuses(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{})
	fill(t, l, 5)
	for name, b := range map[string][]byte{
		"gap":       batch(3, 5, 1),
		"overlap":   batch(1, 5, 1),
		"old epoch": batch(2, 4, 1),
		"cut short": batch(2, 5, 1)[:80],
		"bad magic": func() []byte { b := batch(2, 5, 1); b[16] = 1; return b }(),
		"second":    append(batch(2, 5, 1), batch(4, 5, 1)...),
	} {
		require.ErrorIs(t, l.AppendLeader(b), raftlog.ErrInvalidAppend, name)
		require.EqualValues(t, 2, l.EndOffset())
	}
	fill(t, l, 5)
	require.Equal(t, append(batch(0, 5, 2), batch(2, 5, 2)...), readAll(t, l, 1000))
}

func TestAppendFollowerTakesThePrefix(t *testing.T) {
	good, next := batch(2, 3, 1), batch(3, 3, 1)
	flipped := append([]byte(nil), next...)
	flipped[70] ^= 1
	for _, c := range []struct {
		name string
		tail []byte
		want int32
	}{
		{"all good", next, 2},
		{"above the leader's epoch", batch(3, 5, 1), 1},
		{"of the leader's epoch", batch(3, 4, 1), 2},
		{"below the epoch before", batch(3, 2, 1), 1},
		{"gap", batch(4, 3, 1), 1},
		{"overlap", good, 1},
		{"overlap that goes on", batch(2, 3, 2), 1},
		{"checksum", flipped, 1},
		{"cut short", next[:len(next)-1], 1},
		{"garbage", []byte("garbage that is no batch at all"), 1},
		{"nothing", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, newFiles(), raftlog.Config{})
			fill(t, l, 3)
			n, err := l.AppendFollower(append(append([]byte(nil), good...), c.tail...), 4)
			require.NoError(t, err)
			require.Equal(t, c.want, n)
			require.EqualValues(t, 2+c.want, l.EndOffset())
			n, err = l.AppendFollower(c.tail[:min(len(c.tail), 20)], 4)
			require.NoError(t, err)
			require.Zero(t, n)
		})
	}
}

// TestAgeOfASegment: the age of a segment counts from its first batch, in whatever calls and lives its batches are written (formats 9.4).
func TestAgeOfASegment(t *testing.T) {
	files := newFiles()
	cfg := raftlog.Config{SegmentMs: 3}
	for _, want := range []int{1, 1, 2, 2, 3} {
		l := open(t, files, cfg)
		fill(t, l, 1) // dated by its offset
		require.Len(t, segments(t, files), want, "at %d", l.EndOffset())
		require.NoError(t, l.Close())
	}
	files = newFiles()
	l := open(t, files, cfg)
	fill(t, l, 1, 1, 1, 1, 1)
	require.Len(t, segments(t, files), 3)
}
