package mutants

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
)

// rotating is how many capsules a run of the test takes: each day others, so that in some months all have had their turn.
const rotating = 2

// TestCapsulesAreMinimal runs a few capsules of mutants in the mutant's program without each of their parts: none may kill.
func TestCapsulesAreMinimal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := FindRoot(".")
	require.NoError(t, err)
	catalogue := scenarios.Catalogue()
	patches, err := ReadPatches(root)
	require.NoError(t, err)
	day := int(time.Now().Unix() / 86_400)
	tried := 0
	for i := 0; i < len(patches) && tried < rotating; i++ {
		p := patches[(day*rotating+i)%len(patches)]
		e, err := readCapsule(filepath.Join(root, corpus.Dir), p, catalogue)
		require.NoError(t, err)
		if e == nil {
			continue
		}
		tried++
		t.Run(p.Name, func(t *testing.T) {
			x := &product{patch: p, dir: t.TempDir()}
			x.make(context.Background(), root, nil)
			require.NoError(t, x.err)
			kill, err := x.killedBy(context.Background(), e)
			require.NoError(t, err)
			require.NotNil(t, kill)
			parts, err := x.removable(context.Background(), e.Capsule, catalogue)
			require.NoError(t, err)
			require.Empty(t, parts, "these can go, each by itself: simrun mutants %s --minimal --capsules testdata/corpus", p.File)
		})
	}
	require.Equal(t, rotating, tried)
}
