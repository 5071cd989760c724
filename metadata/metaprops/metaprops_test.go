package metaprops

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func TestParseJava(t *testing.T) {
	for in, want := range map[string]map[string]string{
		"":                      {},
		"a=b":                   {"a": "b"},
		"a = b\r\nc:d\re f":     {"a": "b", "c": "d", "e": "f"},
		"a":                     {"a": ""},
		"a==b":                  {"a": "=b"},
		"a : = b":               {"a": "= b"},
		`a\=b\ c=d`:             {"a=b c": "d"},
		`a\\=b`:                 {`a\`: "b"},
		"# x=1\n ! y=2 \\\nz=3": {"z": "3"},
		"a=b\\\n  # c\n":        {"a": "b# c"},
		"a=b\\\n\nc=d":          {"a": "b", "c": "d"},
		"a=b\\\r\n c":           {"a": "bc"},
		"a=b\\\\\nc=d":          {"a": `b\`, "c": "d"},
		"a=b\\":                 {"a": "b"},
		"\\\n#x=1\na=b":         {"a": "b"},
		"a=1\na=2":              {"a": "2"},
		`a=\u0041\t\n\r\f\q\\`:  {"a": "A\t\n\r\fq\\"},
		`a=\ud83d\ude00`:        {"a": "\U0001f600"},
		"a=caf\xe9":             {"a": "café"},
		" \t\f a\tb c ":         {"a": "b c "},
		"=b":                    {"": "b"},
	} {
		got, err := parseJava([]byte(in))
		require.NoError(t, err, "%q", in)
		require.Equal(t, want, got, "%q", in)
	}
	for _, in := range []string{`a=\u12`, `a=\u12g4`, `\u=`, `a=\u 123`, `a=\u@123`} {
		_, err := parseJava([]byte(in))
		require.ErrorIs(t, err, errEscape, "%q", in)
	}
}

func TestV2(t *testing.T) {
	text := []byte("version=2\nnode.id=1\n")
	_, err := Parse(text, V1)
	require.ErrorIs(t, err, ErrInvalid)
	p, err := Parse(text, V2)
	require.NoError(t, err)
	require.Equal(t, Properties{Version: V2, HasNodeID: true, NodeID: 1}, p)
	_, err = Parse([]byte("version=2\n"), V2)
	require.ErrorContains(t, err, "node.id is missing")
	require.ErrorContains(t, Write(filestest.NewMemory(), "/d", Properties{Version: V1}, 0), "node.id is missing")
	require.Error(t, (&Properties{Version: 3}).Check())
}

func TestWriteIsDeterministicAndDated(t *testing.T) {
	p := Properties{
		Version: V1, HasClusterID: true, ClusterID: " a=b é\U0001f600", HasNodeID: true, NodeID: 7,
		HasDirectoryID: true, DirectoryID: record.UUIDFromHalves(5, 6),
	}
	want := "#\n#Tue Nov 05 10:00:00 UTC 2024\ncluster.id=\\ a\\=b \\u00E9\\uD83D\\uDE00\n" +
		"directory.id=AAAAAAAAAAUAAAAAAAAABg\nnode.id=7\nversion=1\n"
	require.Equal(t, want, string(p.AppendTo(nil, 1730800800000)))
	p.Version = V0
	require.True(t, strings.HasPrefix(string(p.AppendTo(nil, 0)), "#\n#Thu Jan 01 00:00:00 UTC 1970\nbroker.id=7\ncluster.id="))
}

// Any cluster id survives a round trip, which in Kafka only Latin-1 free ids do (T18).
func TestRoundTripProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Properties{Version: rapid.Int32Range(V0, V2).Draw(t, "version")}
		p.HasClusterID = p.Version == V1 || rapid.Bool().Draw(t, "has cluster id")
		p.HasNodeID = p.Version >= V1 || rapid.Bool().Draw(t, "has node id")
		p.HasDirectoryID = rapid.Bool().Draw(t, "has directory id")
		if p.HasClusterID {
			p.ClusterID = rapid.String().Draw(t, "cluster id")
		}
		if p.HasNodeID {
			p.NodeID = rapid.Int32().Draw(t, "node id")
		}
		if p.HasDirectoryID {
			p.DirectoryID = record.UUIDFromHalves(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
		}
		got, err := Parse(p.AppendTo(nil, rapid.Int64Range(0, 1<<42).Draw(t, "date")), V2)
		if err != nil || got != p {
			t.Fatalf("%+v read back as %+v, %v", p, got, err)
		}
	})
}

func v1(cluster string, node int32, directory uint64) string {
	p := Properties{Version: V1, HasClusterID: true, ClusterID: cluster, HasNodeID: true, NodeID: node}
	if directory != 0 {
		p.HasDirectoryID, p.DirectoryID = true, record.UUIDFromHalves(0, directory)
	}
	return string(p.AppendTo(nil, 0))
}

func TestLoadAndVerify(t *testing.T) {
	x, two := "X", int32(2)
	for name, c := range map[string]struct {
		a, b     string // content of /a and /b
		refuse   string // directory whose file cannot be read
		metadata string
		expected Expected
		flags    Flags
		want     error
	}{
		"good":                {a: v1("X", 2, 1000), b: v1("X", 2, 1001), metadata: "/a", flags: RequireOneValid | RequireMetadataDir},
		"as expected":         {a: v1("X", 2, 0), expected: Expected{&x, &two}},
		"one empty":           {a: v1("X", 2, 0)},
		"none":                {flags: RequireOneValid, want: ErrNoneValid},
		"none, not required":  {metadata: "/a"},
		"not v0":              {a: v1("X", 2, 0), flags: RequireV0, want: ErrNotV0},
		"v0":                  {a: "broker.id=2", flags: RequireV0},
		"clusters differ":     {a: v1("X", 2, 0), b: v1("Y", 2, 0), want: ErrClusterID},
		"unexpected cluster":  {a: v1("Y", 2, 0), expected: Expected{ClusterID: &x}, want: ErrClusterID},
		"nodes differ":        {a: v1("X", 2, 0), b: v1("X", 3, 0), want: ErrNodeID},
		"unexpected node":     {a: v1("X", 3, 0), expected: Expected{NodeID: &two}, want: ErrNodeID},
		"cluster before node": {a: v1("Y", 3, 0), expected: Expected{&x, &two}, want: ErrClusterID},
		"reserved":            {a: v1("X", 2, 99), want: ErrReservedDirectoryID},
		"reserved, signed":    {a: v1("X", 2, 1<<63), want: ErrReservedDirectoryID},
		"duplicate":           {a: v1("X", 2, 1000), b: v1("X", 2, 1000), want: ErrDuplicateDirectory},
		"no metadata dir":     {a: v1("X", 2, 0), flags: RequireMetadataDir, want: ErrNoMetadataDir},
		"unreadable":          {a: v1("X", 2, 0), refuse: "/b", metadata: "/a", flags: RequireOneValid},
		"metadata unreadable": {a: v1("X", 2, 0), refuse: "/b", metadata: "/b", want: ErrMetadataDirFailed},
		"metadata damaged":    {a: "version=9", b: v1("X", 2, 0), metadata: "/a", want: ErrMetadataDirFailed},
		"v2 without cluster":  {a: v1("X", 2, 0), b: "version=2\nnode.id=2"},
		"T2":                  {a: "version=2\nnode.id=2\ncluster.id=Y", b: v1("X", 2, 0), want: ErrClusterID},
	} {
		disk := filestest.NewMemory()
		for dir, content := range map[string]string{"/a": c.a, "/b": c.b} {
			if content != "" {
				disk.Put(Path(dir), content)
			}
		}
		if c.refuse != "" {
			disk.Refuse[Path(c.refuse)] = syscall.EIO
		}
		e := Load(disk, []string{"/b", "/a"}, c.metadata, V2)
		require.Len(t, e.Directories, 2, name)
		require.Equal(t, "/a", e.Directories[0].Path)
		require.ErrorIs(t, e.Verify(c.expected, c.flags), c.want, name)
	}
}

func TestEnsembleAccessors(t *testing.T) {
	disk := filestest.NewMemory()
	disk.Put("/a/"+FileName, "version=x")
	disk.Put("/c/"+FileName, v1("X", 2, 1000))
	e := Load(disk, []string{"/c", "/b"}, "/a", V1)
	for state, want := range map[State]string{Empty: "[/b] empty", Failed: "[/a] failed", Loaded: "[/c] loaded"} {
		require.Equal(t, want, fmt.Sprint(e.Paths(state), " ", state))
	}
	cluster, ok := e.ClusterID()
	require.Equal(t, []any{"X", true}, []any{cluster, ok})
	node, ok := e.NodeID()
	require.Equal(t, []any{int32(2), true}, []any{node, ok})
	id, ok := e.DirectoryID("/c")
	require.Equal(t, []any{record.UUIDFromHalves(0, 1000), true}, []any{id, ok})
	_, ok = e.DirectoryID("/b")
	require.False(t, ok)
	empty := Load(disk, nil, "", V1)
	_, ok = empty.ClusterID()
	require.False(t, ok)
	_, ok = empty.NodeID()
	require.False(t, ok)
	require.Nil(t, empty.Directory("/a"))
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(v1("a b:=#!\\ \u00e9", -3, 1000)))
	f.Add([]byte("version=2\\\n\nnode.id \\u0031\r\n!x"))
	f.Fuzz(func(t *testing.T, content []byte) {
		p, err := Parse(content, V2)
		if err != nil {
			require.ErrorIs(t, err, ErrInvalid)
			return
		}
		again, err := Parse(p.AppendTo(nil, 0), V2)
		require.NoError(t, err)
		require.Equal(t, p, again)
	})
}
