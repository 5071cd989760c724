package digest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBytesSeesEveryByteAndTheLength(t *testing.T) {
	seen := map[uint64]bool{}
	for n := range 100 {
		b := make([]byte, n)
		seen[Bytes(1, b)] = true
		for i := range b {
			b[i] = 1
			h := Bytes(1, b)
			require.False(t, seen[h], "length %d, byte %d", n, i)
			seen[h] = true
			b[i] = 0
		}
	}
}

func TestBytesTwiceIsBytesOnEach(t *testing.T) {
	b := make([]byte, 100)
	for i := range b {
		b[i] = byte(i * 37)
	}
	for n := range b {
		h, g := BytesTwice(3, 5, b[:n])
		require.Equal(t, [2]uint64{Bytes(3, b[:n]), Bytes(5, b[:n])}, [2]uint64{h, g}, "length %d", n)
	}
}

// Do NOT edit: pinned traces depend on these values.
func TestRegressDigest(t *testing.T) {
	h := Word(0, 1)
	h = Bytes(h, []byte("The quick brown fox jumps over the lazy dog"))
	h = String(h, "kraft")
	require.Equal(t, uint64(regress), h)
}

func BenchmarkBytes100(b *testing.B) {
	buf := make([]byte, 100)
	b.SetBytes(100)
	h := uint64(0)
	for range b.N {
		h = Bytes(h, buf)
	}
	sink = h
}

var sink uint64
