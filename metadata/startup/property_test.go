package startup

import (
	"testing"

	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestIdentityIsKept: whatever lies in the directories, a start either refuses and writes nothing, or gives every directory
// that it goes on with one cluster id and ids that no later start changes.
func TestIdentityIsKept(t *testing.T) {
	all := []metaprops.Properties{v0(""), v0(idX), v1(idX, 0), v1(idX, 1), v1(idX, 2), v1(idY, 3), v2("", 0), v2("", 4), v2(idX, 5), noNode(), reserved()}
	rapid.Check(t, func(r *rapid.T) {
		on := props{}
		for _, dir := range []string{dirA, dirB, "/c"} {
			if rapid.Bool().Draw(r, dir) {
				on[dir] = rapid.SampledFrom(all).Draw(r, "properties")
			}
		}
		cfg := config(t, SelfFormat(rapid.IntRange(0, int(Always)).Draw(r, "policy")))
		cfg.Directories = append(cfg.Directories, "/c")
		cfg.StaticVoter = rapid.Bool().Draw(r, "static voter")
		m := disk(t, on)
		n, err := Run(m, cfg)
		if err != nil {
			require.Empty(r, writes(m))
			return
		}
		for dir, before := range on {
			after := stored(t, m, dir)
			if n.Directories.Directory(dir).State == metaprops.Failed {
				require.Equal(r, &before, after)
				continue
			}
			require.True(r, after.HasDirectoryID)
			require.Equal(r, n.ClusterID, after.ClusterID)
			if before.HasDirectoryID {
				require.Equal(r, before.DirectoryID, after.DirectoryID)
			}
			if before.HasClusterID {
				require.Equal(r, before.ClusterID, after.ClusterID)
			}
		}
		m.Journal = nil
		again, err := Run(m, cfg)
		require.NoError(r, err)
		require.Empty(r, writes(m))
		require.Equal(r, n, again)
	})
}
