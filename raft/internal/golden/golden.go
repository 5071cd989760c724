// Package golden finds and decodes the data that Apache Kafka's own code wrote, for the tests of the raft layer. The
// files are those of testdata/golden at the module root or, when set, of the directory in KRAFTSIM_GOLDEN. Only tests
// import it.
package golden

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a golden file or directory.
func Path(t testing.TB, name string) string {
	t.Helper()
	if root := os.Getenv("KRAFTSIM_GOLDEN"); root != "" {
		return filepath.Join(root, filepath.FromSlash(name))
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", "golden", filepath.FromSlash(name))
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Read returns the content of a golden file.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// JSON decodes a golden document into v.
func JSON(t testing.TB, name string, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(Read(t, name)))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// Lines decodes a golden file of one JSON object a line.
func Lines[T any](t testing.TB, name string) []T {
	t.Helper()
	var out []T
	s := bufio.NewScanner(bytes.NewReader(Read(t, name)))
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		var v T
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%s: line %d: %v", name, len(out)+1, err)
		}
		out = append(out, v)
	}
	if s.Err() != nil || len(out) == 0 {
		t.Fatalf("%s: %d lines, %v", name, len(out), s.Err())
	}
	return out
}

// Hex decodes hexadecimal digits.
func Hex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Batch is one batch in the indexes of segments, checkpoints and compressed logs.
type Batch struct {
	Position             int64
	SizeInBytes          int32
	BaseOffset           int64
	LastOffset           int64
	PartitionLeaderEpoch int32
	Magic                int8
	CRC                  uint32
	IsControl            bool
	Compression          string
	MaxTimestamp         int64
	ProducerID           int64
	ProducerEpoch        int16
	BaseSequence         int32
	Count                int32
	Records              []Record
}

// Record is one record in those indexes. KeyHex is nil for null.
type Record struct {
	Offset      int64
	Timestamp   int64
	KeyHex      *string
	ValueHex    *string
	ControlType int16
	JSON        json.RawMessage
}
