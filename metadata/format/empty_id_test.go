package format

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
)

// TestEmptyClusterID: Kafka's formatter takes any string for a cluster id, the empty one too (metadata-bootstrap 1.3), and so
// does this one, as long as no record has to carry it (KIP-1262, T25).
func TestEmptyClusterID(t *testing.T) {
	o := base(t, "kip1262", func(o *Options) { o.ClusterID, o.ReleaseVersion = text(""), "4.0" })
	disk := filestest.NewMemory()
	_, err := run(disk, o)
	require.NoError(t, err)
	e := metaprops.Load(disk, o.Directories, o.MetadataDir, metaprops.V1)
	id, known := e.ClusterID()
	require.True(t, known, "an id all the same")
	require.Empty(t, id)
	require.ErrorIs(t, e.Verify(metaprops.Expected{ClusterID: text("X")}, 0), metaprops.ErrClusterID, "and another one than X")

	o.ReleaseVersion, disk = "", filestest.NewMemory()
	_, err = run(disk, o)
	require.ErrorIs(t, err, ErrOptions)
	require.ErrorContains(t, err, "--cluster-id is empty")
	require.Empty(t, disk.Content, "nothing is written")
}
