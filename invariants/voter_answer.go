package invariants

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

var voterAnswerDoc = sim.InvariantDoc{
	Name:   "voter-answer",
	Source: "KIP-853; kraft-protocol 2.11, 2.12, 5.3",
	Doc: "Whoever asks for a voter to be added or removed hears no error only when the newest voter set that is committed has the voter, " +
		"or has it no more. Who did not ask to wait for the commit is excepted. A leader starts no change while " +
		"another one is under way, which nobody would ever answer.",
}

// voterQuestion is a request to add or to remove a voter, as it was sent, until its answer is.
type voterQuestion struct {
	asker, asked int32 // hosts
	correlation  int32
	wish         voterWish
	atOnce       bool // the answer need not wait for the commit
}

// changeAsked notes a request.
func (c *core) changeAsked(q voterQuestion) {
	c.asked(q.wish)
	for i := range c.questions {
		if x := &c.questions[i]; x.asker == q.asker && x.asked == q.asked && x.correlation == q.correlation && x.wish.add == q.wish.add {
			*x = q
			return
		}
	}
	c.questions = append(c.questions, q)
}

// changeAnswered judges an answer. r is the replica that gives it, at the host asked.
func (c *core) changeAnswered(r *replica, add bool, asker, asked, correlation int32, code raft.ErrorCode) {
	for i := range c.questions {
		q := c.questions[i]
		if q.asker != asker || q.asked != asked || q.correlation != correlation || q.wish.add != add {
			continue
		}
		last := len(c.questions) - 1
		c.questions[i] = c.questions[last]
		c.questions = c.questions[:last]
		if code == raft.None && !q.atOnce { // the record is written behind such an answer, in the same turn
			c.changeMade(r, &q)
		}
		return
	}
}

// changeMade compares an answer without an error with the log of the replica that gives it. A leader answers in the turn in
// which its high watermark passes the record, before it can start another change.
func (c *core) changeMade(r *replica, q *voterQuestion) {
	rule := &c.rules.voterAnswer
	rule.eval()
	below := int64(0)
	if l := c.leadershipAt(r.lastLed); l != nil && l.host == r.host {
		below = max(l.raised, 0)
	}
	set := c.votersAt(r, max(below-1, 0))
	if c.setOrStatic(r, set).has(&q.wish.key) == q.wish.add {
		return
	}
	what := " to be removed"
	if q.wish.add {
		what = " to be added"
	}
	rule.fail("not-made", r.id+" answers without an error to who asked for "+number(int64(q.wish.key.id))+":"+q.wish.key.dir.String()+what+
		"; the voters below offset "+number(below)+" are "+c.ledger.setText(set))
}

// changeEvent follows the begin and the end of a change at a leader, for the goals of the calm: whether two are under way at once is
// judged by requests and answers (changesOpen in package scenarios).
func (c *core) changeEvent(r *replica, started bool) {
	r.changing = started
}
