// Package voters is the voter set of a quorum: who may vote, under which directory id, and where they listen.
//
// A Set is an immutable value, ordered by replica id; every operation returns a new one. So a set can be kept in
// a history by log offset, handed to other lanes and compared, and no one can change it under a reader.
//
//	set, err := voters.ParseStatic("1@a:9093,2@b:9093", "CONTROLLER")
//	set.Contains(voters.ReplicaKey{ID: 1})          // true: a static entry matches any directory id
//	bigger, ok := set.Add(voters.Voter{ID: 3, ...})
//
// Identity (KIP-853): a replica is its id together with the directory id of its metadata log. An entry without a
// directory id (static voters, kraft.version 0) matches every directory id; an entry with one matches only that.
//
// Refused: a map (iteration order would leak into messages and records) and sets that are edited in place (the
// set in force at an offset must stay what it was when that offset is looked at again after a truncation).
package voters
