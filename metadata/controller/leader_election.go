package controller

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/image"
)

// election says how far a change may go to find a leader.
type election uint8

const (
	// The zero value keeps a leader that may stay, else takes the first replica that may lead.
	_ election = iota
	// preferredElection tries the first replica before all others.
	preferredElection
	// uncleanElection takes a replica outside the in-sync ones, when nobody else is there: records may be lost.
	uncleanElection
)

// elected is the outcome of an election.
type elected struct {
	leader  int32 // image.NoLeader for none
	unclean bool
}

// elect is metadata-bootstrap 7.8, rules 1 to 5.
func (c *partitionChange) elect() elected {
	p := c.partition
	if c.election == preferredElection && len(c.replicas) > 0 && c.mayLead(c.replicas[0]) {
		return elected{leader: c.replicas[0]}
	}
	if p.HasLeader() && c.mayLead(p.Leader) {
		return elected{leader: p.Leader}
	}
	for _, replica := range c.replicas {
		if c.mayLead(replica) {
			return elected{leader: replica}
		}
	}
	if c.lastKnownMayLead() {
		return elected{leader: p.LastKnownElr[0], unclean: true}
	}
	if c.election == uncleanElection {
		for _, replica := range c.replicas {
			if c.acceptable(replica) {
				return elected{leader: replica, unclean: true}
			}
		}
	}
	return elected{leader: image.NoLeader}
}

// mayLead tells whether a replica holds everything that is committed, and can be reached: an in-sync one, or with nobody in
// sync an eligible one.
func (c *partitionChange) mayLead(replica int32) bool {
	in := slices.Contains(c.isr, replica) || len(c.isr) == 0 && slices.Contains(c.elr, replica)
	return in && c.acceptable(replica)
}

// lastKnownMayLead is rule 3: nobody is in sync, nobody eligible, and the one who led last is back. It is subject to the same
// conditions as every other replica (KAFKA-19522).
func (c *partitionChange) lastKnownMayLead() bool {
	last := c.partition.LastKnownElr
	return c.rules.elr && len(c.isr) == 0 && len(c.elr) == 0 && len(last) == 1 && slices.Contains(c.replicas, last[0]) &&
		c.acceptable(last[0])
}

// acceptable tells whether a replica can lead at all: its broker is active, as of after the transition that the change belongs
// to, and the directory that it lies in is usable. One that is unfenced while it shuts down, for a heartbeat of before arrived late,
// is not active either; the original takes whoever is unfenced.
func (c *partitionChange) acceptable(replica int32) bool {
	b := c.rules.image.Broker(replica)
	if b == nil || replica == c.leaving || b.InControlledShutdown || b.Fenced && replica != c.coming {
		return false
	}
	at := slices.Index(c.partition.Replicas, replica)
	if at >= 0 && replica == c.coming && slices.Contains(c.offline, c.partition.Directories[at]) {
		return false
	}
	return at < 0 || online(b, c.partition.Directories[at])
}
