//nodet:room

package scenarios

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var leadersBalanced = sim.InvariantDoc{
	Name: "leaders-balanced", Source: "KIP-106; KIP-966; metadata-bootstrap 7.1, 7.8",
	Doc: "In the calm an active controller that has periodic elections gives a partition back to its preferred replica, if that one is in sync and can lead, and ends " +
		"one without leader where an unclean election is allowed and a replica can lead: within two intervals and 200 ms, whoever led the controllers before.",
}

// balanceCheck looks at the memory of the active controller in the calm, after each of its operations, for partitions that its periodic elections
// have to change. What is due is worked out here again, more narrowly than the controller's own rule.
type balanceCheck struct {
	c         *cluster
	at        []balanceState // by host
	evaluated *int64
	calmNs    int64 // when the calm was seen first, -1
	bound     [2]int64
}

// balanceState is a controller in one leadership.
type balanceState struct {
	active bool
	last   *image.Image
	since  []duePartition // ascending by key, then kind
	spare  []duePartition // the memory of the one before
}

// duePartition waits for an election since then.
type duePartition struct {
	key     image.PartitionKey
	unclean bool
	sinceNs int64
}

// build adds the checker to runs in which there are periodic elections.
func (b *balanceCheck) build(c *cluster) {
	*b = balanceCheck{c: c, at: b.at[:0]}
	if c.members.balanceMs == 0 && c.members.uncleanMs == 0 {
		return
	}
	b.bound = [2]int64{(2*c.members.balanceMs + 200) * million, (2*c.members.uncleanMs + 200) * million}
	c.w.Add(b)
	c.w.AddObligation(b)
}

// Attach is sim.Checker.
func (b *balanceCheck) Attach(w *sim.World) {
	b.evaluated, b.calmNs = w.Evaluated(leadersBalanced.Name), -1
	for range w.Hosts() {
		b.at = append(b.at, balanceState{})
	}
}

// OnBoot is sim.LifeChecker.
func (b *balanceCheck) OnBoot(h *sim.Host) { b.at[h.Index()] = balanceState{} }

// OnDown is sim.LifeChecker.
func (b *balanceCheck) OnDown(h *sim.Host, _ sim.DownKind, _ error) { b.at[h.Index()] = balanceState{} }

// OnProtocol is sim.ProtocolChecker.
func (b *balanceCheck) OnProtocol(h *sim.Host, o sim.Observation) {
	x, ok := o.(*invariants.MetadataObservation)
	if !ok {
		return
	}
	s := &b.at[h.Index()]
	switch x.E.Kind {
	case controller.ControllerClaimed:
		s.active, s.last, s.since = true, nil, s.since[:0]
	case controller.Renounced:
		s.active = false
	}
	if !s.active || x.E.Image == nil || !b.c.w.Calm() {
		return
	}
	now := b.c.w.NowNs()
	if b.calmNs < 0 {
		b.calmNs = now
	}
	if s.last != x.E.Image {
		s.look(b.c, x.E.Image, now)
	}
	for i := range s.since {
		d := &s.since[i]
		if *b.evaluated++; now-d.sinceNs > b.bound[kindOf(d.unclean)] {
			b.c.w.Violate(leadersBalanced.Name, [2]string{"preferred", "leaderless"}[kindOf(d.unclean)], fmt.Sprintf("%s leaves partition %s-%d for %d us: %s", h.ID(),
				d.key.TopicID, d.key.Partition, (now-d.sinceNs)/1000, invariants.DescribePartition(x.E.Image.Partition(d.key.TopicID, d.key.Partition))))
			d.sinceNs = now
		}
	}
}

func kindOf(unclean bool) int {
	if unclean {
		return 1
	}
	return 0
}

// look finds what is due now; what was due before has waited since then.
func (s *balanceState) look(c *cluster, img *image.Image, now int64) {
	before := s.since
	s.last, s.since, s.spare = img, s.spare[:0], before
	for key, p := range img.AllPartitions() {
		preferred := c.members.balanceMs > 0 && len(p.Replicas) > 0 && p.Leader != p.Replicas[0] && slices.Contains(p.Isr, p.Replicas[0]) && couldLead(img, p, 0)
		unclean := c.members.uncleanMs > 0 && !p.HasLeader() && uncleanAllowed(img, key) && couldAnybody(img, p)
		if !preferred && !unclean {
			continue
		}
		d := duePartition{key: key, unclean: !preferred, sinceNs: now}
		for i := range before {
			if before[i].key == key && before[i].unclean == d.unclean {
				d.sinceNs = before[i].sinceNs
			}
		}
		s.since = append(s.since, d)
	}
}

// couldLead tells whether the broker of a replica is there, and its directory online as far as that is known.
func couldLead(img *image.Image, p *image.Partition, at int) bool {
	b := img.Broker(p.Replicas[at])
	if b == nil || !b.Active() {
		return false
	}
	switch dir := p.Directories[at]; dir {
	case record.DirectoryUnassigned, record.DirectoryMigrating:
		return true
	default:
		return slices.Contains(b.LogDirs, dir)
	}
}

func couldAnybody(img *image.Image, p *image.Partition) bool {
	for at := range p.Replicas {
		if couldLead(img, p, at) {
			return true
		}
	}
	return false
}

// uncleanAllowed is unclean.leader.election.enable of a topic, else of all brokers; no node of these runs has it in its own configuration.
func uncleanAllowed(img *image.Image, key image.PartitionKey) bool {
	const name = "unclean.leader.election.enable"
	t := img.TopicByID(key.TopicID)
	if t == nil {
		return false
	}
	value, found := img.Config(image.ConfigKey{Type: image.TopicResource, Resource: t.Name, Name: name})
	if !found {
		value, _ = img.Config(image.ConfigKey{Type: image.BrokerResource, Name: name})
	}
	return value == "true"
}

// Met is sim.Obligation: as long as something is due, the calm lasts until it is late.
func (b *balanceCheck) Met() bool {
	h := b.c.work.active(0)
	if h == nil || len(b.at[h.Index()].since) == 0 {
		return true
	}
	return b.calmNs >= 0 && b.c.w.NowNs()-b.calmNs > max(b.bound[0], b.bound[1])+600*million
}

// Waiting is sim.Obligation.
func (b *balanceCheck) Waiting() string { return "leaders-balanced: partitions wait for an election" }
