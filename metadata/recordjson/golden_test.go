package recordjson_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/recordjson"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

func goldenPath(name string) string {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

// goldenLine is a line of metadata-records.jsonl, metadata-records-invalid.jsonl or control-records.jsonl.
type goldenLine struct {
	Name, Hex, Result      string
	Version                int16
	ControlType            int16
	JSON                   json.RawMessage
	HasUnknownTaggedFields bool
	UnknownTaggedFields    []struct {
		Tag uint32
		Hex string
	}
}

func goldenLines(t *testing.T, name string) []goldenLine {
	t.Helper()
	file, err := os.Open(goldenPath(name))
	require.NoError(t, err)
	defer file.Close()
	var lines []goldenLine
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 1<<26)
	for scanner.Scan() {
		var line goldenLine
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line))
		lines = append(lines, line)
	}
	require.NoError(t, scanner.Err())
	require.NotEmpty(t, lines)
	return lines
}

// tree decodes JSON; numbers keep their text.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&v), "%s", text)
	return floats(v)
}

// floats makes equal numbers equal: Java before 19 prints some float64 with more digits than it takes.
func floats(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = floats(v[name])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	case json.Number:
		if strings.ContainsAny(string(v), ".eE") {
			f, err := strconv.ParseFloat(string(v), 64)
			if err == nil {
				return f
			}
		}
	}
	return v
}

func TestGoldenRecords(t *testing.T) {
	for i, line := range goldenLines(t, "metadata-records/metadata-records.jsonl") {
		t.Run(fmt.Sprintf("%d-%s-%d", i, line.Name, line.Version), func(t *testing.T) {
			frame, err := hex.DecodeString(line.Hex)
			require.NoError(t, err)
			r, version, err := records.Decode(frame)
			require.NoError(t, err)
			require.Equal(t, tree(t, line.JSON), tree(t, recordjson.Append(nil, r, version)))
			top, nested := recordjson.UnknownTags(r)
			require.Equal(t, line.HasUnknownTaggedFields, len(top) > 0 || nested > 0)
			require.Len(t, top, len(line.UnknownTaggedFields))
			for i, want := range line.UnknownTaggedFields {
				require.Equal(t, want.Tag, top[i].Tag)
				require.Equal(t, want.Hex, hex.EncodeToString(top[i].Data))
			}
		})
	}
}

// Damaged records that still are records read as Kafka reads them.
func TestGoldenAcceptedRecords(t *testing.T) {
	compared := 0
	for i, line := range goldenLines(t, "metadata-records/metadata-records-invalid.jsonl") {
		frame, err := hex.DecodeString(line.Hex)
		require.NoError(t, err)
		r, version, err := records.Decode(frame)
		if line.Result != "ok" || err != nil {
			continue // package records tests who is refused
		}
		compared++
		require.Equal(t, tree(t, line.JSON), tree(t, recordjson.Append(nil, r, version)), "line %d", i+1)
	}
	require.Positive(t, compared)
}

func TestGoldenControlRecords(t *testing.T) {
	for i, line := range goldenLines(t, "control-records/control-records.jsonl") {
		t.Run(fmt.Sprintf("%d-%s-%d", i, line.Name, line.Version), func(t *testing.T) {
			value, err := hex.DecodeString(line.Hex)
			require.NoError(t, err)
			if record.ControlType(line.ControlType) == record.LeaderChange {
				var m record.LeaderChangeMessage
				require.NoError(t, m.Decode(value, line.Version))
				require.Equal(t, tree(t, line.JSON), tree(t, recordjson.AppendLeaderChange(nil, &m, line.Version)))
				if line.Version != 0 {
					return
				}
			}
			text, unknown, err := recordjson.AppendControl(nil, record.ControlType(line.ControlType), value)
			require.NoError(t, err)
			require.Equal(t, line.HasUnknownTaggedFields, unknown)
			require.Equal(t, tree(t, line.JSON), tree(t, text))
		})
	}
}
