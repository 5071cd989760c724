package invariants

import "github.com/kraftsim/kraftsim/raft"

// What is in force for a replica is the newest that its log says, committed or not; else what the newest snapshot says that
// says anything; else the 0-0 checkpoint; else the static voters. A log whose beginning is known says as much as the
// snapshot that stands for it, and snapshot-content holds them together.

// votersOf returns the voter set in force.
func (c *core) votersOf(r *replica) *voterSet {
	return c.setOrStatic(r, c.votersAfter(r, r.log.last()))
}

// votersAfter returns the number of the voter set in force for a replica after a batch of its log, noSet for the static one.
func (c *core) votersAfter(r *replica, id batchID) int32 {
	if id != noBatch {
		if set := c.ledger.at(id).after.voters; set != noSet {
			return set
		}
	}
	return r.storedVoters(raft.NoVotersInLog)
}

// setOrStatic returns a set by its number. The static one is that of the machine in which the disk of r is; without r that of the
// cluster.
func (c *core) setOrStatic(r *replica, set int32) *voterSet {
	switch {
	case set != noSet:
		return &c.ledger.sets[set]
	case r != nil:
		return r.static
	}
	return &c.cfg.static
}

// storedVoters returns the voter set of the newest snapshot that has one, at or below an offset in the words of
// raft.VotersChanged; NoVotersInLog stands for any.
func (r *replica) storedVoters(offset int64) int32 {
	if set := r.snapshots.votersAt(offset); set != noSet {
		return set
	}
	return r.bootVoters
}

// votersOffset returns where the newest voter set in the log or snapshots of a replica stands; -1 when that is the 0-0
// checkpoint or nowhere: then nothing is uncommitted.
func (c *core) votersOffset(r *replica) int64 {
	if id := r.log.last(); id != noBatch {
		return c.ledger.at(id).after.votersOffset
	}
	return -1
}

// voterChangeOpen reports whether the newest voter set of a replica is not committed.
func (c *core) voterChangeOpen(r *replica) bool { return c.votersOffset(r) >= max(c.exposed.end, 0) }

// kraftVersionOf returns the kraft.version in force, likewise.
func (c *core) kraftVersionOf(r *replica) int16 {
	version := r.bootVersion
	if id := r.log.last(); id != noBatch {
		version = max(version, c.ledger.at(id).after.kraftVersion)
	}
	return max(version, r.snapshots.version)
}

// votersUsed compares the voter set that a replica says it uses with the one in force. It is called where the replica is
// between two steps: as it sends something. The replica's word is an offset only; which set stood there then the disk has said.
func (c *core) votersUsed(r *replica) {
	if !r.votersUnsure || !r.up || !r.server || r.role == noRole {
		return
	}
	r.votersUnsure = false
	rule := &c.rules.votersFollowLog
	rule.eval()
	if want := c.votersAfter(r, r.log.last()); want != r.votersInUse {
		evidence := "in-use"
		if s := r.snapshots.newest(); s != nil && s.offset > r.log.end {
			evidence = InUseBehindSnapshot
		}
		rule.fail(evidence, r.id+" uses voters "+c.ledger.setText(r.votersInUse)+"; the newest in log and snapshots are "+
			c.ledger.setText(want))
	} else if r.log.last() != noBatch && r.votersSaidAt >= r.log.end && !r.snapshots.endsAt(r.votersSaidAt+1) {
		// two sets may have the same members, and differ in where those listen
		rule.fail("in-use-gone", r.id+" uses the voters of offset "+number(r.votersSaidAt)+", and its log ends at "+number(r.log.end))
	}
}

// InUseBehindSnapshot is the kind of evidence of voters-follow-log for a log that ends before the newest snapshot: one that was downloaded,
// could not replace a tail of a later epoch, and was read at the next start. When that tail is cut, the history forgets the voters of
// the snapshot, which stand at an offset behind the cut (kraft-protocol 5.1).
const InUseBehindSnapshot = "in-use-behind-snapshot"

// votersAt returns the voter set that was in force at an offset in the words of raft.VotersChanged: -1 is the 0-0
// checkpoint, raft.NoVotersInLog the static set. The cost is the number of voter changes since.
func (c *core) votersAt(r *replica, offset int64) int32 {
	switch offset {
	case raft.NoVotersInLog:
		return noSet
	case -1:
		return r.bootVoters
	}
	for id := r.log.last(); id != noBatch; {
		v := &c.ledger.at(id).after
		if v.voters == noSet || v.votersOffset <= offset {
			if v.voters != noSet {
				return v.voters
			}
			break
		}
		id = c.ledger.at(v.votersBatch).parent
	}
	return r.storedVoters(offset)
}
