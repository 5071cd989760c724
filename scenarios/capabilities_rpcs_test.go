package scenarios

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// requestRow is an entry of the table of request versions at another value, and a seed whose metadata end otherwise with it.
type requestRow struct {
	limit, scenario string
	seed            uint64
}

// requestRows are all values that a release has and the newest has not, and, of what all have alike, that nobody knows the request.
func requestRows() []requestRow {
	const topics, brokers = "metadata/topics", "metadata/brokers"
	return []requestRow{
		{"BrokerRegistration:3", brokers, 1}, {"BrokerRegistration:1", topics, 1}, {"BrokerHeartbeat:1", topics, 1}, {"BrokerHeartbeat:0", topics, 1},
		{"AlterPartition:2", topics, 1}, {"ControllerRegistration:-1", brokers, 1}, {"AssignReplicasToDirs:-1", topics, 1}, {"UnregisterController:-1", brokers, 2},
		{"CreateTopics:-1", topics, 1}, {"DeleteTopics:-1", topics, 1}, {"DescribeConfigs:-1", brokers, 2}, {"CreatePartitions:-1", topics, 1},
		{"ElectLeaders:-1", topics, 1}, {"IncrementalAlterConfigs:-1", topics, 1}, {"AlterPartitionReassignments:-1", topics, 1}, {"UpdateFeatures:-1", topics, 1},
		{"UnregisterBroker:-1", topics, 1}, {"AllocateProducerIds:-1", topics, 1}, {"AlterPartition:-1", topics, 1}, {"BrokerRegistration:-1", topics, 1},
		{"BrokerHeartbeat:-1", topics, 1},
	}
}

// TestEachRequestVersionMatters runs each plan without its faults, with the entry and without it: the metadata at the end differ.
func TestEachRequestVersionMatters(t *testing.T) {
	for _, row := range requestRows() {
		digests := map[bool]uint64{}
		for _, limited := range []bool{false, true} {
			c := Catalogue()
			p := c.Scenario(row.scenario).Draw(row.seed)
			p.Actions, p.Explicit = nil, true
			for i := range p.Hosts {
				if limited && p.Hosts[i].Params == nil {
					p.Hosts[i].Params = plan.Params{}
				}
				if limited {
					p.Hosts[i].Params["limits"] = row.limit
				}
			}
			verdictOf(t, sim.NewEngine(c), p, sim.Options{})
			digests[limited] = endDigest(t, c.Scenario(row.scenario).(*scenario))
		}
		require.NotEqual(t, digests[false], digests[true], row.limit)
	}
}

// endDigest is that of the image that the first node has in the end.
func endDigest(t *testing.T, s *scenario) uint64 {
	t.Helper()
	for _, h := range s.cluster.w.Hosts() {
		if n, ok := h.Process().(*node); ok && n.loader != nil {
			return n.loader.Image().Digest()
		}
	}
	require.Fail(t, "nobody is left")
	return 0
}

// largestIn is the largest version of an RPC in a list, -1 for none.
func largestIn(list []raft.APIVersionRange, key int16) int16 {
	i := slices.IndexFunc(list, func(r raft.APIVersionRange) bool { return r.APIKey == key })
	if i < 0 {
		return -1
	}
	return list[i].MaxVersion
}

// TestEveryVersionHasARow: each largest version that some release knows of an RPC and the newest release does not has a row above, and so has the
// lack of each request that all releases know; each row is about an entry that some release has. What a release adds to a table is red until then.
func TestEveryVersionHasARow(t *testing.T) {
	newest := hostSettings{release: newestRelease(t)}
	needed := map[string]bool{kraftVersionEntry + ":0": true}
	need := func(name string, key int16, of func(h *hostSettings) []raft.APIVersionRange) {
		known := largestIn(of(&newest), key)
		require.GreaterOrEqual(t, known, int16(0), "%s is unknown to the newest release", name)
		for _, release := range features.Names() {
			r, err := features.Find(release)
			require.NoError(t, err)
			if v := largestIn(of(&hostSettings{release: r}), key); v != known {
				needed[fmt.Sprintf("%s:%d", name, v)] = true
			}
		}
	}
	keys := map[int16]bool{}
	for _, n := range limitNames {
		keys[n.key] = true
		need(n.name, n.key, (*hostSettings).speaks)
	}
	for _, n := range requestNames {
		keys[n.key] = true
		need(n.name, n.key, (*hostSettings).asks)
		needed[n.name+":-1"] = true
	}
	for _, release := range features.Names() {
		r, err := features.Find(release)
		require.NoError(t, err)
		h := hostSettings{release: r}
		for _, entry := range slices.Concat(h.speaks(), h.asks()) {
			require.True(t, keys[entry.APIKey], "RPC %d of release %s has no name in a plan", entry.APIKey, release)
		}
	}
	have := map[string]bool{}
	for _, row := range versionRows() {
		have[row.limit] = true
	}
	for _, row := range fieldRows() {
		have[row.limit] = true
	}
	for _, row := range requestRows() {
		have[row.limit] = true
	}
	for limit := range needed {
		require.True(t, have[limit], "no scenario for %s", limit)
	}
}
