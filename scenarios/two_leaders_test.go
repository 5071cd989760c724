package scenarios

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

// reign is a leader that has not heard that it was deposed, as the trace shows it.
type reign struct {
	epoch   int
	deposed bool // another host leads a later epoch by now
}

// watchReigns follows who leads, and counts what deposed leaders still do in their own epoch: appends, and commits.
func watchReigns(line sim.TraceLine, reigns map[string]*reign, appends, commits *int) {
	if line.What == "down" {
		delete(reigns, line.Host)
		return
	}
	kind, rest, found := strings.Cut(line.Text, ": ")
	if line.What != "protocol" || !found {
		return
	}
	var epoch, leader int
	role, numbers, _ := strings.Cut(rest, ", ")
	if n, _ := fmt.Sscanf(numbers, "epoch %d, leader %d", &epoch, &leader); n != 2 {
		return
	}
	r := reigns[line.Host]
	switch {
	case kind == "role-changed" && role == "leader":
		for _, o := range reigns {
			o.deposed = o.deposed || o.epoch < epoch
		}
		reigns[line.Host] = &reign{epoch: epoch}
	case kind == "role-changed":
		delete(reigns, line.Host)
	case r == nil || !r.deposed || role != "leader" || epoch != r.epoch:
	case kind == "log-appended":
		*appends++
	case kind == "high-watermark-advanced":
		*commits++
	}
}

// TestTwoLeadersInRuns: storms have leaders that go on in their epoch while a later one has its leader. They append, and now and then
// still commit what the later leader has as well; no invariant takes them for leaders of the wrong epoch.
func TestTwoLeadersInRuns(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const seeds = 60
	runs, appends, commits := 0, 0, 0
	for _, name := range []string{"raft/storm-3", "raft/storm-5"} {
		for seed := uint64(1); seed <= seeds; seed++ {
			p := c.Scenario(name).Draw(seed)
			v := verdictOf(t, e, p, sim.Options{})
			require.False(t, v.Outcome.Finding(), "%s:%d %v", name, seed, v.Broken)
			if v.Sometimes["two-leaders-at-once"] == 0 {
				continue
			}
			runs++
			reigns := map[string]*reign{}
			before := appends
			verdictOf(t, e, p, sim.Options{Trace: func(l sim.TraceLine) { watchReigns(l, reigns, &appends, &commits) }})
			if appends > before {
				for _, rule := range []string{"election-safety", "leader-append-only", "own-epoch-commit", "leader-completeness", "hw-monotonic"} {
					require.Positive(t, v.Evaluated[rule], "%s:%d %s", name, seed, rule)
				}
			}
		}
	}
	t.Logf("%d of %d runs had two leaders at once; deposed ones appended %d times and committed %d times", runs, 2*seeds, appends, commits)
	require.GreaterOrEqual(t, runs, 4)
	require.GreaterOrEqual(t, appends, 4)
}
