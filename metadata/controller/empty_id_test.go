package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
)

// TestEmptyClusterID: an id that is the empty string bootstraps what has no record for it, and nothing that has one: no
// record may carry it, and none may replace it (docs/metadata.md).
func TestEmptyClusterID(t *testing.T) {
	for _, c := range []struct {
		variant Variant
		level   int16
		id      string // in the bootstrap records
		want    string
		fatal   bool
	}{
		{Released, 33, "", "begin:Bootstrap records metadata.version=33 end", false},
		{FinalMar, 33, "", "begin:Bootstrap records metadata.version=33 end", false},
		{Draft, 33, "", "begin:Bootstrap records metadata.version=33 end", false},
		{FinalMar, 34, "", "", true},
		{Draft, 34, "", "", true},
		{Draft, 34, "Y", "", true},
	} {
		cfg := config(t, c.variant)
		cfg.EmptyClusterID = true
		cfg.Bootstrap = []records.Record{level("metadata.version", c.level)}
		if c.id != "" {
			cfg.Bootstrap = append(cfg.Bootstrap, &records.ClusterIdRecord{ClusterId: c.id})
		}
		g := newGroup(t, 1, cfg)
		g.epoch = 1
		err := g.elect(0, 0)
		if c.fatal {
			require.ErrorIs(t, err, ErrActivation)
			require.ErrorContains(t, err, "is empty")
			for _, b := range g.uncommitted {
				require.True(t, b.Control, "nothing is written")
			}
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Join(spell(t, g.uncommitted), " "))
	}
}
