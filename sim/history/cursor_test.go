package history_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

// TestCursorGoesBothWays compares a cursor that jumps with one that only ever goes forward.
func TestCursorGoesBothWays(t *testing.T) {
	e := sim.NewEngine(scenarios.Catalogue())
	h, err := history.Record(e, storm(t, e, "raft/snapshots", 2))
	require.NoError(t, err)
	require.Greater(t, len(h.Events), 8_000)
	c := history.NewCursor(h)
	rapid.Check(t, func(t *rapid.T) {
		seq := rapid.Int32Range(-2, int32(len(h.Events))).Draw(t, "seq")
		c.Go(seq)
		fresh := history.NewCursor(h)
		for fresh.At < min(seq, int32(len(h.Events))-1) {
			fresh.Next()
		}
		if c.At != fresh.At || !slices.EqualFunc(c.Hosts, fresh.Hosts, sameState) {
			t.Fatalf("at %d: %+v, not %+v", c.At, c.Hosts, fresh.Hosts)
		}
	})
	c.Go(int32(len(h.Events)))
	require.False(t, c.Next())
	logs := logsOf(t, h)
	for host := range c.Hosts {
		require.Equal(t, len(logs[int32(host)]), len(c.Hosts[host].Log))
	}
}

func sameState(a, b history.HostState) bool {
	return a.Up == b.Up && a.Boot == b.Boot && slices.Equal(a.Facets, b.Facets) && slices.Equal(a.Log, b.Log)
}
