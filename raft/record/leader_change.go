package record

import "fmt"

// LeaderChangeVoter names a voter inside a LeaderChangeMessage. The directory id exists in schema version 1 only.
type LeaderChangeVoter struct {
	VoterID          int32
	VoterDirectoryID UUID
	UnknownTags      []TaggedField
}

// LeaderChangeMessage is the first record of every epoch. Leaders write schema version 0 (kraft-protocol 3.2); the
// order of the ids in Kafka's own is that of a hash table, here they are written as given, ascending by convention.
type LeaderChangeMessage struct {
	Version        int16 // a field of the message, not the schema version
	LeaderID       int32
	Voters         []LeaderChangeVoter
	GrantingVoters []LeaderChangeVoter
	UnknownTags    []TaggedField
}

// AppendTo appends the value of the control record in schema version 0 or 1; version 0 drops the directory ids.
func (m *LeaderChangeMessage) AppendTo(dst []byte, schemaVersion int16) []byte {
	dst = AppendInt32(AppendInt16(dst, m.Version), m.LeaderID)
	dst = appendLeaderChangeVoters(dst, m.Voters, schemaVersion)
	dst = appendLeaderChangeVoters(dst, m.GrantingVoters, schemaVersion)
	return AppendUnknownTags(dst, m.UnknownTags)
}

func appendLeaderChangeVoters(dst []byte, voters []LeaderChangeVoter, schemaVersion int16) []byte {
	dst = AppendCompactArrayLength(dst, int32(len(voters)))
	for i := range voters {
		dst = AppendInt32(dst, voters[i].VoterID)
		if schemaVersion >= 1 {
			dst = AppendUUID(dst, voters[i].VoterDirectoryID)
		}
		dst = AppendUnknownTags(dst, voters[i].UnknownTags)
	}
	return dst
}

// Decode reads the value of the control record. Nothing in the bytes tells the schema version: logs have 0.
func (m *LeaderChangeMessage) Decode(value []byte, schemaVersion int16) error {
	if schemaVersion < 0 || schemaVersion > 1 {
		return fmt.Errorf("%w: LeaderChangeMessage version %d", ErrUnsupported, schemaVersion)
	}
	r := NewReader(value)
	*m = LeaderChangeMessage{Version: r.Int16(), LeaderID: r.Int32()}
	m.Voters = readLeaderChangeVoters(&r, schemaVersion)
	m.GrantingVoters = readLeaderChangeVoters(&r, schemaVersion)
	m.UnknownTags = r.UnknownTags()
	return r.Err()
}

func readLeaderChangeVoters(r *Reader, schemaVersion int16) []LeaderChangeVoter {
	n := r.CompactArrayLength()
	if n < 0 {
		r.Fail(fmt.Errorf("%w: null voters", ErrMalformed))
	}
	var voters []LeaderChangeVoter
	for ; n > 0 && r.Err() == nil; n-- {
		v := LeaderChangeVoter{VoterID: r.Int32()}
		if schemaVersion >= 1 {
			v.VoterDirectoryID = r.UUID()
		}
		v.UnknownTags = r.UnknownTags()
		voters = append(voters, v)
	}
	return voters
}
