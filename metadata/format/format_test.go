package format

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// fixed is a chooser by hash and a clock that advances by a second a reading.
type fixed struct{ now int64 }

func (f *fixed) Choose(site Site, key uint64, n int64) int64 {
	return int64(nameHash(fmt.Sprint(site, key))>>1) % n
}

func (f *fixed) NowMs() int64 {
	f.now += 1000
	return f.now
}

func run(f files.Files, o *Options) (*Result, error) {
	return Format(f, o, Deps{Chooser: &fixed{}, Clock: &fixed{}})
}

func text(s string) *string { return &s }

const (
	listA = "1@a:1:F2YZqouCbrffmWE02jzh0g"
	listB = "2@b:2:Fm2FrEgxhEGKPtUz5SutlA"
)

// base is a standalone controller that formats.
func base(t testing.TB, release string, change func(o *Options)) *Options {
	t.Helper()
	r, err := features.Find(release)
	require.NoError(t, err)
	o := &Options{
		Release: r, Roles: Controller, NodeID: 1, ClusterID: text("X"), Directories: []string{"/d/0"}, MetadataDir: "/d/0",
		Listener: "controller", Host: "h", Port: 9093, Standalone: true,
	}
	if change != nil {
		change(o)
	}
	return o
}

func static(o *Options)    { o.StaticVoters, o.Standalone = true, false }
func initial(o *Options)   { o.InitialControllers, o.Standalone = text(listA+","+listB), false }
func noInitial(o *Options) { o.NoInitialControllers, o.Standalone = true, false }
func broker(o *Options)    { o.Roles, o.Standalone = Broker, false }
func feature(s string) func(o *Options) {
	return func(o *Options) { o.Features = append(o.Features, s) }
}

