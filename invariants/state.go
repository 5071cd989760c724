package invariants

import (
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/digest"
)

// edit is what one data record does to the state: it sets the row of a key to a value, or takes the row away when the value
// is 0. Keys and values are hashes, so that an edit has no text to keep and a state can be compared in one step.
type edit struct{ key, value uint64 }

// Edits with these keys are the brackets of a transaction, and one that no checker can follow.
const (
	editBegin uint64 = iota
	editEnd
	editAbort
	editOpaque
	firstEditKey
)

// Seeds that keep the kinds of rows apart.
const (
	rowFeature uint64 = iota + 1
	rowClusterID
	rowConfig
	rowScram
	rowValue
)

// editOf reads a record with code of its own: what it means for the state is the checkers' to say, not the replica's. ok is
// false for a record that changes nothing.
func (l *ledger) editOf(x records.Record) (e edit, ok bool) {
	b := l.scratch[:0]
	switch m := x.(type) {
	case *records.FeatureLevelRecord:
		if m.Name == "kraft.version" { // raft keeps it for itself (KAFKA-18979)
			return e, false
		}
		e = edit{key: digest.String(rowFeature, m.Name), value: digest.Word(rowValue, uint64(uint16(m.FeatureLevel)))}
		if m.FeatureLevel == 0 {
			e.value = 0
		}
	case *records.ClusterIdRecord:
		e = edit{key: digest.Word(rowClusterID, 0), value: digest.String(rowValue, m.ClusterId)}
		if m.ClusterId == "" {
			e.value = 0
		}
	case *records.ConfigRecord:
		b = record.AppendCompactString(record.AppendInt8(b, m.ResourceType), m.ResourceName)
		b = record.AppendCompactString(b, m.Name)
		e.key = digest.Bytes(rowConfig, b)
		if m.Value != nil {
			e.value = digest.String(rowValue, *m.Value)
		}
	case *records.UserScramCredentialRecord:
		e.key = digest.String(digest.Word(rowScram, uint64(uint8(m.Mechanism))), m.Name)
		b = record.AppendCompactBytes(record.AppendCompactBytes(b, m.Salt), m.StoredKey)
		b = record.AppendInt32(record.AppendCompactBytes(b, m.ServerKey), m.Iterations)
		e.value = digest.Bytes(rowValue, b)
	case *records.RemoveUserScramCredentialRecord:
		e.key = digest.String(digest.Word(rowScram, uint64(uint8(m.Mechanism))), m.Name)
	case *records.BeginTransactionRecord:
		return edit{key: editBegin}, true
	case *records.EndTransactionRecord:
		return edit{key: editEnd}, true
	case *records.AbortTransactionRecord:
		return edit{key: editAbort}, true
	case *records.ZkMigrationStateRecord: // read and ignored (metadata-bootstrap 6.1)
		return e, false
	default:
		return edit{key: editOpaque}, true
	}
	l.scratch = b[:0]
	e.key = max(e.key, firstEditKey)
	return e, true
}

// recordState is a set of rows: what a log or a snapshot adds up to. It is built record by record.
type recordState struct {
	rows   map[uint64]uint64
	sum    uint64 // over the rows; equal for equal sets
	undo   []edit // what the rows of the open transaction were before, in order
	open   bool
	opaque bool // it holds a record of unknown meaning
}

func (s *recordState) reset() {
	if s.rows == nil {
		s.rows = map[uint64]uint64{}
	}
	clear(s.rows)
	s.sum, s.undo, s.open, s.opaque = 0, s.undo[:0], false, false
}

// apply replays one edit.
func (s *recordState) apply(e edit) {
	switch e.key {
	case editBegin:
		s.open, s.undo = true, s.undo[:0]
	case editEnd:
		s.open = false
	case editAbort:
		for n := len(s.undo); s.open && n > 0; n-- {
			s.set(s.undo[n-1])
		}
		s.open = false
	case editOpaque:
		s.opaque = true
	default:
		if s.open {
			s.undo = append(s.undo, edit{e.key, s.rows[e.key]})
		}
		s.set(e)
	}
}

// set changes one row and the sum.
func (s *recordState) set(e edit) {
	if old, ok := s.rows[e.key]; ok {
		s.sum -= digest.Word(e.key, old)
	}
	if e.value == 0 {
		delete(s.rows, e.key)
		return
	}
	s.rows[e.key] = e.value
	s.sum += digest.Word(e.key, e.value)
}

// committedState follows the exposed log. Where that does not begin at offset 0 it begins with a snapshot, and what lies
// below the snapshot's end is not known.
type committedState struct {
	recordState
	known  bool
	from   int64  // offset of the snapshot to begin with, while known is false; -1: none was found
	begins []edit // its rows
}

func (s *committedState) reset() {
	s.recordState.reset()
	s.known, s.from, s.begins = true, -1, s.begins[:0]
}

// beginWith makes the content of a snapshot the state at its offset. What was there before is forgotten.
func (s *committedState) beginWith(offset int64, rows []edit) {
	s.recordState.reset()
	s.known, s.from, s.begins = false, offset, append(s.begins[:0], rows...)
}

// advance replays a batch of the exposed log and returns the sum behind it; ok is false when no state is known there, or a
// transaction is open, which no snapshot holds a part of.
func (s *committedState) advance(l *ledger, id batchID) (sum uint64, ok bool) {
	b := l.at(id)
	s.begin(b.base)
	if s.known {
		for i := b.editStart; i < b.editEnd; i++ {
			s.apply(l.edits[i-l.firstEdit])
		}
	}
	s.begin(b.end)
	return s.sum, s.known && !s.open && !s.opaque
}

// begin takes the snapshot in when the log has come to its end.
func (s *committedState) begin(offset int64) {
	if s.known || s.from < 0 || offset < s.from {
		return
	}
	s.known = true
	for _, e := range s.begins {
		s.apply(e)
	}
}
