package record

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShortRecordsAreReadAlike: most records are read in one piece. Whatever byte of one is another, that piece says what the general way says, or
// leaves the record to it.
func TestShortRecordsAreReadAlike(t *testing.T) {
	short := 0
	for _, n := range []int{1, 2, 55, 56, 57, 58, 63, 64, 65} {
		whole := AppendBatch(nil, BatchSpec{BaseOffset: 7, LeaderEpoch: 1}, bytes.Repeat([]byte{'v'}, n), []byte("next"))
		for at := BatchOverhead; at < BatchOverhead+min(n, 3)+9 && at < len(whole); at++ {
			for value := range 256 {
				b := bytes.Clone(whole)
				b[at] = byte(value)
				var fast, slow Iterator
				fast.Reset(Batch(b))
				slow.Reset(Batch(b))
				var one, other Record
				if !fast.readShort(&one) {
					require.Equal(t, slow, fast, "nothing is read")
					continue
				}
				short++
				require.NoError(t, slow.read(&other), "length %d, byte %d is %d", n, at, value)
				require.Equal(t, other, one, "length %d, byte %d is %d", n, at, value)
				require.Equal(t, slow.r.pos, fast.r.pos, "length %d, byte %d is %d", n, at, value)
			}
		}
	}
	require.Greater(t, short, 1000)
}

// TestShortRecordsAreWrittenAlike: so are short records written, and measured.
func TestShortRecordsAreWrittenAlike(t *testing.T) {
	for _, n := range []int{0, 1, 54, 55, 56, 57, 63, 64} {
		value := bytes.Repeat([]byte{'v'}, n)
		var b Builder
		b.Reset(nil, BatchSpec{})
		want := make([]byte, 0, 8192)
		for i := range int32(70) {
			size := recordBodySize(i, nil, value)
			require.Equal(t, VarintSize(size)+size, RecordSize(i, nil, value))
			want = append(AppendVarint(want, size), 0, 0)
			want = AppendVarint(AppendVarint(AppendVarint(want, i), -1), int32(n))
			want = append(append(want, value...), 0)
			b.Add(nil, value)
		}
		require.Equal(t, want, b.Finish()[BatchOverhead:], "length %d", n)
	}
}
