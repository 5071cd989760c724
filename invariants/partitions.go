package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var partitionsDoc = sim.InvariantDoc{
	Name:   "partitions",
	Source: "KIP-497; KIP-841; KIP-903; KIP-966; KAFKA-14139; KAFKA-19522; metadata-bootstrap 7.6 to 7.8",
	Doc: "At the end of each operation of an active controller: a leader is in sync and its broker neither fenced nor shutting down; the " +
		"in-sync replicas are replicas, and who has come to them is active; leader and partition epochs never go back within a leadership. Who leaves while fewer " +
		"than min.insync.replicas are in sync is eligible, and nobody else; a reassignment ends when what it adds is in sync; a leader that changes, and a " +
		"replica that goes, begin a leader epoch, and below 3.6-IV0 one that leaves the in-sync replicas, nothing else; a leader that was not in sync recovers, and none leads from a directory that is offline.",
}

// partitionState is what a controller's memory looked like at the end of its latest operation.
type partitionState struct {
	active bool
	last   *image.Image // nil as long as none was looked at in this leadership
	delta  image.Delta  // scratch
}

// partitionsEvent looks at the memory of an active controller where no operation is under way: after each that appended
// something, and at commits, which the lane takes between two operations. Memory that renounces goes back, and is not compared
// with what it was.
func (c *core) partitionsEvent(r *replica, e *controller.Event) {
	s := &r.partitions
	switch e.Kind {
	case controller.ControllerClaimed:
		s.active, s.last = true, nil
	case controller.Renounced, controller.SnapshotLoaded:
		s.active, s.last = false, nil
	case controller.OpAppended, controller.Committed, controller.NoOpWritten, controller.ActivationCompleted:
		if s.active && e.Image != nil && e.Image != s.last {
			c.judgePartitions(r, e.Image)
		}
	}
}

// judgePartitions looks at what is different since the last time: the partitions that changed, and those led by a broker whose
// registration did. Cost: what changed.
func (c *core) judgePartitions(r *replica, now *image.Image) {
	s := &r.partitions
	rule := &c.rules.partitions
	rule.eval()
	before := s.last
	if before == nil {
		before = image.New()
	}
	s.delta.Between(before, now)
	settled, followed := s.settled(), s.last != nil
	for change := range s.delta.Partitions() {
		if change.New == nil {
			continue
		}
		old := change.Old
		evidence := judgePartition(now, old, change.New, followed)
		if evidence == "inactive-leader" && old != nil && old.Leader == change.New.Leader && !isActive(before, old.Leader) {
			evidence = "" // what the leader before left half done: it was so before this operation, which is not about the leader
		}
		if t := now.TopicByID(change.Key.TopicID); evidence == "" && followed && old != nil && t != nil && change.New.PartitionEpoch == old.PartitionEpoch+1 {
			evidence = stepOf(before, now, t.Name, old, change.New, settled).judge()
		}
		if evidence != "" {
			rule.fail(evidence, r.id+": partition "+change.Key.TopicID.String()+"-"+number(int64(change.Key.Partition))+" at the end of an operation: "+describePartition(old)+
				"; then "+describePartition(change.New))
		}
	}
	for change := range s.delta.Brokers() {
		active := change.New != nil && change.New.Active()
		if s.last == nil || active && (change.Old == nil || slices.Equal(change.Old.LogDirs, change.New.LogDirs)) {
			continue
		}
		for key, p := range membersOf(now, change.Key) {
			switch where := "broker " + number(int64(change.Key)) + " leads partition " + key.TopicID.String() + "-" + number(int64(key.Partition)); {
			case p.Leader != change.Key:
			case !active:
				rule.fail("inactive-leader", r.id+": "+where)
			case leadsOffline(now, p):
				rule.fail("offline-leader", r.id+": "+where+" from a directory that is none of its registration's")
			}
		}
	}
	s.last = now
	s.delta = image.Delta{}
}

// settled tells whether neither configurations nor features are different since the last time.
func (s *partitionState) settled() bool {
	for range s.delta.Configs() {
		return false
	}
	for range s.delta.Features() {
		return false
	}
	return true
}

// judgePartition returns what is wrong with a partition, "" for nothing. followed says that old is the partition as it was at the
// end of the operation before, nil where there was none; without that the partition is what the leader before left, perhaps in the
// midst of an operation of several batches, and only what holds after each record is judged.
func judgePartition(now *image.Image, old, p *image.Partition, followed bool) string {
	for _, id := range p.Isr {
		if !slices.Contains(p.Replicas, id) {
			return "in-sync-outside-replicas"
		}
		if followed && (old == nil || !slices.Contains(old.Isr, id)) && !isActive(now, id) && !takenBack(old, p) {
			return "inactive-joined"
		}
	}
	switch {
	case p.HasLeader() && !slices.Contains(p.Isr, p.Leader):
		return "leader-out-of-sync"
	case followed && p.HasLeader() && !isActive(now, p.Leader):
		return "inactive-leader"
	case followed && leadsOffline(now, p):
		return "offline-leader"
	case followed && old != nil && p.LeaderEpoch < old.LeaderEpoch:
		return "leader-epoch-went-back"
	case followed && old != nil && p.PartitionEpoch <= old.PartitionEpoch:
		return "partition-epoch-went-back"
	}
	return ""
}

// takenBack tells whether a reassignment was taken back whose new replicas were all that was in sync: the first one from before is
// in sync then by decree, fenced or not, and leads nothing (KIP-455).
func takenBack(old, p *image.Partition) bool {
	return old != nil && len(p.Isr) == 1 && p.Isr[0] == p.Replicas[0] && !p.HasLeader() && len(old.AddingReplicas) > 0 &&
		len(p.AddingReplicas) == 0 && len(p.Replicas) < len(old.Replicas)
}

// leadsOffline tells whether a partition is led from a log directory that is offline: the controller knows where the replica is, and the
// registration of its broker does not have that directory (KIP-858; metadata-bootstrap 7.8).
func leadsOffline(now *image.Image, p *image.Partition) bool {
	at, b := slices.Index(p.Replicas, p.Leader), now.Broker(p.Leader)
	if !p.HasLeader() || b == nil || at < 0 || at >= len(p.Directories) || len(b.LogDirs) == 0 {
		return false
	}
	switch where := p.Directories[at]; where {
	case record.DirectoryUnassigned, record.DirectoryMigrating:
		return false
	default:
		return !slices.Contains(b.LogDirs, where)
	}
}

func isActive(now *image.Image, broker int32) bool {
	b := now.Broker(broker)
	return b != nil && b.Active()
}

// describePartition says what the rules look at.
func describePartition(p *image.Partition) string {
	if p == nil {
		return "none"
	}
	text := "leader " + number(int64(p.Leader)) + ", epochs " + number(int64(p.LeaderEpoch)) + " and " + number(int64(p.PartitionEpoch)) + ", in sync"
	for _, id := range p.Isr {
		text += " " + number(int64(id))
	}
	text += ", replicas"
	for _, id := range p.Replicas {
		text += " " + number(int64(id))
	}
	for _, list := range [...]struct {
		name string
		ids  []int32
	}{{", to come", p.AddingReplicas}, {", to go", p.RemovingReplicas}, {", eligible", p.Elr}, {", led last", p.LastKnownElr}} {
		for i, id := range list.ids {
			if i == 0 {
				text += list.name
			}
			text += " " + number(int64(id))
		}
	}
	if p.Recovering {
		text += ", recovering"
	}
	return text
}