// The checks of metadata-bootstrap 1.3 by number; each refused case also breaks the check after it, so the order counts.
func TestChecks(t *testing.T) {
	for _, c := range []struct {
		check   int
		release string
		change  func(o *Options)
		want    string
	}{
		{1, "kip1262", func(o *Options) { o.NoInitialControllers, o.Roles = true, 0 }, "only one of --standalone"},
		{1, "4.0", func(o *Options) { o.InitialControllers = text("") }, "only one of --standalone"},
		{2, "kip1262", func(o *Options) { o.Roles, o.ReleaseVersion = 0, "x" }, "process.roles is empty"},
		{3, "kip1262", func(o *Options) { o.ReleaseVersion, o.Features = "x", []string{"x"} }, "--release-version"},
		{3, "kip1262", func(o *Options) { o.ReleaseVersion = "3.3-IV2" }, "--release-version"},
		{3, "4.0", func(o *Options) { o.ReleaseVersion = "3.2" }, "too old"},
		{4, "kip1262", func(o *Options) { feature("x")(o); o.StaticVoters = true }, `--feature "x"`},
		{4, "kip1262", feature("x=32768"), `--feature "x=32768"`},
		{4, "kip1262", feature("x=-"), `--feature "x=-"`},
		{5, "kip1262", func(o *Options) { o.StaticVoters, o.NodeID = true, -1 }, "controller.quorum.voters is set"},
		{5, "upstream-4.5", func(o *Options) { initial(o); o.StaticVoters = true }, "controller.quorum.voters is set"},
		{6, "kip1262", func(o *Options) { initial(o); o.InitialControllers = text("x"); o.NodeID = -1 }, "in --initial-controllers"},
		{6, "kip1262", func(o *Options) { initial(o); *o.InitialControllers = "1@a:1:AAAAAAAAAAAAAAAAAAAAAA" }, "zero directory id"},
		{7, "kip1262", func(o *Options) { o.Roles, o.NodeID = Broker, -1 }, "--standalone is only for"},
		{8, "kip1262", func(o *Options) { o.Standalone, o.NodeID = false, -1 }, "controller.quorum.voters is empty"},
		{9, "kip1262", func(o *Options) { o.NodeID, o.ClusterID = -1, nil }, "node.id is -1"},
		{9, "kip1262", func(o *Options) { o.ClusterID, o.Directories = nil, nil }, "--cluster-id is missing"},
		{9, "kip1262", func(o *Options) { o.ClusterID = text("\xff") }, "not valid UTF-8"},
		{9, "kip1262", func(o *Options) { o.Directories, o.Listener = nil, "" }, "log.dirs is empty"},
		{9, "kip1262", func(o *Options) { o.Listener, o.MetadataDir = "", "/x" }, "controller.listener.names"},
		{9, "kip1262", func(o *Options) { o.MetadataDir = "/x"; feature("metadata.version=99")(o) }, "metadata.log.dir"},
		{10, "kip1262", func(o *Options) { o.ReleaseVersion = "4.0"; feature("metadata.version=7")(o) }, "both given"},
		{11, "upstream-4.5", func(o *Options) { o.ReleaseVersion = "4.5-IV0"; feature("x=1")(o) }, "not yet stable"},
		{11, "4.0", feature("metadata.version=23"), "not yet stable"},
		{11, "4.0", feature("metadata.version=26"), "release 4.0 knows 1 to 25"},
		{11, "4.0", feature("metadata.version=3"), "too old"},
		{12, "kip1262", func(o *Options) { feature("x=1")(o); feature("kraft.version=0")(o) }, `--feature "x" is not known`},
		{13, "kip1262", feature("kraft.version=0"), "quorum is dynamic"},
		{13, "4.0", feature("kraft.version=0"), "quorum is dynamic"},
		{14, "kip1262", func(o *Options) { static(o); feature("kraft.version=1")(o) }, "quorum is not dynamic"},
		{15, "kip1262", feature("kraft.version=2"), "unknown feature level"},
		{15, "4.0", func(o *Options) { o.ReleaseVersion = "3.8" }, "dependency not met"},
		{15, "3.8", nil, "unknown feature"},
		{15, "4.0", feature("transaction.version=2"), "not yet stable"},
		{15, "kip1262", feature("share.version=3"), "unknown feature level"},
		{15, "kip1262", func(o *Options) {
			o.ReleaseVersion = "4.0-IV0"
			feature("eligible.leader.replicas.version=1")(o)
		}, "dependency not met"},
		{16, "4.0", func(o *Options) { static(o); o.ReleaseVersion, o.Scram = "3.5-IV1", []string{"x"} }, "--add-scram needs"},
		{16, "kip1262", func(o *Options) { o.Scram = []string{"x"} }, "--add-scram: no equals sign"},
		{16, "kip1262", func(o *Options) { o.ClusterID = text(strings.Repeat("x", 32768)) }, "--cluster-id"},
	} {
		disk := filestest.NewMemory()
		_, err := run(disk, base(t, c.release, c.change))
		require.ErrorIs(t, err, ErrOptions, "check %d: %s", c.check, c.want)
		require.ErrorContains(t, err, c.want, "check %d", c.check)
		require.NotContains(t, err.Error(), "\n")
		require.Zero(t, disk.Count, "check %d touched the disk", c.check)
	}
	_, err := run(filestest.NewMemory(), &Options{})
	require.ErrorIs(t, err, ErrOptions)
}

