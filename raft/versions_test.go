package raft

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// oct24 is what the software of October 2024 knows: no pre-vote, no high watermark in Fetch, no early answer to
// AddRaftVoter.
var oct24 = Versions{{APIKey: apiVote, MaxVersion: 1}, {APIKey: apiFetch, MaxVersion: 17}, {APIKey: apiAddRaftVoter, MaxVersion: 0}}

// TestStormOverMixedVersions: quorums of old and new software elect leaders and agree, in any mixture.
func TestStormOverMixedVersions(t *testing.T) {
	preVotes := 0
	for seed := int64(0); seed < 16; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := newCluster(t, seed, 3+2*int32(seed%2))
			for i, n := range c.nodes {
				if int64(i) <= seed%4 {
					n.cfg.Versions = oct24
				}
			}
			if seed%3 == 0 {
				c.makeDynamic()
			}
			startAll(c)
			storm(c, 4_000)
			calm(c)
			checkSame(c)
			for _, n := range c.nodes {
				if n.cfg.Versions != nil {
					require.Zero(t, n.count(PreVoteStarted), "old software knows no pre-vote")
					require.Zero(t, n.count(PreVoteGranted))
				}
				preVotes += n.count(PreVoteStarted)
			}
		})
	}
	require.Positive(t, preVotes)
}

// TestVersionsDefaultToTheNewest: a key that is not named is known to its newest version, an unknown key not at all.
func TestVersionsDefaultToTheNewest(t *testing.T) {
	c := Config{}
	for _, known := range newestVersions {
		require.Equal(t, known.MaxVersion, c.maxVersion(known.APIKey))
	}
	require.EqualValues(t, -1, c.maxVersion(3))
	require.True(t, c.hasPreVote())
	c.Versions = oct24
	require.False(t, c.hasPreVote())
	require.EqualValues(t, 2, c.maxVersion(apiDescribeQuorum))
}
