package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

const (
	// nobody stands for no broker where one may be named.
	nobody int32 = -1
	// unchangedLeader is the Leader of a PartitionChangeRecord that leaves the leader alone.
	unchangedLeader int32 = -2
	// bumpOnShrinkBelow is 3.6-IV0: before it each shrink of the in-sync replicas begins a leader epoch.
	bumpOnShrinkBelow int16 = 12
	// recoveryStateSince is 3.2-IV0, the lowest level at which the record of a partition says that it is recovering.
	recoveryStateSince int16 = 4
)

// partitionChange leads from a partition and what is wanted of it to the one record that says so (metadata-bootstrap 7.8). It
// is a pure function of the image: make it with changeOf, say what is wanted, call record.
//
//	change := rules.changeOf(key, topic, partition)
//	change.isr = without(partition.Isr, broker)
//	if r := change.record(); r != nil { ... }
type partitionChange struct {
	rules     *partitionRules
	key       image.PartitionKey
	partition *image.Partition
	minInSync int
	election  election
	leaving   int32         // a broker that counts as inactive already, nobody for none
	coming    int32         // a broker that counts as active already, nobody for none
	offline   []record.UUID // directories of that one that are offline, although its registration has them
	unclean   int32         // a broker that lost what it had: in no list of eligible replicas any more
	recovered bool          // the leader worked an unclean election off
	isr       []int32       // wanted; these lists are replaced, never written to
	replicas  []int32
	removing  []int32
	adding    []int32
	elr       []int32
}

// changeOf returns the change that wants nothing.
func (r *partitionRules) changeOf(key image.PartitionKey, topic string, p *image.Partition) partitionChange {
	c := partitionChange{
		rules: r, key: key, partition: p, minInSync: r.minInSync(topic, len(p.Replicas)), leaving: nobody, coming: nobody,
		unclean: nobody, isr: p.Isr, replicas: p.Replicas, removing: p.RemovingReplicas, adding: p.AddingReplicas,
		elr: p.Elr,
	}
	if r.uncleanAllowed(topic) {
		c.election = uncleanElection
	}
	return c
}

// record returns the record of the change, nil if there is nothing to say. The order is that of 7.8.
func (c *partitionChange) record() *records.PartitionChangeRecord {
	p := c.partition
	r := records.NewPartitionChangeRecord()
	r.PartitionId, r.TopicId = c.key.Partition, c.key.TopicID
	c.completeReassignment()
	c.fillElr()
	recovering := c.lead(r)
	if r.Leader == unchangedLeader && len(without(p.Replicas, c.replicas...)) > 0 {
		r.Leader = p.Leader // a replica left: whoever fetches from it must notice
	}
	c.elrFields(r)
	if !slices.Equal(c.isr, p.Isr) && (len(c.isr) > 0 || c.rules.elr) {
		r.Isr = present(c.isr)
	}
	if r.Leader == unchangedLeader && r.Isr != nil && c.rules.version < bumpOnShrinkBelow && len(without(p.Isr, c.isr...)) > 0 {
		r.Leader = p.Leader
	}
	c.lastKnownLeader(r)
	c.assignment(r)
	if recovering != p.Recovering && c.rules.version >= recoveryStateSince {
		r.LeaderRecoveryState = 0
		if recovering {
			r.LeaderRecoveryState = 1
		}
	}
	if unsaid(r) {
		return nil
	}
	return r
}

// completeReassignment ends a reassignment as soon as all replicas that it adds are in sync, and somebody is who stays
// (KIP-455).
func (c *partitionChange) completeReassignment() {
	if len(c.removing)+len(c.adding) == 0 {
		return
	}
	stay := without(c.isr, c.removing...)
	if len(stay) == 0 || len(without(c.adding, stay...)) > 0 {
		return
	}
	c.isr, c.replicas = stay, without(c.replicas, c.removing...)
	c.removing, c.adding = nil, nil
}

