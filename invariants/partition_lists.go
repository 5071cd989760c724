package invariants

import (
	"iter"
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
)

// partitionStep is a partition at both ends of an operation, with what decides about its lists. The rules of metadata-bootstrap 7.8 are
// worked out here again: who is eligible (KIP-966), when a reassignment is over (KIP-455), what begins a leader epoch, and who recovers
// (KIP-704).
type partitionStep struct {
	before, after *image.Image
	old, now      *image.Partition
	minInSync     int
	settled       bool // neither configurations nor features changed in the operation
}

// membersOf yields the partitions that have a broker in sync or eligible. It looks at all of them: the index of the image is a part of what is
// judged, and a partition that the controller does not find by it would be missed here, too.
func membersOf(img *image.Image, broker int32) iter.Seq2[image.PartitionKey, *image.Partition] {
	return partitionsWhere(img, func(p *image.Partition) bool { return slices.Contains(p.Isr, broker) || slices.Contains(p.Elr, broker) })
}

// leaderless yields the partitions without a leader, in the same way.
func leaderless(img *image.Image) iter.Seq2[image.PartitionKey, *image.Partition] {
	return partitionsWhere(img, func(p *image.Partition) bool { return p.Leader == image.NoLeader })
}

func partitionsWhere(img *image.Image, fits func(p *image.Partition) bool) iter.Seq2[image.PartitionKey, *image.Partition] {
	return func(yield func(image.PartitionKey, *image.Partition) bool) {
		for key, p := range img.AllPartitions() {
			if fits(p) && !yield(key, p) {
				return
			}
		}
	}
}

// stepOf is for one record: operations that are looked at together are not judged, since what was between them is not known.
// It says what decides about the lists of a partition of a topic.
func stepOf(before, after *image.Image, topic string, old, now *image.Partition, settled bool) *partitionStep {
	s := &partitionStep{before: before, after: after, old: old, now: now, settled: settled, minInSync: 1}
	text, found := after.Config(image.ConfigKey{Type: image.TopicResource, Resource: topic, Name: "min.insync.replicas"})
	if !found {
		text, found = after.Config(image.ConfigKey{Type: image.BrokerResource, Name: "min.insync.replicas"})
	}
	if n, err := strconv.ParseInt(text, 10, 32); found && err == nil {
		s.minInSync = int(n)
	}
	s.minInSync = min(s.minInSync, len(now.Replicas))
	return s
}

// judge returns what is wrong, "" for nothing.
func (s *partitionStep) judge() string {
	if evidence := s.judgeEligible(); evidence != "" {
		return evidence
	}
	old, now := s.old, s.now
	for _, id := range old.AddingReplicas {
		if slices.Contains(now.Replicas, id) && !slices.Contains(now.AddingReplicas, id) && !slices.Contains(now.RemovingReplicas, id) &&
			!slices.Contains(now.Isr, id) && !(now.Recovering && now.Leader != old.Leader) {
			return "reassignment-ended-early"
		}
	}
	gone := slices.ContainsFunc(old.Replicas, func(id int32) bool { return !slices.Contains(now.Replicas, id) })
	if (gone || old.Leader != now.Leader) && now.LeaderEpoch <= old.LeaderEpoch {
		return "no-new-leader-epoch"
	}
	shrunk := slices.ContainsFunc(old.Isr, func(id int32) bool { return !slices.Contains(now.Isr, id) })
	switch early := s.before.MetadataVersion() < 12; {
	case early && shrunk && now.LeaderEpoch <= old.LeaderEpoch:
		return "no-leader-epoch-for-a-shrink"
	case !early && !gone && old.Leader == now.Leader && now.LeaderEpoch > old.LeaderEpoch:
		return "needless-leader-epoch"
	}
	switch {
	case now.Recovering && len(now.Isr) > 1: // what the others have is not what the leader has (KIP-704)
		return "in-sync-while-recovering"
	case s.directoryForgotten():
		return "directory-forgotten"
	}
	if s.uncleanly() && !now.Recovering && s.after.MetadataVersion() >= 4 && !decreed(old, now) {
		return "not-recovering"
	}
	return ""
}

// onlyDirectories tells whether the change says no more than where replicas are: it leaves a name that an election kept while the feature was off.
func (s *partitionStep) onlyDirectories() bool {
	old, now := s.old, s.now
	return old.Leader == now.Leader && old.LeaderEpoch == now.LeaderEpoch && slices.Equal(old.Isr, now.Isr) && slices.Equal(old.Replicas, now.Replicas) &&
		slices.Equal(old.Elr, now.Elr) && slices.Equal(old.LastKnownElr, now.LastKnownElr) && !slices.Equal(old.Directories, now.Directories)
}

