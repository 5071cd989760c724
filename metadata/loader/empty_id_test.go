package loader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestDiscoveryNeverReplacesAnEmptyID: an empty cluster id in meta.properties is an id, so the cluster's is another one: the
// node stops and its files stay as they are (C5, 4.8).
func TestDiscoveryNeverReplacesAnEmptyID(t *testing.T) {
	mem := newMemory()
	require.NoError(t, metaprops.Write(mem, "/d/a", metaprops.Properties{
		Version: metaprops.V1, HasClusterID: true, HasNodeID: true, NodeID: 1, HasDirectoryID: true, DirectoryID: record.UUIDFromHalves(1, 1),
	}, 1))
	mem.ops = nil
	p, err := NewClusterIDPublisher(ClusterIDConfig{
		Files: mem, Ensemble: metaprops.Load(mem, []string{"/d/a"}, "/d/a", metaprops.V2), Version: metaprops.V1, Clock: wall(5),
	})
	require.NoError(t, err)
	require.ErrorIs(t, p.CheckClusterID("X"), ErrClusterID)
	require.NoError(t, p.CheckClusterID(""))
	require.Empty(t, mem.ops)
}
