package scenarios

import (
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// stalls are the silences of hosts, in plans with slow fsyncs: a replica whose thread waits for its disk sends nothing. One such fsync is shorter than a
// fetch timeout less the wait of a fetch; that of a follower and then that of its leader are not.
type stalls struct {
	leastNs int64   // that count; 0: none do
	last    []int64 // by host: when it sent something last
	until   []int64 // by host: when its last long silence was over
}

// build makes it ready for a run.
func (s *stalls) build(p *plan.Plan, hosts int) {
	s.leastNs = p.Disk.SlowSyncNs * 3 / 4 // whether they are drawn or listed one by one
	s.last, s.until = make([]int64, hosts), make([]int64, hosts)
}

// sends hears that a host is not silent.
func (s *stalls) sends(h *sim.Host, nowNs int64) {
	i := h.Index()
	if s.leastNs > 0 && nowNs-s.last[i] >= s.leastNs {
		s.until[i] = nowNs
	}
	s.last[i] = nowNs
}

// stalled reports whether a host is silent for long, or was within a time before now.
func (s *stalls) stalled(h *sim.Host, nowNs, withinNs int64) bool {
	i := h.Index()
	return s.leastNs > 0 && (nowNs-s.last[i] >= s.leastNs || s.until[i] > max(0, nowNs-withinNs))
}
