package mutants

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
)

// Each capsule in the mutants' folder of the corpus is named for a patch, and shows one of the invariants that the patch's header names.
func TestCapsulesBelongToPatches(t *testing.T) {
	root, err := FindRoot(".")
	require.NoError(t, err)
	patches, err := ReadPatches(root)
	require.NoError(t, err)
	entries, err := corpus.Read(filepath.Join(root, corpus.Dir), scenarios.Catalogue().Registry)
	require.NoError(t, err)
	for _, e := range entries {
		if e.Folder != corpus.Mutants {
			continue
		}
		i := slices.IndexFunc(patches, func(p *Patch) bool { return p.capsuleName() == e.Name+".json" })
		require.GreaterOrEqual(t, i, 0, "%s belongs to no patch: remove it", e.File)
		var r result
		r.fill(e.Capsule.Verdict)
		require.NotEmpty(t, r.brokenAmong(patches[i].Invariants), "%s shows %s, and the patch is to break one of %v", e.File, e.Capsule.Fingerprint,
			patches[i].Invariants)
		require.Contains(t, patches[i].Scenarios, e.Capsule.Plan.Scenario)
	}
}

// On the clean program capsules of mutants are no problem; a patch without one is none either.
func TestCheckCapsulesOnTheCleanProgram(t *testing.T) {
	root, err := FindRoot(".")
	require.NoError(t, err)
	patches, err := ReadPatches(root)
	require.NoError(t, err)
	problems, err := checkCapsules(filepath.Join(root, corpus.Dir), patches, scenarios.Catalogue())
	require.NoError(t, err)
	require.Empty(t, problems)
	e, err := readCapsule(t.TempDir(), patches[0], scenarios.Catalogue())
	require.NoError(t, err)
	require.Nil(t, e)
}
