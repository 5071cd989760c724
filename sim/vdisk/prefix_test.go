package vdisk

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSumsOfPrefixesAreThoseOfTheBytes: through writes, truncations, failed fsyncs, flips and crashes, the state that is made from
// remembered sums is the one made from all bytes.
func TestSumsOfPrefixesAreThoseOfTheBytes(t *testing.T) {
	v := NewVolume("v", Model{})
	remembered := 0
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(v, rapid.Uint64().Draw(rt, "seed"))
		for _, path := range []string{"/0/a", "/0/b", "/1/a"} {
			v.Load(path, make([]byte, 300))
		}
		src := newLane(rapid.Uint64().Draw(rt, "steps"))
		n := 0
		draw := func(k int) int { n++; return int(src.Choose(siteJitter, 0, uint64(n), int64(k))) }
		for range rapid.IntRange(1, 80).Draw(rt, "length") {
			m.step(draw)
			if draw(16) == 0 {
				v.Flip(src, Spot{}, uint64(n), draw(2) == 0)
			}
			if draw(4) > 0 {
				continue
			}
			got := v.AppendState(nil)
			for _, n := range v.inodes {
				remembered += int(n.cacheSum.n + n.platterSum.n)
				n.cacheSum, n.platterSum = prefixSum{}, prefixSum{}
			}
			require.Equal(rt, v.AppendState(nil), got)
		}
	})
	require.Positive(t, remembered)
}

// TestStateOfALongFileCostsItsEnd: a second digest of a file reads what was appended, not the file.
func TestStateOfALongFileCostsItsEnd(t *testing.T) {
	v := NewVolume("v", Model{})
	h := v.Handle(Immediate{})
	fd := open(t, h, "/log")
	require.NoError(t, h.WriteAt(fd, make([]byte, 1<<20), 0))
	require.NoError(t, h.Sync(fd))
	require.NoError(t, h.SyncDir("/"))
	first := v.AppendState(nil)
	n := v.inodes[v.names["/log"]]
	require.Equal(t, int64(1<<20), n.cacheSum.n)
	require.Equal(t, int64(1<<20), n.platterSum.n)
	require.NoError(t, h.WriteAt(fd, []byte("more than eight"), 1<<20))
	require.Equal(t, int64(1<<20), n.cacheSum.n, "an append leaves the sum where it is")
	require.NotEqual(t, first, v.AppendState(nil))
	require.Equal(t, int64(1<<20+8), n.cacheSum.n)
	require.NoError(t, h.WriteAt(fd, []byte("x"), 4096))
	require.Zero(t, n.cacheSum.n, "a change of what was summed begins anew")
}
