package loader

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

type wall int64

func (w wall) WallMs() int64 { return int64(w) }

type sink struct {
	ids []string
	see func()
}

func (s *sink) SetClusterID(id string) {
	s.ids = append(s.ids, id)
	if s.see != nil {
		s.see()
	}
}

// discovery is a node with three directories, a publisher and a loader that has caught up with metadata.version 34.
type discovery struct {
	mem    *memory
	ens    *metaprops.Ensemble
	pub    *ClusterIDPublisher
	loader *Loader
	log    *log
	sink   *sink
	rec    *recorder
}

var dirs = []string{"/d/a", "/d/b", "/d/c"}

func discover(t *testing.T, ids map[string]string, metadataDir string) *discovery {
	t.Helper()
	d := &discovery{mem: newMemory(), sink: &sink{}, rec: &recorder{}, log: &log{epoch: 1}}
	for i, dir := range dirs {
		p := metaprops.Properties{
			Version: metaprops.V2, HasNodeID: true, NodeID: 1, HasDirectoryID: true, DirectoryID: record.UUIDFromHalves(1, uint64(i)),
		}
		p.ClusterID, p.HasClusterID = ids[dir], ids[dir] != ""
		require.NoError(t, metaprops.Write(d.mem, dir, p, 1))
	}
	d.mem.ops = nil
	d.ens = metaprops.Load(d.mem, dirs, metadataDir, metaprops.V2)
	var err error
	d.pub, err = NewClusterIDPublisher(ClusterIDConfig{
		Files: d.mem, Ensemble: d.ens, Version: metaprops.V1, Clock: wall(5), Sinks: []ClusterIDSink{d.sink}, Observer: d.rec,
	})
	require.NoError(t, err)
	d.loader, err = New(config(t), Deps{Raft: &fakeRaft{known: true, highWatermark: 1}, Observer: d.rec, Guard: d.pub})
	require.NoError(t, err)
	require.NoError(t, d.loader.Install(0, d.pub))
	require.NoError(t, d.commit(&records.NoOpRecord{}))
	require.NoError(t, d.loader.Poll(0))
	require.Equal(t, 1, d.rec.count(PublisherInitialized))
	return d
}

func (d *discovery) commit(rs ...records.Record) error {
	return d.loader.HandleCommit(0, []raft.Batch{d.log.batch(rs...)})
}

func (d *discovery) onDisk(t *testing.T, dir string) metaprops.Properties {
	t.Helper()
	p, err := metaprops.Parse(d.mem.content[metaprops.Path(dir)], metaprops.V2)
	require.NoError(t, err)
	return p
}

func id(s string) records.Record { return &records.ClusterIdRecord{ClusterId: s} }

// 4.7: first every directory, durably, then everybody who waits.
func TestDiscovery(t *testing.T) {
	d := discover(t, nil, "/d/b")
	d.sink.see = func() {
		for _, dir := range dirs {
			require.Equal(t, "X = y:z", d.onDisk(t, dir).ClusterID, "persisted before anybody hears of it")
		}
	}
	require.NoError(t, d.commit(level("metadata.version", 34), id("X = y:z")))
	require.Equal(t, []string{"X = y:z"}, d.sink.ids)
	require.Equal(t, 3, d.rec.count(ClusterIDPersisted))
	require.Equal(t, 1, d.rec.count(ClusterIDKnown))
	require.Len(t, d.mem.ops, 9, "sync, rename, sync of the directory, three times: %v", d.mem.ops)
	for i, dir := range dirs {
		p := d.onDisk(t, dir)
		require.Equal(t, metaprops.V1, p.Version, "older software can read it")
		require.Equal(t, record.UUIDFromHalves(1, uint64(i)), p.DirectoryID)
	}
	require.NoError(t, d.commit(id("X = y:z")))
	require.Len(t, d.sink.ids, 1)
	require.Len(t, d.mem.ops, 9)
}

// C7, T13: nothing of an open or aborted transaction is persisted.
func TestDiscoveryWaitsForTheEnd(t *testing.T) {
	d := discover(t, nil, "/d/b")
	require.NoError(t, d.commit(begin(), id("X")))
	require.NoError(t, d.commit(abort(), begin(), id("Y")))
	require.Empty(t, d.mem.ops)
	require.NoError(t, d.commit(end()))
	require.Equal(t, []string{"Y"}, d.sink.ids)
}

