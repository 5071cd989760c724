package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft/record"
)

// noSet stands for no voter set.
const noSet int32 = -1

// voterKey is one voter; a zero directory id matches any.
type voterKey struct {
	id  int32
	dir record.UUID
}

// voterSet is ascending by id.
type voterSet struct{ keys []voterKey }

// size is the number of voters; majority how many of them decide.
func (s *voterSet) size() int32     { return int32(len(s.keys)) }
func (s *voterSet) majority() int32 { return s.size()/2 + 1 }

// find returns the entry of an id, or nil.
func (s *voterSet) find(id int32) *voterKey {
	for i := range s.keys {
		if s.keys[i].id == id {
			return &s.keys[i]
		}
	}
	return nil
}

// holds reports whether a replica is a voter of the set (kraft-protocol 0).
func (s *voterSet) holds(r *replica) bool {
	k := s.find(r.nodeID)
	return k != nil && (k.dir.IsZero() || k.dir == r.directoryID)
}

// sameIDs reports whether the other set has the same ids.
func (s *voterSet) sameIDs(o *voterSet) bool {
	if len(s.keys) != len(o.keys) {
		return false
	}
	for i := range s.keys {
		if s.keys[i].id != o.keys[i].id {
			return false
		}
	}
	return true
}

// matches reports whether two entries name the same voter: an absent directory id equals any.
func (k *voterKey) matches(o *voterKey) bool {
	return k.id == o.id && (k.dir == o.dir || k.dir.IsZero() || o.dir.IsZero())
}

// has reports whether an entry of the set names that voter.
func (s *voterSet) has(k *voterKey) bool {
	x := s.find(k.id)
	return x != nil && x.matches(k)
}

// lacks counts the voters of o that the set does not have.
func (s *voterSet) lacks(o *voterSet) (n int32) {
	for i := range o.keys {
		if !s.has(&o.keys[i]) {
			n++
		}
	}
	return n
}

// setText lists a set by its number.
func (l *ledger) setText(set int32) string {
	if set == noSet {
		return "none"
	}
	return l.sets[set].text()
}

// internSet returns the number of a set, which it takes over.
func (l *ledger) internSet(keys []voterKey) int32 {
	slices.SortStableFunc(keys, func(a, b voterKey) int { return int(a.id) - int(b.id) })
	for i := range l.sets {
		if slices.Equal(l.sets[i].keys, keys) {
			return int32(i)
		}
	}
	l.sets = append(l.sets, voterSet{keys})
	return int32(len(l.sets) - 1)
}

func (l *ledger) setOfVoters(m *record.VotersRecord) int32 {
	keys := make([]voterKey, 0, len(m.Voters))
	for i := range m.Voters {
		keys = append(keys, voterKey{m.Voters[i].VoterID, m.Voters[i].VoterDirectoryID})
	}
	return l.internSet(keys)
}

func (l *ledger) setOfLeaderChange(list []record.LeaderChangeVoter) int32 {
	keys := make([]voterKey, 0, len(list))
	for i := range list {
		keys = append(keys, voterKey{id: list[i].VoterID})
	}
	return l.internSet(keys)
}
