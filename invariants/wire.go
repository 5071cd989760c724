package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var clusterIDServedDoc = sim.InvariantDoc{
	Name:   "cluster-id-served",
	Source: "KIP-595, KIP-1262; kraft-protocol S22, 2.3",
	Doc:    "A server that knows its cluster id answers with data only requests that carry no cluster id or the same.",
}

// wire remembers, per ordered pair of hosts, the latest requests, which their answers don't repeat.
type wire struct {
	hosts int32
	pairs []pair
}

// pair is what one host last asked another.
type pair struct {
	vote  askedVote
	fetch askedFetch

	progress progressOf
	call     lastCall
}

type askedVote struct {
	correlation int32
	epoch       int32
	preVote     bool
	asked       bool
	id          int32
	dir         record.UUID
	lastEpoch   int32 // of the log of the one who asks,
	end         int64 // and where it ends
}

type askedFetch struct {
	correlation int32
	foreign     bool // carried another cluster id than the one that the server knew
	asked       bool
}

func (w *wire) reset(hosts int32) {
	w.hosts = hosts
	n := int(hosts * hosts)
	if cap(w.pairs) < n {
		w.pairs = make([]pair, n)
	}
	w.pairs = w.pairs[:n]
	clear(w.pairs)
}

// between returns the pair of the one who asks and the one who answers.
func (w *wire) between(asker, answerer *replica) *pair {
	return &w.pairs[asker.host*w.hosts+answerer.host]
}

// fetchAsked notes whether the server knows that the request comes from another cluster.
func (c *core) fetchAsked(r, to *replica, correlation int32, known bool, id string) {
	f := &c.wire.between(r, to).fetch
	*f = askedFetch{correlation: correlation, asked: true}
	if known {
		if mine := to.knownClusterID(); mine != 0 && to.up && to.knowsID {
			f.foreign = c.ledger.texts[mine] != id
		}
	}
}

// fetchServed checks an answer without error.
func (c *core) fetchServed(r, to *replica, correlation int32) {
	f := &c.wire.between(to, r).fetch
	if !f.asked || f.correlation != correlation {
		return
	}
	rule := &c.rules.clusterIDServed
	rule.eval()
	if f.foreign {
		rule.fail("foreign-served", r.id+" serves a Fetch of "+to.id+" that carries another cluster id")
	}
}
