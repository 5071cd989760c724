package record

import "fmt"

// VoterEndpoint is where a voter listens. Name is the listener name in upper case.
type VoterEndpoint struct {
	Name        string
	Host        string
	Port        uint16
	UnknownTags []TaggedField
}

// VoterEntry is one member of a VotersRecord.
type VoterEntry struct {
	VoterID             int32
	VoterDirectoryID    UUID
	Endpoints           []VoterEndpoint
	MinSupportedVersion int16 // of kraft.version
	MaxSupportedVersion int16
	FeatureUnknownTags  []TaggedField
	UnknownTags         []TaggedField
}

// VotersRecord is a whole voter set, in force from its offset on (KIP-853). Kafka's own order is that of a hash
// table; here the entries are written as given, ascending by id by convention.
type VotersRecord struct {
	Version     int16
	Voters      []VoterEntry
	UnknownTags []TaggedField
}

// AppendTo appends the value of the control record.
func (m *VotersRecord) AppendTo(dst []byte) []byte {
	dst = AppendCompactArrayLength(AppendInt16(dst, m.Version), int32(len(m.Voters)))
	for i := range m.Voters {
		dst = m.Voters[i].appendTo(dst)
	}
	return AppendUnknownTags(dst, m.UnknownTags)
}

func (v *VoterEntry) appendTo(dst []byte) []byte {
	dst = AppendUUID(AppendInt32(dst, v.VoterID), v.VoterDirectoryID)
	dst = AppendCompactArrayLength(dst, int32(len(v.Endpoints)))
	for i := range v.Endpoints {
		e := &v.Endpoints[i]
		dst = AppendCompactString(AppendCompactString(dst, e.Name), e.Host)
		dst = AppendUnknownTags(AppendUint16(dst, e.Port), e.UnknownTags)
	}
	dst = AppendInt16(AppendInt16(dst, v.MinSupportedVersion), v.MaxSupportedVersion)
	dst = AppendUnknownTags(dst, v.FeatureUnknownTags)
	return AppendUnknownTags(dst, v.UnknownTags)
}

// Decode reads the value of the control record.
func (m *VotersRecord) Decode(value []byte) error {
	r := NewReader(value)
	*m = VotersRecord{Version: r.Int16()}
	n := r.CompactArrayLength()
	if n < 0 {
		r.Fail(fmt.Errorf("%w: null voters", ErrMalformed))
	}
	for ; n > 0 && r.Err() == nil; n-- {
		m.Voters = append(m.Voters, readVoterEntry(&r))
	}
	m.UnknownTags = r.UnknownTags()
	return r.Err()
}

func readVoterEntry(r *Reader) VoterEntry {
	v := VoterEntry{VoterID: r.Int32(), VoterDirectoryID: r.UUID()}
	n := r.CompactArrayLength()
	if n < 0 {
		r.Fail(fmt.Errorf("%w: null endpoints", ErrMalformed))
	}
	for ; n > 0 && r.Err() == nil; n-- {
		e := VoterEndpoint{Name: r.CompactString(), Host: r.CompactString(), Port: r.Uint16()}
		e.UnknownTags = r.UnknownTags()
		v.Endpoints = append(v.Endpoints, e)
	}
	v.MinSupportedVersion, v.MaxSupportedVersion = r.Int16(), r.Int16()
	v.FeatureUnknownTags = r.UnknownTags()
	v.UnknownTags = r.UnknownTags()
	return v
}
