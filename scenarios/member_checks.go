package scenarios

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/broker"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
)

// memberCheckDocs are the invariants about sessions.
var memberCheckDocs = [...]sim.InvariantDoc{
	{Name: "session-kept", Source: "KIP-631; metadata-bootstrap 7.5",
		Doc: "An active controller fences no broker for its silence before a session is over since it became active and since it last heard of " +
			"it, and registers no other process in its place."},
	{Name: "unfenced-caught-up", Source: "KIP-631; metadata-bootstrap 7.5",
		Doc: "A broker is unfenced, and told that it has caught up, only when the metadata offset that it reports has reached its registration."},
	{Name: "clean-shutdown-proven", Source: "KIP-966; metadata-bootstrap 5.8",
		Doc: "A broker registers with the epoch of a former process only if the process of that epoch was told to end in order."},
	{Name: "members-stand", Source: "KIP-631; KIP-919; metadata-bootstrap 7.1, 7.4, 7.5",
		Doc: "In the calm every broker that runs is unfenced, in its latest incarnation, every broker that does not is fenced, and every controller that " +
			"runs is registered; but one that a late registration of its former process pushed out, that was unregistered while it ran, or that is refused for its cluster id. " +
			"A broker's registration has the log directories that are online. A node that waits for a cluster id that no record tells is evidence nameless."},
	{Name: "shutdown-ends", Source: "KIP-500; KIP-841; metadata-bootstrap 7.5",
		Doc: "In the calm a broker that was told to end is given leave, and ends by itself: when it leads nothing any more, and every active broker has told that its " +
			"metadata are as far as that. Bound: that of the calm, of which six sessions and six heartbeats are for members."},
	{Name: "registered-here", Source: "KIP-78; metadata-bootstrap 4.1, 4.8",
		Doc: "A broker is registered only by a controller that has its cluster id, or none."},
}

// sessionCheck judges expired sessions by the heartbeats that were answered: the controller had heard of them after they were sent.
type sessionCheck struct {
	c       *cluster
	claimed []int64 // by host: when it became active in this life; -1
	asked   []heard // the latest request of each member, by member
	heard   []heard // that a controller answered
	kept    *int64
	caught  *int64
	proven  *int64
	foreign *int64
	epochs  []int64 // by host: that its process was told in this life, -1
	ended   []int64 // of processes that were told to end in order; they may be killed on the way, when their logs are closed already
}

// heard is when a member sent the heartbeat that a controller answered.
type heard struct {
	controller int // index of the host; -1: of a request that is not answered yet
	member     int
	epoch      int64
	number     int64
	sentNs     int64
	applied    int64 // metadata offset that it told
	registers  bool
	clusterID  string // of a registration
}

// Attach is sim.Checker.
func (s *sessionCheck) Attach(w *sim.World) {
	s.claimed, s.asked, s.heard = s.claimed[:0], s.asked[:0], s.heard[:0]
	for range w.Hosts() {
		s.claimed = append(s.claimed, -1)
	}
	s.kept, s.caught = w.Evaluated(memberCheckDocs[0].Name), w.Evaluated(memberCheckDocs[1].Name)
	s.foreign = w.Evaluated(memberCheckDocs[5].Name)
	s.proven, s.ended, s.epochs = w.Evaluated(memberCheckDocs[2].Name), s.ended[:0], s.epochs[:0]
	for range w.Hosts() {
		s.epochs = append(s.epochs, -1)
	}
}

// OnBoot is sim.LifeChecker.
func (s *sessionCheck) OnBoot(h *sim.Host) { s.claimed[h.Index()], s.epochs[h.Index()] = -1, -1 }

// OnDown is sim.LifeChecker.
func (s *sessionCheck) OnDown(h *sim.Host, _ sim.DownKind, _ error) { s.forget(h) }

// forget does as the controller of a host, which knows nobody's session when it becomes active again.
func (s *sessionCheck) forget(h *sim.Host) {
	s.claimed[h.Index()] = -1
	s.heard = slices.DeleteFunc(s.heard, func(x heard) bool { return x.controller == h.Index() })
}

