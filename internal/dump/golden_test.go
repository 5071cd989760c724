package dump_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/internal/dump"
	"github.com/stretchr/testify/require"
)

func goldenPath(name string) string {
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	return filepath.Join(root, filepath.FromSlash(name))
}

func goldenJSON(t *testing.T, name string) any {
	t.Helper()
	content, err := os.ReadFile(goldenPath(name))
	require.NoError(t, err)
	return tree(t, content)
}

// tree decodes JSON. Numbers keep their text, but for fractions, which Java before 19 may print with more digits.
func tree(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&v), "%s", text)
	return floats(v)
}

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
			if f, err := strconv.ParseFloat(string(v), 64); err == nil {
				return f
			}
		}
	}
	return v
}

// object is a line of a dump, or an object of an index.
type object = map[string]any

// lines dumps a path as JSON.
func lines(t *testing.T, path string, options dump.Options) ([]object, dump.Summary) {
	t.Helper()
	options.JSON = true
	var out bytes.Buffer
	summary, err := dump.Dump(&out, path, options)
	require.NoError(t, err)
	var all []object
	for text := range bytes.Lines(out.Bytes()) {
		all = append(all, tree(t, text).(object))
	}
	require.Equal(t, "summary", all[len(all)-1]["type"])
	return all, summary
}

// objects turns an array of an index into objects.
func objects(v any) []object {
	var all []object
	for _, o := range v.([]any) {
		all = append(all, o.(object))
	}
	return all
}

func ofType(all []object, kind string) []object {
	var some []object
	for _, l := range all {
		if l["type"] == kind {
			some = append(some, l)
		}
	}
	return some
}

// requireFields compares the fields that want has with those of got, apart from some. A field that is null in want may
// be absent in got.
func requireFields(t *testing.T, want, got object, apart ...string) {
	t.Helper()
next:
	for name, value := range want {
		for _, other := range apart {
			if name == other {
				continue next
			}
		}
		require.Equal(t, value, got[name], "%s of %v", name, got)
	}
}

// requireBatches compares a dump of one file with the batches that an index lists for it.
func requireBatches(t *testing.T, want []object, got []object) {
	t.Helper()
	require.Empty(t, ofType(got, "problem"))
	batches, records := ofType(got, "batch"), ofType(got, "record")
	require.Len(t, batches, len(want))
	for i := range want {
		requireFields(t, want[i], batches[i], "records")
		for _, w := range objects(want[i]["records"]) {
			require.NotEmpty(t, records)
			requireFields(t, w, records[0], "sizeInBytes", "headers", "unknownTaggedFields")
			if tags, ok := w["unknownTaggedFields"].([]any); ok && len(tags) > 0 {
				require.Equal(t, tags, records[0]["unknownTaggedFields"])
			}
			records = records[1:]
		}
	}
	require.Empty(t, records)
}

func TestGoldenSegment(t *testing.T) {
	index := goldenJSON(t, "segment/segment.json").(object)
	name := index["file"].(string)
	dir := "segment/__cluster_metadata-0"
	got, summary := lines(t, goldenPath(dir), dump.Options{Hex: true})
	require.Zero(t, summary.Damaged+summary.Warnings+summary.Unknown)
	var segment, epochs []object
	for _, l := range got {
		file, _ := l["file"].(string)
		switch filepath.Base(file) {
		case name:
			segment = append(segment, l)
		case "leader-epoch-checkpoint":
			epochs = append(epochs, l)
		}
	}
	requireBatches(t, objects(index["batches"]), segment)
	require.Equal(t, index["sizeInBytes"], ofType(segment, "end")[0]["validBytes"])
	for i, want := range objects(index["epochs"]) {
		requireFields(t, want, ofType(epochs, "epoch")[i])
	}
	require.Len(t, ofType(epochs, "epoch"), len(objects(index["epochs"])))
	require.NotEmpty(t, ofType(got, "indexEntry"))
	require.NotEmpty(t, ofType(got, "timeIndexEntry"))
	require.Len(t, ofType(got, "partitionMetadata"), 1)
}

