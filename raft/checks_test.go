package raft

import "github.com/stretchr/testify/require"

// checkEvent holds the invariants that can be judged event by event: those of invariants.md "elections and votes" and
// "log and high watermark" that need no more than one replica's state and what the leaders exposed.
func (c *cluster) checkEvent(n *node, e *Event) {
	switch e.Kind {
	case EpochAdopted:
		require.Greater(c.t, int64(e.Epoch), e.Other, "node %d: epoch-monotonic", n.id)
	case VotePersisted:
		if n.votes == nil {
			n.votes = map[int32]ReplicaKey{}
		}
		if before, found := n.votes[e.Epoch]; found {
			require.Equal(c.t, before.ID, e.Peer.ID, "node %d: one-vote in epoch %d", n.id, e.Epoch)
		}
		n.votes[e.Epoch] = e.Peer
	case HighWatermarkAdvanced:
		require.Greater(c.t, e.Offset, e.Other, "node %d: hw-monotonic", n.id)
		require.LessOrEqual(c.t, e.Offset, n.replica.LogEndOffset(), "node %d: within its log", n.id)
		if e.Role == Leader {
			c.checkRaise(n, e)
		} else {
			require.LessOrEqual(c.t, e.Offset, c.highest, "node %d: a follower's is at most what some leader exposed", n.id)
		}
	case LogTruncated:
		require.GreaterOrEqual(c.t, e.Offset, e.Other, "node %d: truncation", n.id)
		require.NotEqual(c.t, Leader, e.Role, "node %d: leader-append-only", n.id)
	case VotersChanged:
		c.checkNewVoters(n, e)
	case RoleChanged:
		if e.Role == Leader {
			require.GreaterOrEqual(c.t, n.replica.LogEndOffset(), c.highest, "node %d: leader-completeness", n.id)
		}
	}
}

// checkRaise holds own-epoch-commit and hw-durable when a leader raises its high watermark.
func (c *cluster) checkRaise(n *node, e *Event) {
	l := n.replica.role.(*leader)
	require.Greater(c.t, e.Offset, l.epochStartOffset, "node %d: own-epoch-commit", n.id)
	if e.Flag && e.Epoch > c.highestEpoch {
		require.Greater(c.t, e.Offset, c.highest, "node %d: the first of epoch %d exceeds all before", n.id, e.Epoch)
	}
	durable := int32(0)
	for i := range l.voters {
		other := c.node(l.voters[i].key.ID)
		switch {
		case other == n && n.replica.log.FlushedOffset() >= e.Offset:
			durable++
		case other != n && l.voters[i].endOffset >= e.Offset:
			if other.replica == nil || other.replica.log == nil || other.replica.log.FlushedOffset() >= e.Offset {
				durable++ // a follower that stopped since is taken at its word; checkSame looks at its disk
			}
		}
	}
	if len(l.voters) > 1 {
		require.Greater(c.t, 2*durable, int32(len(l.voters)), "node %d: hw-durable at %d", n.id, e.Offset)
	}
	if e.Offset > c.highest {
		c.highest, c.highestEpoch = e.Offset, max(c.highestEpoch, e.Epoch)
	}
}
