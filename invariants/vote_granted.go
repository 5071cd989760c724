package invariants

import "github.com/kraftsim/kraftsim/sim"

var voteGrantedDoc = sim.InvariantDoc{
	Name:   "vote-granted",
	Source: "KIP-595; KIP-996; kraft-protocol 1.7",
	Doc: "A replica that knows no leader of an epoch and has no vote in it grants a standard vote of that epoch to a candidate whose log is as " +
		"good as its own, whatever else it is about: a pre-vote of its own is no reason to refuse.",
}

// voteRefused checks a standard vote that was refused without an error. The answer itself says whether a leader is known; vote and log
// are on the disk of the one who refuses. What a log without batches ends with may be in a snapshot, and is not judged.
func (c *core) voteRefused(r, to *replica, v *askedVote, leader int32) {
	q, last := &r.durable, r.log.last()
	if leader >= 0 || !q.found || q.epoch != v.epoch || last == noBatch || len(r.log.entries) == 0 {
		return
	}
	rule := &c.rules.voteGranted
	rule.eval()
	// Who becomes leader notes the start of its epoch before it appends anything, and a log is as new as the newest epoch noted.
	epoch := max(c.ledger.at(last).epoch, r.lastLed)
	if q.voted >= 0 || v.lastEpoch < epoch || v.lastEpoch == epoch && v.end < r.log.end {
		return
	}
	rule.fail("refused", r.id+" refuses "+to.id+" its vote in epoch "+number(int64(v.epoch))+" without having one or knowing a leader; its log ends at "+
		number(r.log.end)+" in epoch "+number(int64(epoch))+", that of the candidate at "+number(v.end)+" in epoch "+number(int64(v.lastEpoch)))
}
