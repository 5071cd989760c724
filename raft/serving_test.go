package raft

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadErrorIsTheFetchersTrouble: a leader that can't read what it is asked for says so and leads on (kraft-protocol 2.8 row 8, 3.6).
func TestReadErrorIsTheFetchersTrouble(t *testing.T) {
	s := requestScript(t, "replica id=1 voters=(1,2,3)", func(*Config) {}, "lead commit=(2:2)", "append values=(a)",
		"create epoch=1 offset=1 freeze")
	s.files.Hook = func(op, path string) error {
		if op == "read" && (strings.HasSuffix(path, ".log") || strings.HasSuffix(path, ".checkpoint")) {
			return errors.New("the disk does not answer")
		}
		return nil
	}
	for _, command := range []string{"fetch from=2:2 epoch=1 offset=1 last-epoch=1 wait=0", "fetch-snapshot from=2:2 epoch=1 snapshot=(1,1)"} {
		s.do(command)
		require.Contains(t, s.out.String(), "error=UNKNOWN_SERVER_ERROR", command)
		require.NotContains(t, s.out.String(), "counts", command)
		require.Equal(t, Leader, s.replica.Role())
	}
	s.files.Hook = nil
	s.do("fetch from=2:2 epoch=1 offset=1 last-epoch=1 wait=0")
	require.Contains(t, s.out.String(), "[1..1 epoch=1]")
}

// TestFinalizedFeatureHasOneLevel: the finalized kraft.version is both the least and the largest level of its entry (kraft-protocol 2.14).
func TestFinalizedFeatureHasOneLevel(t *testing.T) {
	s := requestScript(t, "replica id=1 dynamic=(1:1,2:2,3:3) bootstrap=1", func(*Config) {}, "lead")
	var got *ApiVersionsResponse
	s.replica.deps.Transport = &catcher{script: s, take: func(m Message) { got, _ = m.(*ApiVersionsResponse) }}
	s.do("api-versions")
	require.NotNil(t, got)
	require.Equal(t, []FinalizedFeature{{Name: "kraft.version", MinVersionLevel: 1, MaxVersionLevel: 1}}, got.FinalizedFeatures)
	require.Equal(t, []SupportedFeature{{Name: "kraft.version", MinVersion: 0, MaxVersion: 1}}, got.SupportedFeatures)
	require.EqualValues(t, -1, got.FinalizedFeaturesEpoch)
}

// catcher is a script's network that hands on what is sent.
type catcher struct {
	*script
	take func(Message)
}

// Send implements Transport.
func (c *catcher) Send(_ int64, m Message) { c.take(m) }

// TestCurrentState: the names of the states are Kafka's, which has more of them than there are roles.
func TestCurrentState(t *testing.T) {
	for _, x := range []struct {
		m    Metrics
		want string
	}{
		{Metrics{State: Follower, Vote: -1}, "follower"},
		{Metrics{State: Follower, Vote: 2}, "follower"},
		{Metrics{State: Follower, Vote: -1, Observer: true}, "observer"},
		{Metrics{State: Unattached, Vote: -1, Observer: true}, "unattached"},
		{Metrics{State: Unattached, Vote: -1}, "unattached"},
		{Metrics{State: Unattached, Vote: 2}, "unattached-voted"},
		{Metrics{State: Prospective, Vote: -1}, "prospective"},
		{Metrics{State: Prospective, Vote: 2}, "prospective-voted"},
		{Metrics{State: Candidate, Vote: 1}, "candidate"},
		{Metrics{State: Leader, Vote: 1}, "leader"},
		{Metrics{State: Resigned, Vote: -1}, "unattached"},
	} {
		require.Equal(t, x.want, x.m.CurrentState(), "%+v", x.m)
	}
	s := requestScript(t, "replica id=1 voters=(1,2,3)", func(*Config) {}, "lead")
	m := s.replica.Metrics()
	require.Equal(t, [2]any{int32(1), dirID(1)}, [2]any{m.Vote, m.VoteDirectoryID}, "a leader's vote is its own")
}
