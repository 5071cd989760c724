package controller

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// A controller that starts with the bootstrap records that Kafka's formatter left puts exactly those bytes into its
// log, inside a transaction where their metadata.version has transactions.
func TestGoldenFormattedActivation(t *testing.T) {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	var cases []struct {
		Case  string
		Files []struct {
			File    string
			Batches []struct {
				IsControl bool
				Records   []struct{ ValueHex string }
			}
		}
	}
	index, err := os.ReadFile(filepath.Join(root, "formatted", "index.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(index, &cases))
	seen := 0
	for _, c := range cases {
		for _, f := range c.Files {
			var want []string
			for _, b := range f.Batches {
				for _, r := range b.Records {
					if !b.IsControl {
						want = append(want, r.ValueHex)
					}
				}
			}
			if len(want) == 0 || !strings.HasSuffix(f.File, "bootstrap.checkpoint") {
				continue
			}
			seen++
			t.Run(f.File, func(t *testing.T) {
				content, err := os.ReadFile(filepath.Join(root, "formatted", f.File))
				require.NoError(t, err)
				entries, err := bootstrap.ParseBatchFile(content)
				require.NoError(t, err)
				cfg := config(t, Released)
				cfg.Release, cfg.UnstableFeatures, cfg.Bootstrap = release(t, "4.0"), true, nil
				for i := range entries {
					cfg.Bootstrap = append(cfg.Bootstrap, entries[i].Record)
				}
				g := newGroup(t, 1, cfg)
				require.NoError(t, g.elect(0, 0))
				require.Len(t, g.uncommitted, 1)
				got := frames(t, g.uncommitted[0].Bytes)
				g.commit(-1)
				img := g.nodes[0].ctl.Image()
				if img.MetadataVersion() >= records.BeginTransactionRecordSince {
					require.Len(t, got, len(want)+2)
					got = got[1 : len(got)-1]
				}
				require.Equal(t, want, got)
				require.Equal(t, img.Digest(), g.nodes[0].ctl.StableDigest())
			})
		}
	}
	require.NotZero(t, seen)
}

// frames returns the records of a batch, encoded anew.
func frames(t *testing.T, batch []byte) (out []string) {
	t.Helper()
	var reader image.BatchReader
	for reader.Reset(batch); reader.Next(); {
		out = append(out, hex.EncodeToString(records.Append(nil, reader.Record, 0)))
	}
	require.NoError(t, reader.Err())
	return out
}
