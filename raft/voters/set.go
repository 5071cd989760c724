package voters

import (
	"errors"
	"fmt"
)

// Errors of New and ParseStatic.
var (
	ErrDuplicateVoter = errors.New("voters: the same id twice")
	ErrNegativeID     = errors.New("voters: negative id")
)

// Set is an immutable set of voters, ascending by id. A nil *Set is the empty set.
type Set struct {
	voters []Voter
}

// New makes a set. The order of entries does not matter; ids must be unique and not negative. The entries are
// copied, their endpoint slices are not: they must not change afterwards.
func New(entries ...Voter) (*Set, error) {
	s := &Set{voters: make([]Voter, 0, len(entries))}
	for i := range entries {
		id := entries[i].ID
		if id < 0 {
			return nil, fmt.Errorf("%w %d", ErrNegativeID, id)
		}
		at := s.position(id)
		if at < len(s.voters) && s.voters[at].ID == id {
			return nil, fmt.Errorf("%w: %d", ErrDuplicateVoter, id)
		}
		s.voters = append(s.voters, Voter{})
		copy(s.voters[at+1:], s.voters[at:])
		s.voters[at] = entries[i]
	}
	return s, nil
}

// position is the index at which id is or would be inserted.
func (s *Set) position(id int32) int {
	if s == nil {
		return 0
	}
	at := 0
	for at < len(s.voters) && s.voters[at].ID < id {
		at++
	}
	return at
}

// Len is the number of voters.
func (s *Set) Len() int32 {
	if s == nil {
		return 0
	}
	return int32(len(s.voters))
}

// At returns the i-th voter in ascending order of ids. The caller must not change it.
func (s *Set) At(i int32) *Voter { return &s.voters[i] }

// Find returns the voter with that id, whatever its directory id, or nil.
func (s *Set) Find(id int32) *Voter {
	at := s.position(id)
	if s == nil || at == len(s.voters) || s.voters[at].ID != id {
		return nil
	}
	return &s.voters[at]
}

// Contains is the voter test (kraft-protocol 0): an entry with the replica's id that names no directory or the
// replica's own. Everyone else is an observer.
func (s *Set) Contains(replica ReplicaKey) bool {
	v := s.Find(replica.ID)
	return v != nil && v.Matches(replica)
}

// IsOnly reports whether replica is a voter and there is no other.
func (s *Set) IsOnly(replica ReplicaKey) bool { return s.Len() == 1 && s.Contains(replica) }

// Equal reports whether two sets have the same entries.
func (s *Set) Equal(other *Set) bool {
	if s.Len() != other.Len() {
		return false
	}
	for i := int32(0); i < s.Len(); i++ {
		if !s.At(i).equal(other.At(i)) {
			return false
		}
	}
	return true
}

// with returns a copy in which the entry at position at is replaced by v, or with v inserted there.
func (s *Set) with(at int, replace bool, v Voter) *Set {
	n := int(s.Len())
	next := &Set{voters: make([]Voter, 0, n+1)}
	if n > 0 {
		next.voters = append(next.voters, s.voters[:at]...)
	}
	next.voters = append(next.voters, v)
	if replace {
		at++
	}
	if at < n {
		next.voters = append(next.voters, s.voters[at:]...)
	}
	return next
}

// Add returns the set with one voter more; false when the id is a voter already, whatever its directory.
func (s *Set) Add(v Voter) (*Set, bool) {
	if v.ID < 0 || s.Find(v.ID) != nil {
		return nil, false
	}
	return s.with(s.position(v.ID), false, v), true
}

// Remove returns the set without exactly that key; false when it is not in the set or the last voter.
func (s *Set) Remove(key ReplicaKey) (*Set, bool) {
	v := s.Find(key.ID)
	if v == nil || v.ReplicaKey != key || s.Len() == 1 {
		return nil, false
	}
	at := s.position(key.ID)
	next := &Set{voters: make([]Voter, 0, len(s.voters)-1)}
	next.voters = append(append(next.voters, s.voters[:at]...), s.voters[at+1:]...)
	return next, true
}

// Update returns the set with v in the place of the entry of the same id; false unless that entry names no
// directory or v's own.
func (s *Set) Update(v Voter) (*Set, bool) {
	if !s.Contains(v.ReplicaKey) {
		return nil, false
	}
	return s.with(s.position(v.ID), true, v), true
}

// UpdateIgnoringDirectoryID is Update for quorums at kraft.version 0, whose entries have no directory ids to
// compare; false when the id is no voter.
func (s *Set) UpdateIgnoringDirectoryID(v Voter) (*Set, bool) {
	if s.Find(v.ID) == nil {
		return nil, false
	}
	return s.with(s.position(v.ID), true, v), true
}

// NeedsUpdate reports whether v is a voter (by Contains) whose entry differs from it in anything.
func (s *Set) NeedsUpdate(v *Voter) bool {
	entry := s.Find(v.ID)
	return entry != nil && entry.Matches(v.ReplicaKey) && !entry.equal(v)
}

// MajoritiesOverlap reports whether every majority of s is sure to share a replica with every majority of next:
// at most one key leaves and at most one comes (kraft-protocol 5.1).
func (s *Set) MajoritiesOverlap(next *Set) bool {
	return s.keysNotIn(next) <= 1 && next.keysNotIn(s) <= 1
}

// keysNotIn counts the keys of s that other lacks.
func (s *Set) keysNotIn(other *Set) (n int32) {
	for i := int32(0); i < s.Len(); i++ {
		if v := other.Find(s.At(i).ID); v == nil || v.ReplicaKey != s.At(i).ReplicaKey {
			n++
		}
	}
	return n
}

// AppendTo appends canonical bytes: equal sets give equal bytes on every machine.
func (s *Set) AppendTo(buf []byte) []byte {
	buf = appendInt32(buf, s.Len())
	for i := int32(0); i < s.Len(); i++ {
		v := s.At(i)
		buf = appendInt32(buf, v.ID)
		buf = append(buf, v.DirectoryID[:]...)
		buf = appendInt32(buf, int32(v.MinKRaftVersion)<<16|int32(uint16(v.MaxKRaftVersion)))
		buf = appendInt32(buf, int32(len(v.Endpoints)))
		for _, e := range v.Endpoints {
			buf = append(appendInt32(buf, int32(len(e.Name))), e.Name...)
			buf = append(appendInt32(buf, int32(len(e.Host))), e.Host...)
			buf = appendInt32(buf, int32(e.Port))
		}
	}
	return buf
}

// appendInt32 appends v, big endian.
func appendInt32(buf []byte, v int32) []byte {
	return append(buf, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}
