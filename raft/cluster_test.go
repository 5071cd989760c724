package raft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func startAll(c *cluster) {
	for _, n := range c.nodes {
		n.start()
	}
}

func TestSoleVoterLeadsAtOnce(t *testing.T) {
	c := newCluster(t, 1, 1)
	startAll(c)
	l := c.awaitLeader(10)
	require.EqualValues(t, 1, l.replica.LeaderAndEpoch().Epoch)
	last := l.append("a", "b")
	c.awaitCommitted(50, last, 1)
	require.Equal(t, []string{"a", "b"}, l.app.values)
	require.Equal(t, []LeaderAndEpoch{{LeaderID: 1, Epoch: 1}}, l.app.changes)
}

func TestThreeVotersElectAndReplicate(t *testing.T) {
	for seed := int64(0); seed < 20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed, 3)
			startAll(c)
			l := c.awaitLeader(5000)
			last := int64(0)
			for i := 0; i < 50; i++ {
				last = l.append(fmt.Sprint(i))
				c.run(3, nil)
			}
			c.awaitCommitted(1000, last, 1, 2, 3)
			for _, n := range c.nodes {
				require.Len(t, n.app.values, 50)
			}
		})
	}
}

func TestFailover(t *testing.T) {
	for seed := int64(0); seed < 20; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed, 3)
			startAll(c)
			l := c.awaitLeader(5000)
			last := l.append("before")
			c.awaitCommitted(1000, last, 1, 2, 3)
			l.stop(true)
			ok := c.run(5000, func() bool { n := c.leader(); return n != nil && n != l })
			require.True(t, ok)
			l2 := c.awaitLeader(1000)
			last = l2.append("after")
			l.start()
			c.awaitCommitted(3000, last, 1, 2, 3)
			for _, n := range c.nodes {
				require.Equal(t, []string{"before", "after"}, n.app.values)
			}
		})
	}
}

// TestTimeStandsStillWhenTheClockStepsBack: a timer waits until the wall clock has caught up; nothing expires early.
func TestTimeStandsStillWhenTheClockStepsBack(t *testing.T) {
	r := newRoleReplica(t, makeRole(t, Unattached, 5, NoReplica, -1, 0))
	r.role.(*unattached).electionDeadlineMs = 2000
	require.NoError(t, r.Poll(1900))
	deadline := r.DeadlineMs()
	require.LessOrEqual(t, deadline, int64(2000))
	require.NoError(t, r.Poll(100))
	require.Equal(t, deadline, r.DeadlineMs())
	require.Equal(t, Unattached, r.Role())
	require.NoError(t, r.Poll(2000))
	require.Equal(t, Prospective, r.Role())
}

// TestTimeoutsOfZeroDoNotSpin: Kafka allows them; the replica must still ask for a later wake-up.
func TestTimeoutsOfZeroDoNotSpin(t *testing.T) {
	c := newCluster(t, 3, 3)
	for _, n := range c.nodes {
		n.cfg.ElectionTimeoutMs, n.cfg.FetchTimeoutMs, n.cfg.RetryBackoffMs, n.cfg.RequestTimeoutMs = 0, 0, 0, 0
	}
	startAll(c)
	c.run(100, nil) // input checks the deadline each time
	require.Positive(t, c.nodes[0].count(ElectionTimeout))
}

// TestAppendStateIsCanonical: two replicas with the same history have the same bytes, and the protocol view does not
// change when only time passes.
func TestAppendStateIsCanonical(t *testing.T) {
	run := func() *cluster {
		c := newCluster(t, 5, 3)
		startAll(c)
		last := c.awaitLeader(5000).append("x")
		c.awaitCommitted(1000, last, 1, 2, 3)
		return c
	}
	a, b := run(), run()
	for i := range a.nodes {
		full := a.nodes[i].replica.AppendState(nil, false)
		require.Equal(t, full, b.nodes[i].replica.AppendState(nil, false))
		view := a.nodes[i].replica.AppendState(nil, true)
		require.Less(t, len(view), len(full))
		a.nodes[i].replica.tick(a.nowMs + 1)
		require.Equal(t, view, a.nodes[i].replica.AppendState(nil, true))
		require.NotEqual(t, full, a.nodes[i].replica.AppendState(nil, false))
	}
}
