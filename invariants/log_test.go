package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

func TestLogMatching(t *testing.T) {
	t.Run("other bytes", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.node(2).append(1, &records.ConfigRecord{ResourceType: 4, Name: "a"})
		l.breaks("log-matching/other-bytes")
	})
	t.Run("other prefix", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.append(1, &records.ConfigRecord{ResourceType: 4, Name: "a"})
		b := one.noOp(1)
		two.truncate(0)
		two.append(1, &records.ConfigRecord{ResourceType: 4, Name: "x"})
		two.append(1, &records.ConfigRecord{ResourceType: 4, Name: "b"})
		require.EqualValues(t, 2, two.end)
		two.write(b)
		require.Contains(t, l.found, "log-matching/other-prefix")
	})
	t.Run("epoch goes back", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(2).noOp(3)
		l.node(2).noOp(2)
		l.breaks("log-matching/epoch-went-back")
	})
	t.Run("different epochs at one offset are a divergence, no violation", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.node(2).lead(2, 3)
		l.node(2).replicate(l.node(3), 2)
		l.clean()
	})
	t.Run("a torn tail is cut at start and written again", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		b := one.noOp(1)
		require.NoError(t, two.files.WriteAt(two.fd, b[:30], two.size))
		two.crash(false)
		two.boot()
		require.NoError(t, two.files.Truncate(two.fd, two.size-30))
		two.size -= 30
		two.follow(1, 1)
		one.replicate(two, 1)
		l.clean()
		require.Positive(t, *l.seen["recovery-cut-a-torn-tail"])
		require.EqualValues(t, 2, two.r.log.end)
	})
	t.Run("a batch in two writes", func(t *testing.T) {
		l := threeUp(t, Config{})
		b := l.node(1).noOp(1)
		two := l.node(2)
		require.NoError(t, two.files.WriteAt(two.fd, b[:30], two.size))
		require.NoError(t, two.files.WriteAt(two.fd, b[30:], two.size+30))
		require.EqualValues(t, 2, two.r.log.end)
		l.clean()
	})
}

func TestLeaderAppendOnly(t *testing.T) {
	t.Run("leader cuts", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.node(1).truncate(1)
		l.breaks("leader-append-only/leader-cut")
	})
	t.Run("leader overwrites", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		one.size, one.end = one.positions[1].pos, 1
		one.append(1, &records.ConfigRecord{ResourceType: 4, Name: "a"})
		require.Contains(t, l.found, "leader-append-only/leader-cut")
	})
	t.Run("a deposed leader cuts", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		l.node(2).lead(2, 3)
		one.follow(2, 2)
		one.fetch(l.node(2), 2, 1)
		one.truncate(1)
		l.clean()
	})
}

func TestNoWriteAfterLead(t *testing.T) {
	t.Run("leads again after the restart", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.crash(false)
		one.boot()
		one.role(raft.Leader, 1, 1)
		one.noOp(1)
		l.breaks("no-write-after-lead/wrote-after-restart")
	})
	t.Run("goes on after it resigned", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.role(raft.Resigned, 1, 1)
		one.noOp(1)
		l.breaks("no-write-after-lead/wrote-while-resigned")
	})
	t.Run("fetches its own lost record back", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, 2)
		one.truncateSilently(1)
		two.lead(2, 3)
		one.follow(2, 2)
		one.copyFrom(two, 2) // a batch of epoch 1, which it led in an earlier life
		l.clean()
	})
}

// truncateSilently makes the process lose the tail in a crash, as power does to bytes that were not flushed.
func (m *member) truncateSilently(offset int64) {
	m.crash(false)
	m.boot()
	m.truncate(offset)
}

