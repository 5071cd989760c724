package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// What "ready" means to who starts nodes one after the other.
const (
	readyProcess = "process"
	readyLeader  = "leader"
)

// start boots a host and waits until it is ready.
func (r *procedure) start(s *procedureStep) bool {
	if !s.begun {
		s.begun = true
		r.c.w.Start(s.host)
		return false
	}
	n := r.c.ops.running(s.host)
	if n == nil {
		r.c.w.Start(s.host) // it ended meanwhile
		return false
	}
	return s.ready == readyProcess || n.replica.LeaderAndEpoch().LeaderID >= 0
}

// fail kills a host; a careful operator waits until the others can do without it. It comes back after its downtime.
func (r *procedure) fail(s *procedureStep) bool {
	if s.host == nil {
		s.host = r.c.ops.leader(0)
	}
	if s.host == nil || s.careful && !r.healthyWithout(s.host) {
		return false
	}
	r.c.w.Kill(s.host)
	if s.downNs > 0 {
		r.c.ops.startAfter(s.host, s.downNs)
	}
	return true
}

// rename restarts a host with another host name, which all configurations have from then on. At kraft.version 1 the address of a voter
// is in the log, and a careful operator waits until the log has it. A careless one goes on at once.
func (r *procedure) rename(s *procedureStep) bool {
	e := &r.c.hosts[s.host.Index()]
	if s.begun {
		return !s.careful || r.caughtUp(s.host) && r.knownAs(e)
	}
	if s.careful && !r.healthyWithout(s.host) {
		return false
	}
	s.begun = r.c.ops.reconfigure(r.c.w, s.host, s.downNs, func(e *hostSettings) {
		e.oldName, e.keepsName, e.name = e.name, s.overlap, "new."+e.id
		if !r.c.dynamic && r.c.settings.quorum() != nil {
			panic("scenarios: host names that a plan could have do not make a quorum")
		}
	}) == ""
	return s.begun && !s.careful
}

// knownAs reports whether the committed voter set of whoever leads has the name of a host; where it holds no addresses, there is nothing
// to wait for.
func (r *procedure) knownAs(e *hostSettings) bool {
	l := r.c.ops.leader(0)
	if l == nil {
		return false
	}
	replica := nodeOf(l).replica
	mark, known := replica.HighWatermark()
	if !known || replica.VotersOffset() >= mark {
		return false
	}
	v := replica.Voters().Find(e.nodeID)
	if v == nil || !r.c.dynamic {
		return true
	}
	endpoint, ok := v.Endpoint(r.c.listener)
	return ok && endpoint.Host == e.name
}

// staticQuorum is controller.quorum.voters as a host is configured with it.
func (s *settings) staticQuorum(h *hostSettings) *voters.Set {
	if h.quorum == nil || s.dynamic {
		return s.quorums[h.cluster].static
	}
	set, err := s.staticOf(func(v *hostSettings) bool { return slices.Contains(h.quorum, v.id) })
	if err != nil {
		panic("scenarios: quorum_voters: " + err.Error()) // checked when the plan was read
	}
	return set
}
