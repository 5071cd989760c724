package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// partitionTree is a log directory of node 1 with golden files as its metadata log.
func partitionTree(t *testing.T, files ...string) fstest.MapFS {
	t.Helper()
	props := metaprops.Properties{Version: metaprops.V1, HasClusterID: true, ClusterID: "C", HasNodeID: true, NodeID: 1,
		HasDirectoryID: true, DirectoryID: record.UUID{0: 1, 15: 7}}
	tree := fstest.MapFS{"dir0/meta.properties": &fstest.MapFile{Data: props.AppendTo(nil, 0)}}
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		tree["dir0/"+partition+filepath.Base(name)] = &fstest.MapFile{Data: data}
	}
	return tree
}

// goldenBatch is a decoded batch of an index.
type goldenBatch struct {
	Records []struct {
		Offset          int64
		Name            string
		ControlTypeName string
		JSON            struct {
			Voters []struct {
				VoterID int32
			}
		}
	}
}

// votersOf are the ids in the last voter set of some batches, sorted.
func votersOf(batches []goldenBatch) (ids []string) {
	for _, b := range batches {
		for _, r := range b.Records {
			if r.ControlTypeName == "KRAFT_VOTERS" {
				ids = ids[:0]
				for _, v := range r.JSON.Voters {
					ids = append(ids, number(int64(v.VoterID)))
				}
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// controllersOf are the ids of a plan's voters, sorted.
func controllersOf(p *plan.Plan) (ids []string) {
	for i := range p.Hosts {
		if p.Hosts[i].Kind == kindController {
			ids = append(ids, p.Hosts[i].Params["node_id"])
		}
	}
	slices.Sort(ids)
	return ids
}

// TestGoldenFromSnapshots boots nodes that have nothing but a snapshot of Kafka's. Raft makes it the beginning of the log. Where
// its random records make no sense as metadata, a node says which of the snapshot's does not.
func TestGoldenFromSnapshots(t *testing.T) {
	root := filepath.Dir(goldenDir())
	content, err := os.ReadFile(filepath.Join(root, "snapshots", "index.json"))
	require.NoError(t, err)
	var cases []struct {
		File           string
		SnapshotOffset int64
		SnapshotEpoch  int32
		KRaftVersion   int16
		Batches        []goldenBatch
	}
	require.NoError(t, json.Unmarshal(content, &cases))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		t.Run(c.File, func(t *testing.T) {
			file := filepath.Join(root, "snapshots", filepath.FromSlash(c.File))
			_, err := PlanFrom(os.DirFS(filepath.Dir(file)), 1, FromOptions{Where: "D"})
			require.ErrorContains(t, err, "D: log directories: these are the files of a __cluster_metadata-0")

			want := votersOf(c.Batches)
			p, err := PlanFrom(partitionTree(t, file), 1, FromOptions{})
			if c.SnapshotOffset > 0 && c.KRaftVersion > 0 && len(want) == 0 {
				require.ErrorContains(t, err, filepath.Base(c.File)+": voters: kraft.version is 1, but there is no voter set")
				return
			}
			require.NoError(t, err)
			if len(want) > 0 {
				require.Equal(t, want, controllersOf(p))
			} else {
				require.Equal(t, []string{"1"}, controllersOf(p), "a static voter alone")
			}
			r, v := bootPlan(t, p)
			files := exported(r)
			require.Contains(t, files, fmt.Sprintf("dir0/%s%020d.log", partition, c.SnapshotOffset))
			stored, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, stored, files["dir0/"+partition+filepath.Base(file)].Data)
			if len(v.Stopped) == 0 {
				requireUp(t, r, v)
				require.Greater(t, r.Epoch, c.SnapshotEpoch)
				return
			}
			of := fmt.Sprintf("(snapshot %d-%d|offset %d): ", c.SnapshotOffset, c.SnapshotEpoch, c.SnapshotOffset-1)
			for _, stop := range v.Stopped {
				require.Regexp(t, of, stop.Error)
			}
		})
	}
}

// TestGoldenFromSegment boots a node with the log of Kafka's: the voters are those of its last voter set, and where a random
// record makes no sense as metadata, it is named.
func TestGoldenFromSegment(t *testing.T) {
	root := filepath.Join(filepath.Dir(goldenDir()), "segment")
	content, err := os.ReadFile(filepath.Join(root, "segment.json"))
	require.NoError(t, err)
	var index struct {
		LogEndOffset int64
		Epochs       []struct{ Epoch int32 }
		Batches      []goldenBatch
	}
	require.NoError(t, json.Unmarshal(content, &index))
	require.NotEmpty(t, index.Epochs)
	_, err = PlanFrom(os.DirFS(root), 1, FromOptions{Where: "D"})
	require.ErrorContains(t, err, "meta.properties: missing beside __cluster_metadata-0")

	files, err := filepath.Glob(filepath.Join(root, "__cluster_metadata-0", "*"))
	require.NoError(t, err)
	p, err := PlanFrom(partitionTree(t, files...), 1, FromOptions{})
	require.NoError(t, err)
	if want := votersOf(index.Batches); len(want) > 0 {
		require.Subset(t, controllersOf(p), want)
	}
	r, v := bootPlan(t, p)
	require.GreaterOrEqual(t, r.LogEndOffset, index.LogEndOffset, "nothing is cut")
	require.Greater(t, r.Epoch, index.Epochs[len(index.Epochs)-1].Epoch)
	if len(v.Stopped) == 0 {
		requireUp(t, r, v)
		return
	}
	names := map[string]string{} // by offset
	for _, b := range index.Batches {
		for _, rec := range b.Records {
			names[number(rec.Offset)] = rec.Name
		}
	}
	at := regexp.MustCompile(`offset (\d+): (.*)`)
	for _, stop := range v.Stopped {
		found := at.FindStringSubmatch(stop.Error)
		require.NotNil(t, found, stop.Error)
		offset, err := strconv.ParseInt(found[1], 10, 64)
		require.NoError(t, err)
		require.Less(t, offset, index.LogEndOffset)
		require.NotEmpty(t, names[found[1]], "a data record")
	}
}
