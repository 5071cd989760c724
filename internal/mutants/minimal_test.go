package mutants

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
)

// TestCapsulesAreMinimal runs two capsules of mutants in the mutant's program without each of their parts: none may kill. Which two is
// fixed, so that the test says the same each day; `simrun mutants --corpus --minimal`, a job of the night, does it with all.
func TestCapsulesAreMinimal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	root, err := FindRoot(".")
	require.NoError(t, err)
	catalogue := scenarios.Catalogue()
	patches, err := ReadPatches(root)
	require.NoError(t, err)
	patches, _ = Select(patches, []string{"DISK-02", "DISK-03"})
	require.Len(t, patches, 2)
	for _, p := range patches {
		t.Run(p.Name, func(t *testing.T) {
			e, err := readCapsule(filepath.Join(root, corpus.Dir), p, catalogue)
			require.NoError(t, err)
			require.NotNil(t, e)
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
}
