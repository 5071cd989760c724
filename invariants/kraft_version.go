package invariants

import "github.com/kraftsim/kraftsim/sim"

var kraftVersionDoc = sim.InvariantDoc{
	Name:   "kraft-version",
	Source: "KIP-853; KAFKA-16538; kraft-protocol S16, 5.7",
	Doc: "kraft.version never decreases in the committed log; a committed voter set implies version 1, in checkpoints and snapshots " +
		"too, and has a directory id for each voter; the version of a quorum-state is that of the replica's own log as it is written, and a reported version does not lead it, " +
		"except on a leader whose upgrade is pending.",
}

// exposedControl follows a control record of the committed log; c.stable is the state before it.
func (c *core) exposedControl(b *batch, f *fact) {
	rule := &c.rules.kraftVersion
	before := &c.stable.now
	switch f.kind {
	case factKRaftVersion:
		rule.eval()
		if f.number < int32(before.kraftVersion) {
			rule.fail("went-back", "kraft.version "+number(int64(f.number))+" is committed at offset "+number(f.offset)+
				", before it was "+number(int64(before.kraftVersion)))
		}
		if f.number > 0 && before.kraftVersion == 0 && !c.startsEpoch(b) {
			*c.times.kraftUpgraded++
		}
	case factVoters:
		rule.eval()
		if before.kraftVersion < 1 && (b.rooted || c.state.from >= 0) {
			rule.fail("voters-at-0", "a voter set is committed at offset "+number(f.offset)+" at kraft.version 0")
		}
		for i := range c.ledger.sets[f.number].keys {
			if k := &c.ledger.sets[f.number].keys[i]; k.dir.IsZero() {
				rule.fail("voter-without-directory", "a voter set is committed at offset "+number(f.offset)+" in which voter "+number(int64(k.id))+
					" has no directory id")
				break
			}
		}
		c.countVoterChange(b, before.voters, f)
	}
}

// startsEpoch reports whether a batch is the first of its epoch.
func (c *core) startsEpoch(b *batch) bool {
	return b.factEnd > b.factStart && c.ledger.facts[b.factStart].kind == factLeaderChange
}

// countVoterChange counts committed changes of the voter set.
func (c *core) countVoterChange(b *batch, before int32, f *fact) {
	if c.startsEpoch(b) {
		return
	}
	old, set := c.setOrStatic(nil, before), &c.ledger.sets[f.number]
	if set.lacks(old) > 0 {
		*c.times.voterRemoved++
	}
	if old.lacks(set) == 0 && set.lacks(old) == 0 && before != noSet {
		*c.times.voterUpdated++
	}
	for i := range set.keys {
		k := &set.keys[i]
		if old.has(k) {
			continue
		}
		*c.times.voterAdded++
		if r := c.byVoter(k); r != nil && r.wantsToJoin {
			*c.times.joinedByItself++
			r.wantsToJoin = false
		}
	}
}

// kraftVersionInFile checks a checkpoint or snapshot.
func (c *core) kraftVersionInFile(version int16, voters int32, where func() string) {
	rule := &c.rules.kraftVersion
	rule.eval()
	if voters != noSet && version < 1 {
		rule.fail("file", where()+" has a voter set at kraft.version "+number(int64(version)))
	}
}

// quorumVersionWritten checks the version of a quorum-state as it is written: it is that of the voter sets.
func (c *core) quorumVersionWritten(r *replica, q *quorumFile) {
	rule := &c.rules.kraftVersion
	rule.eval()
	if q.version > 0 && c.kraftVersionOf(r) < 1 {
		rule.fail("quorum-state", r.id+" writes a quorum-state of version "+number(int64(q.version))+", its log is at kraft.version 0")
	}
	if have := c.kraftVersionOf(r); q.version == 0 && have >= 1 {
		rule.fail("quorum-state-old", r.id+" writes a quorum-state of version 0, its log is at kraft.version "+number(int64(have)))
	}
}

// kraftVersionReported checks what a replica tells in an answer.
func (c *core) kraftVersionReported(r *replica, version int16) {
	rule := &c.rules.kraftVersion
	rule.eval()
	if have := c.kraftVersionOf(r); version > have && r.role != leader {
		rule.fail("reported", r.id+" reports kraft.version "+number(int64(version))+", its log is at "+number(int64(have)))
	}
}
