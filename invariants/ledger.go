package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/digest"
)

// batchID names a batch of the ledger.
type batchID int32

// noBatch stands before the first batch of a log.
const noBatch batchID = -1

// batch is one RecordBatch as somebody wrote it, with the whole prefix before it: its ancestors. Two logs are equal up to
// an offset exactly when the batches that end there have the same id.
type batch struct {
	base, end int64 // end is exclusive
	timeMs    int64 // the latest of its records, as its header says
	hash      uint64
	parent    batchID
	next      batchID // another batch with the same base offset
	epoch     int32
	factStart int32
	factEnd   int32
	editStart int32 // edits of the state, see state.go
	editEnd   int32
	writer    int32 // index of the host that wrote it first
	rooted    bool  // the prefix is known from offset 0 on
	control   bool
	after     view // the state of records replayed up to and with this batch
}

// ledger is the set of all batches that the logs of the run hold or held; what all of them have deleted is forgotten, see
// forget.go. It is a tree, because KRaft logs that share (offset, epoch) share the prefix. Lookups are O(1) in the length of
// the logs.
type ledger struct {
	batches []batch // by id, from first on
	first   batchID
	gone    batch     // stands for the forgotten ones
	heads   []batchID // by base offset - origin: the first batch that begins there
	origin  int64
	facts   []fact
	edits   []edit // by number, from firstEdit on

	firstEdit int32
	texts     []string // interned cluster ids; 0 is ""
	sets      []voterSet
	voters    []votersBytes // decoded so far
	rosters   []roster
	records   record.Iterator
	foreign   func(name, value string) bool // see Cluster.Foreign
	scratch   []byte
}

func (l *ledger) reset() {
	l.batches, l.heads, l.facts, l.edits = l.batches[:0], l.heads[:0], l.facts[:0], l.edits[:0]
	l.origin, l.first, l.firstEdit = -1, 0, 0
	l.gone = batch{end: -1, parent: noBatch, next: noBatch, rooted: true, after: emptyView}
	l.texts = append(l.texts[:0], "")
	l.sets, l.rosters, l.voters = l.sets[:0], l.rosters[:0], l.voters[:0]
}

// at returns a batch; the pointer is good until the next intern.
func (l *ledger) at(id batchID) *batch {
	if id < l.first {
		return &l.gone
	}
	return &l.batches[id-l.first]
}

// conflict says how a new batch contradicts the ledger.
type conflict uint8

const (
	noConflict     conflict = iota
	otherBytes              // same base offset and epoch, other bytes
	otherPrefix             // same batch, other batches before it
	epochWentBack           // the batch before it has a higher epoch
	numberOfBroken          // counts the kinds
)

// intern returns the id of a batch whose predecessor in its log is parent. found is the batch that a conflict is with.
func (l *ledger) intern(b record.Batch, parent batchID, writer int32) (id batchID, c conflict, found batchID) {
	base, epoch := b.BaseOffset(), b.LeaderEpoch()
	hash := digest.Bytes(0, b)
	rooted := base == 0 && parent == noBatch || parent != noBatch && l.at(parent).rooted
	found = noBatch
	for id = l.head(base); id != noBatch; id = l.at(id).next {
		x := l.at(id)
		if x.epoch != epoch {
			continue
		}
		if x.hash == hash && (x.parent == parent || !rooted || l.forgotten(x.parent)) {
			return id, noConflict, noBatch
		}
		if x.hash == hash && !x.rooted && rooted { // its prefix was unknown until now
			l.adopt(id, parent)
			return id, noConflict, noBatch
		}
		if found == noBatch {
			found, c = id, otherBytes
			if x.hash == hash {
				c = otherPrefix
			}
		}
	}
	if found == noBatch && parent != noBatch && l.at(parent).epoch > epoch {
		found, c = parent, epochWentBack
	}
	id = l.first + batchID(len(l.batches))
	l.batches = append(l.batches, batch{})
	x := &l.batches[len(l.batches)-1] // in its place: a batch that is made first and then copied waits for its own stores
	x.base, x.end, x.hash, x.parent, x.next = base, b.NextOffset(), hash, parent, noBatch
	x.epoch, x.writer, x.rooted, x.control, x.timeMs = epoch, writer, rooted, b.IsControl(), b.MaxTimestampMs()
	l.add(b, id, x)
	return id, c, found
}

// head returns the first batch that begins at base.
func (l *ledger) head(base int64) batchID {
	if l.origin < 0 || base < l.origin || base-l.origin >= int64(len(l.heads)) {
		return noBatch
	}
	return l.heads[base-l.origin]
}

// maxHeads bounds the table of base offsets: a batch with an absurd offset, which only damaged bytes have, is kept without
// an entry and so never found again.
const maxHeads = 1 << 26

// maxLeap bounds how far beyond all others an offset may lie in the tables that have a row for each: the offset of a batch is under no
// checksum, and one flipped bit of it would make a table of gigabytes.
const maxLeap = 1 << 20

// add decodes a new batch and makes it findable.
func (l *ledger) add(bytes record.Batch, id batchID, b *batch) {
	b.factStart, b.editStart = int32(len(l.facts)), l.firstEdit+int32(len(l.edits))
	l.decode(bytes)
	b.factEnd, b.editEnd = int32(len(l.facts)), l.firstEdit+int32(len(l.edits))
	l.replay(id, b)
	l.link(id, b.base)
}

// link makes the batch findable by its base offset; later batches go behind earlier ones.
func (l *ledger) link(id batchID, base int64) {
	if l.origin < 0 {
		l.origin = max(base-1024, 0)
	}
	if base < l.origin || base-l.origin >= min(int64(len(l.heads))+maxLeap, maxHeads) {
		return
	}
	for int64(len(l.heads)) <= base-l.origin {
		l.heads = append(l.heads, noBatch)
	}
	at := l.heads[base-l.origin]
	if at == noBatch {
		l.heads[base-l.origin] = id
		return
	}
	for l.at(at).next != noBatch {
		at = l.at(at).next
	}
	l.at(at).next = id
}

// adopt gives a batch the prefix that it was first seen without.
func (l *ledger) adopt(id, parent batchID) {
	b := l.at(id)
	b.parent, b.rooted = parent, true
	l.replay(id, b)
}

// replay computes the view behind a batch.
func (l *ledger) replay(id batchID, b *batch) {
	b.after = emptyView
	if b.parent != noBatch {
		b.after = l.at(b.parent).after
	}
	for i := b.factStart; i < b.factEnd; i++ {
		f := &l.facts[i]
		b.after.apply(f)
		if f.kind == factVoters {
			b.after.votersBatch = id
		}
	}
}

// ancestor returns the batch that ends at end in the log whose last batch is id; noBatch when that log has no such batch
// boundary. The cost is the number of batches in between.
func (l *ledger) ancestor(id batchID, end int64) batchID {
	for id != noBatch && l.at(id).end > end {
		id = l.at(id).parent
	}
	if id == noBatch || l.at(id).end != end {
		return noBatch
	}
	return id
}

// intern text: cluster ids are few.
func (l *ledger) text(s string) int32 {
	for i, t := range l.texts {
		if t == s {
			return int32(i)
		}
	}
	l.texts = append(l.texts, s)
	return int32(len(l.texts) - 1)
}
