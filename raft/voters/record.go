package voters

import "github.com/kraftsim/kraftsim/raft/record"

// FromRecord makes the set that a VotersRecord describes. Errors are those of New.
func FromRecord(r *record.VotersRecord) (*Set, error) {
	entries := make([]Voter, 0, len(r.Voters))
	for i := range r.Voters {
		e := &r.Voters[i]
		v := Voter{
			ReplicaKey:      ReplicaKey{ID: e.VoterID, DirectoryID: e.VoterDirectoryID},
			Endpoints:       make([]Endpoint, 0, len(e.Endpoints)),
			MinKRaftVersion: e.MinSupportedVersion,
			MaxKRaftVersion: e.MaxSupportedVersion,
		}
		for j := range e.Endpoints {
			p := &e.Endpoints[j]
			v.Endpoints = append(v.Endpoints, Endpoint{Name: p.Name, Host: p.Host, Port: p.Port})
		}
		entries = append(entries, v)
	}
	return New(entries...)
}

// Record returns the set as a VotersRecord, ascending by id.
func (s *Set) Record() record.VotersRecord {
	r := record.VotersRecord{Voters: make([]record.VoterEntry, 0, s.Len())}
	for i := int32(0); i < s.Len(); i++ {
		v := s.At(i)
		e := record.VoterEntry{
			VoterID: v.ID, VoterDirectoryID: v.DirectoryID,
			Endpoints:           make([]record.VoterEndpoint, 0, len(v.Endpoints)),
			MinSupportedVersion: v.MinKRaftVersion,
			MaxSupportedVersion: v.MaxKRaftVersion,
		}
		for _, p := range v.Endpoints {
			e.Endpoints = append(e.Endpoints, record.VoterEndpoint{Name: p.Name, Host: p.Host, Port: p.Port})
		}
		r.Voters = append(r.Voters, e)
	}
	return r
}
