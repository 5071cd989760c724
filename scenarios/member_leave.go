package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/broker"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

// leaveGraceNs is the grace of an operator who waits for a controlled shutdown as long as it takes: no run lasts so long.
const leaveGraceNs = 1_000_000 * million

// leave is the action of that name: nobody kills the broker when it takes long, so only its own end is one.
func (m *members) leave(w *sim.World, a *sim.Act) string {
	h, why := m.target(a)
	if h == nil {
		return why
	}
	if nodeOf(h).leaving {
		return h.ID() + " is leaving"
	}
	w.Stop(h, leaveGraceNs)
	return ""
}

// directoryFails is the action of that name. Partitions have no logs here, so nothing of the disk can fail under them: it is the log
// manager's word that a directory is offline. The metadata log is in the first one, whose failure ends the process.
func (m *members) directoryFails(w *sim.World, a *sim.Act) string {
	h, why := m.target(a)
	if h == nil {
		return why
	}
	member := nodeOf(h).member
	for i := 1; i < len(member.paths); i++ {
		if member.paths[i] != "" {
			w.Request(h, laneMember, memberDirectory{id: member.dirs[i]})
			return ""
		}
	}
	return h.ID() + " has one log directory"
}

// target is the broker of an action, that runs; nil and why not.
func (m *members) target(a *sim.Act) (h *sim.Host, why string) {
	h = a.Host("host")
	if h == nil {
		return nil, ""
	}
	if n := m.c.ops.running(h); n == nil || n.member == nil || n.member.life == nil || n.stopping {
		return nil, h.ID() + " is no broker that runs"
	}
	return h, ""
}

// online are the ids of the log directories that have not failed.
func (m *member) online() (list []record.UUID) {
	for i, path := range m.paths {
		if path != "" {
			list = append(list, m.dirs[i])
		}
	}
	return list
}

// sameDirectories tells whether a registration has exactly the directories that are online.
func sameDirectories(b *image.Broker, online []record.UUID) bool {
	return len(b.LogDirs) == len(online) && !slices.ContainsFunc(online, func(id record.UUID) bool { return !slices.Contains(b.LogDirs, id) })
}

// shutdownEnds is what the calm owes to a broker that was told to end: that it does (metadata-bootstrap 7.5).
type shutdownEnds struct{ c *cluster }

// Met is sim.Obligation.
func (s *shutdownEnds) Met() bool {
	met := s.waits() == ""
	if met {
		*s.c.w.Evaluated(memberCheckDocs[4].Name)++
	}
	return met
}

// Waiting is sim.Obligation.
func (s *shutdownEnds) Waiting() string { return memberCheckDocs[4].Name + ": " + s.waits() }

// waits names a broker that is on its way out. One that was unregistered while it ran is answered STALE_BROKER_EPOCH, and asks on, as with Kafka.
func (s *shutdownEnds) waits() string {
	for i, h := range s.c.w.Hosts() {
		n := s.c.ops.running(h)
		if n == nil || n.member == nil || n.member.life == nil || !n.leaving || h.Frozen() || s.c.membersOf.unregistered[i] {
			continue
		}
		if n.member.life.State() == broker.PendingControlledShutdown {
			return h.ID() + " was told to end, and waits for leave"
		}
	}
	return ""
}
