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
