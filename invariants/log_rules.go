package invariants

import "github.com/kraftsim/kraftsim/sim"

var logMatchingDoc = sim.InvariantDoc{
	Name:   "log-matching",
	Source: "Raft figure 3; kraft-protocol S4, S5",
	Doc: "Two logs that hold a batch of the same offset and epoch hold the same bytes there and in the common prefix; epochs never " +
		"decrease along a log.",
}

var leaderAppendOnlyDoc = sim.InvariantDoc{
	Name:   "leader-append-only",
	Source: "Raft figure 3; kraft-protocol S12",
	Doc:    "A leader never truncates or overwrites its log.",
}

var noWriteAfterLeadDoc = sim.InvariantDoc{
	Name:   "no-write-after-lead",
	Source: "KAFKA-10527; kraft-protocol S13",
	Doc:    "A replica that led an epoch never writes in that epoch after a restart, nor after it has resigned.",
}

var truncationDoc = sim.InvariantDoc{
	Name:   "truncation",
	Source: "KAFKA-12460; kraft-protocol S10",
	Doc: "A follower never truncates below a high watermark that it learned in this process life, and never takes away a record that " +
		"a leader of its epoch or a lower one exposed.",
}

// logMatchingBroken reports a batch that contradicts the ledger.
func (c *core) logMatchingBroken(r *replica, id, found batchID, broken conflict) {
	if r.fsyncFailed && broken == otherPrefix {
		c.loss = afterFailedFsync // a power loss left a hole in the middle of the log; recovery looks at each segment for itself
	}
	b := *c.ledger.at(id)
	at := "batch " + number(b.base) + " to " + number(b.end-1) + " of epoch " + number(int64(b.epoch))
	first := c.replicas[c.ledger.at(found).writer].id // the replica that was the first to write it
	if first == r.id {
		first = "when it wrote it first"
	}
	switch broken {
	case otherBytes:
		c.rules.logMatching.fail("other-bytes", r.id+" holds "+at+" with other bytes than "+first)
	case otherPrefix:
		c.rules.logMatching.fail("other-prefix", r.id+" holds "+at+" behind another prefix than "+first)
	case epochWentBack:
		c.rules.logMatching.fail("epoch-went-back", r.id+" holds "+at+" behind a batch of epoch "+
			number(int64(c.ledger.at(found).epoch)))
	}
}

// batchAppended follows a batch that a live process appended. fresh: nobody ever held it before.
func (c *core) batchAppended(r *replica, id batchID, fresh bool) {
	if !r.up || !r.server {
		return
	}
	b := c.ledger.at(id)
	if r.role == follower {
		r.appended = true
	}
	if r.role == leader {
		c.rules.leaderAppendOnly.eval() // it appended; batchesCut tells when it does anything else
	}
	*c.times.batches++
	if r.quorum.leader >= 0 && r.quorum.leader == r.nodeID && r.quorum.epoch == b.epoch {
		c.leaderWrote(r, id)
	}
	if b.factEnd > b.factStart {
		r.votersUnsure = r.votersUnsure || b.after.votersBatch == id
		c.ownRecords(r, id)
		c.factsAppended(r, id, fresh)
	}
	if r.activation.pending && b.end > r.activation.last {
		c.checkActivation(r)
	}
}

// leaderWrote checks a batch of the epoch that the replica's quorum-state says it leads.
func (c *core) leaderWrote(r *replica, id batchID) {
	rule := &c.rules.noWriteAfterLead
	rule.eval()
	b := c.ledger.at(id)
	l := c.leadershipAt(b.epoch)
	if l == nil || l.host != r.host {
		return // never claimed in this run, or another's: election-safety has said so
	}
	if l.startBase < 0 {
		l.startBase = b.base
	}
	if l.boot != r.boot {
		rule.fail("wrote-after-restart", r.id+" writes a batch of epoch "+number(int64(b.epoch))+" at offset "+number(b.base)+
			", which it led before its restart")
	}
	if r.role == resigned && r.roleEpoch == b.epoch {
		rule.fail("wrote-while-resigned", r.id+" writes a batch of epoch "+number(int64(b.epoch))+" at offset "+number(b.base)+
			", which it has resigned from")
	}
}

// factsAppended checks a batch with records that matter, as its leader writes it.
func (c *core) factsAppended(r *replica, id batchID, fresh bool) {
	b := c.ledger.at(id)
	if !fresh || r.quorum.leader != r.nodeID || r.quorum.epoch != b.epoch {
		return
	}
	c.votersFollowLog(r, id)
	if b.after.votersBatch == id {
		c.votersAppended(r, id)
		if l := c.leadershipAt(b.epoch); l != nil && l.host == r.host {
			l.changedNs = c.nowNs
		}
	}
	c.upgradeKeepsID(r, id)
	c.bootstrapKeepsID(r, id)
}

// batchesCut follows the loss of the entries from first on.
func (c *core) batchesCut(r *replica, first int32) {
	if !r.up || !r.server {
		return
	}
	cut := c.ledger.at(r.log.entries[first].id).base
	if c.votersOffset(r) >= cut {
		r.votersUnsure = true
		*c.times.changeRolledBack++
	}
	if r.role == leader {
		c.rules.leaderAppendOnly.eval()
		c.rules.leaderAppendOnly.fail("leader-cut", r.id+" as leader of epoch "+number(int64(r.roleEpoch))+" cut its log from "+
			number(r.log.end)+" to "+number(cut))
	}
	if c.covered(r) {
		return // the log gives way to a snapshot that is ahead of it, which is none either
	}
	if !r.fetched {
		return // recovery at start is not a truncation (invariants, Words)
	}
	rule := &c.rules.truncation
	rule.eval()
	if led := c.ledUpTo(r); cut < led {
		rule.fail("below-own-exposure", r.id+" cut its log at "+number(cut)+", and told as a leader in this process life that it was committed up to "+
			number(led))
	}
	if cut < r.watermark {
		rule.fail("below-own-watermark", r.id+" cut its log at "+number(cut)+" below its high watermark "+number(r.watermark))
	}
	// The leader of the follower's epoch holds what leaders of that epoch and of lower ones exposed. What a higher one exposed
	// meanwhile it may lack, and a follower that has not heard of the higher epoch may cut it: it never acknowledged it there.
	if i := c.exposed.containing(cut); i >= 0 && c.exposed.entries[i].id == r.log.entries[first].id &&
		c.exposed.entries[i].epoch <= r.roleEpoch {
		rule.fail("exposed-record", r.id+" cut its log at "+number(cut)+" and lost records that were committed up to "+
			number(c.exposed.end))
	}
	c.countDivergence(r, first)
}

// ledUpTo is the highest high watermark that a replica told as a leader in this process life, -1 for none. It binds the follower that it
// becomes, though a leader that resigned knows none in its role (kraft-protocol 3.4).
func (c *core) ledUpTo(r *replica) int64 {
	told := int64(-1)
	for i := len(c.leaders) - 1; i >= 0; i-- {
		if l := &c.leaders[i]; l.host == r.host && l.incarnation == r.incarnation && l.boot == r.boot {
			told = max(told, l.told)
		}
	}
	return told
}

// countDivergence notices a divergence of more than one epoch: the tail that is cut spans several.
func (c *core) countDivergence(r *replica, first int32) {
	low := c.ledger.at(r.log.entries[first].id).epoch
	if high := c.ledger.at(r.log.last()).epoch; high > low {
		*c.times.divergedEpochs++
	}
	*c.times.truncations++
}
