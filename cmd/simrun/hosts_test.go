package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/raftlog"
)

// exportedRun runs a scenario and returns its hosts and where their storage is.
func exportedRun(t *testing.T, scenario, seed string) (hosts []hostJSON, out string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := simrun(t, "run", scenario, "--seed", seed, "--export", out, "--json")
	require.Zero(t, code, "%s%s", stdout, stderr)
	var document struct {
		More struct {
			Export string
			Hosts  []hostJSON
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &document))
	require.Equal(t, out, document.More.Export)
	require.NotEmpty(t, document.More.Hosts)
	return document.More.Hosts, out
}

// TestExportOfHosts: what a simulated host exports is a node's storage. dump decodes it, and a cluster boots from it, also when
// its log begins behind a snapshot.
func TestExportOfHosts(t *testing.T) {
	hosts, out := exportedRun(t, "raft/snapshots", "3")
	cleaned := 0
	for i := range hosts {
		h := &hosts[i]
		dir := filepath.Join(out, h.Host)
		code, stdout, stderr := simrun(t, "dump", dir)
		require.Zero(t, code, "%s%s", stdout, stderr)
		requireIndexes(t, dir)
		require.NotNil(t, h.Metrics)
		if h.Metrics.LogStartOffset == 0 {
			continue
		}
		cleaned++
		args := []string{"run", "--from", dir, "--release", h.Release}
		if h.Quorum != "" {
			args = append(args, "--voters", h.Quorum)
		}
		code, stdout, stderr = simrun(t, args...)
		require.Zero(t, code, "%s%s", stdout, stderr)
	}
	require.Positive(t, cleaned)
}

// requireIndexes wants beside each segment the two indexes that Kafka keeps there, and no other.
func requireIndexes(t *testing.T, dir string) {
	t.Helper()
	segments, err := filepath.Glob(filepath.Join(dir, "*", "__cluster_metadata-0", "*.log"))
	require.NoError(t, err)
	require.NotEmpty(t, segments)
	for _, segment := range segments {
		content, err := os.ReadFile(segment)
		require.NoError(t, err)
		names, want, ok := raftlog.IndexFiles(filepath.Base(segment), content)
		require.True(t, ok, segment)
		for i, name := range names {
			got, err := os.ReadFile(filepath.Join(filepath.Dir(segment), name))
			require.NoError(t, err)
			require.Equal(t, string(want[i]), string(got), name)
		}
	}
	for _, suffix := range []string{"*.index", "*.timeindex"} {
		indexes, err := filepath.Glob(filepath.Join(dir, "*", "__cluster_metadata-0", suffix))
		require.NoError(t, err)
		require.Len(t, indexes, len(segments))
	}
}

// TestMetricsOfHosts: --metrics has a row for each host, and the JSON document has Kafka's names. A leader votes for itself, the
// others agree with it on epoch, leader and voters.
func TestMetricsOfHosts(t *testing.T) {
	dir, _ := aCase(t)
	hosts, _ := exportedRun(t, "raft/quiet", "1")
	leaders := 0
	for i := range hosts {
		m := hosts[i].Metrics
		require.NotNil(t, m)
		if m.CurrentState == "leader" {
			leaders++
			require.Equal(t, hosts[i].NodeID, m.CurrentLeader)
			require.Equal(t, hosts[i].NodeID, m.CurrentVote)
			require.Positive(t, m.NumberOfObservers)
			require.NotEqual(t, "0.000", m.AppendRecordsRate)
			continue
		}
		require.Equal(t, m.IsObserver, m.CurrentState == "observer")
		require.Equal(t, hosts[0].Metrics.CurrentLeader, m.CurrentLeader)
		require.Equal(t, hosts[0].Metrics.CurrentEpoch, m.CurrentEpoch)
		require.Equal(t, hosts[0].Metrics.NumberOfVoters, m.NumberOfVoters)
		require.NotEqual(t, "0.000", m.FetchRecordsRate)
	}
	require.Equal(t, 1, leaders)
	code, stdout, stderr := simrun(t, "run", "raft/quiet", "--metrics")
	require.Zero(t, code, stderr)
	for i := range hosts {
		require.Contains(t, stdout, " "+hosts[i].Host+" ")
	}
	code, stdout, stderr = simrun(t, "run", "raft/quiet", "--metrics", "--json")
	require.Zero(t, code, stderr)
	for _, name := range []string{"current-state", "current-leader", "current-epoch", "current-vote", "high-watermark", "log-end-offset",
		"log-end-epoch", "number-of-voters", "number-of-observers", "is-observer", "uncommitted-voter-change", "ignored-static-voters",
		"number-unknown-voter-connections", "commit-latency-avg", "commit-latency-max", "election-latency-avg", "election-latency-max",
		"fetch-records-rate", "append-records-rate", "current-vote-directory-id"} {
		require.Contains(t, stdout, `"`+name+`"`)
	}
	code, stdout, stderr = simrun(t, "run", "--from", dir, "--metrics")
	require.Zero(t, code, stderr)
	require.Equal(t, 1, strings.Count(stdout, "high watermark  "), stdout)
}
