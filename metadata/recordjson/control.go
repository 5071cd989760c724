package recordjson

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// AppendControl decodes the value of a control record of the metadata log and appends its JSON object. Nothing in the
// bytes of a LeaderChangeMessage tells its schema version; writers use 0, so that is how it is read, as in Kafka, which
// does not mind bytes left over. unknown tells that it has tagged fields that this code does not know.
func AppendControl(dst []byte, t record.ControlType, value []byte) (out []byte, unknown bool, err error) {
	switch t {
	case record.LeaderChange:
		var m record.LeaderChangeMessage
		if err := m.Decode(value, 0); err != nil {
			return dst, false, err
		}
		unknown = len(m.UnknownTags) > 0 || unknownVoter(m.Voters) || unknownVoter(m.GrantingVoters)
		return AppendLeaderChange(dst, &m, 0), unknown, nil
	case record.SnapshotHeader:
		var m record.SnapshotHeaderRecord
		if err := m.Decode(value); err != nil {
			return dst, false, err
		}
		dst = appendName(appendVersion(dst, m.Version), "lastContainedLogTimestamp")
		return append(appendInt(dst, m.LastContainedLogTimestampMs), '}'), len(m.UnknownTags) > 0, nil
	case record.SnapshotFooter:
		var m record.SnapshotFooterRecord
		if err := m.Decode(value); err != nil {
			return dst, false, err
		}
		return append(appendVersion(dst, m.Version), '}'), len(m.UnknownTags) > 0, nil
	case record.KRaftVersion:
		var m record.KRaftVersionRecord
		if err := m.Decode(value); err != nil {
			return dst, false, err
		}
		dst = appendName(appendVersion(dst, m.Version), "kRaftVersion")
		return append(appendInt(dst, int64(m.KRaftVersion)), '}'), len(m.UnknownTags) > 0, nil
	case record.KRaftVoters:
		var m record.VotersRecord
		if err := m.Decode(value); err != nil {
			return dst, false, err
		}
		return appendVoters(dst, &m), unknownVoters(&m), nil
	}
	return dst, false, fmt.Errorf("recordjson: control type %d is none of the metadata log", t)
}

// AppendLeaderChange appends a LeaderChangeMessage as the converter of a schema version (0 or 1) prints it.
func AppendLeaderChange(dst []byte, m *record.LeaderChangeMessage, schemaVersion int16) []byte {
	dst = appendInt(appendName(appendVersion(dst, m.Version), "leaderId"), int64(m.LeaderID))
	dst = appendLeaderChangeVoters(appendName(dst, "voters"), m.Voters, schemaVersion)
	dst = appendLeaderChangeVoters(appendName(dst, "grantingVoters"), m.GrantingVoters, schemaVersion)
	return append(dst, '}')
}

func appendLeaderChangeVoters(dst []byte, voters []record.LeaderChangeVoter, schemaVersion int16) []byte {
	dst = append(dst, '[')
	for i := range voters {
		dst = append(appendComma(dst, i), '{')
		dst = appendInt(appendName(dst, "voterId"), int64(voters[i].VoterID))
		if schemaVersion >= 1 {
			dst = appendUUID(appendName(dst, "voterDirectoryId"), voters[i].VoterDirectoryID)
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendVoters(dst []byte, m *record.VotersRecord) []byte {
	dst = append(appendName(appendVersion(dst, m.Version), "voters"), '[')
	for i := range m.Voters {
		v := &m.Voters[i]
		dst = append(appendComma(dst, i), '{')
		dst = appendInt(appendName(dst, "voterId"), int64(v.VoterID))
		dst = appendUUID(appendName(dst, "voterDirectoryId"), v.VoterDirectoryID)
		dst = append(appendName(dst, "endpoints"), '[')
		for j := range v.Endpoints {
			e := &v.Endpoints[j]
			dst = append(appendComma(dst, j), '{')
			dst = AppendString(appendName(dst, "name"), e.Name)
			dst = AppendString(appendName(dst, "host"), e.Host)
			dst = append(appendInt(appendName(dst, "port"), int64(e.Port)), '}')
		}
		dst = append(appendName(append(dst, ']'), "kRaftVersionFeature"), '{')
		dst = appendInt(appendName(dst, "minSupportedVersion"), int64(v.MinSupportedVersion))
		dst = appendInt(appendName(dst, "maxSupportedVersion"), int64(v.MaxSupportedVersion))
		dst = append(dst, '}', '}')
	}
	return append(dst, ']', '}')
}

// appendVersion begins the object of a control record: all have the field version first.
func appendVersion(dst []byte, version int16) []byte {
	return appendInt(appendName(append(dst, '{'), "version"), int64(version))
}

func unknownVoter(voters []record.LeaderChangeVoter) bool {
	for i := range voters {
		if len(voters[i].UnknownTags) > 0 {
			return true
		}
	}
	return false
}

func unknownVoters(m *record.VotersRecord) bool {
	unknown := len(m.UnknownTags) > 0
	for i := range m.Voters {
		v := &m.Voters[i]
		unknown = unknown || len(v.UnknownTags) > 0 || len(v.FeatureUnknownTags) > 0
		for j := range v.Endpoints {
			unknown = unknown || len(v.Endpoints[j].UnknownTags) > 0
		}
	}
	return unknown
}
