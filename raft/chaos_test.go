package raft

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

var stormSeeds = flag.Int64("storm.seeds", 150, "how many storms TestStormThenCalm goes through")

// storm makes life hard for ms milliseconds: power losses, kills, restarts, partitions in both directions, appends,
// resignations. At most a minority is down at a time only by chance; safety must hold anyway.
func storm(c *cluster, ms int64) (appended []string) {
	end := c.nowMs + ms
	for step := 0; c.nowMs < end; step++ {
		c.run(1+c.rng.Int63n(60), nil)
		n := c.nodes[c.rng.Intn(len(c.nodes))]
		if c.snapshots && c.rng.Intn(3) == 0 {
			n.snapshot()
		}
		switch c.rng.Intn(12) {
		case 0, 1:
			if n.replica != nil {
				n.stop(c.rng.Intn(2) == 0)
			}
		case 2, 3, 4:
			if n.replica == nil {
				n.start()
			}
		case 5:
			c.partition(true, n.id)
		case 6:
			other := c.nodes[c.rng.Intn(len(c.nodes))]
			c.cut[[2]int32{n.id, other.id}] = true
		case 7, 8:
			clear(c.cut)
		case 9:
			if n.replica != nil && n.replica.Role() == Leader && c.rng.Intn(3) == 0 {
				require.NoError(c.t, n.replica.Resign(n.replica.LeaderAndEpoch().Epoch))
			}
		default:
			if l := c.leader(); l != nil {
				value := fmt.Sprintf("v%d", step)
				l.append(value)
				appended = append(appended, value)
			}
		}
	}
	return appended
}

// calm heals everything and waits until all nodes have delivered the same log: all of the last append, and what any of them
// has delivered behind it, the first record of a leader elected meanwhile.
func calm(c *cluster) {
	c.t.Helper()
	clear(c.cut)
	for _, n := range c.nodes {
		if n.replica == nil {
			n.start()
		}
	}
	l := c.awaitLeader(20_000)
	last := l.append("calm")
	ok := c.run(20_000, func() bool {
		for _, n := range c.nodes {
			if n.app.next <= last {
				return false
			}
		}
		return true
	})
	if !ok { // the leader may have changed under the append: once more
		last = c.awaitLeader(20_000).append("calm again")
		var ids []int32
		for _, n := range c.nodes {
			ids = append(ids, n.id)
		}
		c.awaitCommitted(20_000, last, ids...)
	}
	require.True(c.t, c.run(20_000, func() bool {
		most := int64(0)
		for _, n := range c.nodes {
			most = max(most, n.app.next)
		}
		for _, n := range c.nodes {
			if n.app.next != most {
				return false
			}
		}
		return true
	}), "all nodes deliver what one did")
}

func checkSame(c *cluster) {
	c.t.Helper()
	first := c.nodes[0]
	for _, n := range c.nodes[1:] {
		require.Equal(c.t, first.app.values, n.app.values)
	}
	for offset, bytes := range c.exposed {
		if offset < first.replica.LogStartOffset() {
			continue // a snapshot has it, and its values were compared
		}
		got, err := first.replica.log.Read(offset, 1)
		require.NoError(c.t, err)
		require.Equal(c.t, bytes, string(got[:len(bytes)]), "what was committed at %d survives", offset)
	}
}

func TestStormThenCalm(t *testing.T) {
	seeds := *stormSeeds
	var elections, truncations, chk int
	for seed := int64(0); seed < seeds; seed++ {
		n := []int32{3, 3, 5, 2, 4}[seed%5]
		t.Run(fmt.Sprintf("%d-voters-%d", n, seed), func(t *testing.T) {
			c := newCluster(t, seed, n)
			if seed%3 == 0 {
				for _, node := range c.nodes {
					node.cfg.FetchMaxBytes = 1 // batch by batch
				}
			}
			for _, node := range c.nodes {
				node.cfg.AppendLingerMs = seed % 7
				if seed%6 == 2 {
					node.cfg.FetchMaxWaitMs = 0
				}
				if seed%6 == 3 {
					node.cfg.Log.SegmentBytes = 1 // a segment per batch
				}
				if seed%10 == 4 {
					node.cfg.DiscoveryIntervalMs = 20
				}
			}
			if seed%11 == 5 {
				c.maxMs = 60 // slow enough for timeouts without faults
			}
			switch seed % 4 {
			case 1: // an observer joins through the static voters
				observer := c.addNode(50, c.nodes[0].cfg.StaticVoters)
				observer.cfg.CanBecomeVoter = seed%8 == 1
			case 2:
				c.makeDynamic()
			}
			startAll(c)
			storm(c, 6_000)
			calm(c)
			checkSame(c)
			for _, node := range c.nodes {
				truncations += node.count(LogTruncated)
				chk += node.count(CheckQuorumExpired)
			}
			elections += len(c.leaders)
		})
	}
	t.Logf("%d elections, %d truncations, %d check-quorum expiries", elections, truncations, chk)
	require.Positive(t, truncations)
	require.Positive(t, chk)
}