func TestGoldenCompressed(t *testing.T) {
	indexes, err := filepath.Glob(goldenPath("segment/compressed/*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, indexes)
	for _, path := range indexes {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		want := tree(t, content)
		if o, ok := want.(object); ok {
			want = o["batches"]
		}
		got, _ := lines(t, strings.TrimSuffix(path, ".json")+".log", dump.Options{Hex: true})
		requireBatches(t, objects(want), got)
	}
}

func TestGoldenSnapshots(t *testing.T) {
	for _, c := range objects(goldenJSON(t, "snapshots/index.json")) {
		got, summary := lines(t, goldenPath("snapshots/"+c["file"].(string)), dump.Options{Hex: true})
		require.Zero(t, summary.Damaged)
		requireBatches(t, objects(c["batches"]), got)
	}
}

func TestGoldenFormatted(t *testing.T) {
	cases := objects(goldenJSON(t, "formatted/index.json"))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		_, summary := lines(t, goldenPath("formatted/"+c["case"].(string)), dump.Options{})
		require.Equal(t, dump.Summary{Files: int64(len(objects(c["files"]))), Batches: summary.Batches, Records: summary.Records}, summary)
		for _, file := range objects(c["files"]) {
			got, _ := lines(t, goldenPath("formatted/"+file["file"].(string)), dump.Options{Hex: true})
			if batches, ok := file["batches"]; ok {
				requireBatches(t, objects(batches), got)
				continue
			}
			require.Len(t, ofType(got, "metaProperties"), 1)
			require.Empty(t, ofType(got, "problem"))
		}
	}
}

func number(t *testing.T, v any) int64 {
	t.Helper()
	n, err := v.(json.Number).Int64()
	require.NoError(t, err)
	return n
}

// recordsOf counts the records behind the header of a batch.
func recordsOf(all []object, batch int) (count int64) {
	n := -1
	for _, l := range all {
		switch {
		case l["type"] == "batch":
			n++
		case l["type"] == "record" && n == batch:
			count++
		}
	}
	return count
}

// Each of Kafka's readers says of a damaged file what the dump says it would.
func TestGoldenCorrupt(t *testing.T) {
	cases := objects(goldenJSON(t, "corrupt/index.json"))
	require.NotEmpty(t, cases)
	for _, c := range cases {
		name := c["file"].(string)
		t.Run(name, func(t *testing.T) {
			path := goldenPath("corrupt/" + name)
			info, err := os.Stat(path)
			require.NoError(t, err)
			got, summary := lines(t, path, dump.Options{})
			end := ofType(got, "end")[0]
			byFile, byReader := c["fileRecords"].(object), c["recordsIteratorCrc"].(object)
			require.Equal(t, byFile["validBytes"], end["validBytes"])

			message, _ := byReader["message"].(string)
			refused := byReader["result"] != "ok" && !strings.Contains(message, "firstBatchSize") // a defect, not a contract
			require.Equal(t, refused, end["readerStopsAt"] != nil, "%s", message)
			batches := ofType(got, "batch")
			handed := objects(byReader["batches"])
			for i, want := range handed {
				require.Equal(t, want["baseOffset"], batches[i]["baseOffset"])
				require.Equal(t, number(t, want["records"])+number(t, want["controlRecords"]), recordsOf(got, i))
				require.Equal(t, want["epoch"], batches[i]["partitionLeaderEpoch"])
				require.Equal(t, want["appendTimestamp"], batches[i]["maxTimestamp"])
			}
			if refused && len(batches) > len(handed) {
				require.Equal(t, batches[len(handed)]["position"], end["readerStopsAt"])
			}
			for i, want := range objects(byFile["batches"]) {
				if want["valid"] == true {
					requireFields(t, want, batches[i])
				}
			}

			whole := byFile["validBytes"] == json.Number(strconv.FormatInt(info.Size(), 10))
			if refused || !whole {
				require.EqualValues(t, 1, summary.Damaged)
				require.NotEmpty(t, ofType(got, "problem")[0]["position"])
			}
			if c["kind"] == "base" {
				require.Equal(t, int64(1), summary.Files)
				require.Zero(t, summary.Damaged+summary.Warnings)
			}
		})
	}
}

func TestGoldenQuorumState(t *testing.T) {
	for _, index := range []string{"quorum-state/index.json", "quorum-state/read-cases.json"} {
		for _, c := range objects(goldenJSON(t, index)) {
			got, summary := lines(t, goldenPath("quorum-state/"+c["file"].(string)), dump.Options{})
			require.Equal(t, c["result"] != "ok", summary.Damaged == 1, c["file"])
			if summary.Damaged == 1 {
				continue
			}
			state := c
			if back, ok := c["readBack"].(object); ok {
				state = back
			}
			line := ofType(got, "quorumState")[0]
			require.Equal(t, state["epoch"], line["leaderEpoch"])
			if leader, ok := state["leaderId"]; ok {
				require.Equal(t, leader, line["leaderId"])
			} else {
				require.Equal(t, json.Number("-1"), line["leaderId"])
			}
			if directory, ok := state["votedDirectoryId"]; ok {
				require.Equal(t, directory, line["votedDirectoryId"])
			}
		}
	}
}

func TestGoldenMetaProperties(t *testing.T) {
	for _, index := range []string{"meta-properties/index.json", "meta-properties/read-cases.json"} {
		for _, c := range objects(goldenJSON(t, index)) {
			got, summary := lines(t, goldenPath("meta-properties/"+c["file"].(string)), dump.Options{})
			back := c
			if o, ok := c["readBack"].(object); ok {
				back = o
			}
			if c["result"] == "error" {
				// The dump knows version 2 (KIP-1262), that release of Kafka did not.
				unknown := strings.Contains(c["message"].(string), "Unknown meta.properties version number 2")
				require.True(t, unknown || summary.Damaged == 1, c["file"])
				continue
			}
			line := ofType(got, "metaProperties")[0]
			for _, name := range []string{"version", "clusterId", "nodeId", "directoryId"} {
				require.Equal(t, back[name], line[name], "%s of %s", name, c["file"])
			}
		}
	}
}

// Everything in the golden folder can be dumped, as text too, and twice the same.
func TestGoldenEverything(t *testing.T) {
	for _, dir := range []string{"segment", "snapshots", "formatted", "corrupt", "quorum-state", "meta-properties", "control-records"} {
		var first, second bytes.Buffer
		summary, err := dump.Dump(&first, goldenPath(dir), dump.Options{})
		again, same := dump.Dump(&second, goldenPath(dir), dump.Options{})
		if summary.Files == summary.Unknown { // lists alone, and no file as Kafka names it
			require.ErrorIs(t, err, dump.ErrNothing)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, err, same)
		require.Equal(t, summary, again)
		require.Equal(t, first.String(), second.String())
		require.Positive(t, summary.Files)
	}
}