// The combinations of metadata-bootstrap 1.8 that are valid, and what the checkpoint of each holds.
func TestValidCombinations(t *testing.T) {
	const none = -1
	for name, c := range map[string]struct {
		release string
		change  func(o *Options)
		kraft   int16
		voters  int // in the 0-0.checkpoint; none: no such file
	}{
		"broker, dynamic":               {"kip1262", broker, 1, none},
		"broker, static":                {"kip1262", func(o *Options) { broker(o); o.StaticVoters = true }, 0, none},
		"broker -N":                     {"kip1262", func(o *Options) { broker(o); o.NoInitialControllers = true }, 1, none},
		"broker -I":                     {"kip1262", func(o *Options) { broker(o); o.InitialControllers = text(listA) }, 1, none},
		"controller, static":            {"kip1262", static, 0, 0},
		"controller, static -N":         {"kip1262", func(o *Options) { noInitial(o); o.StaticVoters = true }, 0, 0},
		"controller -s":                 {"kip1262", nil, 1, 1},
		"controller -I, listed":         {"kip1262", initial, 1, 2},
		"controller -I, not listed":     {"kip1262", func(o *Options) { initial(o); o.NodeID = 9 }, 1, 2},
		"controller -N":                 {"kip1262", noInitial, 1, 0},
		"combined -s":                   {"kip1262", func(o *Options) { o.Roles |= Broker }, 1, 1},
		"kraft.version 1 at 3.3-IV3":    {"upstream-4.5", func(o *Options) { o.ReleaseVersion = "3.3-IV3" }, 1, 1},
		"oct24 static":                  {"4.0", static, 0, none},
		"oct24 -s":                      {"4.0", nil, 1, 1},
		"oct24 -s with static voters":   {"4.0", func(o *Options) { o.StaticVoters = true }, 1, 1},
		"oct24 -I":                      {"4.0", initial, 1, 2},
		"oct24 -N":                      {"4.0", noInitial, 0, none},
		"oct24 broker":                  {"4.0", broker, 0, none},
		"oct24 broker -I":               {"4.0", func(o *Options) { broker(o); o.InitialControllers = text(listA) }, 1, none},
		"oct24 3.9 standalone":          {"3.9", nil, 1, 1},
		"kraft.version given as it is":  {"kip1262", feature("kraft.version=1"), 1, 1},
		"kraft.version 0 where static":  {"kip1262", func(o *Options) { static(o); feature("kraft.version=0")(o) }, 0, 0},
		"the last of two features wins": {"kip1262", func(o *Options) { feature("x=1")(o); o.Features = []string{"group.version=9", "group.version=1"} }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			disk, o := filestest.NewMemory(), base(t, c.release, c.change)
			result, err := run(disk, o)
			require.NoError(t, err)
			require.Equal(t, c.kraft, result.KRaftVersion)
			require.Equal(t, o.Directories, result.Formatted)
			_, legacy := disk.Content["/d/0/bootstrap.checkpoint"]
			require.Equal(t, o.Release.Layout == features.Oct24, legacy)
			_, there := disk.Content[bootstrap.CheckpointPath("/d/0")]
			require.Equal(t, c.voters != none, there)
			if !there {
				return
			}
			checkpoint, err := bootstrap.ReadCheckpoint(disk, "/d/0")
			require.NoError(t, err)
			require.Equal(t, c.kraft, checkpoint.KRaftVersion)
			require.Equal(t, c.kraft > 0, checkpoint.HasKRaftVersion)
			require.Equal(t, legacy, len(checkpoint.Entries) == 0)
			require.Equal(t, c.voters > 0, checkpoint.Voters != nil)
			if checkpoint.Voters != nil {
				require.Len(t, checkpoint.Voters.Voters, c.voters)
				require.Equal(t, "CONTROLLER", checkpoint.Voters.Voters[0].Endpoints[0].Name)
			}
			requireVoterDirectory(t, disk, o, checkpoint.Voters)
		})
	}
}

// requireVoterDirectory checks that the metadata directory of a listed voter has the listed id, and that of another node
// one of its own.
func requireVoterDirectory(t *testing.T, disk *filestest.Memory, o *Options, m *record.VotersRecord) {
	t.Helper()
	if m == nil {
		return
	}
	id, ok := metaprops.Load(disk, o.Directories, o.MetadataDir, metaprops.V1).DirectoryID(o.MetadataDir)
	require.True(t, ok)
	for _, v := range m.Voters {
		require.Equal(t, v.VoterID == o.NodeID, v.VoterDirectoryID == id)
	}
}