// OnSend is sim.SendChecker.
func (s *sessionCheck) OnSend(from, to *sim.Host, m sim.Message) {
	switch x := m.(type) {
	case *memberRequest:
		h := heard{controller: -1, member: from.Index(), number: x.number, sentNs: s.c.w.NowNs(), registers: x.broker != nil}
		if x.heartbeat != nil {
			h.epoch, h.applied = x.heartbeat.BrokerEpoch, x.heartbeat.CurrentMetadataOffset
		}
		if x.broker != nil {
			h.clusterID = x.broker.ClusterID
			s.proof(from, x.broker)
		}
		if x.controller == nil {
			put(&s.asked, h)
		}
	case *memberAnswer:
		if to == nil || x.code != controller.None {
			return
		}
		for i := range s.asked {
			a := s.asked[i]
			if a.member != to.Index() || a.number != x.number {
				continue
			}
			a.controller = from.Index()
			if a.registers {
				s.epochs[to.Index()] = x.reply.BrokerEpoch
				if n := nodeOf(to); n != nil && n.leaving {
					s.stopped(to)
				}
				s.registered(&a, x.reply.BrokerEpoch)
				s.here(&a, from)
				continue
			}
			put(&s.heard, a)
			s.unfenced(&a, x)
		}
	}
}

// stopped notes that the process of a host is told to end in order.
func (s *sessionCheck) stopped(h *sim.Host) {
	if i := h.Index(); i < len(s.epochs) && s.epochs[i] >= 0 {
		s.ended = append(s.ended, s.epochs[i])
	}
}

// proof judges what a broker says of the process before it.
func (s *sessionCheck) proof(from *sim.Host, r *controller.BrokerRegistration) {
	if r.PreviousBrokerEpoch < 0 {
		return
	}
	if *s.proven++; !slices.Contains(s.ended, r.PreviousBrokerEpoch) {
		s.c.w.Violate(memberCheckDocs[2].Name, "unproven", fmt.Sprintf("%s registers and names epoch %d, and no process of that epoch was told to end in order", from.ID(),
			r.PreviousBrokerEpoch))
	}
}

// here judges an answer to a registration: who gave it has the cluster id of who asked, or none, as their disks and the log have it.
func (s *sessionCheck) here(a *heard, from *sim.Host) {
	own, known := s.c.membersOf.suite.ClusterID(from)
	if *s.foreign++; known && own != a.clusterID {
		s.c.w.Violate(memberCheckDocs[5].Name, "foreign", fmt.Sprintf("%s, of cluster %q, registers %s, of cluster %q", from.ID(), own, s.c.hosts[a.member].id, a.clusterID))
	}
}

// registered judges an answer to a registration: nobody who had the id was heard of within a session.
func (s *sessionCheck) registered(a *heard, epoch int64) {
	*s.kept++
	for i := range s.heard {
		x := &s.heard[i]
		if x.controller == a.controller && s.c.hosts[x.member].nodeID == s.c.hosts[a.member].nodeID && x.epoch != epoch &&
			s.c.w.NowNs()-x.sentNs < s.sessionNs() && !s.c.membersOf.unregistered[x.member] && !s.c.membersOf.unregistered[a.member] {
			s.c.w.Violate(memberCheckDocs[0].Name, "replaced", fmt.Sprintf("%s is registered with epoch %d %d us after a process with the same id and epoch %d "+
				"sent a heartbeat that was answered", s.c.hosts[a.member].id, epoch, (s.c.w.NowNs()-x.sentNs)/1000, x.epoch))
		}
	}
}

// unfenced judges an answer that says so. The registration stands at the epoch or behind it, and the metadata offset of a process never
// goes back.
func (s *sessionCheck) unfenced(a *heard, x *memberAnswer) {
	if x.reply.IsCaughtUp {
		if *s.caught++; a.applied < a.epoch {
			s.c.w.Violate(memberCheckDocs[1].Name, "told", fmt.Sprintf("broker %d is told that it has caught up, with metadata offset %d and epoch %d", x.to, a.applied, a.epoch))
		}
	}
	if x.reply.IsFenced {
		return
	}
	if *s.caught++; a.applied < a.epoch {
		s.c.w.Violate(memberCheckDocs[1].Name, "behind", fmt.Sprintf("broker %d is unfenced with metadata offset %d, its epoch is %d", x.to, a.applied, a.epoch))
	}
}

// AtEnd is sim.EndChecker: who never registered, since nothing told it the id of its cluster (KIP-1262; metadata-bootstrap 4.7).
func (s *sessionCheck) AtEnd() {
	if s.c.work.active(0) == nil {
		return
	}
	for i, h := range s.c.w.Hosts() {
		if n := s.c.ops.running(h); s.c.hosts[i].kind != kindOperator && n != nil && n.member != nil && s.c.membersOf.suite.Nameless(h) {
			s.c.w.Violate(memberCheckDocs[3].Name, evidenceNameless, h.ID()+" is formatted by nobody, and at this metadata.version no record tells it the "+
				"cluster id: it never registers")
		}
	}
}

