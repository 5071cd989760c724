package mutants

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
)

// shadowed is an invariant that breaks in no run of its own, since the run ends before with another one that sees the same earlier.
type shadowed struct {
	by     []string // that see it first
	reason string
	test   string // in scenarios or invariants: it breaks the invariant, and keeps it
}

// shadowedInvariants have no mutant. docs/mutants.md has the same table.
var shadowedInvariants = map[string]shadowed{
	"kafka-watermark": {[]string{"own-epoch-commit", "leader-completeness"}, "a new leader that exposes less than was exposed either stays below its first " +
		"own record or lacks committed ones", "TestKafkaChecks"},
	"kafka-epoch": {[]string{"epoch-monotonic"}, "a lower epoch is in quorum-state, or in a request, before a role of it is told", "TestKafkaChecks"},
	"kafka-majority": {[]string{"hw-durable"}, "what a majority has durably it has; this one is content with what is not flushed",
		"TestKafkaChecks"},
	"kafka-one-leader": {[]string{"election-safety"}, "the leader that a node names is in its quorum-state before it names it", "TestKafkaChecks"},
	"kafka-stable-leader": {[]string{"no-disruption", "no-needless-resignation", "fenced"}, "a leader ends by a candidate, which takes a majority of pre-votes, " +
		"by giving up, or by an epoch that it should have refused", "TestStableLeader"},
	"kafka-majority-ahead": {[]string{"hw-durable", "hw-monotonic"}, "the minority can only be as far by what no majority has", "TestKafkaChecks"},
	"linearizable": {[]string{"answers", "acknowledged-survives"}, "it is judged when a run has ended and nothing else is broken, and `answers` judges each of " +
		"the operations when it is answered", "TestHistories"},
	"upgrade-complete": {[]string{"kraft-version", "level-with-cluster-id", "upgrade-keeps-id", "voter-answer", "id-discovered"}, "a step of the runbook is " +
		"through when the cluster says so, and each of these words is judged when it is given", "TestUpgradeGoalSeesWhatIsMissing"},
}

// TestEveryInvariantHasAMutant: each invariant of the catalogue is what broke in the capsule of a mutant that names it, or stands in the table
// above, which has nothing else.
func TestEveryInvariantHasAMutant(t *testing.T) {
	catalogue := scenarios.Catalogue()
	dir := filepath.Join(root, corpus.Dir)
	killed := map[string]string{}
	for _, p := range patches(t) {
		e, err := readCapsule(dir, p, catalogue)
		require.NoError(t, err)
		if e == nil {
			continue
		}
		v := e.Capsule.Verdict
		for _, b := range v.Broken {
			killed[b.Invariant] = p.Name
		}
		for _, line := range v.Waiting {
			name, _, _ := strings.Cut(line, ":")
			killed[name] = p.Name
		}
	}
	tests := testNames(t, "scenarios", "invariants")
	page, err := os.ReadFile(filepath.Join(root, "docs", "mutants.md"))
	require.NoError(t, err)
	var names []string
	for _, doc := range catalogue.Invariants {
		names = append(names, doc.Name)
		x, none := shadowedInvariants[doc.Name]
		if !none {
			require.NotEmpty(t, killed[doc.Name], "no capsule of a mutant breaks %s", doc.Name)
			continue
		}
		require.Empty(t, killed[doc.Name], "%s has a mutant: the table of those that have none is wrong", doc.Name)
		require.Contains(t, tests, x.test, doc.Name)
		row := "| `" + doc.Name + "` | `" + strings.Join(x.by, "`, `") + "` | " + x.reason + " | `" + x.test + "` |"
		require.True(t, strings.Contains(string(page), row), "docs/mutants.md lacks %s", row)
		for _, other := range x.by {
			require.NotEmpty(t, killed[other], "%s is to be shadowed by %s, which no mutant breaks", doc.Name, other)
		}
	}
	for name := range shadowedInvariants {
		require.True(t, slices.Contains(names, name), "there is no invariant %s", name)
	}
}

// testNames are the test functions below some folders.
func testNames(t *testing.T, folders ...string) (names []string) {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, folder := range folders {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range function.FindAllStringSubmatch(string(text), -1) {
				names = append(names, m[1])
			}
			return err
		}))
	}
	return names
}
