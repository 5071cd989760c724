package startup

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// chooser draws from the key, so that an id depends on the directory only.
type chooser struct{}

func (chooser) Choose(_ format.Site, key uint64, n int64) int64 {
	return int64((key*0x9e3779b97f4a7c15 ^ key>>29) >> 17 % uint64(n))
}

const (
	dirA, dirB = "/a", "/b"
	idX, idY   = "cluster-X", "cluster-Y"
)

// disk holds meta.properties by directory: "1 X A" is version 1 with cluster id X and a directory id made of A.
func disk(t *testing.T, props map[string]metaprops.Properties) *filestest.Memory {
	t.Helper()
	m := filestest.NewMemory()
	for dir, p := range props {
		m.Put(metaprops.Path(dir), string(p.AppendTo(nil, 0)))
	}
	return m
}

func v0(cluster string) metaprops.Properties {
	return metaprops.Properties{HasNodeID: true, NodeID: 1, HasClusterID: cluster != "", ClusterID: cluster}
}

func v1(cluster string, directory byte) metaprops.Properties {
	return metaprops.Properties{Version: metaprops.V1, HasNodeID: true, NodeID: 1, HasClusterID: true, ClusterID: cluster,
		HasDirectoryID: directory != 0, DirectoryID: uuid(directory)}
}

func v2(cluster string, directory byte) metaprops.Properties {
	p := v1(cluster, directory)
	p.Version, p.HasClusterID = metaprops.V2, cluster != ""
	return p
}

func uuid(b byte) (u record.UUID) {
	if b != 0 {
		u[0], u[15] = 1, b
	}
	return u
}

func release(t testing.TB, name string) *features.Release {
	t.Helper()
	r, err := features.Find(name)
	require.NoError(t, err)
	return r
}

// config is a controller with two directories, the first one for metadata.
func config(t testing.TB, policy SelfFormat) Config {
	t.Helper()
	name := "kip1262"
	if policy == Never {
		name = "upstream-4.5"
	}
	return Config{NodeID: 1, Directories: []string{dirA, dirB}, MetadataDir: dirA, Controller: true, Release: release(t, name),
		SelfFormat: policy, NowMs: 1_700_000_000_000, Chooser: chooser{}}
}

// stored parses the file of a directory; nil when there is none.
func stored(t testing.TB, m *filestest.Memory, dir string) *metaprops.Properties {
	t.Helper()
	content, found := m.Content[metaprops.Path(dir)]
	if !found {
		return nil
	}
	p, err := metaprops.Parse(content, metaprops.V2)
	require.NoError(t, err)
	return &p
}

// checkpoint is a 0-0.checkpoint that names voters.
func checkpoint(ids ...int32) string {
	c := bootstrap.Checkpoint{HasKRaftVersion: true, KRaftVersion: 1, Voters: &record.VotersRecord{}}
	for _, id := range ids {
		c.Voters.Voters = append(c.Voters.Voters, record.VoterEntry{VoterID: id, VoterDirectoryID: uuid(byte(id)),
			Endpoints: []record.VoterEndpoint{{Name: "CONTROLLER", Host: fmt.Sprintf("n%d", id), Port: 9093}}})
	}
	return string(c.AppendTo(nil, bootstrap.Times{}))
}

// level is a bootstrap.checkpoint with a metadata.version.
func level(mv int16) string {
	c := bootstrap.Checkpoint{Entries: []bootstrap.Entry{{Record: &records.FeatureLevelRecord{Name: features.MetadataVersion, FeatureLevel: mv}}}}
	return string(c.AppendTo(nil, bootstrap.Times{}))
}

// dirs lists what the node took its directories for.
func dirs(n *Node) (states []string) {
	for i := range n.Directories.Directories {
		d := &n.Directories.Directories[i]
		states = append(states, d.Path+" "+d.State.String())
	}
	return states
}
