package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestStalls: a silence counts from three quarters of a slow fsync on, while it lasts and for as long as is asked; without slow fsyncs none does.
func TestStalls(t *testing.T) {
	h := &sim.Host{}
	for _, c := range []struct {
		name   string
		slowNs int64
		sends  []int64
		now    int64
		within int64
		want   bool
	}{
		{"it is silent now", 100, []int64{100}, 175, 1_000, true},
		{"not for long", 100, []int64{100}, 174, 1_000, false},
		{"it was", 100, []int64{100, 180, 185}, 200, 50, true},
		{"too long ago", 100, []int64{100, 180, 185}, 240, 50, false},
		{"fsyncs are as fast as ever", 0, []int64{100}, 500, 1_000, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stalls
			s.build(&plan.Plan{Disk: plan.Disk{SlowSyncNs: c.slowNs}}, 1)
			s.last[0] = c.sends[0]
			for _, at := range c.sends {
				s.sends(h, at)
			}
			require.Equal(t, c.want, s.stalled(h, c.now, c.within))
		})
	}
}