func entryText(entries []bootstrap.Entry) (out []string) {
	for _, e := range entries {
		switch r := e.Record.(type) {
		case *records.FeatureLevelRecord:
			out = append(out, fmt.Sprintf("%s=%d", r.Name, r.FeatureLevel))
		case *records.ClusterIdRecord:
			out = append(out, "cluster "+r.ClusterId)
		case *records.UserScramCredentialRecord:
			out = append(out, "scram "+r.Name)
		}
	}
	return out
}

// The data records in the order of metadata-bootstrap 1.7.
func TestBootstrapRecords(t *testing.T) {
	scram := func(o *Options) {
		o.Scram = []string{"SCRAM-SHA-512=[name=bob,password=b]", "SCRAM-SHA-256=[name=alice,password=a,iterations=5000]"}
	}
	for _, c := range []struct {
		release string
		change  func(o *Options)
		want    string
	}{
		{"kip1262", scram, "[metadata.version=34 eligible.leader.replicas.version=1 group.version=1 share.version=2 " +
			"streams.version=1 transaction.version=2 cluster X scram bob scram alice]"},
		{"upstream-4.5", nil, "[metadata.version=33 eligible.leader.replicas.version=1 group.version=1 share.version=2 " +
			"streams.version=1 transaction.version=2]"},
		{"upstream-4.5", func(o *Options) { o.Unstable, o.ReleaseVersion = true, "4.5-IV0" },
			"[metadata.version=34 eligible.leader.replicas.version=1 group.version=1 share.version=2 " +
				"streams.version=1 transaction.version=2]"},
		{"kip1262", func(o *Options) { o.ReleaseVersion = "4.0-IV2"; feature("transaction.version=0")(o) },
			"[metadata.version=24 group.version=1]"},
		{"kip1262", func(o *Options) { o.ReleaseVersion = "4.4" }, "[metadata.version=33 eligible.leader.replicas.version=1 " +
			"group.version=1 share.version=2 streams.version=1 transaction.version=2]"},
		{"kip1262", func(o *Options) { feature("metadata.version=22")(o); feature("group.version=0")(o) }, "[metadata.version=22]"},
	} {
		disk := filestest.NewMemory()
		result, err := run(disk, base(t, c.release, c.change))
		require.NoError(t, err)
		checkpoint, err := bootstrap.ReadCheckpoint(disk, "/d/0")
		require.NoError(t, err)
		require.Equal(t, c.want, fmt.Sprint(entryText(checkpoint.Entries)))
		m, err := bootstrap.New(checkpoint.Entries, "test", 7)
		require.NoError(t, err)
		require.Equal(t, result.MetadataVersion, m.MetadataVersion())
	}
}

func three(o *Options) { o.Directories = []string{"/d/2", "/d/0", "/e/1"} }

func TestExistingDirectories(t *testing.T) {
	o := base(t, "kip1262", three)
	disk := filestest.NewMemory()
	result, err := run(disk, o)
	require.NoError(t, err)
	require.Equal(t, []string{"/d/0", "/d/2", "/e/1"}, result.Formatted)
	before := disk.Content["/d/0/meta.properties"]

	_, err = run(disk, o) // check 18
	require.ErrorIs(t, err, ErrFormatted)
	require.ErrorContains(t, err, "/d/0")

	o.IgnoreFormatted = true
	result, err = run(disk, o) // check 20
	require.NoError(t, err)
	require.Empty(t, result.Formatted)
	require.Contains(t, result.Messages, "all of the log directories are already formatted")

	delete(disk.Content, "/d/2/meta.properties")
	result, err = run(disk, o)
	require.NoError(t, err)
	require.Equal(t, []string{"/d/2"}, result.Formatted)
	require.Equal(t, before, disk.Content["/d/0/meta.properties"])
	require.NoError(t, metaprops.Load(disk, o.Directories, o.MetadataDir, metaprops.V1).
		Verify(metaprops.Expected{}, metaprops.RequireOneValid))

	for _, change := range []func(o *Options){ // check 17, before 18
		func(o *Options) { o.ClusterID = text("Y") },
		func(o *Options) { o.NodeID = 2 },
	} {
		changed := *o
		change(&changed)
		changed.IgnoreFormatted = false
		_, err = run(disk, &changed)
		require.ErrorIs(t, err, ErrMismatch)
	}
}

