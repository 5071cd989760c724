package page_test

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/stretchr/testify/require"
)

// recorded is the page of a real run: what a generator of histories leaves out would show here.
func recorded(t *testing.T, scenario string, seed uint64) *page.Page {
	t.Helper()
	c := scenarios.Catalogue()
	h, err := history.Record(sim.NewEngine(c), c.Scenario(scenario).Draw(seed))
	require.NoError(t, err)
	parts := shrink.Parts(h.Plan)
	return page.Tell(h, story.Tell(h, parts), parts, false, c.Registry, fmt.Sprintf("simrun replay %s:%d", scenario, seed))
}

func TestBrowserRealRun(t *testing.T) {
	p := recorded(t, "raft/storm-3", 11)
	h := p.History
	b := open(t, "real", p, 1440, 1300)
	require.Greater(t, len(h.Events), 1000)
	for step := range 12 {
		at := step * (len(h.Events) - 1) / 11
		b.run(fmt.Sprintf(`const s = document.getElementById("scrub"); s.value = %d; s.dispatchEvent(new Event("input"))`, at))
		for i, host := range h.Hosts {
			for name, want := range folded(h, int32(i), at) {
				require.Equal(t, orDot(want), b.cell(host, name), "%s of %s at event %d", name, host, at)
			}
		}
		host := step % len(h.Hosts)
		b.choose("log-host", fmt.Sprint(host))
		want := foldedLog(h, int32(host), at)
		got := eval[[]string](b, `[...document.querySelectorAll("#log tbody tr")].map((r) => [0, 1, 3].map((i) => r.cells[i].textContent).join(" "))`)
		require.Equal(t, want, got, "log of %s at event %d", h.Hosts[host], at)
	}
	b.keep("")
}
