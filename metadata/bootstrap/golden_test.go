package bootstrap

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// goldenCase is one entry of formatted/index.json, as far as checkpoints go.
type goldenCase struct {
	Case  string
	Files []struct {
		File    string
		Batches []struct {
			IsControl    bool
			MaxTimestamp int64
			Records      []struct {
				ControlType record.ControlType
				ValueHex    string
			}
		}
	}
}

func goldenRoot() string {
	if root := os.Getenv("KRAFTSIM_GOLDEN"); root != "" {
		return root
	}
	return filepath.Join("..", "..", "testdata", "golden")
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(goldenRoot(), name))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// Every checkpoint that Kafka's formatter left is read by both readers, and written again byte for byte.
func TestGoldenFormattedCheckpoints(t *testing.T) {
	var cases []goldenCase
	readJSON(t, "formatted/index.json", &cases)
	seen := 0
	for _, c := range cases {
		for _, file := range c.Files {
			if !strings.HasSuffix(file.File, ".checkpoint") {
				continue
			}
			seen++
			content, err := os.ReadFile(filepath.Join(goldenRoot(), "formatted", file.File))
			require.NoError(t, err)
			checkpoint, err := ParseCheckpoint(content)
			require.NoError(t, err, file.File)
			require.True(t, checkpoint.HasFooter)
			entries, err := ParseBatchFile(content)
			require.NoError(t, err, file.File)
			require.Equal(t, checkpoint.Entries, entries)
			var times Times
			var data []string
			for i, batch := range file.Batches {
				switch {
				case i == 0:
					times.HeaderMs = batch.MaxTimestamp
				case batch.IsControl:
					times.FooterMs = batch.MaxTimestamp
				default:
					times.DataMs = batch.MaxTimestamp
					for _, r := range batch.Records {
						data = append(data, r.ValueHex)
					}
				}
			}
			var got []string
			for _, e := range entries {
				got = append(got, hex.EncodeToString(records.Append(nil, e.Record, e.Version)))
			}
			require.Equal(t, data, got, file.File)
			require.True(t, bytes.Equal(content, checkpoint.AppendTo(nil, times)), file.File)
		}
	}
	require.NotZero(t, seen)
}

// The batch file reader refuses the damage that Kafka's refuses and accepts the damage that Kafka's accepts.
func TestGoldenCorruptBatchFiles(t *testing.T) {
	var index []struct {
		File, Kind, Region string
		BatchFileReader    struct{ Result, Message string }
	}
	readJSON(t, "corrupt/index.json", &index)
	require.NotEmpty(t, index)
	for _, c := range index {
		content, err := os.ReadFile(filepath.Join(goldenRoot(), "corrupt", c.File))
		require.NoError(t, err)
		_, err = ParseBatchFile(content)
		if c.BatchFileReader.Result == "ok" {
			if errors.Is(err, records.ErrUnknownVersion) { // refused on purpose, formats 5
				continue
			}
			require.NoError(t, err, "%s %s %s", c.File, c.Kind, c.Region)
		} else {
			require.Error(t, err, "%s %s %s: %s", c.File, c.Kind, c.Region, c.BatchFileReader.Message)
		}
	}
}