// sessionNs is a session, less what clocks may drift.
func (s *sessionCheck) sessionNs() int64 { return s.c.members.sessionMs * million / 100 * 99 }

// put replaces the entry of the same pair, or adds one.
func put(list *[]heard, h heard) {
	for i := range *list {
		if x := &(*list)[i]; x.controller == h.controller && x.member == h.member {
			*x = h
			return
		}
	}
	*list = append(*list, h)
}

// OnProtocol is sim.ProtocolChecker.
func (s *sessionCheck) OnProtocol(h *sim.Host, o sim.Observation) {
	x, ok := o.(*invariants.MetadataObservation)
	if !ok {
		return
	}
	switch e := &x.E; e.Kind {
	case controller.ControllerClaimed:
		s.forget(h)
		s.claimed[h.Index()] = s.c.w.NowNs()
	case controller.Renounced:
		s.forget(h)
	case controller.BrokerSessionExpired:
		s.expired(h, e)
	}
}

func (s *sessionCheck) expired(h *sim.Host, e *controller.Event) {
	*s.kept++
	now, session := s.c.w.NowNs(), s.sessionNs()
	// What the session of a former process says is nothing about the one that is registered now, and was heard of.
	current := e.Other
	if b := e.Image.Broker(e.Count); b != nil && b.Epoch != e.Other {
		current = b.Epoch
		s.c.w.Violate(memberCheckDocs[0].Name, "former", fmt.Sprintf("%s fences broker %d of epoch %d for the silence of epoch %d", h.ID(), e.Count, b.Epoch, e.Other))
	}
	if at := s.claimed[h.Index()]; at >= 0 && now-at < session {
		s.c.w.Violate(memberCheckDocs[0].Name, "activation", fmt.Sprintf("%s fences broker %d for silence %d us after it became active", h.ID(), e.Count,
			(now-at)/1000))
	}
	for i := range s.heard {
		x := &s.heard[i]
		if x.controller == h.Index() && s.c.hosts[x.member].nodeID == e.Count && x.epoch == current && now-x.sentNs < session {
			s.c.w.Violate(memberCheckDocs[0].Name, "heard", fmt.Sprintf("%s fences broker %d for silence %d us after it sent a heartbeat that was answered",
				h.ID(), e.Count, (now-x.sentNs)/1000))
		}
	}
}

// memberStanding is what the calm owes to members: brokers that run are unfenced, in the same incarnation, those that don't are fenced, and
// controllers that run are registered.
type memberStanding struct{ c *cluster }

// Met is sim.Obligation.
func (s *memberStanding) Met() bool {
	met := s.why() == ""
	if met {
		*s.c.w.Evaluated(memberCheckDocs[3].Name)++
	}
	return met
}

// Waiting is sim.Obligation.
func (s *memberStanding) Waiting() string { return "members-stand: " + s.why() }

func (s *memberStanding) why() string {
	a := s.c.work.active(0)
	if a == nil {
		return "no controller is active"
	}
	img := nodeOf(a).control.Image()
	for i, h := range s.c.w.Hosts() {
		e, n := &s.c.hosts[i], s.c.ops.running(h)
		switch {
		case e.kind == kindOperator || s.c.membersOf.exempt(i):
		case h.Frozen() && n != nil: // it runs, and the calm does not mend what cuts it off
		case e.kind != kindBroker:
			if n == nil || !features.SupportsControllerRegistration(img.MetadataVersion()) {
				continue
			}
			if x := img.Controller(e.nodeID); x == nil || x.IncarnationID != n.member.manager.IncarnationID() {
				return h.ID() + " waits to be registered as a controller"
			}
		case n == nil:
			if b := img.Broker(e.nodeID); b != nil && !b.Fenced {
				return h.ID() + " is down and unfenced"
			}
		default:
			life, b := n.member.life, img.Broker(e.nodeID)
			if b == nil && life.Epoch() >= 0 && s.c.membersOf.unregistered[i] {
				continue // it stays out until it starts again, as with Kafka
			}
			if b == nil || b.Fenced || life.State() != broker.Running || b.Epoch != life.Epoch() {
				return fmt.Sprintf("%s is %v and waits to be unfenced", h.ID(), life.State())
			}
			if features.SupportsDirectoryAssignment(img.MetadataVersion()) && !sameDirectories(b, n.member.online()) {
				return h.ID() + " waits for a registration with the log directories that it has"
			}
		}
	}
	return ""
}
