package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/quorum"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// answer is what a voter said in an election.
type answer uint8

const (
	unrecorded answer = iota
	granted
	rejected
)

// tally counts the votes or pre-votes of one election, over the voter set at its beginning; it is not recomputed when
// the set changes (kraft-protocol 1.8).
type tally struct {
	ids     []int32 // ascending
	answers []answer
	// answersStand says that an answer, once given, is final (a standard election). A pre-vote may be asked twice, and
	// the later answer replaces the former.
	answersStand bool
}

// newTally starts an election in which the replica itself has granted.
func newTally(set *voters.Set, self int32, answersStand bool) (tally, error) {
	t := tally{
		ids:          make([]int32, 0, set.Len()),
		answers:      make([]answer, set.Len()),
		answersStand: answersStand,
	}
	for i := int32(0); i < set.Len(); i++ {
		t.ids = append(t.ids, set.At(i).ID)
	}
	return t, t.record(self, true)
}

// record notes the answer of voter id.
func (t *tally) record(id int32, grant bool) error {
	next := rejected
	if grant {
		next = granted
	}
	for i, member := range t.ids {
		if member != id {
			continue
		}
		if t.answersStand && t.answers[i] != unrecorded && t.answers[i] != next {
			return fmt.Errorf("%w: voter %d changed its answer", ErrVoteTally, id)
		}
		t.answers[i] = next
		return nil
	}
	return fmt.Errorf("%w: %d is no voter of this election", ErrVoteTally, id)
}

// count returns how many voters gave that answer.
func (t *tally) count(a answer) (n int32) {
	for _, given := range t.answers {
		if given == a {
			n++
		}
	}
	return n
}

// result judges the election.
func (t *tally) result() quorum.Result {
	return quorum.Outcome(t.count(granted), t.count(rejected), int32(len(t.ids)))
}

// grantingIDs returns the voters that granted, ascending.
func (t *tally) grantingIDs() []int32 {
	var ids []int32
	for i, given := range t.answers {
		if given == granted {
			ids = append(ids, t.ids[i])
		}
	}
	return ids
}

// appendTo appends canonical bytes.
func (t *tally) appendTo(buf []byte) []byte {
	for i, id := range t.ids {
		buf = append(buf, byte(id>>24), byte(id>>16), byte(id>>8), byte(id), byte(t.answers[i]))
	}
	return buf
}