func TestDiscoveryWithSomeDirectories(t *testing.T) {
	d := discover(t, map[string]string{"/d/a": "X"}, "/d/b") // T1
	require.Equal(t, "X", d.pub.ClusterID())
	require.NoError(t, d.commit(id("X")))
	require.Equal(t, 2, d.rec.count(ClusterIDPersisted))
	require.Empty(t, d.sink.ids, "the process booted with it")
	require.Equal(t, metaprops.V2, d.onDisk(t, "/d/a").Version, "not rewritten")
	require.Equal(t, "X", d.onDisk(t, "/d/c").ClusterID)
}

// 4.8: another id stops the node before any publisher sees the image, and rewrites nothing.
func TestDiscoveryOfAnotherCluster(t *testing.T) {
	d := discover(t, map[string]string{"/d/a": "X", "/d/b": "X", "/d/c": "X"}, "/d/b")
	other := &fakePublisher{name: "first"}
	require.NoError(t, d.loader.Install(1, other))
	require.NoError(t, d.loader.Poll(1))
	seen := len(other.got)
	err := d.commit(id("Y"))
	require.ErrorIs(t, err, ErrFatal)
	require.ErrorIs(t, err, ErrClusterID)
	require.Len(t, other.got, seen)
	require.Empty(t, d.mem.ops)
	require.Empty(t, d.loader.Image().ClusterID())
}

// T4: a directory that cannot be written is given up, unless it is the metadata directory.
func TestDiscoveryWithBrokenDirectory(t *testing.T) {
	d := discover(t, nil, "/d/b")
	d.mem.failing = "/d/a"
	require.NoError(t, d.commit(id("X")))
	require.Equal(t, metaprops.Failed, d.ens.Directory("/d/a").State)
	require.ErrorIs(t, d.ens.Directory("/d/a").Err, errDisk)
	require.Equal(t, 1, d.rec.count(DirectoryFailed))
	require.Equal(t, 2, d.rec.count(ClusterIDPersisted))
	require.Equal(t, []string{"X"}, d.sink.ids)

	d = discover(t, nil, "/d/b")
	d.mem.failing = "/d/b"
	err := d.commit(id("X"))
	require.True(t, errors.Is(err, ErrFatal) && errors.Is(err, errDisk), err)
	require.Empty(t, d.sink.ids)
	require.False(t, d.onDisk(t, "/d/c").HasClusterID)
}

// A failed directory is left alone, and an empty one too: start-up says which may be formatted.
func TestDiscoveryLeavesOthersAlone(t *testing.T) {
	d := discover(t, nil, "/d/b")
	d.ens.Directory("/d/a").State, d.ens.Directory("/d/c").State = metaprops.Failed, metaprops.Empty
	require.NoError(t, d.commit(id("X")))
	require.Equal(t, 1, d.rec.count(ClusterIDPersisted))
	require.False(t, d.onDisk(t, "/d/a").HasClusterID)
	require.False(t, d.onDisk(t, "/d/c").HasClusterID)
}

func TestClusterIDConfigIsChecked(t *testing.T) {
	_, err := NewClusterIDPublisher(ClusterIDConfig{Ensemble: &metaprops.Ensemble{}, Version: metaprops.V0})
	require.ErrorIs(t, err, ErrConfig)
}

// The order of storing and telling (4.7), both ways: which files hold the id when raft hears of it.
func TestOrderOfTellingAndStoring(t *testing.T) {
	for _, first := range []bool{false, true} {
		d := discover(t, nil, dirs[0])
		d.pub.cfg.TellFirst = first
		stored := int32(-1)
		d.sink.see = func() {
			stored = 0
			for _, dir := range d.ens.Directories {
				if dir.Properties.HasClusterID {
					stored++
				}
			}
		}
		require.NoError(t, d.commit(id("X")))
		want := int32(len(dirs))
		if first {
			want = 0
		}
		require.Equal(t, want, stored)
		require.Equal(t, []string{"X"}, d.sink.ids)
		require.Equal(t, "X", d.onDisk(t, dirs[2]).ClusterID)
	}
}
