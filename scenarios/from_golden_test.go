package scenarios

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// goldenCase is one entry of formatted/index.json.
type goldenCase struct {
	Case               string
	NodeID             int32
	ClusterID          string
	InitialControllers string
	Files              []struct {
		File    string
		Batches []struct {
			Records []struct {
				ValueHex string
				Name     string
				JSON     struct {
					Name         string
					FeatureLevel int16
				}
			}
		}
	}
}

func goldenDir() string {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "testdata", "golden")
	}
	return filepath.Join(root, "formatted")
}

func goldenCases(t *testing.T) (cases []goldenCase) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(goldenDir(), "index.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &cases))
	require.NotEmpty(t, cases)
	return cases
}

// level is the metadata.version that the files name.
func (c *goldenCase) level() (mv int16) {
	for _, f := range c.Files {
		for _, b := range f.Batches {
			for _, r := range b.Records {
				if r.JSON.Name == features.MetadataVersion {
					mv = r.JSON.FeatureLevel
				}
			}
		}
	}
	return mv
}

// TestGoldenFrom boots every directory that Kafka formatted: a leader, a stable bootstrap, files that decode, and the files of
// the format step as they were. Then it boots what came out.
func TestGoldenFrom(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			dir := filepath.Join(goldenDir(), c.Case)
			p, err := PlanFrom(os.DirFS(dir), 1, FromOptions{})
			require.NoError(t, err)
			requireQuorum(t, &c, p)
			r, v := bootPlan(t, p)
			requireUp(t, r, v)
			require.Equal(t, c.NodeID, r.NodeID)
			require.Equal(t, c.ClusterID, r.ClusterID)
			require.Equal(t, c.level(), r.MetadataVersion)
			requireKept(t, dir, r)
			if r.Leader == c.NodeID {
				requireBootstrap(t, &c, r)
			}
			again, v := bootTree(t, exported(r), FromOptions{})
			requireUp(t, again, v)
			require.Greater(t, again.Epoch, r.Epoch)
			require.Equal(t, c.level(), again.MetadataVersion)
			requirePrefix(t, r, again)
		})
	}
}

// requireQuorum compares the hosts with the initial controllers.
func requireQuorum(t *testing.T, c *goldenCase, p *plan.Plan) {
	t.Helper()
	var want, got []string
	for _, entry := range strings.Split(c.InitialControllers, ",") {
		if entry != "" {
			want = append(want, entry)
		}
	}
	own := fmt.Sprintf("n%d", c.NodeID)
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if h.Kind == kindController {
			got = append(got, fmt.Sprintf("%s@%s:%s:%s", h.Params["node_id"], h.Params["name"], h.Params["port"], h.Params["directory_id"]))
		}
		if h.ID == own {
			require.Equal(t, "tree", h.Params["format"])
		} else {
			require.Equal(t, "full", h.Params["format"], "absent voters are formatted")
		}
	}
	if len(want) > 0 {
		require.ElementsMatch(t, want, got)
		return
	}
	require.Len(t, got, 1, "a static voter alone")
	require.True(t, strings.HasPrefix(got[0], fmt.Sprintf("%d@", c.NodeID)))
}

// requireKept wants every file of the input in the output: those of the format step are not touched.
func requireKept(t *testing.T, dir string, r *FromResult) {
	t.Helper()
	files := exported(r)
	n := 0
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		rel, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		want, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Contains(t, files, filepath.ToSlash(rel))
		require.Equal(t, want, files[filepath.ToSlash(rel)].Data, rel)
		return nil
	})
	require.NoError(t, err)
	require.Positive(t, n)
}

// requireBootstrap wants the data records of the files in the log, in their order.
func requireBootstrap(t *testing.T, c *goldenCase, r *FromResult) {
	t.Helper()
	var want []string
	seen := map[string]bool{}
	for _, f := range c.Files {
		base := filepath.Base(f.File)
		if seen[base] {
			continue // of another log directory
		}
		seen[base] = true
		for _, b := range f.Batches {
			for _, rec := range b.Records {
				if rec.Name != "" {
					want = append(want, rec.ValueHex)
				}
			}
		}
	}
	require.NotEmpty(t, want)
	var got []string
	for _, value := range logValues(t, r) {
		if hex := fmt.Sprintf("%x", value); len(got) < len(want) && hex == want[len(got)] {
			got = append(got, hex)
		}
	}
	require.Equal(t, want, got)
}

// logValues are the data records in the log, markers included.
func logValues(t *testing.T, r *FromResult) (values [][]byte) {
	t.Helper()
	var it record.Iterator
	for _, f := range r.Files {
		if !strings.HasSuffix(f.Path, ".log") {
			continue
		}
		for content := f.Content; len(content) > 0; {
			batch, rest, err := record.NextFileBatch(content)
			require.NoError(t, err)
			require.NoError(t, batch.Verify())
			var rec record.Record
			for it.Reset(batch); !batch.IsControl() && it.Next(&rec); {
				_, _, err := records.Decode(rec.Value)
				require.NoError(t, err)
				values = append(values, rec.Value)
			}
			content = rest
		}
	}
	return values
}

// requirePrefix wants the stable part of the first log at the beginning of the second.
func requirePrefix(t *testing.T, first, second *FromResult) {
	t.Helper()
	a, b := logValues(t, first), logValues(t, second)
	require.GreaterOrEqual(t, len(b), len(a)-1, "no more than the record that was under way may be lost")
	for i := range min(len(a), len(b)) - 1 {
		require.Equal(t, a[i], b[i], "record %d", i)
	}
}

// metadataDir is the folder of a case that the node keeps its log in.
func (c *goldenCase) metadataDir(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(goldenDir(), c.Case))
	require.NoError(t, err)
	require.NotEmpty(t, entries)
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(goldenDir(), c.Case, e.Name(), "__cluster_metadata-0")); err == nil {
			return e.Name()
		}
	}
	return entries[0].Name()
}

// TestGoldenSingleDirectory boots each metadata directory by itself.
func TestGoldenSingleDirectory(t *testing.T) {
	for _, c := range goldenCases(t) {
		t.Run(c.Case, func(t *testing.T) {
			p, err := PlanFrom(os.DirFS(filepath.Join(goldenDir(), c.Case, c.metadataDir(t))), 3, FromOptions{Single: "alone"})
			require.NoError(t, err)
			r, v := bootPlan(t, p)
			requireUp(t, r, v)
			for _, f := range r.Files {
				require.True(t, strings.HasPrefix(f.Path, "alone/"), f.Path)
			}
		})
	}
}

// TestGoldenEveryRelease boots the directories under every release that runs with their metadata.version.
func TestGoldenEveryRelease(t *testing.T) {
	runs := 0
	for _, c := range goldenCases(t) {
		for _, name := range features.Names() {
			rel, err := features.Find(name)
			require.NoError(t, err)
			if !rel.Knows(c.level()) || c.InitialControllers != "" && rel.Feature(features.KRaftVersion) == nil {
				continue
			}
			runs++
			r, v := bootTree(t, os.DirFS(filepath.Join(goldenDir(), c.Case)), FromOptions{Release: name})
			require.Empty(t, r.Missing, "%s under %s", c.Case, name)
			require.Equal(t, plan.OK, v.Outcome)
		}
	}
	require.Positive(t, runs)
}
