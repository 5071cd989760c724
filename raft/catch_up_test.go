package raft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// lag lets the leader append records that nobody fetches, and returns the bytes of its log behind what is fetched already.
func (p *pair) lag(t testing.TB, records int) (bytes int64) {
	t.Helper()
	l := p.replicas[0]
	from := l.LogEndOffset()
	for range records {
		_, err := l.PrepareAppend(l.LeaderAndEpoch().Epoch, p.values)
		require.NoError(t, err)
		l.SchedulePreparedAppend()
		require.NoError(t, l.Poll(p.nowMs))
	}
	part, err := l.log.Read(from, 1<<30)
	require.NoError(t, err)
	return int64(len(part))
}

// TestCatchUpSendsEachByteOnce: a follower that is behind is sent the bytes that it lacks once, in as few answers as the limit allows.
func TestCatchUpSendsEachByteOnce(t *testing.T) {
	for _, records := range []int{1_000, 2_000, 16_000} {
		p := newPair(t)
		for range 10 {
			require.NoError(t, p.round())
		}
		for i := range p.replicas {
			p.replicas[i].cfg.FetchMaxBytes = 1 << 14
		}
		lacks := p.lag(t, records)
		p.sent, p.answers = 0, 0
		require.NoError(t, p.drain())
		require.Equal(t, p.replicas[0].LogEndOffset(), p.replicas[1].LogEndOffset())
		hw, _ := p.replicas[1].HighWatermark()
		require.Equal(t, p.replicas[0].LogEndOffset(), hw)
		require.GreaterOrEqual(t, p.sent, lacks-1024, "the first record went out when it was appended")
		require.LessOrEqual(t, p.sent, lacks)
		require.LessOrEqual(t, p.answers, lacks/(1<<14-200)+4, "%d records", records)
	}
}

// BenchmarkCatchUp brings a follower up to logs of several lengths; MB/s shows that the cost goes with the bytes.
func BenchmarkCatchUp(b *testing.B) {
	for _, records := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			p := newPair(b)
			var bytes int64
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				bytes += p.lag(b, records)
				b.StartTimer()
				if err := p.drain(); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(bytes / int64(b.N))
		})
	}
}
