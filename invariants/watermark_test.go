package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

func TestHwMonotonic(t *testing.T) {
	t.Run("leader goes back", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		one.replicate(l.node(2), 1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: 1})
		l.breaks("hw-monotonic/leader-went-back")
	})
	t.Run("leader tells less than before", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		one.replicate(l.node(2), 1)
		one.answer(l.node(3), 1, 1)
		l.breaks("hw-monotonic/answer-went-back")
	})
	t.Run("leader tells the same again, and another one less", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		one.replicate(l.node(2), 1)
		one.answer(l.node(3), 1, 2)
		one.answer(l.node(3), 1, -1) // it has no news
		l.clean()
	})
	t.Run("follower goes back", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).fetch(l.node(1), 1, 1)
		l.node(2).fetch(l.node(1), 1, 0)
		l.breaks("hw-monotonic/follower-went-back")
	})
	t.Run("follower knows more than any leader", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).fetch(l.node(1), 1, 2)
		l.breaks("hw-monotonic/follower-ahead")
	})
	t.Run("a new leader inherits", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).lead(2, 3)
		l.node(3).copyFrom(l.node(2), 2)
		l.node(3).fetch(l.node(2), 2, -1)
		l.node(2).answer(l.node(3), 2, 1)
		l.breaks("own-epoch-commit/before-epoch-start", "hw-monotonic/new-leader-lower")
	})
	t.Run("unknown after restarts and elections", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		two.crash(false)
		two.boot()
		two.follow(1, 1)
		two.fetch(one, 1, -1)
		three.fetch(one, 1, 1)
		three.lead(2, 2)
		three.quorum(3, -1, -1) // deposed before it committed anything: its high watermark is unknown again
		three.role(raft.Unattached, 3, -1)
		three.fetch(one, 3, -1)
		l.clean()
	})
	t.Run("a deposed leader keeps a watermark that it never showed", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: 2})
		one.follow(2, 2)
		one.fetch(two, 2, 2)
		l.clean()
	})
}

func TestOwnEpochCommit(t *testing.T) {
	t.Run("at the epoch's start", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1) // offset 1, on nobody else
		one.crash(false)
		one.boot()
		one.quorum(1, 1, -1)
		one.role(raft.Resigned, 1, 1)
		one.quorum(2, -1, -1)
		one.role(raft.Unattached, 2, -1)
		one.lead(3, 2)
		three.follow(3, 1)
		three.copyFrom(one, 2)
		three.fetch(one, 3, -1)
		one.raise(three, 3, 2)
		l.breaks("own-epoch-commit/before-epoch-start")
		_ = two
	})
	t.Run("behind it", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).lead(2, 3)
		l.node(2).replicate(l.node(3), 2)
		l.clean()
	})
}

func TestHwDurable(t *testing.T) {
	t.Run("follower acknowledges what it did not flush", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyUnflushed(one, 2)
		two.fetch(one, 1, 1)
		one.raise(two, 1, 2)
		l.breaks("hw-durable/too-few-durable")
	})
	t.Run("leader counts itself before its flush", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		b := one.noOp(1)
		one.write(nextBatch(b))
		two.copyFrom(one, 3)
		two.fetch(one, 1, 1)
		one.raise(two, 1, 3)
		l.breaks("hw-durable/too-few-durable")
	})
	t.Run("a diverging log is counted", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1)
		one.noOp(1)
		two.lead(2, 3)
		two.noOp(2)
		one.follow(2, 2)
		one.fetch(two, 2, 1) // at 3, with two records that are not the leader's
		two.raise(one, 2, 3)
		l.breaks("hw-durable/too-few-durable")
		_ = three
	})
	t.Run("the name of the segment is not durable", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		two := l.node(2)
		require.NoError(t, two.files.Remove(testSegment))
		fd, err := two.files.Open(testSegment, true)
		require.NoError(t, err)
		two.fd, two.size, two.end = fd, 0, 0
		one := l.node(1)
		one.lead(1, 3)
		two.fd, two.size, two.end = fd, 0, 0
		two.role(raft.Unattached, 1, -1)
		two.copyFrom(one, 1)
		require.EqualValues(t, 0, two.r.log.durableEnd())
		two.fetch(one, 1, -1)
		one.raise(two, 1, 1)
		l.breaks("hw-durable/too-few-durable")
	})
	t.Run("acknowledged, then lost with the volume", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		two.crash(true)
		one.raise(two, 1, 2) // checked against the Fetch, not against what is there now
		l.clean()
	})
	t.Run("a lagging leader of five", func(t *testing.T) {
		l := newLab(t, 5, Config{})
		one := l.node(1)
		one.lead(1, 2, 3)
		for id := int32(2); id <= 4; id++ {
			f := l.node(id)
			f.follow(1, 1)
			f.copyFrom(one, 1)
			f.fetch(one, 1, -1)
		}
		one.raise(l.node(2), 1, 1)
		l.clean()
	})
	t.Run("a sole voter flushes after it commits", func(t *testing.T) {
		l := newLab(t, 1, Config{})
		one := l.node(1)
		one.lead(1)
		four := l.add(4)
		b := one.noOp(1)
		one.raise(four, 1, 2)
		for range 3 {
			b = nextBatch(b)
			one.write(b)
			one.raise(four, 1, one.end)
			one.flush()
		}
		l.clean()
		b = nextBatch(b)
		one.write(b)
		one.raise(four, 1, one.end)
		one.write(nextBatch(b))
		one.raise(four, 1, one.end)
		l.breaks("hw-durable/sole-voter-never-flushed")
	})
}