func TestTruncation(t *testing.T) {
	t.Run("below its high watermark", func(t *testing.T) {
		l := threeUp(t, Config{})
		two := l.node(2)
		two.fetch(l.node(1), 1, 1)
		two.truncate(0)
		l.breaks("truncation/below-own-watermark", "truncation/exposed-record")
	})
	t.Run("an exposed record, high watermark unknown after a restart", func(t *testing.T) {
		l := threeUp(t, Config{})
		two := l.node(2)
		two.crash(false)
		two.boot()
		two.follow(1, 1)
		two.fetch(l.node(1), 1, -1)
		two.truncate(0)
		l.breaks("truncation/exposed-record")
	})
	t.Run("a stale tail below the cluster's high watermark", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1)
		one.noOp(1)
		two.lead(2, 3)
		two.replicate(three, 2)
		two.noOp(2)
		two.replicate(three, 2)
		one.follow(2, 2)
		one.fetch(two, 2, 1)
		one.truncate(1) // exposed is 3, but these were other records
		one.copyFrom(two, two.end)
		l.clean()
		require.Positive(t, *l.seen["follower-truncated"])
	})
	t.Run("recovery at start", func(t *testing.T) {
		l := threeUp(t, Config{})
		two := l.node(2)
		two.crash(false)
		two.boot()
		two.truncate(0)
		l.clean()
	})
}

func TestLeaderCompleteness(t *testing.T) {
	t.Run("a leader without a committed record", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.node(1).replicate(l.node(2), 1)
		l.node(3).lead(2, 2)
		l.breaks("leader-completeness/lost-at-election")
	})
	t.Run("a deposed leader exposes what the next one lacks", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1)
		three.lead(2, 2)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		one.raise(two, 1, 2)
		require.Contains(t, l.found, "leader-completeness/exposed-after-election")
	})
	t.Run("a deposed leader exposes from late fetches what the next one has", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		two.lead(2, 3)
		one.raise(two, 1, 2) // the Fetch was under way
		two.copyFrom(one, 2)
		two.replicate(three, 2)
		l.clean()
	})
}

func TestDivergenceOfSeveralEpochsIsCounted(t *testing.T) {
	l := threeUp(t, Config{})
	one := l.node(1)
	one.noOp(1)
	one.crash(false)
	one.boot()
	one.quorum(1, 1, -1)
	one.role(raft.Resigned, 1, 1)
	one.quorum(2, -1, -1)
	one.role(raft.Unattached, 2, -1)
	one.lead(3, 2) // appends its LeaderChange, which nobody gets
	l.node(2).lead(4, 3)
	one.follow(4, 2)
	one.fetch(l.node(2), 4, 1)
	one.truncate(1)
	l.clean()
	require.Positive(t, *l.seen["divergence-of-several-epochs"])
}

// TestMirrorEqualsDisk holds the incremental mirror against one read from the volume as a whole.
func TestMirrorEqualsDisk(t *testing.T) {
	l := threeUp(t, Config{})
	one, two := l.node(1), l.node(2)
	for i := range 30 {
		one.noOp(1)
		if i%7 == 3 {
			two.copyUnflushed(one, one.end)
		}
		if i%10 == 9 {
			two.flush()
			two.truncate(two.end - 2)
		}
	}
	got := two.r.log
	entries, segments := append([]entry(nil), got.entries...), append([]segment(nil), got.segments...)
	l.core.reload(two.r)
	require.Equal(t, entries, two.r.log.entries)
	require.Equal(t, segments, two.r.log.segments)
	require.Equal(t, got.durable, two.r.log.durable)
	require.Equal(t, [2]int64{got.start, got.end}, [2]int64{two.r.log.start, two.r.log.end})
}

// TestTruncationByAnOlderLeader: voter 1 writes a record in epoch 1 that only voter 3 and observer 4 get. Voter 2 leads epoch
// 2 without it and tells the observer to cut it, but the answer takes its time. Meanwhile voter 3 leads epoch 3 and commits the
// record. Nobody counted the observer's copy.
func TestTruncationByAnOlderLeader(t *testing.T) {
	run := func(observerEpoch int32) *lab {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		four := l.add(4)
		one.noOp(1)
		three.copyFrom(one, 2)
		four.follow(1, 1)
		four.copyFrom(one, 2)
		two.lead(2, 1)
		four.follow(2, 2)
		four.fetch(two, 2, -1)
		three.quorum(2, -1, -1)
		three.role(raft.Unattached, 2, -1)
		three.lead(3, 1)
		three.replicate(one, 3)
		require.EqualValues(t, 3, l.core.exposed.end)
		if observerEpoch > 2 {
			four.follow(observerEpoch, 3)
			four.fetch(three, observerEpoch, -1)
		}
		four.truncate(1)
		return l
	}
	run(2).clean()
	run(3).breaks("truncation/exposed-record")
}
