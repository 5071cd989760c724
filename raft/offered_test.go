package raft

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheFirstOfferCounts: of the cluster ids that voters show to a replica without one the first is remembered; null, the empty string and
// what an observer shows are no offers (KIP-1262).
func TestTheFirstOfferCounts(t *testing.T) {
	s := requestScript(t, "replica id=1 voters=(1,2,3) cluster=", func(c *Config) { c.ClusterID = "" }, "open")
	for _, c := range []struct {
		from    int32
		id      string
		offered string
	}{{9, "X", ""}, {2, "", ""}, {2, "A", "A"}, {3, "B", "A"}, {2, "B", "A"}} {
		require.NoError(t, s.receive(int64(c.from), &VoteRequest{
			ClusterID: ClusterID{ID: c.id, Known: true}, VoterID: -1, ReplicaID: c.from, PreVote: true,
		}))
		require.Equal(t, c.offered, s.replica.OfferedClusterID(), "%+v", c)
	}
}
