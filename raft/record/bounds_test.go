package record

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBatchSizesAtTheirBounds: the smallest length that a batch may claim, and how few bytes tell of it (formats 3): with 17 the log file
// reader sees no batch yet, while the raft decoder looks at the magic.
func TestBatchSizesAtTheirBounds(t *testing.T) {
	head := func(bytes int, length int32, magic int8) []byte {
		b := make([]byte, bytes)
		binary.BigEndian.PutUint32(b[8:], uint32(length))
		if bytes > 16 {
			b[16] = byte(magic)
		}
		return b
	}
	for _, c := range []struct {
		name      string
		b         []byte
		raft, log bool // an error
	}{
		{"length below the minimum", head(18, 13, 2), true, true},
		{"least length, not all there", head(18, 14, 2), false, false},
		{"seventeen bytes of a length below the minimum", head(17, 13, 2), true, false},
		{"seventeen bytes", head(17, 14, 2), false, false},
		{"negative magic, not all there", head(18, 200, -1), true, false},
		{"magic above 2, not all there", head(18, 200, 3), true, false},
	} {
		_, _, err := NextBatch(c.b)
		require.Equal(t, c.raft, err != nil, "%s: raft: %v", c.name, err)
		batch, _, err := NextFileBatch(c.b)
		require.Empty(t, batch)
		require.Equal(t, c.log, err != nil, "%s: log: %v", c.name, err)
		size, err := FileBatchSize(c.b, int64(len(c.b)))
		require.Zero(t, size)
		require.Equal(t, c.log, err != nil, "%s: scan: %v", c.name, err)
	}
	_, err := FileBatchSize(head(18, math.MaxInt32, 2), 1<<40)
	require.ErrorIs(t, err, ErrCorrupt, "no batch of more than 2 GiB")
	size, err := FileBatchSize(head(18, math.MaxInt32-logOverhead, 2), 1<<40)
	require.NoError(t, err)
	require.EqualValues(t, math.MaxInt32, size)
}

// TestLengthsAtTheirBounds: what a length may claim, to the element and to the byte (formats 1).
func TestLengthsAtTheirBounds(t *testing.T) {
	r := NewReader([]byte{4, 1, 2, 3})
	require.EqualValues(t, 3, r.CompactArrayLength())
	require.NoError(t, r.Err())
	r = NewReader([]byte{5, 1, 2, 3})
	r.CompactArrayLength()
	require.ErrorIs(t, r.Err(), ErrMalformed, "four elements in three bytes")

	for length, valid := range map[int]bool{math.MaxInt16: true, math.MaxInt16 + 1: false} {
		r = NewReader(append(AppendUvarint(nil, uint32(length)+1), strings.Repeat("a", length)...))
		r.CompactString()
		require.Equal(t, valid, r.Err() == nil, "%d", length)
	}

	r = NewReader([]byte{1, 7, 0})
	require.Len(t, r.UnknownTags(), 1)
	r = NewReader([]byte{2, 7, 0})
	require.Nil(t, r.UnknownTags())
	require.ErrorIs(t, r.Err(), ErrTruncated)
	r = NewReader(append(AppendUvarint([]byte{1, 7}, 1<<31), 0, 0))
	r.UnknownTags()
	require.ErrorIs(t, r.Err(), ErrMalformed)

	kind, err := ParseControlKey([]byte{0, 1, 0, 5, 9})
	require.NoError(t, err, "what a newer key has besides is ignored")
	require.Equal(t, KRaftVersion, kind)
	_, err = ParseControlKey([]byte{0, 0, 0})
	require.ErrorIs(t, err, ErrInvalidRecord)
}
