package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// TestBareHeaders: a sector that has nothing of its last batch but what no checksum covers may be lost without a recovery finding it.
func TestBareHeaders(t *testing.T) {
	empty := int64(len(record.AppendBatch(nil, record.BatchSpec{}, make([]byte, 300)))) - 300
	for _, c := range []struct {
		name string
		ends int64 // where the first batch ends and the second begins
		want int
	}{
		{"its checksum begins in the sector", vdisk.SectorSize - coveredFrom - 1, -1},
		{"all of what no checksum covers", vdisk.SectorSize - coveredFrom, vdisk.SectorSize - coveredFrom},
		{"one byte of the base offset", vdisk.SectorSize - 1, vdisk.SectorSize - 1},
		{"none of it", vdisk.SectorSize, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			segment := record.AppendBatch(nil, record.BatchSpec{}, make([]byte, c.ends-empty))
			require.Len(t, segment, int(c.ends))
			segment = record.AppendBatch(segment, record.BatchSpec{BaseOffset: 1}, make([]byte, 100))
			require.Equal(t, c.want, bareFrom(vdisk.Flipped{Path: "0.log"}, segment))
			require.Equal(t, -1, bareFrom(vdisk.Flipped{Path: "0.checkpoint"}, segment), "no recovery reads it batch by batch")
			require.Equal(t, -1, bareFrom(vdisk.Flipped{Path: "0.log"}, segment[:c.ends]), "nothing stands behind it")
		})
	}
}