func TestFailedDirectories(t *testing.T) {
	o := base(t, "kip1262", three)
	disk := filestest.NewMemory()
	disk.Refuse["/d/2/meta.properties"] = syscall.EIO
	result, err := run(disk, o)
	require.NoError(t, err)
	require.Equal(t, []string{"/d/0", "/e/1"}, result.Formatted)
	require.Contains(t, result.Messages[0], "ignoring /d/2")

	disk = filestest.NewMemory()
	disk.Refuse["/d/0/meta.properties"] = syscall.EIO
	_, err = run(disk, o) // the metadata directory must not fail
	require.ErrorIs(t, err, ErrUnusable)
	require.ErrorIs(t, err, syscall.EIO)
	require.NotErrorIs(t, err, ErrMismatch)

	disk.Refuse["/d/1/meta.properties"] = syscall.EIO
	delete(disk.Refuse, "/d/0/meta.properties")
	_, err = resolve(o, &fixed{})
	require.NoError(t, err)
	single := &resolved{Options: base(t, "kip1262", nil)}
	ensemble := &metaprops.Ensemble{Directories: []metaprops.Directory{{Path: "/x", State: metaprops.Failed}}}
	_, err = single.examine(filestest.NewMemory(), ensemble, &Result{})
	require.ErrorIs(t, err, ErrNoDirectory)

	disk = filestest.NewMemory()
	disk.Refuse["/d/0/meta.properties.tmp"] = syscall.EROFS
	result, err = run(disk, base(t, "kip1262", nil))
	require.ErrorIs(t, err, syscall.EROFS)
	require.ErrorContains(t, err, "meta.properties")
	require.Empty(t, result.Formatted)
}

// TestRepeatedFeature: the last level of a feature counts, as in kafka-storage, and the operator is told.
func TestRepeatedFeature(t *testing.T) {
	disk := filestest.NewMemory()
	result, err := run(disk, base(t, "kip1262", func(o *Options) {
		o.Features = []string{"group.version=1", " group.version = 0", "share.version=1", "share.version=1"}
	}))
	require.NoError(t, err)
	require.Equal(t, "--feature group.version is given more than once: 0 counts, not 1", result.Messages[0])
	require.NotContains(t, strings.Join(result.Messages, "\n"), "share.version")
	checkpoint, err := bootstrap.ReadCheckpoint(disk, "/d/0")
	require.NoError(t, err)
	require.NotContains(t, entryText(checkpoint.Entries), "group.version=1")
	require.Contains(t, entryText(checkpoint.Entries), "share.version=1")
}

// TestUnusableDirectories: what is wrong with the files by themselves is not called a matter of the options, and each line says what to do.
func TestUnusableDirectories(t *testing.T) {
	file := func(cluster, node, id string) []byte {
		return []byte("version=1\ncluster.id=" + cluster + "\nnode.id=" + node + "\ndirectory.id=" + id + "\n")
	}
	const a = "F2YZqouCbrffmWE02jzh0g"
	for _, c := range []struct {
		first, second []byte
		is            error
		want          string
	}{
		{file("Y", "1", a), nil, ErrMismatch, "give the ids that are there"},
		{file("X", "2", a), nil, ErrMismatch, "give the ids that are there"},
		{[]byte("version=9"), nil, ErrUnusable, "version 9, known are 0 to 2; mend it, or set metadata.log.dir"},
		{file("X", "1", "AAAAAAAAAAAAAAAAAAAAAA"), nil, ErrUnusable, "reserved directory id"},
		{file("X", "1", a), file("X", "1", a), ErrUnusable, "duplicate directory id"},
	} {
		disk := filestest.NewMemory()
		disk.Content["/d/0/meta.properties"] = c.first
		if c.second != nil {
			disk.Content["/d/2/meta.properties"] = c.second
		}
		_, err := run(disk, base(t, "kip1262", func(o *Options) { three(o); o.IgnoreFormatted = true }))
		require.ErrorIs(t, err, c.is, c.want)
		require.ErrorContains(t, err, c.want)
		require.Equal(t, c.is == ErrMismatch, strings.Contains(err.Error(), "--cluster-id and node.id"))
		require.Empty(t, disk.Journal, "nothing is written")
	}
}

