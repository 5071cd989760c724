package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim/digest"
)

// recordState is a set of rows: what a log or a snapshot adds up to. It is built record by record.
type recordState struct {
	rows   map[uint64]uint64
	sum    uint64              // over the rows; equal for equal sets
	below  map[uint64][]uint64 // rows that go when the topic does, by its key or its name's; some may be gone already
	parent uint64              // of the next row, 0 for none
	undo   []edit              // what the rows of the open transaction were before, in order
	open   bool
	opaque bool // it holds a record of unknown meaning
}

func (s *recordState) reset() {
	if s.rows == nil {
		s.rows, s.below = map[uint64]uint64{}, map[uint64][]uint64{}
	}
	clear(s.rows)
	clear(s.below)
	s.sum, s.parent, s.undo, s.open, s.opaque = 0, 0, s.undo[:0], false, false
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
	case editBelow:
		s.parent = e.value
	case editIncrement:
		s.change(edit{e.value, s.rows[e.value] + 1})
	case editRemoveTopic:
		s.removeTopic(e.value)
	case editClearElr:
		s.clearElr(e.value)
	default:
		if s.parent != 0 && e.value != 0 && s.rows[e.key] == 0 {
			s.below[s.parent] = append(s.below[s.parent], e.key)
		}
		s.parent = 0
		s.change(e)
	}
}

// change sets one row, and remembers what it was if that may come back.
func (s *recordState) change(e edit) {
	if s.open {
		s.undo = append(s.undo, edit{e.key, s.rows[e.key]})
	}
	s.set(e)
}

// removeTopic takes the rows of a topic away, of its partitions and of its configurations.
func (s *recordState) removeTopic(topic uint64) {
	name := s.rows[topic]
	for _, partition := range s.below[topic] {
		for field := fieldReplicas; field < numPartitionFields; field++ {
			s.change(edit{fieldOf(partition, field), 0})
		}
		s.change(edit{partition, 0})
	}
	for _, config := range s.below[name] {
		s.change(edit{config, 0})
	}
	s.change(edit{topic, 0})
	s.change(edit{name, 0})
}

// clearElr empties the eligible leader replicas of a topic, or of all for name 0: a change of those partitions that have some.
func (s *recordState) clearElr(name uint64) {
	if name != 0 {
		s.clearTopicElr(s.rows[name])
		return
	}
	topics := make([]uint64, 0, len(s.below))
	for topic := range s.below {
		topics = append(topics, topic)
	}
	slices.Sort(topics)
	for _, topic := range topics {
		s.clearTopicElr(topic)
	}
}

func (s *recordState) clearTopicElr(topic uint64) {
	for _, partition := range s.below[topic] {
		elr, last := fieldOf(partition, fieldElr), fieldOf(partition, fieldLastKnownElr)
		if s.rows[elr] == 0 && s.rows[last] == 0 {
			continue
		}
		s.change(edit{elr, 0})
		s.change(edit{last, 0})
		s.apply(edit{editIncrement, fieldOf(partition, fieldPartitionEpoch)})
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
