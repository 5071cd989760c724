package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim"
)

var preVoteHarmlessDoc = sim.InvariantDoc{
	Name:   "pre-vote-harmless",
	Source: "KIP-996; kraft-protocol S17",
	Doc:    "Asking for pre-votes changes neither the epoch nor the vote of the one who asks.",
}

var noDisruptionDoc = sim.InvariantDoc{
	Name:   "no-disruption",
	Source: "KIP-996; kraft-protocol L7, 1.7 rule 5",
	Doc: "A voter raises the epoch only after a majority granted it pre-votes in the epoch before, and a follower that has fetched " +
		"from its leader grants none; so a voter that was cut off deposes nobody when it returns.",
}

// becameProspective checks that the role change wrote nothing: the epoch is that of quorum-state.
func (c *core) becameProspective(r *replica) {
	rule := &c.rules.preVoteHarmless
	rule.eval()
	if r.roleEpoch != r.quorum.epoch {
		rule.fail("epoch-changed", r.id+" became prospective in epoch "+number(int64(r.roleEpoch))+" with epoch "+
			number(int64(r.quorum.epoch))+" in its quorum-state")
	}
}

// selfVoteWritten checks a write of quorum-state: a candidacy raises the epoch together with its own vote, so a vote for
// itself in an epoch that was there before is one that a pre-vote left behind.
func (c *core) selfVoteWritten(r *replica, before, after *quorumFile) {
	if after.epoch == before.epoch && after.votedSelf(r) && !before.votedSelf(r) {
		c.rules.preVoteHarmless.fail("vote-stored", r.id+" writes a vote for itself in epoch "+number(int64(after.epoch))+
			", which it had adopted without one")
	}
}

// preVoteAsked checks a pre-vote request as it is sent.
func (c *core) preVoteAsked(r *replica, epoch int32) {
	rule := &c.rules.preVoteHarmless
	rule.eval()
	if epoch != r.quorum.epoch {
		rule.fail("epoch-changed", r.id+" asks for pre-votes in epoch "+number(int64(epoch))+" with epoch "+
			number(int64(r.quorum.epoch))+" in its quorum-state")
	}
	if r.preEpoch != epoch {
		r.preEpoch = epoch
		r.preGrants = r.preGrants[:0]
	}
}

// preVoteGranted follows a granted pre-vote as it leaves its giver. by is the giver, to the one who asked.
func (c *core) preVoteGranted(by, to *replica, epoch int32) {
	rule := &c.rules.noDisruption
	rule.eval()
	if by.role == follower && by.appended {
		rule.fail("granted-after-fetch", by.id+" grants a pre-vote to "+to.id+" although it follows a leader of epoch "+
			number(int64(by.roleEpoch))+" from which it has fetched")
	}
	if to.preEpoch != epoch {
		return
	}
	key := voterKey{by.nodeID, by.directoryID} // as it is now: a disk may go
	if !slices.Contains(to.preGrants, key) {
		to.preGrants = append(to.preGrants, key)
	}
}

// candidacyNeedsPreVotes checks a durable candidacy: it takes a majority of pre-votes in the epoch before, one's own
// included. A peer without Vote 2 lets everybody through. What role the replica says it had does not matter. The first write
// of a life repeats what was there, and a candidacy stays in the file while its epoch lasts: both were looked at before.
func (c *core) candidacyNeedsPreVotes(r *replica, epoch int32) {
	known := r.candidacy >= epoch
	r.candidacy = max(r.candidacy, epoch)
	if !c.cfg.PreVoteEverywhere || known || r.quorumWrites <= 1 {
		return
	}
	rule := &c.rules.noDisruption
	rule.eval()
	set := c.votersOf(r)
	granted := int32(1)
	if r.preEpoch == epoch-1 {
		for i := range r.preGrants {
			if k := set.find(r.preGrants[i].id); k != nil && k.matches(&r.preGrants[i]) {
				granted++
			}
		}
	}
	if granted < set.majority() {
		rule.fail("candidate-without-pre-votes", r.id+" became candidate of epoch "+number(int64(epoch))+" with "+
			number(int64(granted))+" of "+number(int64(set.size()))+" pre-votes")
	}
}
