package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
)

// Two leaders at once: the one of epoch 1 has not heard of the one of epoch 2 yet. Each invariant must judge either by its own epoch.

// twoAtOnce is a quorum of three in which n1 leads epoch 1, with all of its records with everybody, and n2 was elected by n3.
func twoAtOnce(t *testing.T, cfg Config) (l *lab, old, young *member) {
	t.Helper()
	l = threeUp(t, cfg)
	old, young = l.node(1), l.node(2)
	old.replicate(young, 1)
	old.replicate(l.node(3), 1)
	young.lead(2, 3)
	require.True(t, old.r.leads(1))
	require.True(t, young.r.leads(2))
	require.Positive(t, *l.seen["two-leaders-at-once"])
	l.clean()
	return l, old, young
}

func TestTwoLeadersAtOnce(t *testing.T) {
	t.Run("the old one appends, and nobody minds", func(t *testing.T) {
		l, old, young := twoAtOnce(t, Config{})
		old.noOp(1)
		young.noOp(2)
		l.clean()
		l.evaluated("leader-append-only", "no-write-after-lead", "log-matching")
		require.EqualValues(t, 1, l.core.leadershipAt(1).epoch)
		require.Equal(t, old.r.host, l.core.leadershipAt(1).host)
		require.Equal(t, young.r.host, l.core.leadershipAt(2).host)
	})
	t.Run("a late fetch lets the old one commit what both have", func(t *testing.T) {
		l := threeUp(t, Config{})
		old, young, three := l.node(1), l.node(2), l.node(3)
		old.noOp(1)
		young.copyFrom(old, old.end)
		three.copyFrom(old, old.end)
		young.fetch(old, 1, young.r.watermark)
		three.fetch(old, 1, three.r.watermark)
		young.lead(2, 3)
		old.raise(three, 1, old.end)
		l.clean()
		l.evaluated("own-epoch-commit", "hw-durable", "leader-completeness")
		require.EqualValues(t, old.end, l.core.leadershipAt(1).exposed)
		require.EqualValues(t, -1, l.core.leadershipAt(2).exposed)
	})
	t.Run("the old one commits what the new one lacks", func(t *testing.T) {
		l, old, young := twoAtOnce(t, Config{})
		old.noOp(1)
		l.node(3).copyFrom(old, old.end) // n3 fetches from the leader of epoch 1 although it voted in epoch 2
		l.node(3).fetch(old, 1, l.node(3).r.watermark)
		l.found = nil // which is another story
		old.raise(l.node(3), 1, old.end)
		require.Contains(t, l.found, "leader-completeness/exposed-after-election")
		require.True(t, young.r.leads(2))
	})
	t.Run("the new one must commit in its own epoch, whatever the old one did", func(t *testing.T) {
		l, old, young := twoAtOnce(t, Config{})
		young.answer(old, 2, l.core.leadershipAt(2).startBase)
		require.Contains(t, l.found, "own-epoch-commit/before-epoch-start")
	})
	t.Run("the old one goes back in its own epoch", func(t *testing.T) {
		l, old, _ := twoAtOnce(t, Config{})
		old.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Leader: 1, Offset: l.core.leadershipAt(1).raised - 1})
		l.breaks("hw-monotonic/leader-went-back")
	})
	t.Run("the old one cuts its log", func(t *testing.T) {
		l, old, _ := twoAtOnce(t, Config{})
		old.noOp(1)
		old.truncate(old.end - 1)
		require.Contains(t, l.found, "leader-append-only/leader-cut")
	})
	t.Run("only the old one is overdue", func(t *testing.T) {
		l, old, young := twoAtOnce(t, Config{FetchTimeoutNs: 1e9})
		three := l.node(3)
		for range 4 {
			l.tick(500)
			young.served(three, 2)
			l.core.signOfLife(young.r, 1)
		}
		l.clean()
		for range 3 {
			l.tick(500)
			young.served(three, 2)
			l.core.signOfLife(young.r, 1)
			l.core.signOfLife(old.r, 1)
		}
		l.breaks("two-leaders-bounded/leads-without-majority")
	})
	t.Run("listeners are told the leadership that their replica has", func(t *testing.T) {
		l, old, young := twoAtOnce(t, Config{})
		for _, m := range []*member{old, young} {
			m.deliver("a", 0)
		}
		l.core.leaderDelivered(old.r, "a", 1, 1)
		l.clean()
		l.core.leaderDelivered(old.r, "a", 1, 2)
		l.breaks("listener-order/not-leading")
	})
	t.Run("the calm asks the newest", func(t *testing.T) {
		l, _, young := twoAtOnce(t, Config{})
		require.True(t, l.core.leaderMet())
		young.crash(false)
		require.False(t, l.core.leaderMet(), "the one of epoch 1 still says that it leads")
	})
	t.Run("the same epoch twice is never right", func(t *testing.T) {
		l, old, _ := twoAtOnce(t, Config{})
		old.quorum(2, 1, -1)
		require.Contains(t, l.found, "election-safety/quorum-state")
	})
}
