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
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// knownIssue matches the reference of a mutant that Kafka really had.
var knownIssue = regexp.MustCompile(`KAFKA-\d+|Kafka pull request`)

// TestPagesOfKnownBugs keeps docs/stories/mutants in step with patches and capsules: there is a page for each bug that Kafka had, and for no other
// mutant; it has the rule of the patch, the size of the plan of the capsule, all of its actions and no other faults, in at most twelve lines, and
// docs/findings.md links it. What the lines say is for the patched program alone to tell:
//
//	simrun mutants NAME --corpus --stories docs/stories/mutants
func TestPagesOfKnownBugs(t *testing.T) {
	catalogue := scenarios.Catalogue()
	dir := filepath.Join(root, "docs", "stories", "mutants")
	findings, err := os.ReadFile(filepath.Join(root, "docs", "findings.md"))
	require.NoError(t, err)
	var want []string
	for _, p := range patches(t) {
		if !knownIssue.MatchString(p.Reference) {
			continue
		}
		name := strings.TrimSuffix(p.File, ".patch") + ".md"
		want = append(want, name)
		page, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		text := string(page)
		require.True(t, strings.HasPrefix(text, "# "+p.ID+" "+p.Name+"\n\n"+sentence(p.Rule)+" ("+p.Reference+").\n"), "%s has another rule than its patch", name)
		require.Contains(t, string(findings), "["+p.Name+"](stories/mutants/"+name+")", "docs/findings.md does not link it")
		lines := regexp.MustCompile(`(?m)^\d+\. `).FindAllString(text, -1)
		require.NotEmpty(t, lines, name)
		require.LessOrEqual(t, len(lines), storyLines, name)

		e, err := readCapsule(filepath.Join(root, filepath.FromSlash(corpus.Dir)), p, catalogue)
		require.NoError(t, err)
		require.NotNil(t, e, "%s has no capsule", p.File)
		plan := e.Capsule.Plan
		require.Contains(t, text, "told from a plan of "+counted(int64(len(plan.Hosts)), "host")+" and "+counted(int64(len(plan.Actions)), "action")+":\n", name)
		var faults, told []string
		for _, part := range shrink.Parts(plan) {
			if part.Fault() {
				faults = append(faults, part.Text)
			}
		}
		for _, m := range regexp.MustCompile("(?m)^- necessary: `(.*)`$").FindAllStringSubmatch(text, -1) {
			told = append(told, m[1])
		}
		require.Subset(t, faults, told, "%s is of another capsule", name)
		for _, a := range plan.Actions {
			require.Regexp(t, "(?m)^- necessary: `.* #"+regexp.QuoteMeta(a.ID)+"`$", text, "%s does not name an action of its capsule", name)
		}
	}
	var have []string
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		have = append(have, entry.Name())
	}
	slices.Sort(want)
	require.Equal(t, want, have)
}