// TestSkippedWithoutIDs: an empty file is one of version 0 without ids, as in Kafka; who skips it is told that no node starts there.
func TestSkippedWithoutIDs(t *testing.T) {
	for content, told := range map[string]bool{"": true, "version=0\nbroker.id=1\n": true, "version=0\ncluster.id=X\nbroker.id=1\n": false} {
		disk := filestest.NewMemory()
		disk.Content["/d/2/meta.properties"] = []byte(content)
		result, err := run(disk, base(t, "kip1262", func(o *Options) { three(o); o.IgnoreFormatted = true }))
		require.NoError(t, err)
		require.Equal(t, []string{"/d/0", "/e/1"}, result.Formatted)
		require.Equal(t, told, strings.Contains(strings.Join(result.Messages, "\n"), "/d/2 counts as formatted, but its meta.properties has not both ids"))
	}
}

// TestStandaloneOverAnOldFile: a metadata directory whose file has no directory id is left as it is; no voter is named, since none is written.
func TestStandaloneOverAnOldFile(t *testing.T) {
	disk := filestest.NewMemory()
	disk.Content["/d/0/meta.properties"] = []byte("version=1\ncluster.id=X\nnode.id=1\n")
	result, err := run(disk, base(t, "kip1262", func(o *Options) { three(o); o.IgnoreFormatted = true }))
	require.NoError(t, err)
	require.Equal(t, []string{"/d/2", "/e/1"}, result.Formatted)
	require.Empty(t, result.Voters)
}

// Wherever the program dies, the directories that have meta.properties are complete, and a second run makes a whole of
// the rest: the same files as a run that was never stopped, nothing left over.
func TestStoppedAnywhere(t *testing.T) {
	for _, c := range []struct {
		release string
		change  func(o *Options)
	}{{"4.0", three}, {"kip1262", three}, {"4.0", func(o *Options) { three(o); initial(o) }}} {
		o := base(t, c.release, c.change)
		whole := filestest.NewMemory()
		_, err := run(whole, o)
		require.NoError(t, err)
		for stop := int64(1); stop <= whole.Count; stop++ {
			disk := filestest.NewMemory()
			disk.StopAt = stop
			_, err := run(disk, o)
			disk.StopAt = 0
			if !slices.Equal(disk.Names(), whole.Names()) {
				require.Error(t, err)
			}
			again := *o
			again.IgnoreFormatted = true
			_, err = run(disk, &again)
			require.NoError(t, err, "stopped at %d", stop)
			require.Equal(t, whole.Names(), disk.Names(), "stopped at %d", stop)
			checkpoint, err := bootstrap.ReadCheckpoint(disk, "/d/0")
			require.NoError(t, err)
			requireVoterDirectory(t, disk, o, checkpoint.Voters)
		}
	}
}

// The order on disk: the checkpoints are durable before meta.properties is there.
func TestMetaPropertiesComesLast(t *testing.T) {
	disk := filestest.NewMemory()
	_, err := run(disk, base(t, "4.0", nil))
	require.NoError(t, err)
	var renames []string
	for i, step := range disk.Journal {
		if name, ok := strings.CutPrefix(step, "rename "); ok {
			renames = append(renames, name)
			require.Equal(t, "syncdir "+name[:strings.LastIndex(name, "/")], disk.Journal[i+1])
		}
	}
	require.Equal(t, []string{
		"/d/0/bootstrap.checkpoint", bootstrap.CheckpointPath("/d/0"), "/d/0/meta.properties",
	}, renames)
}

