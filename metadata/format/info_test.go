package format

import (
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// The problems of metadata-bootstrap 1.1, each in a directory of its own.
func TestInspect(t *testing.T) {
	const one = "version=1\ncluster.id=X\nnode.id=1\n"
	disk := filestest.NewMemory()
	disk.Put("/d/good/meta.properties", one+"directory.id=F2YZqouCbrffmWE02jzh0g\n")
	disk.Put("/d/same/meta.properties", one)
	disk.Put("/d/cluster/meta.properties", "version=1\ncluster.id=Y\nnode.id=1\n")
	disk.Put("/d/node/meta.properties", "version=1\ncluster.id=X\nnode.id=2\n")
	disk.Put("/d/v0/meta.properties", "version=0\ncluster.id=X\nbroker.id=1\n")
	disk.Put("/d/v2/meta.properties", "version=2\nnode.id=1\n")
	disk.Put("/d/broken/meta.properties", "version=1\n")
	disk.Put("/d/unformatted/some.log", "")
	disk.Put("/d/unreadable/meta.properties", one)
	disk.Refuse["/d/unreadable/meta.properties"] = syscall.EIO
	disk.Refuse["/d/file"] = syscall.ENOTDIR
	for _, c := range []struct {
		dirs  []string
		roles Roles
		want  []string // what the problems hold, in order
	}{
		{[]string{"/d/good", "/d/same"}, Controller, nil},
		{[]string{"/d/none"}, Broker, []string{"/d/none does not exist"}},
		{[]string{"/d/file"}, Broker, []string{"/d/file is not a directory"}},
		{[]string{"/d/unformatted"}, Broker, []string{"/d/unformatted is not formatted"}},
		{[]string{"/d/cluster", "/d/good"}, Broker, []string{"cluster ids of the directories differ"}},
		{[]string{"/d/good", "/d/node"}, Broker, []string{"node ids of the directories differ"}},
		{[]string{"/d/broken", "/d/good"}, Broker, []string{"/d/broken/meta.properties can't be loaded: "}},
		{[]string{"/d/good", "/d/unreadable"}, Broker, []string{"/d/unreadable/meta.properties can't be loaded: "}},
		{[]string{"/d/v2"}, Broker, []string{"/d/v2/meta.properties can't be loaded: "}},
		{[]string{"/d/v0"}, Broker, []string{"formatted for a ZooKeeper cluster"}},
		{[]string{"/d/v0"}, 0, nil},
		{[]string{"/d/good"}, 0, []string{"process.roles is not set"}},
		{[]string{"/d/cluster", "/d/good", "/d/none", "/d/unformatted"}, 0, []string{"differ", "does not exist", "is not formatted", "process.roles is not set"}},
	} {
		before := len(disk.Journal)
		info := Inspect(disk, c.dirs, c.roles, 1)
		require.Len(t, info.Problems, len(c.want), "%v: %v", c.dirs, info.Problems)
		for i, want := range c.want {
			require.Contains(t, info.Problems[i], want)
		}
		require.Len(t, disk.Journal, before, "nothing is written")
	}
	info := Inspect(disk, []string{"/d/good", "/d/none"}, Broker, 1)
	require.Equal(t, []string{"/d/good"}, info.Found)
	require.Equal(t, "{cluster.id=X, directory.id=F2YZqouCbrffmWE02jzh0g, node.id=1, version=1}", info.Metadata)
	require.Equal(t, "{broker.id=1, cluster.id=X, version=0}", Inspect(disk, []string{"/d/v0"}, 0, 1).Metadata)
	require.Empty(t, Inspect(disk, []string{"/d/v2"}, Broker, 2).Problems, "software that knows version 2")
}

// Ids that the operator chose, and what an error of the disk leaves.
func TestDirectoryIDsGiven(t *testing.T) {
	id := func(text string) record.UUID {
		u, err := record.ParseUUID(text)
		require.NoError(t, err)
		return u
	}
	a, b := id("F2YZqouCbrffmWE02jzh0g"), id("Fm2FrEgxhEGKPtUz5SutlA")
	o := base(t, "kip1262", three)
	o.DirectoryIDs = []DirectoryID{{"/d/0", a}, {"/e/1", b}}
	disk := filestest.NewMemory()
	result, err := run(disk, o)
	require.NoError(t, err)
	require.Equal(t, a, result.Voters[0].DirectoryID, "the standalone voter has the chosen id")
	require.Contains(t, string(disk.Content["/d/0/meta.properties"]), a.String())
	require.Contains(t, string(disk.Content["/e/1/meta.properties"]), b.String())
	require.NotContains(t, string(disk.Content["/d/2/meta.properties"]), b.String())

	delete(disk.Content, "/d/2/meta.properties")
	again := *o
	again.IgnoreFormatted, again.DirectoryIDs = true, []DirectoryID{{"/d/2", a}}
	_, err = run(disk, &again)
	require.ErrorIs(t, err, ErrOptions, "an id that another directory has on disk")
	require.NotContains(t, disk.Content, "/d/2/meta.properties")
}

// A full or failing disk: complete directories are named, nothing half-written is left, and the run can be repeated.
func TestFailingDiskLeavesNothingHalfWritten(t *testing.T) {
	for _, c := range []struct{ release, temp string }{
		{"4.0", "/d/2/bootstrap.checkpoint.tmp"}, {"4.0", "/d/2/meta.properties.tmp"}, {"kip1262", "/d/2/meta.properties.tmp"},
		{"kip1262", "/d/0/__cluster_metadata-0/00000000000000000000-0000000000-0.checkpoint.part"},
	} {
		o := base(t, c.release, three)
		disk := &full{Memory: filestest.NewMemory(), name: c.temp}
		result, err := run(disk, o)
		require.ErrorIs(t, err, ErrDirectory)
		require.ErrorIs(t, err, syscall.ENOSPC)
		for _, name := range disk.Names() {
			require.NotRegexp(t, `\.(tmp|part)$`, name)
		}
		if len(result.Formatted) == 0 {
			require.ErrorContains(t, err, "nothing is formatted, run the same command again")
		} else {
			require.ErrorContains(t, err, `["/d/0"] are formatted, run the same command again with --ignore-formatted`)
		}
		disk.name = ""
		again := *o
		again.IgnoreFormatted = len(result.Formatted) > 0
		_, err = run(disk, &again)
		require.NoError(t, err)
		whole := filestest.NewMemory()
		_, err = run(whole, o)
		require.NoError(t, err)
		require.Equal(t, whole.Names(), disk.Names())
	}
}

// full is a disk that writes half of one file and then is full.
type full struct {
	*filestest.Memory
	name string
	fd   int32
}

func (f *full) Open(name string, create bool) (int32, error) {
	fd, err := f.Memory.Open(name, create)
	if name == f.name {
		f.fd = fd
	}
	return fd, err
}

func (f *full) WriteAt(fd int32, p []byte, offset int64) error {
	if f.name == "" || fd != f.fd {
		return f.Memory.WriteAt(fd, p, offset)
	}
	if err := f.Memory.WriteAt(fd, p[:len(p)/2], offset); err != nil {
		return err
	}
	return syscall.ENOSPC
}

func TestInspectRealDirectories(t *testing.T) {
	dir := t.TempDir()
	o := base(t, "kip1262", func(o *Options) { o.Directories, o.MetadataDir = []string{dir + "/a"}, dir+"/a" })
	_, err := run(osfiles.New(), o)
	require.NoError(t, err)
	info := Inspect(osfiles.New(), []string{dir + "/a", dir + "/a/meta.properties", dir + "/b"}, Controller, 2)
	require.Equal(t, []string{dir + "/a/meta.properties is not a directory", dir + "/b does not exist"}, info.Problems)
}
