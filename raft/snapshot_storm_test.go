package raft

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
)

// makeSnapshots lets state machines write snapshots in storms, and retention delete all that they cover, so that whoever was away is
// sent to one, in pieces.
func (c *cluster) makeSnapshots(pieceBytes int32) {
	c.snapshots = true
	for _, n := range c.nodes {
		n.cfg.Log.SegmentBytes, n.cfg.Log.RetentionBytes, n.cfg.Log.DeleteDelayMs = 200, 1, 20
		n.cfg.FetchSnapshotMaxBytes = pieceBytes
		n.cfg.CleanIntervalMs = 700 // a download of pieces has to end between two looks, here as in Kafka
	}
}

// snapshot lets the node's state machine write what it has, in steps some milliseconds apart. A crash may come between any two.
func (n *node) snapshot() {
	if n.replica == nil || n.app.next <= 0 || n.replica.Done() {
		return
	}
	c, life := n.c, n.life
	id := OffsetAndEpoch{Offset: n.app.next, Epoch: n.app.epoch}
	w, err := n.replica.CreateSnapshot(c.nowMs, id, c.nowMs)
	require.NoError(c.t, err)
	if w == nil {
		return
	}
	values := slices.Clone(n.app.values)
	step := func(f func()) func() {
		return func() {
			if n.life == life {
				f()
			}
		}
	}
	c.after(n.latency(), step(func() {
		for _, v := range values {
			require.NoError(c.t, w.Append(c.nowMs, []byte(v)))
		}
		c.after(n.latency(), step(func() {
			require.NoError(c.t, w.Freeze(c.nowMs))
			c.after(n.latency(), func() {
				n.input(life, func() error { return n.replica.SnapshotFrozen(c.nowMs, id) })
			})
		}))
	}))
}

// HandleLoadSnapshot implements SnapshotListener.
func (a *app) HandleLoadSnapshot(id OffsetAndEpoch, content []byte) {
	t := a.n.c.t
	require.GreaterOrEqual(t, id.Offset, a.next, "node %d: a snapshot never goes back", a.n.id)
	a.next, a.epoch, a.values = id.Offset, id.Epoch, nil
	for len(content) > 0 {
		batch, rest, err := record.NextBatch(content)
		require.NoError(t, err)
		content = rest
		if batch.IsControl() {
			continue
		}
		var it record.Iterator
		var rec record.Record
		for it.Reset(batch); it.Next(&rec); {
			a.values = append(a.values, string(rec.Value))
		}
		require.NoError(t, it.Err())
	}
}

// TestSnapshotStorm: storms and voter changes while every node makes snapshots and keeps nothing that one covers. In the calm all
// state machines have the same values, whether they replayed them or loaded them.
func TestSnapshotStorm(t *testing.T) {
	stored, replaced, deleted := 0, 0, 0
	answers := map[ErrorCode]int{}
	for seed := int64(0); seed < *stormSeeds/5; seed++ {
		n := []int32{3, 5, 2, 4}[seed%4]
		t.Run(fmt.Sprintf("%d-voters-%d", n, seed), func(t *testing.T) {
			c := newCluster(t, 1_000+seed, n)
			dynamic := seed%3 > 0
			if dynamic {
				c.makeDynamic()
			}
			spare := c.addNode(n+1, c.nodes[0].cfg.StaticVoters)
			spare.cfg.BootstrapServers = c.nodes[0].cfg.BootstrapServers
			c.makeSnapshots([]int32{60, 300, 1 << 20}[seed%3])
			startAll(c)
			if dynamic {
				churn(c, 6_000, answers)
			} else {
				storm(c, 6_000)
			}
			calm(c)
			if dynamic {
				requireSameVoters(c)
				calm(c)
			}
			checkSame(c)
			for _, node := range c.nodes {
				stored += node.count(SnapshotStored)
				replaced += node.count(LogReplaced)
				deleted += node.count(LogPrefixDeleted)
			}
		})
	}
	t.Logf("%d snapshots, %d took the place of a log, %d deletions, answers %v", stored, replaced, deleted, answers)
	require.Greater(t, stored, 500)
	require.Greater(t, replaced, 30)
	require.Greater(t, deleted, 100)
	require.Positive(t, answers[None])
}
