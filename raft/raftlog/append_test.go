package raftlog_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
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
