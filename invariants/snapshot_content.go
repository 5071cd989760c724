package invariants

import (
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var snapshotContentDoc = sim.InvariantDoc{
	Name:   "snapshot-content",
	Source: "KIP-630; known-bugs S8, KB-21, KB-40; kraft-protocol 4.2, 4.3",
	Doc: "A snapshot that gets its final name is whole; its records add up to the state of the committed log at its offset, aborted " +
		"transactions removed, compared as records; its header carries the kraft.version and the voters that were in force there, and the time " +
		"of the last batch that it covers.",
}

// snapshotRecords is what the records of a snapshot say.
type snapshotRecords struct {
	problem string // why it is none, "" for nothing
	timeMs  int64  // of the last record that it covers, as its header says
	view    view
	rows    recordState
	edits   int32 // its edits stand in the ledger's list from here on until the next batch is added
}

// readSnapshot reads a whole snapshot: sound batches with offsets from 0 on, a control record with the header first, the
// footer last, data in between. Kafka's own reader is content with less (kraft-protocol 4.3); its writer is not.
func (c *core) readSnapshot(epoch int32, data []byte) *snapshotRecords {
	s := &c.snapshot
	l := &c.ledger
	s.problem, s.timeMs, s.view, s.edits = "", 0, emptyView, int32(len(l.edits))
	s.rows.reset()
	facts := len(l.facts)
	var next, records int64
	footer := false
	for len(data) > 0 && s.problem == "" {
		b, rest, err := record.NextBatch(data)
		switch {
		case err != nil || len(b) == 0 || b.Verify() != nil:
			s.problem = "damaged"
			continue
		case b.BaseOffset() != next || b.LeaderEpoch() != epoch:
			s.problem = "offsets"
		}
		data, next = rest, b.NextOffset()
		from := len(l.edits)
		l.decode(b)
		for _, e := range l.edits[from:] {
			s.rows.apply(e)
		}
		s.order(l, b, &records, &footer)
	}
	for i := facts; i < len(l.facts); i++ {
		s.view.apply(&l.facts[i])
	}
	l.facts = l.facts[:facts]
	if s.problem == "" && !footer {
		s.problem = "no-footer"
	}
	return s
}

// order checks that header, data and footer come in this order.
func (s *snapshotRecords) order(l *ledger, b record.Batch, records *int64, footer *bool) {
	if !b.IsControl() {
		if *records == 0 || *footer {
			s.problem = "order"
		}
		*records += int64(b.RecordCount())
		return
	}
	var r record.Record
	for l.records.Reset(b); l.records.Next(&r); *records++ {
		t, err := record.ParseControlKey(r.Key)
		if err != nil || *footer || (t == record.SnapshotHeader) != (*records == 0) {
			s.problem = "order"
		}
		*footer = *footer || t == record.SnapshotFooter
		if t == record.SnapshotHeader {
			s.header(r.Value)
		}
	}
}

// header reads the time that a snapshot is dated with.
func (s *snapshotRecords) header(value []byte) {
	var h record.SnapshotHeaderRecord
	if h.Decode(value) != nil {
		s.problem = "header"
		return
	}
	s.timeMs = h.LastContainedLogTimestampMs
}

// snapshotContent compares a snapshot with the committed log at its offset; e is the batch that ends there.
func (c *core) snapshotContent(r *replica, f *snapshotFile, e *exposedEntry, data []byte) {
	rule := &c.rules.snapshotContent
	rule.eval()
	s := c.readSnapshot(f.epoch, data)
	c.ledger.edits = c.ledger.edits[:s.edits]
	if s.problem != "" {
		if !c.copied(r, f, data) {
			rule.fail("not-whole", f.text(r)+" is no whole snapshot: "+s.problem)
		}
		return
	}
	b := c.ledger.at(e.id)
	switch {
	case b.after.open:
		rule.fail("open-transaction", f.text(r)+" ends inside a transaction")
	case e.known && !s.rows.opaque && s.rows.sum != e.sum:
		rule.fail("other-state", f.text(r)+" does not hold the state that the committed log has at its offset; what it holds are "+
			number(int64(len(s.rows.rows)))+" entries")
	}
	if e.id >= c.ledger.first && s.timeMs != b.timeMs {
		rule.fail("other-time", f.text(r)+" covers the log up to "+number(s.timeMs)+" ms, its last batch is of "+number(b.timeMs)+" ms")
	}
	if c.cfg.hasRecord() {
		c.snapshotImpliesID(&s.view, f, r)
	}
	c.kraftVersionInFile(s.view.kraftVersion, s.view.voters, func() string { return f.text(r) })
	if !b.rooted {
		return // what was in force before the run only snapshots tell
	}
	if s.view.kraftVersion != b.after.kraftVersion {
		rule.fail("kraft-version", f.text(r)+" says kraft.version "+number(int64(s.view.kraftVersion))+", the log "+
			number(int64(b.after.kraftVersion)))
	}
	if s.view.voters != b.after.voters && b.after.voters != noSet {
		rule.fail("voters", f.text(r)+" has voters "+c.ledger.setText(s.view.voters)+", the log says "+
			c.ledger.setText(b.after.voters))
	}
}

// copied reports whether another replica holds the same bytes: then this is its copy, and was looked at when that one got its
// name; damage since then is a fault's.
func (c *core) copied(r *replica, f *snapshotFile, data []byte) bool {
	_, name := splitPath(f.path)
	for _, o := range c.replicas {
		if o == r || o.metadataDir == "" {
			continue
		}
		if other, ok := o.disk.File(o.metadataDir + "/" + partitionDir + "/" + name); ok && string(other) == string(data) {
			return true
		}
	}
	return false
}
