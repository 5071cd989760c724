package mutants

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/stretchr/testify/require"
)

const root = "../.."

func patches(t *testing.T) []*Patch {
	t.Helper()
	list, err := ReadPatches(root)
	require.NoError(t, err)
	return list
}

// TestPatches is the promise that the product and its planted bugs move together: every patch has a whole header, applies to
// the tree as it is, and gives Go that parses.
func TestPatches(t *testing.T) {
	catalogue := scenarios.Catalogue()
	id := regexp.MustCompile(`^(KB-[0-9]{2}|KB-A1|KIP-[0-9]+|DISK-[0-9]{2}|CLOCK-[0-9]{2}|NET-[0-9]{2})$`)
	for _, p := range patches(t) {
		t.Run(p.Name, func(t *testing.T) {
			require.NoError(t, p.knownTo(catalogue))
			require.Regexp(t, id, p.ID)
			require.Equal(t, p.ID+"-"+kebab(p.Name)+".patch", p.File)
			files, err := p.Apply(root)
			require.NoError(t, err)
			require.NotEmpty(t, files)
			for name, text := range files {
				before, err := os.ReadFile(filepath.Join(root, name))
				require.NoError(t, err)
				require.NotEqual(t, string(before), text, "%s changes nothing in %s", p.Name, name)
				_, err = parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
				require.NoError(t, err)
			}
		})
	}
}

// kebab turns ReinitAsLeader into reinit-as-leader.
func kebab(name string) string {
	name = regexp.MustCompile(`([a-z0-9])([A-Z])`).ReplaceAllString(name, "$1-$2")
	name = regexp.MustCompile(`([A-Z])([A-Z][a-z])`).ReplaceAllString(name, "$1-$2")
	return strings.ToLower(name)
}

// TestCatalogueIsCovered holds the list of entries that must have a mutant, and the rule that every invariant of elections,
// log, cluster id and images has one; the two that the project was asked for have several.
func TestCatalogueIsCovered(t *testing.T) {
	list := patches(t)
	ids, invariants := map[string]int{}, map[string]int{}
	for _, p := range list {
		ids[p.ID]++
		for _, name := range p.Invariants {
			invariants[name]++
		}
	}
	require.GreaterOrEqual(t, len(list), 15)
	for _, want := range []string{"KB-01", "KB-02", "KB-03", "KB-06", "KB-08", "KB-09", "KB-17", "KB-25", "KB-33", "KB-37", "KB-39", "KB-43"} {
		require.Positive(t, ids[want], want)
	}
	require.GreaterOrEqual(t, ids["KB-45"], 5)
	require.GreaterOrEqual(t, invariants["mv-implies-cluster-id"], 2)
	require.GreaterOrEqual(t, invariants["leader-without-cluster-id-writes-it"], 2)
	for _, name := range firstSet {
		require.Positive(t, invariants[name], "no mutant is expected to break %s", name)
	}
}

// firstSet are the invariants that came with the first scenarios.
var firstSet = []string{
	"election-safety", "one-vote", "epoch-monotonic", "roles", "pre-vote-harmless", "no-disruption", "two-leaders-bounded",
	"log-matching", "leader-completeness", "state-machine-safety", "leader-append-only", "no-write-after-lead", "truncation",
	"hw-monotonic", "hw-durable", "own-epoch-commit", "acknowledged-survives", "listener-order", "voters-follow-log",
	"mv-implies-cluster-id", "no-early-cluster-id", "one-cluster-id", "leader-without-cluster-id-writes-it",
	"persisted-is-stable", "upgrade-keeps-id", "directory-id-first", "bootstrap-once", "cluster-id-served", "id-discovered",
	"images-equal", "published-once", "no-unexpected-stop", "leader-exists", "high-watermark-moves", "nodes-catch-up",
	"bootstrap-stable",
}

// TestPageListsPatches keeps docs/mutants.md and the patches together.
func TestPageListsPatches(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "mutants.md"))
	require.NoError(t, err)
	for _, p := range patches(t) {
		require.Contains(t, string(page), "| "+p.ID+" | `"+p.Name+"` |", "docs/mutants.md lacks a line for %s", p.File)
	}
	lines := regexp.MustCompile("(?m)^\\| \\S+ \\| `[A-Za-z]+` \\|").FindAllString(string(page), -1)
	require.Len(t, lines, len(patches(t)), "docs/mutants.md has lines for patches that are gone")
}
