package invariants

import "github.com/kraftsim/kraftsim/sim"

var voterChangeDoc = sim.InvariantDoc{
	Name:   "voter-change",
	Source: "KIP-853; KAFKA-16535; known-bugs KB-20; kraft-protocol S14",
	Doc: "Entries that change who is a voter differ from the set before in one voter, and a leader appends them only after it has " +
		"committed a record of its own epoch and with the previous entry committed. The change is one that somebody asked for by id and " +
		"directory id, and a new voter has fetched from the leader beyond the begin of its epoch. An absent directory id equals any; " +
		"entries that change endpoints or versions only wait for the previous one, the one at the start of an epoch excepted.",
}

var lastVoterDoc = sim.InvariantDoc{
	Name:   "last-voter",
	Source: "KIP-853; kraft-protocol S15, 2.12",
	Doc:    "The last voter is never removed: no entry has an empty voter set.",
}

// votersAppended checks the voter sets of a batch as its leader writes it.
func (c *core) votersAppended(r *replica, id batchID) {
	b := c.ledger.at(id)
	before := c.votersAfter(r, b.parent)
	offset := int64(-1)
	if b.parent != noBatch {
		offset = c.ledger.at(b.parent).after.votersOffset
	}
	for i := b.factStart; i < b.factEnd; i++ {
		if f := &c.ledger.facts[i]; f.kind == factVoters {
			c.voterChange(r, b, before, offset, f)
			before, offset = f.number, f.offset
		}
	}
}

// voterChange checks one entry; the set before it stands at offset, -1 in a snapshot or nowhere.
func (c *core) voterChange(r *replica, b *batch, before int32, offset int64, f *fact) {
	old, set := c.setOrStatic(r, before), &c.ledger.sets[f.number]
	last := &c.rules.lastVoter
	last.eval()
	if set.size() == 0 {
		last.fail("nobody-left", r.id+" appends an empty voter set at offset "+number(f.offset)+", before it was "+old.text())
		return
	}
	rule := &c.rules.voterChange
	rule.eval()
	added, removed := old.lacks(set), set.lacks(old)
	if added+removed == 0 {
		c.entryChange(r, b, offset, f)
		return
	}
	change := r.id + " changes the voters from " + old.text() + " to " + set.text() + " at offset " + number(f.offset) +
		" in epoch " + number(int64(b.epoch))
	if added+removed > 1 {
		rule.fail("several-voters", change)
	}
	l := c.leadershipAt(b.epoch)
	if l == nil || l.host != r.host {
		return // election-safety has said so
	}
	start := c.start(r, l)
	c.changeWanted(b, change, old, set, start)
	if l.raised <= start {
		rule.fail("before-own-commit", change+" before it has committed a record of its epoch, which begins at "+number(start))
	} else if offset >= l.raised {
		rule.fail("previous-uncommitted", change+" while the entry at "+number(offset)+" is not committed; its high watermark is "+
			number(l.raised))
	}
}

// entryChange checks an entry that changes where voters listen, or their versions. A leader may write what it is itself at the start of its
// epoch; after that the entry before must be committed, too (kraft-protocol 2.13 row 9).
func (c *core) entryChange(r *replica, b *batch, offset int64, f *fact) {
	l := c.leadershipAt(b.epoch)
	if l == nil || l.host != r.host || b.base == c.start(r, l) || offset < l.raised {
		return
	}
	c.rules.voterChange.fail("entry-uncommitted", r.id+" changes an entry of the voter set at offset "+number(f.offset)+" in epoch "+number(int64(b.epoch))+
		" while the one at "+number(offset)+" is not committed; its high watermark is "+number(l.raised))
}
