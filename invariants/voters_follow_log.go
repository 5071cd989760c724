package invariants

import "github.com/kraftsim/kraftsim/sim"

var votersFollowLogDoc = sim.InvariantDoc{
	Name:   "voters-follow-log",
	Source: "KIP-853; known-bugs S7; kraft-protocol 5.1",
	Doc: "The voter set in use is the newest one in log and snapshots, committed or not, else the static one, after every append, " +
		"truncation and snapshot: a leader lists it in its LeaderChange record, with a majority of it, the leader among them, that granted; candidates ask only its members, and it is the one that " +
		"the replica says it uses, which stands in its log or its snapshots.",
}

// votersFollowLog compares the voters that a leader lists at the start of its epoch with the set that its log says is in
// force before that batch.
func (c *core) votersFollowLog(r *replica, id batchID) {
	b := c.ledger.at(id)
	for i := b.factStart; i < b.factEnd; i++ {
		f := &c.ledger.facts[i]
		if f.kind != factLeaderChange {
			continue
		}
		rule := &c.rules.votersFollowLog
		rule.eval()
		want := c.setOrStatic(r, c.votersAfter(r, b.parent))
		if !want.sameIDs(&c.ledger.sets[f.set]) {
			rule.fail("leader-change", r.id+" lists "+c.ledger.sets[f.set].text()+" as voters of epoch "+number(int64(b.epoch))+
				", its log says "+want.text())
		}
		c.grantedListed(r, b.epoch, f)
		if f.number != r.nodeID {
			rule.fail("leader-change-name", r.id+" names "+number(int64(f.number))+" as leader of epoch "+number(int64(b.epoch)))
		}
	}
}

// grantedListed checks the voters that a leader says it was elected by (kraft-protocol 3.2).
func (c *core) grantedListed(r *replica, epoch int32, f *fact) {
	listed, granted := &c.ledger.sets[f.set], &c.ledger.sets[f.other]
	strangers := int32(0)
	for i := range granted.keys {
		if listed.find(granted.keys[i].id) == nil {
			strangers++
		}
	}
	if strangers > 0 || granted.size() < listed.majority() || granted.find(f.number) == nil {
		c.rules.votersFollowLog.fail("leader-change-granted", r.id+" leads epoch "+number(int64(epoch))+" and names "+granted.text()+
			" as those who granted; the voters are "+listed.text())
	}
}

// voteAsked checks whom a candidate asks: the id in the request, for the name may lead anywhere.
func (c *core) voteAsked(r *replica, voter voterKey) {
	if voter.id < 0 {
		return
	}
	rule := &c.rules.votersFollowLog
	rule.eval()
	if set := c.votersOf(r); !set.has(&voter) {
		rule.fail("asks-non-voter", r.id+" asks "+number(int64(voter.id))+" for its vote, voters are "+set.text())
	}
}

// text lists the ids.
func (s *voterSet) text() string {
	t := "["
	for i := range s.keys {
		if i > 0 {
			t += " "
		}
		t += number(int64(s.keys[i].id))
	}
	return t + "]"
}
