package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
)

var electionSafetyDoc = sim.InvariantDoc{
	Name:   "election-safety",
	Source: "Raft figure 3; KIP-595; kraft-protocol S1",
	Doc:    "At most one incarnation of a replica becomes leader of an epoch; a replica whose disk was replaced is another one.",
}

var oneVoteDoc = sim.InvariantDoc{
	Name:   "one-vote",
	Source: "Raft section 5.2; KIP-853; kraft-protocol S2, 1.3",
	Doc: "All standard votes of one incarnation in one epoch, its own candidacy included, name one candidate, restarts included; each " +
		"is durable before it is shown.",
}

// standardVote notes a vote that left its owner: a granted answer, or the candidacy in a Vote request.
func (c *core) standardVote(r *replica, epoch int32, to voters.ReplicaKey, evidence string) {
	rule := &c.rules.oneVote
	rule.eval()
	q := &r.durable
	if q.epoch != epoch || q.voted != to.ID {
		rule.fail("not-durable", r.id+" shows its vote for "+to.String()+" in epoch "+number(int64(epoch))+
			", but its quorum-state has epoch "+number(int64(q.epoch))+" and vote "+number(int64(q.voted))+" durable")
	}
	withDir := q.version >= 1
	for i := len(r.votes) - 1; i >= 0 && r.votes[i].epoch >= epoch; i-- {
		v := &r.votes[i]
		if v.epoch != epoch {
			continue
		}
		if v.candidate.ID != to.ID || v.withDir && withDir && v.candidate.DirectoryID != to.DirectoryID &&
			v.candidate.HasDirectoryID() && to.HasDirectoryID() {
			rule.fail(evidence, r.id+" voted for "+v.candidate.String()+" and for "+to.String()+" in epoch "+number(int64(epoch)))
		}
		return
	}
	r.votes = append(r.votes, vote{epoch: epoch, candidate: to, withDir: withDir})
}

// quorumWritten follows a committed write of quorum-state.
func (c *core) quorumWritten(r *replica, q quorumFile) {
	before := r.quorum
	r.quorum = q
	r.appended = false // a transition that writes makes a new role object, even to the same role
	if !q.found || !r.up || !r.server {
		return
	}
	c.epochWritten(r, &before, &q)
	c.quorumVersionWritten(r, &q)
	c.selfVoteWritten(r, &before, &q)
	c.voteKept(r, &before, &q)
	c.ownVote(r, &q)
}

// voteKept checks that a vote stays in the file as long as its epoch goes on and has no leader in it: whoever forgets it, in a restart say,
// may give another.
func (c *core) voteKept(r *replica, before, after *quorumFile) {
	if !before.found || before.epoch != after.epoch || before.voted < 0 {
		return
	}
	c.rules.oneVote.eval()
	if after.voted < 0 && after.leader < 0 {
		c.rules.oneVote.fail("forgotten", r.id+" drops its vote for "+number(int64(before.voted))+" in epoch "+number(int64(after.epoch))+
			", which goes on without a leader")
	}
}

// quorumDurable follows the moment when a write of quorum-state can no longer be lost. A claim before that would be too
// early: a winner whose file reverts is a candidate again, and may win once more.
func (c *core) quorumDurable(r *replica) {
	q := &r.durable
	if !r.up || !r.server || !q.found {
		return
	}
	r.quorumWrites++
	if q.leader >= 0 && q.leader == r.nodeID && r.quorumWrites > 1 {
		c.claim(r, q.epoch, "quorum-state") // the first write of a life repeats what was there: a Resigned restart
	}
	if q.votedSelf(r) {
		c.candidacyDurable(r, q)
	}
}

// candidacyDurable counts elections with two candidates, and checks that a pre-vote came first.
func (c *core) candidacyDurable(r *replica, q *quorumFile) {
	for _, o := range c.replicas {
		if o != r && o.quorum.epoch == q.epoch && o.quorum.votedSelf(o) {
			*c.times.twoCandidates++
		}
	}
	c.candidacyNeedsPreVotes(r, q.epoch)
}

// key makes a replica key.
func key(id int32, dir record.UUID) voters.ReplicaKey {
	return voters.ReplicaKey{ID: id, DirectoryID: dir}
}
