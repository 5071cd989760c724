package invariants

// leadership is one epoch that has a leader. Only the winner of the election writes itself into its quorum-state, calls
// itself leader in a request or an answer, or says so in an event: each of them makes the claim.
type leadership struct {
	epoch     int32
	host      int32
	boot      int32   // process life in which the claim was first seen
	head      batchID // end of its log then
	startBase int64   // base offset of its first batch of the epoch, -1: none seen
	exposed   int64   // highest high watermark that it exposed, -1
	told      int64   // highest that it told in an answer to a Fetch, -1
	raised    int64   // highest that it claims to have reached, in events; never below exposed
	before    int64   // the raise before that, -1
	contacts  [maxVoters]contact
	dueNs     int64 // it has a majority until then at least, as far as was computed
	enteredNs int64
	changedNs int64 // when it last appended a voter set
	crowded   bool  // more voters fetched than contacts has room for

	incarnation int32 // of the volume
}

// maxVoters is how many voters two-leaders-bounded follows; Kafka quorums have three to seven.
const maxVoters = 9

// contact is the last fetch of a voter that the leader took in.
type contact struct {
	node int32
	atNs int64
	used bool
}

// leadershipAt returns the leadership of an epoch, nil when there is none. Recent epochs are found at once.
func (c *core) leadershipAt(epoch int32) *leadership {
	for i := len(c.leaders) - 1; i >= 0 && c.leaders[i].epoch >= epoch; i-- {
		if c.leaders[i].epoch == epoch {
			return &c.leaders[i]
		}
	}
	return nil
}

// claim notes that a replica leads an epoch and returns the leadership, or nil when the epoch is another's.
func (c *core) claim(r *replica, epoch int32, evidence string) *leadership {
	if l := c.leadershipAt(epoch); l != nil {
		c.rules.electionSafety.eval()
		if l.host != r.host || l.incarnation != r.incarnation {
			other := c.replicas[l.host].id + " leads too"
			if l.host == r.host {
				other = "it led before its disk was emptied"
			}
			c.rules.electionSafety.fail(evidence, r.id+" leads epoch "+number(int64(epoch))+", which "+other)
			return nil
		}
		return l
	}
	c.rules.electionSafety.eval()
	at := len(c.leaders)
	for at > 0 && c.leaders[at-1].epoch > epoch {
		at--
	}
	c.leaders = append(c.leaders, leadership{})
	copy(c.leaders[at+1:], c.leaders[at:])
	c.leaders[at] = leadership{
		epoch: epoch, host: r.host, boot: r.boot, head: r.log.last(), startBase: -1, exposed: -1, told: -1, raised: -1, before: -1,
		enteredNs: c.nowNs, incarnation: r.incarnation,
	}
	r.lastLed = epoch
	*c.times.elections++
	c.besides(r, epoch)
	c.completeAtEntry(r, &c.leaders[at])
	return &c.leaders[at]
}

// start returns the base offset of the first batch that the leader of l wrote in its epoch, -1 when its log has none.
func (c *core) start(r *replica, l *leadership) int64 {
	if l.startBase >= 0 {
		return l.startBase
	}
	for i := len(r.log.entries) - 1; i >= 0; i-- {
		b := c.ledger.at(r.log.entries[i].id)
		if b.epoch < l.epoch {
			break
		}
		if b.epoch == l.epoch {
			l.startBase = b.base
		}
	}
	return l.startBase
}

// besides counts elections during which the leader of an earlier epoch leads on: it has not heard yet. Each invariant judges either by
// its own epoch.
func (c *core) besides(r *replica, epoch int32) {
	for _, o := range c.replicas {
		if o != r && o.up && o.role == leader && o.roleEpoch < epoch {
			*c.times.twoLeaders++
			return
		}
	}
}
