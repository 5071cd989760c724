package records

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// goldenLine is one line of metadata-records.jsonl or metadata-records-invalid.jsonl.
type goldenLine struct {
	Case, Hex, Result, RewriteHex, Name string
	APIKey, Version                     int16
	JSON                                json.RawMessage
	HasUnknownTaggedFields              bool
	UnknownTaggedFields                 []struct {
		Tag uint32
		Hex string
	}
}

func goldenFile(name string) string {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	return filepath.Join(root, "metadata-records", name)
}

func goldenLines(t testing.TB, name string) []goldenLine {
	t.Helper()
	file, err := os.Open(goldenFile(name))
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

func TestGoldenRecords(t *testing.T) {
	for i, line := range goldenLines(t, "metadata-records.jsonl") {
		t.Run(fmt.Sprintf("%d-%s-%d", i, line.Name, line.Version), func(t *testing.T) {
			frame, err := hex.DecodeString(line.Hex)
			require.NoError(t, err)
			r, version, err := Decode(frame)
			require.NoError(t, err)
			require.Equal(t, line.Name, r.RecordName())
			require.Equal(t, line.APIKey, r.APIKey())
			require.Equal(t, line.Version, version)
			requireJSON(t, line.JSON, r, version)
			require.Equal(t, line.Hex, hex.EncodeToString(Append(nil, r, version)))
			unknown := reflect.ValueOf(r).Elem().FieldByName("UnknownTags").Interface().([]record.TaggedField)
			require.Len(t, unknown, len(line.UnknownTaggedFields))
			for i, want := range line.UnknownTaggedFields {
				require.Equal(t, want.Tag, unknown[i].Tag)
				require.Equal(t, want.Hex, hex.EncodeToString(unknown[i].Data))
			}
		})
	}
}

func TestGoldenInvalidRecords(t *testing.T) {
	for i, line := range goldenLines(t, "metadata-records-invalid.jsonl") {
		t.Run(fmt.Sprintf("%d-%s", i, strings.ReplaceAll(line.Case, " ", "-")), func(t *testing.T) {
			frame, err := hex.DecodeString(line.Hex)
			require.NoError(t, err)
			r, version, err := Decode(frame)
			if line.Result != "ok" {
				require.Error(t, err)
				return
			}
			if _, highest := New(keyOf(frame)).Versions(); line.Version > highest {
				require.ErrorIs(t, err, ErrUnknownVersion) // accepted by Kafka by chance, see ErrUnknownVersion
				return
			}
			require.NoError(t, err)
			require.Equal(t, line.Version, version)
			requireJSON(t, line.JSON, r, version)
			if line.RewriteHex != "" {
				require.Equal(t, line.RewriteHex, hex.EncodeToString(Append(nil, r, version)))
			}
		})
	}
}

// keyOf reads the record key of a frame whose header is whole.
func keyOf(frame []byte) int16 {
	in := record.NewReader(frame)
	in.Uvarint()
	return int16(in.Uvarint())
}

// requireJSON compares what Kafka's JSON converter printed with the struct. Kafka leaves out fields that the version
// lacks and tagged fields at their default, so an absent name is expected to be at the default.
func requireJSON(t *testing.T, want json.RawMessage, r Record, version int16) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(want))
	decoder.UseNumber()
	var tree map[string]any
	require.NoError(t, decoder.Decode(&tree))
	compareStruct(t, r.RecordName(), tree, reflect.ValueOf(r).Elem(), reflect.ValueOf(New(r.APIKey())).Elem())
}

func compareStruct(t *testing.T, path string, tree map[string]any, got, defaults reflect.Value) {
	t.Helper()
	used := 0
	for i := range got.NumField() {
		name := got.Type().Field(i).Name
		if name == "UnknownTags" {
			continue
		}
		value, ok := tree[strings.ToLower(name[:1])+name[1:]]
		if !ok {
			require.Equal(t, defaults.Field(i).Interface(), got.Field(i).Interface(), path+"."+name)
			continue
		}
		used++
		compareValue(t, path+"."+name, value, got.Field(i))
	}
	require.Len(t, tree, used, "%s: names that the struct does not have", path)
}

func compareValue(t *testing.T, path string, want any, got reflect.Value) {
	t.Helper()
	if want == nil {
		require.True(t, got.IsNil(), path)
		return
	}
	switch v := got.Interface().(type) {
	case record.UUID:
		require.Equal(t, want, base64.RawURLEncoding.EncodeToString(v[:]), path)
	case []byte:
		require.Equal(t, want, base64.StdEncoding.EncodeToString(v), path)
	case Float64Bits:
		number, err := want.(json.Number).Float64()
		require.NoError(t, err, path)
		require.Equal(t, math.Float64bits(number), uint64(v), path)
	case *string:
		require.Equal(t, want, *v, path)
	case string, bool:
		require.Equal(t, want, v, path)
	case int8, int16, uint16, int32, int64:
		require.Equal(t, string(want.(json.Number)), fmt.Sprint(v), path)
	default:
		if got.Kind() == reflect.Struct {
			compareStruct(t, path, want.(map[string]any), got, reflect.Zero(got.Type()))
			return
		}
		items := want.([]any)
		require.Equal(t, len(items), got.Len(), path)
		for i, item := range items {
			compareValue(t, fmt.Sprintf("%s[%d]", path, i), item, got.Index(i))
		}
	}
}
