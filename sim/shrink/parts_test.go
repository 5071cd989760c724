package shrink_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

func whole() *plan.Plan {
	p := noisy(2, 2)
	p.Network = plan.Network{Transport: "stream", LatencyUs: 300, ResetPpm: 5, Weights: []int64{1, 2}}
	p.Disk.SyncNs, p.Disk.SlowSyncNs = 7, 9
	p.Scheduler = plan.Scheduler{Policy: "pct", WindowUs: 8000, Depth: 3, Steps: 100}
	p.Hosts[1].DriftPpm, p.Hosts[1].OffsetMs = -40, 3
	p.Decisions = []plan.Decision{{Name: "net/reset n0>n1 kind=1 key=2 window=0s #0 = 1", NameHash: 0xabc, Value: 1}}
	return p
}

func TestPartsNameEverything(t *testing.T) {
	var got []string
	for _, part := range shrink.Parts(whole()) {
		got = append(got, part.Kind+" "+part.ID+": "+part.Text)
	}
	require.Equal(t, []string{
		"action a0: 0s crash host=n0 #a0", "action a1: 1us crash host=n1 #a1",
		"decision 0000000000000abc: net/reset n0>n1 kind=1 key=2 window=0s #0 = 1",
		"rate network.weights: network.weights=1 2", "rate network.reset_ppm: network.reset_ppm=5",
		"rate disk.slow_sync_ns: disk.slow_sync_ns=9", "rate scheduler: scheduler=pct within 8000 us",
		"clock n1.offset_ms: n1.offset_ms=3", "clock n1.drift_ppm: n1.drift_ppm=-40",
		"host n0: n0 node", "host n1: n1 node", "workload w0: w0 append", "workload w1: w1 append to=n0,n1",
	}, got)
}

// Each part can be taken out by itself: the plan has that part less (a host: what names it, too), and the plan given stays as it is.
func TestWithoutTakesOneOut(t *testing.T) {
	p := whole()
	all := shrink.Parts(p)
	for i := range all {
		candidate, ok := shrink.Without(p, &all[i])
		require.True(t, ok, all[i].ID)
		left := shrink.Parts(candidate)
		for _, part := range left {
			require.False(t, part.Kind == all[i].Kind && part.ID == all[i].ID, "%s is still there", part.ID)
		}
		if all[i].Kind != shrink.HostPart {
			require.Len(t, left, len(all)-1)
		}
		_, again := shrink.Without(candidate, &all[i])
		require.False(t, again)
	}
	require.Equal(t, whole(), p)
}

func TestNecessaryRunsThePlanWithoutEachPart(t *testing.T) {
	f := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		if has(p, "a1") && p.Network.ResetPpm > 0 && len(p.Decisions) > 0 {
			return broken("x")
		}
		return nil
	}}
	p := whole()
	parts := shrink.Necessary(f, p, "violation/x/e", shrink.Parts(p))
	require.Equal(t, int64(len(parts)), f.runs)
	var needed []string
	for _, part := range parts {
		if part.Necessary {
			needed = append(needed, part.ID)
		}
	}
	require.Equal(t, []string{"a1", "0000000000000abc", "network.reset_ppm", "n0", "n1"}, needed, "the fake refuses one host alone")
	all, necessary := shrink.Count(parts, shrink.ActionPart)
	require.Equal(t, [2]int64{2, 1}, [2]int64{all, necessary})
}

// A run that is stuck without a part, but waits for something else first, is another failure: the part is necessary, as it is to Shrink.
func TestNecessaryKnowsWhatAStuckRunWaitsFor(t *testing.T) {
	p := &plan.Plan{Hosts: []plan.Host{{ID: "n1"}, {ID: "n2"}}, Actions: []plan.Action{{ID: "a", Kind: "cut"}, {ID: "b", Kind: "cut"}, {ID: "c", Kind: "cut"}}}
	r := &fake{fails: func(p *plan.Plan) *plan.Verdict {
		switch {
		case !has(p, "a"):
			return nil
		case !has(p, "b"):
			return &plan.Verdict{Outcome: plan.Stuck, Waiting: []string{"watermark-moves: up to 3"}}
		}
		return &plan.Verdict{Outcome: plan.Stuck, Waiting: []string{"leader-exists: nobody leads", "watermark-moves: up to 2"}}
	}}
	var need []string
	for _, part := range shrink.Necessary(r, p, "stuck", shrink.Parts(p)[:3]) {
		if part.Necessary {
			need = append(need, part.ID)
		}
	}
	require.Equal(t, []string{"a", "b"}, need)
}