// fillElr says who is eligible (KIP-966): with fewer in sync than min.insync.replicas those who left since then, unless they lost
// their disk; otherwise nobody.
func (c *partitionChange) fillElr() {
	if !c.rules.elr {
		return
	}
	if len(c.isr) >= min(c.minInSync, len(c.replicas)) {
		c.elr = nil
		return
	}
	was := c.elr
	c.elr = nil
	for _, list := range [2][]int32{was, c.partition.Isr} {
		for _, replica := range list {
			if replica != c.unclean && !slices.Contains(c.isr, replica) && !slices.Contains(c.elr, replica) &&
				slices.Contains(c.replicas, replica) {
				c.elr = append(c.elr, replica)
			}
		}
	}
}

// lead elects, and returns whether the partition is recovering then. A leader that was not in sync is the only one who is.
func (c *partitionChange) lead(r *records.PartitionChangeRecord) (recovering bool) {
	recovering = c.partition.Recovering && !c.recovered
	result := c.elect()
	if result.leader != c.partition.Leader {
		r.Leader = result.leader
	}
	switch {
	case result.leader == image.NoLeader:
		return recovering
	case result.unclean:
		c.isr, c.elr = []int32{result.leader}, nil
		return true
	case slices.Contains(c.elr, result.leader):
		c.isr, c.elr = []int32{result.leader}, without(c.elr, result.leader)
	}
	return recovering
}

// elrFields writes the list of eligible replicas. One from before the feature was switched off ends with the first change after that: nobody
// keeps it in step any more, and it must not be there when the feature is switched on again (KIP-966).
func (c *partitionChange) elrFields(r *records.PartitionChangeRecord) {
	if !c.rules.elr {
		c.elr = nil
	}
	if !slices.Equal(c.elr, c.partition.Elr) {
		r.EligibleLeaderReplicas = present(c.elr)
	}
}

// lastKnownLeader keeps the name of the leader when the last in-sync replica goes, and drops it when there is a leader again.
func (c *partitionChange) lastKnownLeader(r *records.PartitionChangeRecord) {
	if !c.rules.elr {
		return
	}
	p := c.partition
	leads := r.Leader >= 0 || p.HasLeader() && r.Leader != image.NoLeader
	switch {
	case r.Isr != nil && len(r.Isr) == 0 && p.HasLeader() && (len(p.LastKnownElr) != 1 || p.LastKnownElr[0] != p.Leader):
		r.LastKnownElr = []int32{p.Leader}
	case leads && len(p.LastKnownElr) > 0:
		r.LastKnownElr = []int32{}
	}
}

func (c *partitionChange) assignment(r *records.PartitionChangeRecord) {
	p := c.partition
	if !slices.Equal(c.replicas, p.Replicas) {
		r.Replicas = present(c.replicas)
		r.Directories = c.rules.directories(p, c.replicas)
	}
	if !slices.Equal(c.removing, p.RemovingReplicas) {
		r.RemovingReplicas = present(c.removing)
	}
	if !slices.Equal(c.adding, p.AddingReplicas) {
		r.AddingReplicas = present(c.adding)
	}
}

// unsaid tells whether a record leaves everything as it is.
func unsaid(r *records.PartitionChangeRecord) bool {
	return r.Isr == nil && r.Leader == unchangedLeader && r.Replicas == nil && r.RemovingReplicas == nil &&
		r.AddingReplicas == nil && r.LeaderRecoveryState == -1 && r.EligibleLeaderReplicas == nil && r.LastKnownElr == nil &&
		r.Directories == nil
}

// present returns a list that is not nil: nil means "unchanged" in a record.
func present(list []int32) []int32 {
	if list == nil {
		return []int32{}
	}
	return list
}

// without returns the members of list that are not among gone, in their order, as a list of its own.
func without(list []int32, gone ...int32) []int32 {
	kept := make([]int32, 0, len(list))
	for _, id := range list {
		if !slices.Contains(gone, id) {
			kept = append(kept, id)
		}
	}
	return kept
}
