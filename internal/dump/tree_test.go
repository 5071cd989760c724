package dump_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/dump"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// kindOfRecord is what a metadata record is, as indexes and dumps say it.
type kindOfRecord struct {
	name    string
	version int64
}

// goldenKinds are the kinds that metadata-records.jsonl has, with their lines.
func goldenKinds(t *testing.T) (kinds map[kindOfRecord]bool, instances []object) {
	t.Helper()
	content, err := os.ReadFile(goldenPath("metadata-records/metadata-records.jsonl"))
	require.NoError(t, err)
	kinds = map[kindOfRecord]bool{}
	in := bufio.NewScanner(bytes.NewReader(content))
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		o := tree(t, in.Bytes()).(object)
		kinds[kindOfRecord{o["name"].(string), number(t, o["version"])}] = true
		instances = append(instances, o)
	}
	require.NoError(t, in.Err())
	require.NotEmpty(t, instances)
	return kinds, instances
}

// TestGoldenTreeIsDecoded walks the golden tree as it is listed: every segment and every snapshot that Kafka wrote undamaged decodes to the
// last record, in JSON and as text, with nothing left in hex alone; and among the records are all types in all versions.
func TestGoldenTreeIsDecoded(t *testing.T) {
	reached, files := map[kindOfRecord]bool{}, 0
	require.NoError(t, filepath.WalkDir(goldenPath("."), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.Contains(filepath.ToSlash(path), "/corrupt/") {
			return err
		}
		if ext := filepath.Ext(path); ext != ".log" && ext != ".checkpoint" {
			return nil
		}
		files++
		got, summary := lines(t, path, dump.Options{})
		require.Zero(t, summary.Damaged+summary.Warnings+summary.Unknown+summary.Unreadable, path)
		all := ofType(got, "record")
		require.NotEmpty(t, all, path)
		var text bytes.Buffer
		_, err = dump.Dump(&text, path, dump.Options{})
		require.NoError(t, err)
		for _, r := range all {
			require.NotNil(t, r["json"], "%s: %v", path, r)
			require.Nil(t, r["valueHex"], "%s: %v", path, r)
			name, _ := r["name"].(string)
			if name == "" {
				name = r["controlTypeName"].(string)
			} else {
				reached[kindOfRecord{name, number(t, r["version"])}] = true
			}
			require.Contains(t, text.String(), " "+name+" ", path)
		}
		return nil
	}))
	require.Greater(t, files, 10)
	kinds, _ := goldenKinds(t)
	for kind := range kinds {
		require.True(t, reached[kind], "%+v is in no segment and no snapshot", kind)
	}
}

// segmentOf writes records into a segment of their own.
func segmentOf(t *testing.T, values [][]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	require.NoError(t, os.WriteFile(path, record.AppendBatch(nil, record.BatchSpec{LeaderEpoch: 1}, values...), 0o600))
	return path
}

// TestGoldenRecordsInASegment: each instance that Kafka wrote, in a segment, comes out as the JSON that Kafka prints for it; with a version that
// nobody knows it comes out in hex, with its name, and the records behind it are decoded all the same.
func TestGoldenRecordsInASegment(t *testing.T) {
	_, instances := goldenKinds(t)
	var values [][]byte
	for _, o := range instances {
		value, err := hex.DecodeString(o["hex"].(string))
		require.NoError(t, err)
		values = append(values, value)
	}
	got, summary := lines(t, segmentOf(t, values), dump.Options{})
	require.Zero(t, summary.Damaged)
	all := ofType(got, "record")
	require.Len(t, all, len(instances))
	for i, o := range instances {
		require.Equal(t, o["name"], all[i]["name"])
		require.Equal(t, o["version"], all[i]["version"])
		require.Equal(t, o["json"], all[i]["json"], "%v", o["hex"])
	}

	known := values[len(values)-1]
	for _, o := range instances {
		key := number(t, o["apiKey"])
		value := []byte{1, byte(key), 100} // frame version 1, key and version as varints of one byte
		got, summary := lines(t, segmentOf(t, [][]byte{value, known}), dump.Options{})
		require.EqualValues(t, 1, summary.Damaged)
		all := ofType(got, "record")
		require.Len(t, all, 2)
		require.Equal(t, o["name"], all[0]["name"])
		require.Equal(t, json.Number("100"), all[0]["version"])
		require.Equal(t, hex.EncodeToString(value), all[0]["valueHex"])
		require.Contains(t, all[0]["error"], "version")
		require.NotNil(t, ofType(got, "problem")[0]["position"])
		require.NotNil(t, all[1]["json"])
	}
}

// TestGoldenTypesAreAll: the types that this program decodes are those of the golden records, but for those that came later.
func TestGoldenTypesAreAll(t *testing.T) {
	kinds, _ := goldenKinds(t)
	names := map[string]bool{}
	for kind := range kinds {
		names[kind.name] = true
	}
	later := map[string]bool{}
	for key := range int16(128) {
		if m := records.New(key); m != nil && !names[m.RecordName()] {
			later[m.RecordName()] = true
		}
	}
	require.Equal(t, map[string]bool{"ClearElrRecord": true, "UnregisterControllerRecord": true, "ClusterIdRecord": true}, later)
}
