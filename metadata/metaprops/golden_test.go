package metaprops

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// goldenProperties is one entry of index.json or read-cases.json.
type goldenProperties struct {
	File           string
	Version        int32
	ClusterID      *string
	NodeID         *int32
	DirectoryID    *string
	Result         string
	ReadsBackEqual bool
	ReadBack       *goldenProperties
}

func (g *goldenProperties) properties(t *testing.T) Properties {
	t.Helper()
	p := Properties{Version: g.Version}
	if g.ClusterID != nil {
		p.HasClusterID, p.ClusterID = true, *g.ClusterID
	}
	if g.NodeID != nil {
		p.HasNodeID, p.NodeID = true, *g.NodeID
	}
	if g.DirectoryID != nil {
		id, err := record.ParseUUID(*g.DirectoryID)
		require.NoError(t, err)
		p.HasDirectoryID, p.DirectoryID = true, id
	}
	return p
}

func golden(t *testing.T, index string) (root string, entries []goldenProperties) {
	t.Helper()
	root = os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	root = filepath.Join(root, "meta-properties")
	text, err := os.ReadFile(filepath.Join(root, index))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &entries))
	require.NotEmpty(t, entries)
	return root, entries
}

func TestGoldenWritten(t *testing.T) {
	root, entries := golden(t, "index.json")
	for _, entry := range entries {
		t.Run(entry.File, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(root, entry.File))
			require.NoError(t, err)
			got, err := Parse(content, V1)
			require.NoError(t, err)
			want := entry.properties(t)
			if entry.ReadsBackEqual {
				require.Equal(t, want, got)
				require.Equal(t, lines(string(content)), lines(string(want.AppendTo(nil, 0))))
				return
			}
			require.Equal(t, entry.ReadBack.properties(t), got) // Kafka's own loss, formats 8
			again, err := Parse(want.AppendTo(nil, 0), V1)
			require.NoError(t, err)
			require.Equal(t, want, again)
		})
	}
}

// lines returns the lines from the third on, sorted.
func lines(content string) []string {
	all := strings.Split(strings.TrimSuffix(content, "\n"), "\n")[2:]
	slices.Sort(all)
	return all
}

func TestGoldenReadCases(t *testing.T) {
	root, entries := golden(t, "read-cases.json")
	for _, entry := range entries {
		t.Run(entry.File, func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(root, entry.File))
			require.NoError(t, err)
			got, err := Parse(content, V1)
			if entry.Result != "ok" {
				require.ErrorIs(t, err, ErrInvalid)
				return
			}
			require.NoError(t, err)
			require.Equal(t, entry.properties(t), got)
		})
	}
}
