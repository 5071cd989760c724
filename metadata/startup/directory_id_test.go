package startup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
)

// stutter draws one id again and again, whatever the directory, and then others.
type stutter struct{ again, draws *int64 }

func (s stutter) Choose(_ format.Site, _ uint64, n int64) int64 {
	if *s.draws++; *s.draws <= 4*(*s.again) {
		return 7
	}
	return *s.draws % n
}

// TestDirectoryIDsDiffer: a directory gets an id that no other directory of the node has, drawn in the same start or read from its file
// (metadata-bootstrap 2.2, 2.4): the next start would refuse two of one id.
func TestDirectoryIDsDiffer(t *testing.T) {
	const one = uint64(7)<<32 | 7
	taken := record.UUIDFromHalves(one, one)
	other := v1(idX, 2)
	other.DirectoryID = taken
	for _, c := range []struct {
		name   string
		policy SelfFormat
		on     props
	}{
		{"both empty", UnlessBootstrap, nil},
		{"both without id", Never, props{dirA: v1(idX, 0), dirB: v1(idX, 0)}},
		{"the second has it", Never, props{dirA: v1(idX, 0), dirB: other}},
		{"the first has it", Never, props{dirA: other, dirB: v1(idX, 0)}},
		{"the second has it, the first is empty", UnlessBootstrap, props{dirB: other}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, cfg := disk(t, c.on), config(t, c.policy)
			again, draws := int64(3), int64(0)
			cfg.Chooser = stutter{again: &again, draws: &draws}
			n, err := Run(m, cfg)
			require.NoError(t, err)
			a, b := stored(t, m, dirA), stored(t, m, dirB)
			require.True(t, a.HasDirectoryID && b.HasDirectoryID)
			require.NotEqual(t, a.DirectoryID, b.DirectoryID)
			require.True(t, a.DirectoryID == taken || b.DirectoryID == taken, "nothing was drawn twice")
			require.Equal(t, a.DirectoryID, n.DirectoryID)
			require.NoError(t, metaprops.Load(m, cfg.Directories, dirA, cfg.Release.MetaProperties).Verify(metaprops.Expected{}, 0))
		})
	}
}