func TestSoleVoterLoss(t *testing.T) {
	t.Run("in the window", func(t *testing.T) {
		l := newLab(t, 1, Config{})
		one := l.node(1)
		one.lead(1)
		four := l.add(4)
		b := one.noOp(1)
		one.raise(four, 1, 2)
		one.write(nextBatch(b))
		one.raise(four, 1, 3)
		l.core.appendAcknowledged(one.r, 2)
		one.crash(true)
		one.boot()
		one.lead(2)
		l.breaks("leader-completeness/sole-voter-unflushed", "acknowledged-survives/sole-voter-unflushed")
		require.EqualValues(t, 2, l.core.exposed.end)
	})
	t.Run("more than the window", func(t *testing.T) {
		l := newLab(t, 1, Config{})
		one := l.node(1)
		one.lead(1)
		four := l.add(4)
		b := one.noOp(1)
		one.raise(four, 1, 2)
		b = nextBatch(b)
		one.write(b)
		one.raise(four, 1, 3)
		one.write(nextBatch(b))
		one.raise(four, 1, 4)
		one.crash(true)
		one.boot()
		one.lead(2)
		l.breaks("hw-durable/sole-voter-never-flushed", "leader-completeness/lost-at-election")
	})
}

func TestSoleVoterLossAfterAKill(t *testing.T) {
	l := newLab(t, 1, Config{})
	one := l.node(1)
	one.lead(1)
	four := l.add(4)
	b := one.noOp(1)
	one.raise(four, 1, 2)
	one.write(nextBatch(b))
	one.raise(four, 1, 3)
	one.crash(false)
	one.v.Crash(vdisk.PowerLoss, nil, loseAll{}) // power fails while the process is down
	one.boot()
	one.lead(2)
	l.breaks("leader-completeness/sole-voter-unflushed")
}

func TestLateFetchOfAnEarlierEpoch(t *testing.T) {
	l := threeUp(t, Config{})
	one, two, three := l.node(1), l.node(2), l.node(3)
	one.noOp(1)
	two.copyFrom(one, 2)
	two.fetch(one, 1, 1) // under way for long
	two.lead(2, 3)
	two.follow(3, 3)
	for range 6 {
		two.noOp(2)
		two.fetch(three, 3, 1)
	}
	one.raise(two, 1, 2)
	require.NotContains(t, l.found, "hw-durable/too-few-durable")
}

func TestAfterFailedFsync(t *testing.T) {
	l := threeUp(t, Config{})
	one, two := l.node(1), l.node(2)
	one.noOp(1)
	two.copyUnflushed(one, 2)
	two.v.SetErrors("/", vdisk.Errors{Sync: true})
	require.Error(t, two.files.Sync(two.fd))
	two.v.SetErrors("/", vdisk.Errors{})
	two.crash(false)
	two.boot()
	two.flush() // succeeds, and the pages are clean already
	two.follow(1, 1)
	require.EqualValues(t, 1, two.r.log.durableEnd())
	two.fetch(one, 1, -1)
	one.raise(two, 1, 2)
	l.breaks("hw-durable/after-failed-fsync")
}

// A process whose fsync failed and that goes on is excused by nothing: what it acknowledges it knows not to be durable.
func TestGoesOnAfterFailedFsync(t *testing.T) {
	l := threeUp(t, Config{})
	one, two := l.node(1), l.node(2)
	one.noOp(1)
	two.copyUnflushed(one, 2)
	two.v.SetErrors("/", vdisk.Errors{Sync: true})
	require.Error(t, two.files.Sync(two.fd))
	two.v.SetErrors("/", vdisk.Errors{})
	two.fetch(one, 1, -1)
	one.raise(two, 1, 2)
	l.breaks("hw-durable/too-few-durable")
}
