package invariants

import "github.com/kraftsim/kraftsim/sim"

var epochMonotonicDoc = sim.InvariantDoc{
	Name:   "epoch-monotonic",
	Source: "KIP-595; kraft-protocol S3",
	Doc: "The epoch of an incarnation never goes back, restarts included: neither in quorum-state nor in the requests that it sends. " +
		"What quorum-state says is never behind the log: where the file was lost, the log says which epoch it is.",
}

// epochWritten checks a write of quorum-state against what the replica has shown.
func (c *core) epochWritten(r *replica, before, after *quorumFile) {
	rule := &c.rules.epochMonotonic
	rule.eval()
	if after.epoch < r.requestEpoch {
		rule.fail("file-behind-requests", r.id+" writes epoch "+number(int64(after.epoch))+" after it has sent requests of epoch "+
			number(int64(r.requestEpoch)))
	} else if before.found && after.epoch < before.epoch {
		rule.fail("file-went-back", r.id+" writes epoch "+number(int64(after.epoch))+" over epoch "+number(int64(before.epoch)))
	} else if last := r.log.last(); last != noBatch && after.epoch < c.ledger.at(last).epoch {
		rule.fail("file-behind-log", r.id+" writes epoch "+number(int64(after.epoch))+" beside a log that ends in epoch "+
			number(int64(c.ledger.at(last).epoch)))
	}
}

// requestSent checks the epoch in a request. Answers don't count: a parked Fetch may be answered as computed on arrival.
func (c *core) requestSent(r *replica, epoch int32) {
	rule := &c.rules.epochMonotonic
	rule.eval()
	if epoch < r.requestEpoch {
		rule.fail("request-went-back", r.id+" sends a request of epoch "+number(int64(epoch))+" after one of epoch "+
			number(int64(r.requestEpoch)))
	}
	r.requestEpoch = max(r.requestEpoch, epoch)
}