func TestRealDirectories(t *testing.T) {
	dir := t.TempDir()
	o := base(t, "kip1262", func(o *Options) { o.Directories, o.MetadataDir = []string{dir + "/a", dir + "/b"}, dir+"/b" })
	disk := osfiles.New()
	_, err := run(disk, o)
	require.NoError(t, err)
	e := metaprops.Load(disk, o.Directories, o.MetadataDir, metaprops.V1)
	require.NoError(t, e.Verify(metaprops.Expected{ClusterID: o.ClusterID, NodeID: &o.NodeID}, metaprops.RequireOneValid))
	require.Len(t, e.Paths(metaprops.Loaded), 2)
	_, err = bootstrap.ReadCheckpoint(disk, o.MetadataDir)
	require.NoError(t, err)
}

// One of two directories formatted: refused without --ignore-formatted; with it only the other one is touched.
func TestIgnoreFormatted(t *testing.T) {
	two := func(o *Options) { o.Directories = []string{"/d/0", "/d/1"} }
	o := base(t, "4.0", two)
	disk := filestest.NewMemory()
	_, err := run(disk, o)
	require.NoError(t, err)
	delete(disk.Content, "/d/1/meta.properties")
	before := map[string]string{}
	for _, name := range disk.Names() {
		before[name] = string(disk.Content[name])
	}
	count := len(disk.Journal)
	_, err = run(disk, o)
	require.ErrorIs(t, err, ErrFormatted)
	require.ErrorContains(t, err, "/d/0")
	require.Len(t, disk.Journal, count, "nothing is written")

	o.IgnoreFormatted = true
	result, err := run(disk, o)
	require.NoError(t, err)
	require.Equal(t, []string{"/d/1"}, result.Formatted)
	require.Equal(t, []string{"/d/0"}, result.Skipped)
	for name, content := range before {
		if strings.HasPrefix(name, "/d/0/") {
			require.Equal(t, content, string(disk.Content[name]), name)
		}
	}
	require.NotContains(t, disk.Journal[count:], "rename /d/0/meta.properties")
	require.Contains(t, disk.Journal[count:], "syncdir /d/0", "a run that was killed may have left the name of the file in memory only")
	require.Contains(t, disk.Content, "/d/1/meta.properties")
	props, err := metaprops.Parse([]byte(before["/d/0/meta.properties"]), metaprops.V1)
	require.NoError(t, err)
	require.Equal(t, props.DirectoryID, result.Voters[0].DirectoryID, "the voter is told as the directory has it")
}

// The operator is told what kind of directory each one is.
func TestKindsAreNamed(t *testing.T) {
	for _, c := range []struct {
		change func(o *Options)
		want   string
	}{
		{func(o *Options) { three(o); initial(o) }, "dynamic metadata voter directory /d/0"},
		{func(o *Options) { three(o); initial(o); o.NodeID = 9 }, "dynamic metadata directory /d/0"},
		{func(o *Options) { three(o); noInitial(o) }, "dynamic metadata directory /d/0"},
		{func(o *Options) { three(o); static(o) }, "metadata directory /d/0"},
		{func(o *Options) { three(o); broker(o) }, "metadata directory /d/0"},
	} {
		result, err := run(filestest.NewMemory(), base(t, "kip1262", c.change))
		require.NoError(t, err)
		require.Equal(t, []string{
			"formatting " + c.want + " with metadata.version 4.5-IV0", "formatting data directory /d/2 with metadata.version 4.5-IV0",
			"formatting data directory /e/1 with metadata.version 4.5-IV0",
		}, result.Messages)
	}
}
