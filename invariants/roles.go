package invariants

import "github.com/kraftsim/kraftsim/sim"

var rolesDoc = sim.InvariantDoc{
	Name:   "roles",
	Source: "TLA+ ValidRolesAndStates; kraft-protocol S18, S19",
	Doc: "Only voters become prospective, candidate or leader; a follower follows another replica; a candidate has voted for " +
		"itself, and a leader is the leader of its own quorum-state.",
}

// roleChanged follows the event of a new role.
func (c *core) roleChanged(r *replica, to role, epoch, leaderID int32) {
	from := r.role
	if r.download >= 0 && to != follower {
		c.downloadBroken(r)
	}
	if to != leader {
		r.changing = false
	}
	if to == leader {
		r.entryMark = r.watermark
		r.watermark = -1
	}
	r.role, r.roleEpoch, r.appended = to, epoch, false
	r.roleChanges++
	first := from == noRole
	r.votersUnsure = r.votersUnsure || first
	c.checkRole(r, epoch, leaderID, first)
	switch to {
	case leader:
		c.claim(r, epoch, "role")
		r.leadStrikes = 0
	case prospective:
		c.becameProspective(r)
	case follower:
		if !c.votersOf(r).holds(r) {
			*c.times.observerJoined++
		}
	case resigned:
		if from == leader {
			*c.times.resigned++
			if !c.votersOf(r).holds(r) {
				*c.times.removedResigned++
			}
		}
	}
}

// checkRole compares the role with the voter set and with quorum-state. A Resigned restart of a removed leader and the
// candidacy that it has pending are exempt.
func (c *core) checkRole(r *replica, epoch, leaderID int32, first bool) {
	rule := &c.rules.roles
	rule.eval()
	q := &r.quorum
	wrong := ""
	switch r.role {
	case prospective, candidate, leader:
		if !c.votersOf(r).holds(r) && !(first && r.role == candidate) {
			rule.fail("not-a-voter", r.id+" became "+r.role.String()+" in epoch "+number(int64(epoch))+" without being a voter")
		}
		if r.role == candidate && (q.epoch != epoch || !q.votedSelf(r)) {
			wrong = "candidate-without-vote"
		}
		if r.role == leader && (q.epoch != epoch || q.leader != r.nodeID) {
			wrong = "leader-not-recorded"
		}
	case follower:
		if leaderID < 0 || leaderID == r.nodeID {
			wrong = "follows-itself"
		} else if q.epoch != epoch || q.leader != leaderID {
			wrong = "follower-not-recorded"
		}
	}
	if wrong != "" {
		rule.fail(wrong, r.id+" is "+r.role.String()+" of leader "+number(int64(leaderID))+" in epoch "+number(int64(epoch))+
			", but its quorum-state says epoch "+number(int64(q.epoch))+", leader "+number(int64(q.leader))+", vote "+number(int64(q.voted)))
	}
}
