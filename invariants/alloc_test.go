package invariants

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// round is one steady round: the leader appends, a follower fetches, writes, fetches again, the high watermark moves, a
// listener is given the batch.
type round struct {
	l        *lab
	one, two *member
	batch    []byte
	request  raft.FetchRequest
	answer   raft.FetchResponse
}

func newRound(l *lab) *round {
	x := &round{l: l, one: l.node(1), two: l.node(2)}
	x.batch = nextBatch(l.node(1).noOp(1))
	x.request = raft.FetchRequest{ReplicaID: 2, ReplicaDirectoryID: x.two.dir, CurrentLeaderEpoch: 1}
	x.answer = raft.FetchResponse{LeaderID: 1, LeaderEpoch: 1}
	return x
}

// run plays the round on the mirrors alone: the volumes are not written, as their cost is not the checkers'.
func (x *round) run() {
	c := &x.l.core
	end := record.Batch(x.batch).NextOffset()
	for _, m := range []*member{x.one, x.two} {
		if m == x.two {
			x.fetch(m.r.log.end)
		}
		s := &m.r.log.segments[0]
		at := s.size
		c.onDisk(m.r, &diskOp{kind: opWrite, path: testSegment, offset: at, data: x.batch})
		c.onDisk(m.r, &diskOp{kind: opSync, path: testSegment, size: at + int64(len(x.batch))})
	}
	x.fetch(end)
	c.onRaftEvent(x.one.r, &raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: end})
	x.answer.HighWatermark = end
	c.onFetchResponse(x.one.r, x.two.r, &x.answer)
	c.delivered(x.two.r, "loader", x.batch)
	x.batch = slices.Clone(x.batch)
	copy(x.batch, record.AppendInt64(nil, end))
}

func (x *round) fetch(offset int64) {
	x.request.Correlation++
	x.request.FetchOffset, x.request.HighWatermark = offset, x.two.r.watermark
	x.l.core.onFetchRequest(x.two.r, x.one.r, &x.request)
}

func warmRound(t testing.TB) *round {
	t.Helper()
	l := threeUp(t, Config{FetchTimeoutNs: 1e9})
	l.node(1).deliver("loader", 0)
	x := newRound(l)
	l.commit(l.node(1), 1, 2)
	l.node(2).deliver("loader", 0)
	l.node(2).deliver("loader", 1)
	for range 2000 {
		x.run()
	}
	l.clean()
	return x
}

func TestSteadyRoundAllocatesNothing(t *testing.T) {
	x := warmRound(t)
	allocs := testing.AllocsPerRun(500, x.run)
	require.LessOrEqual(t, allocs, 3.0, "the batch itself, and the growth of the ledger now and then")
	x.l.clean()
}

func BenchmarkSteadyRound(b *testing.B) {
	x := warmRound(b)
	b.ReportAllocs()
	for b.Loop() {
		x.run()
	}
}
