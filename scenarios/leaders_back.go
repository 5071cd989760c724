package scenarios

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var leadersGoBack = sim.InvariantDoc{
	Name:   "leaders-go-back",
	Source: "metadata-bootstrap 7.1 (leader.imbalance.check.interval.seconds), 7.8",
	Doc: "In the calm a partition whose first replica is in sync, active and on a directory that is online is led by it, three intervals of the " +
		"periodic balance and half a second after that was so, as long as one controller is active all that time.",
}

// leadersBack judges the periodic task that gives leadership back, of whoever is active: after a failover too. It looks at the memory of
// the active controller whenever that has changed, so that nothing in between escapes it, and keeps the calm going while something is owed.
type leadersBack struct {
	c      *cluster
	limit  int64 // ns
	host   *sim.Host
	epoch  int32
	seen   *image.Image
	owed   []owedLeader // ascending in the order of partitions
	spare  []owedLeader
	judged *int64
}

// owedLeader is a partition whose first replica should lead, and since when.
type owedLeader struct {
	key     image.PartitionKey
	sinceNs int64
}

// build makes it ready for a run whose controllers balance leaders.
func (l *leadersBack) build(c *cluster) {
	*l = leadersBack{c: c, limit: (3*c.members.balanceMs + 500) * million, owed: l.owed[:0], spare: l.spare[:0]}
	if c.members.balanceMs == 0 {
		return
	}
	l.judged = c.w.Evaluated(leadersGoBack.Name)
	c.w.Add(l)
	c.w.AddObligation(l)
}

// Attach is sim.Checker.
func (l *leadersBack) Attach(*sim.World) {}

// OnStep is sim.StepChecker.
func (l *leadersBack) OnStep() {
	if !l.c.w.Calm() {
		return
	}
	h := l.c.work.active(0)
	if h == nil || h.Frozen() || nodeOf(h).control.ClaimedEpoch() != l.epoch || h != l.host {
		l.host, l.seen, l.owed = h, nil, l.owed[:0]
		if h == nil || h.Frozen() {
			return
		}
		l.epoch = nodeOf(h).control.ClaimedEpoch()
	}
	now := l.c.w.NowNs()
	if img := nodeOf(h).control.Image(); img != l.seen {
		l.look(img, now)
	}
	for i := range l.owed {
		if o := &l.owed[i]; now-o.sinceNs > l.limit {
			p := l.seen.Partition(o.key.TopicID, o.key.Partition)
			l.c.w.Violate(leadersGoBack.Name, "overdue", fmt.Sprintf("%s has been active for longer than %d us, and partition %s-%d is led by %d, while its first replica %d could",
				h.ID(), l.limit/1000, o.key.TopicID, o.key.Partition, p.Leader, p.Replicas[0]))
			return
		}
	}
}

// look takes a new image in. Both lists are in the order of the image.
func (l *leadersBack) look(img *image.Image, nowNs int64) {
	l.seen = img
	*l.judged++
	before, next := l.owed, l.spare[:0]
	for key, p := range img.AllPartitions() {
		if !firstShouldLead(img, p) {
			continue
		}
		o := owedLeader{key: key, sinceNs: nowNs}
		for i := range before {
			if before[i].key == key {
				o.sinceNs, before = before[i].sinceNs, before[i+1:]
				break
			}
		}
		next = append(next, o)
	}
	l.owed, l.spare = next, l.owed[:0]
}

// firstShouldLead reports whether the first replica is good for a leader and does not lead.
func firstShouldLead(img *image.Image, p *image.Partition) bool {
	if len(p.Replicas) == 0 || p.Leader == p.Replicas[0] || !slices.Contains(p.Isr, p.Replicas[0]) {
		return false
	}
	b, dir := img.Broker(p.Replicas[0]), p.Directories[0]
	if b == nil || !b.Active() || dir == record.DirectoryLost {
		return false
	}
	return len(b.LogDirs) == 0 || dir == record.DirectoryUnassigned || dir == record.DirectoryMigrating || slices.Contains(b.LogDirs, dir)
}

// Met is sim.Obligation.
func (l *leadersBack) Met() bool { return len(l.owed) == 0 }

// Waiting is sim.Obligation.
func (l *leadersBack) Waiting() string {
	return fmt.Sprintf("%s: %s waits for the leadership of %d partitions to go back", leadersGoBack.Name, l.host.ID(), len(l.owed))
}
