package raft

import (
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/golden"
	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// goldenBatch is a batch of an index file, as far as raft cares.
type goldenBatch struct {
	IsControl bool
	Records   []struct {
		ControlTypeName string
		JSON            struct {
			KRaftVersion int16
			Voters       []struct {
				VoterID          int32 `json:"voterId"`
				VoterDirectoryID string
				Endpoints        []struct {
					Name, Host string
					Port       uint16
				}
				KRaftVersionFeature struct{ MinSupportedVersion, MaxSupportedVersion int16 }
			}
		}
	}
}

// controlOf returns kraft.version and voters that an index says are in a file; nil voters: none.
func controlOf(t *testing.T, batches []goldenBatch) (version int16, set *voters.Set) {
	t.Helper()
	for _, b := range batches {
		for _, r := range b.Records {
			switch r.ControlTypeName {
			case "KRAFT_VERSION":
				version = r.JSON.KRaftVersion
			case "KRAFT_VOTERS":
				var entries []voters.Voter
				for _, v := range r.JSON.Voters {
					directory, err := record.ParseUUID(v.VoterDirectoryID)
					require.NoError(t, err)
					entry := voters.Voter{
						ReplicaKey:      ReplicaKey{ID: v.VoterID, DirectoryID: directory},
						MinKRaftVersion: v.KRaftVersionFeature.MinSupportedVersion,
						MaxKRaftVersion: v.KRaftVersionFeature.MaxSupportedVersion,
					}
					for _, e := range v.Endpoints {
						entry.Endpoints = append(entry.Endpoints, voters.Endpoint{Name: e.Name, Host: e.Host, Port: e.Port})
					}
					entries = append(entries, entry)
				}
				var err error
				set, err = voters.New(entries...)
				require.NoError(t, err)
			}
		}
	}
	return version, set
}

// putFile writes a golden file into the partition directory of a node.
func putFile(t testing.TB, files *memfiles.Files, name string, content []byte) {
	t.Helper()
	fd, err := files.Open(testDir+"/"+name, true)
	require.NoError(t, err)
	require.NoError(t, files.WriteAt(fd, content, 0))
	require.NoError(t, files.Sync(fd))
	require.NoError(t, files.Close(fd))
	require.NoError(t, files.SyncDir(testDir))
}

// TestGoldenFormattedDirectoriesElect boots quorums from the directories that Kafka's formatter wrote: all voters of a
// dynamic one, with its checkpoint on each disk, or the sole static voter. They elect, load the checkpoint, and put its
// version and voters into the log.
func TestGoldenFormattedDirectoriesElect(t *testing.T) {
	var cases []struct {
		Case                   string
		NodeID                 int32 `json:"nodeId"`
		ClusterID              string
		ControllerListenerName string
		Files                  []struct {
			File    string
			Batches []goldenBatch
		}
	}
	golden.JSON(t, "formatted/index.json", &cases)
	require.NotEmpty(t, cases)
	for i, k := range cases {
		t.Run(k.Case, func(t *testing.T) {
			c := newCluster(t, int64(i), 0)
			var set *voters.Set
			var name string
			var content []byte
			for _, f := range k.Files {
				if strings.HasSuffix(path.Dir(f.File), "__cluster_metadata-0") && strings.HasSuffix(f.File, ".checkpoint") {
					_, set = controlOf(t, f.Batches)
					name, content = path.Base(f.File), golden.Read(t, "formatted/"+f.File)
				}
			}
			var ids []int32
			configure := func(n *node) {
				n.cfg.ClusterID, n.cfg.ListenerName = k.ClusterID, k.ControllerListenerName
				ids = append(ids, n.id)
			}
			if set == nil {
				static, err := voters.New(voters.Voter{
					ReplicaKey: ReplicaKey{ID: k.NodeID},
					Endpoints:  []voters.Endpoint{{Name: k.ControllerListenerName, Host: "localhost", Port: 9093}},
				})
				require.NoError(t, err)
				n := c.addNode(k.NodeID, static)
				n.cfg.Listeners = static.At(0).Endpoints
				configure(n)
			} else {
				var bootstrap []Address
				for v := int32(0); v < set.Len(); v++ {
					n := c.addNode(set.At(v).ID, nil)
					n.cfg.DirectoryID, n.cfg.Listeners = set.At(v).DirectoryID, set.At(v).Endpoints
					configure(n)
					for _, e := range set.At(v).Endpoints {
						bootstrap = append(bootstrap, Address{Host: e.Host, Port: e.Port})
					}
				}
				if set.Find(k.NodeID) == nil { // the directory of a controller that is no voter
					n := c.addNode(k.NodeID, nil)
					n.cfg.Listeners = []voters.Endpoint{{Name: k.ControllerListenerName, Host: "observer", Port: 9093}}
					configure(n)
				}
				for _, n := range c.nodes {
					n.cfg.BootstrapServers = bootstrap
					putFile(t, n.files, name, content)
				}
			}
			startAll(c)
			l := c.awaitLeader(10_000)
			last := l.append("x")
			c.awaitCommitted(5_000, last, ids...)
			for _, n := range c.nodes {
				if set == nil {
					require.Zero(t, n.app.loaded)
					require.EqualValues(t, 0, n.replica.KRaftVersion())
					require.EqualValues(t, NoVotersInLog, n.replica.VotersOffset())
					continue
				}
				require.Equal(t, 1, n.app.loaded)
				require.EqualValues(t, 1, n.replica.KRaftVersion())
				require.True(t, n.replica.Voters().Equal(set), "node %d", n.id)
				require.EqualValues(t, 2, n.replica.VotersOffset(), "replicated by the first leader")
			}
		})
	}
}

// TestGoldenSnapshotsControlState reads kraft.version and voters out of snapshots that Kafka wrote.
func TestGoldenSnapshotsControlState(t *testing.T) {
	var cases []struct {
		File           string
		SnapshotOffset int64
		SnapshotEpoch  int32
		KRaftVersion   int16 `json:"kraftVersion"`
		Batches        []goldenBatch
	}
	golden.JSON(t, "snapshots/index.json", &cases)
	require.NotEmpty(t, cases)
	for _, k := range cases {
		t.Run(k.File, func(t *testing.T) {
			_, set := controlOf(t, k.Batches)
			var state controlState
			id := OffsetAndEpoch{Offset: k.SnapshotOffset, Epoch: k.SnapshotEpoch}
			require.NoError(t, state.readSnapshot(id, golden.Read(t, "snapshots/"+k.File)))
			require.Equal(t, k.KRaftVersion, state.kraftVersion())
			require.Equal(t, k.SnapshotOffset, state.nextOffset)
			if set == nil {
				require.Equal(t, NoVotersInLog, state.votersOffset())
				return
			}
			require.True(t, state.voters().Equal(set))
			require.Equal(t, k.SnapshotOffset-1, state.votersOffset())
		})
	}
}
