package scenarios

import (
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// cleanedHosts runs seeds of a scenario and calls use with every host whose log begins behind a snapshot.
func cleanedHosts(t *testing.T, scenario string, seeds uint64, use func(seed uint64, h *HostReport)) {
	t.Helper()
	hostsAfter(t, scenario, seeds, func(seed uint64, h *HostReport) {
		if h.Metrics.LogStartOffset > 0 {
			use(seed, h)
		}
	})
}

// hostsAfter runs seeds of a scenario and calls use with every host on which a node runs then.
func hostsAfter(t *testing.T, scenario string, seeds uint64, use func(seed uint64, h *HostReport)) {
	t.Helper()
	c := Catalogue()
	engine := sim.NewEngine(c)
	for seed := uint64(1); seed <= seeds; seed++ {
		run, err := engine.Run(c.Scenario(scenario).Draw(seed), sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.OK, run.Verdict.Outcome, "%s:%d", scenario, seed)
		hosts, err := HostsOf(c, scenario)
		require.NoError(t, err)
		require.NotEmpty(t, hosts)
		for i := range hosts {
			if h := &hosts[i]; h.Metrics != nil {
				use(seed, h)
			}
		}
	}
}

// TestFromCleanedLog boots what hosts hold after runs with tiny segments, snapshots and retention: logs that begin behind a
// snapshot, of static and dynamic quorums.
func TestFromCleanedLog(t *testing.T) {
	cleaned, dynamic := 0, 0
	for _, scenario := range []string{"raft/snapshots", "reconfig/lagging-snapshot"} {
		cleanedHosts(t, scenario, 6, func(seed uint64, h *HostReport) {
			p, err := PlanFrom(exported(&FromResult{Files: h.Files}), 1, FromOptions{Voters: h.Quorum, Release: h.Release})
			require.NoError(t, err, "%s:%d %s", scenario, seed, h.Host)
			r, v := bootPlan(t, p)
			requireUp(t, r, v)
			require.Greater(t, r.Epoch, h.Metrics.Epoch)
			require.GreaterOrEqual(t, r.HighWatermark, h.Metrics.HighWatermark, "what was committed still is")
			cleaned++
			if h.Quorum == "" {
				dynamic++
			}
		})
	}
	require.Greater(t, cleaned, 20)
	require.Greater(t, dynamic, 5)
}

// TestFromAnyHost boots what hosts hold after storms: logs from 0 on and others, with and without snapshots, of every release, of
// quorums that went to kraft.version 1.
func TestFromAnyHost(t *testing.T) {
	whole, empty := 0, 0
	for _, scenario := range []string{"raft/storm-3", "raft/dynamic-3", "raft/wire", "reconfig/kraft-upgrade", "reconfig/churn", "bootstrap/transaction"} {
		hostsAfter(t, scenario, 2, func(seed uint64, h *HostReport) {
			if h.Metrics.LogEndOffset == 0 { // an observer that never fetched: nothing says who votes
				empty++
				return
			}
			r, v := bootTree(t, exported(&FromResult{Files: h.Files}), FromOptions{Voters: h.Quorum, Release: h.Release})
			require.Empty(t, r.Missing, "%s:%d %s", scenario, seed, h.Host)
			require.Equal(t, plan.OK, v.Outcome, "%s:%d %s", scenario, seed, h.Host)
			for _, f := range h.Files {
				if strings.HasSuffix(f.Path, ".checkpoint") && !strings.HasSuffix(f.Path, bootstrap.CheckpointName) && h.Metrics.LogStartOffset == 0 {
					whole++
					break
				}
			}
		})
	}
	require.Positive(t, whole, "logs that begin at 0 beside a snapshot")
	require.LessOrEqual(t, empty, 2)
}

// TestFromSnapshotAlone: the snapshot is enough. A log that begins behind one that is lost is refused by the node (4.7).
func TestFromSnapshotAlone(t *testing.T) {
	alone, refused := 0, 0
	cleanedHosts(t, "raft/snapshots", 4, func(seed uint64, h *HostReport) {
		tree := exported(&FromResult{Files: h.Files})
		only, without := map[string][]byte{}, map[string][]byte{}
		for name := range tree {
			switch _, file, inPartition := strings.Cut(name, bootstrap.PartitionDir+"/"); {
			case !inPartition:
			case strings.HasSuffix(file, ".checkpoint"):
				without[name] = nil
			case file != "quorum-state":
				only[name] = nil
			}
		}
		r, v := bootTree(t, with(tree, only), FromOptions{Voters: h.Quorum, Release: h.Release})
		requireUp(t, r, v)
		require.Greater(t, r.LogEndOffset, h.Metrics.LogStartOffset)
		alone++
		_, v = bootTree(t, with(tree, without), FromOptions{Voters: h.Quorum, Release: h.Release})
		require.NotEmpty(t, v.Stopped)
		require.Contains(t, v.Stopped[0].Error, "no snapshot reaches that far")
		refused++
	})
	require.Positive(t, alone)
	require.Positive(t, refused)
}

// TestHostsOfNeedsARun: there is nothing to look at before a run.
func TestHostsOfNeedsARun(t *testing.T) {
	for _, name := range []string{"raft/quiet", "kafka/s1", "none"} {
		_, err := HostsOf(Catalogue(), name)
		require.ErrorIs(t, err, ErrNoHosts)
	}
}