// directoryForgotten tells whether a replica that stays is said to be elsewhere, in a change that is about replicas: only its broker says where it is
// (KIP-858).
func (s *partitionStep) directoryForgotten() bool {
	old, now := s.old, s.now
	if slices.Equal(old.Replicas, now.Replicas) {
		return false
	}
	for at, id := range now.Replicas {
		if was := slices.Index(old.Replicas, id); was >= 0 && was < len(old.Directories) && at < len(now.Directories) && old.Directories[was] != now.Directories[at] {
			return true
		}
	}
	return false
}

// uncleanly tells whether a leader was elected that was neither in sync nor eligible. One who came into sync with the end of a
// reassignment was; but that end may come in one operation with an unclean election, and that is one of a leader that recovers.
func (s *partitionStep) uncleanly() bool {
	old, now := s.old, s.now
	if !now.HasLeader() || now.Leader == old.Leader || slices.Contains(old.Isr, now.Leader) || slices.Contains(old.Elr, now.Leader) {
		return false
	}
	ended := len(old.AddingReplicas)+len(old.RemovingReplicas) > 0 && len(now.AddingReplicas)+len(now.RemovingReplicas) == 0
	done := !slices.ContainsFunc(old.AddingReplicas, func(id int32) bool { return !slices.Contains(now.Replicas, id) })
	return !ended || now.Recovering && !old.Recovering || !done && !decreed(old, now)
}

// overInSync tells whether an eligible replica was elected although others are in sync, which an unclean election alone may do: it says that the
// leader recovers, and forgets everybody else. An eligible one leads cleanly only where nobody is in sync (7.8, rules 1 and 2).
func (s *partitionStep) overInSync() bool {
	old, now := s.old, s.now
	return now.Recovering && now.HasLeader() && now.Leader != old.Leader && slices.Contains(old.Elr, now.Leader) && len(old.Isr) > 0 && len(now.Elr) == 0
}

// decreed tells whether a reassignment was taken back whose new replicas were all that was in sync: the first one from before is in sync
// by decree (KIP-455). Where nobody was in sync there is no decree.
func decreed(old, now *image.Partition) bool {
	stays := slices.ContainsFunc(old.Isr, func(id int32) bool { return !slices.Contains(old.AddingReplicas, id) })
	return len(old.Isr) > 0 && !stays && len(now.AddingReplicas) == 0 && len(now.Replicas) > 0 && slices.Equal(now.Isr, now.Replicas[:1])
}

// judgeEligible is KIP-966.
func (s *partitionStep) judgeEligible() string {
	old, now := s.old, s.now
	if !s.settled {
		return ""
	}
	if s.after.FeatureLevel(features.EligibleLeaderReplicas) == 0 {
		if len(now.Elr) > 0 { // nobody keeps it in step, and it would be in force again with the feature
			return "eligible-without-the-feature"
		}
		return ""
	}
	for _, id := range now.Elr {
		if slices.Contains(now.Isr, id) || !slices.Contains(now.Replicas, id) {
			return "eligible-in-sync"
		}
	}
	if len(now.Elr) > 0 && len(now.Isr) >= s.minInSync {
		return "eligible-without-need"
	}
	if len(now.Isr) < s.minInSync && !s.uncleanly() && !s.overInSync() {
		for _, list := range [2][]int32{old.Elr, old.Isr} {
			for _, id := range list {
				if slices.Contains(now.Replicas, id) && !slices.Contains(now.Isr, id) && !slices.Contains(now.Elr, id) && s.sameProcess(id) {
					return "eligible-forgotten"
				}
			}
		}
	}
	switch {
	case now.HasLeader() && len(now.LastKnownElr) > 0 && !s.onlyDirectories():
		return "last-leader-kept"
	case len(now.Isr) == 0 && len(old.Isr) > 0 && old.HasLeader() && !slices.Equal(now.LastKnownElr, []int32{old.Leader}):
		return "last-leader-forgotten"
	}
	return ""
}

// sameProcess tells whether a broker did not register again in the operation: one that cannot prove that its process before ended in order
// has lost its place.
func (s *partitionStep) sameProcess(id int32) bool {
	was, is := s.before.Broker(id), s.after.Broker(id)
	return was == nil && is == nil || was != nil && is != nil && was.Epoch == is.Epoch
}
