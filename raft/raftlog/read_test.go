package raftlog_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

func TestRead(t *testing.T) {
	files := newFiles()
	allocs := 0
	cfg := raftlog.Config{Alloc: func(n int) []byte { allocs++; return make([]byte, n) }}
	l := open(t, files, cfg)
	fill(t, l, 1, 1, 2)
	first, second, third := batch(0, 1, 2), batch(2, 1, 2), batch(4, 2, 2)
	size := int32(len(first))
	for _, c := range []struct {
		name     string
		from, to int64
		max      int32
		want     [][]byte
	}{
		{"all", 0, 6, 1000, [][]byte{first, second, third}},
		{"at least one batch", 0, 6, 1, [][]byte{first}},
		{"as many as fit", 0, 6, 2*size + 1, [][]byte{first, second}},
		{"from inside a batch", 3, 6, 1000, [][]byte{second, third}},
		{"at the end", 6, 6, 1000, nil},
		{"up to inside a batch", 0, 5, 1000, [][]byte{first, second}},
		{"up to inside the first", 0, 1, 1000, nil},
		{"up to its own offset", 2, 2, 1000, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := l.ReadUpTo(c.from, c.to, c.max)
			require.NoError(t, err)
			require.Equal(t, bytes.Join(c.want, nil), append([]byte{}, b...))
		})
	}
	require.NotZero(t, allocs)
	for _, from := range []int64{-1, 7} {
		_, err := l.Read(from, 1)
		require.ErrorIs(t, err, raftlog.ErrOffsetOutOfRange)
	}
}

func TestReadDoesNotAllocate(t *testing.T) {
	buf := make([]byte, 4096)
	l := open(t, newFiles(), raftlog.Config{Alloc: func(n int) []byte { return buf[:n] }})
	fill(t, l, 1, 1, 1)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = l.Read(2, 1000)
		_, _ = l.Validate(4, 1)
	}))
}

// TestReadToTheByte: as many batches as fit into the limit, one that fills it among them.
func TestReadToTheByte(t *testing.T) {
	l := open(t, newFiles(), raftlog.Config{})
	fill(t, l, 1, 1, 1)
	one := int32(len(batch(0, 1, 2)))
	for limit, want := range map[int32]int32{1: 1, 2*one - 1: 1, 2 * one: 2, 3*one - 1: 2, 3 * one: 3} {
		b, err := l.Read(0, limit)
		require.NoError(t, err)
		require.Len(t, b, int(want*one), "%d bytes", limit)
	}
}
