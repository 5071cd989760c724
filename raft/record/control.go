package record

import (
	"encoding/binary"
	"fmt"
)

// ControlType is the second half of a control record's key (formats.md 4).
type ControlType int16

// The control records of the metadata log and of checkpoint files.
const (
	LeaderChange   ControlType = 2
	SnapshotHeader ControlType = 3
	SnapshotFooter ControlType = 4
	KRaftVersion   ControlType = 5
	KRaftVoters    ControlType = 6
)

// Known tells whether the raft decoder accepts the type; 0 and 1 (abort and commit) belong to ordinary topics.
func (t ControlType) Known() bool { return t >= LeaderChange && t <= KRaftVoters }

// String returns Kafka's name of the type, "UNKNOWN" for others.
func (t ControlType) String() string {
	switch t {
	case LeaderChange:
		return "LEADER_CHANGE"
	case SnapshotHeader:
		return "SNAPSHOT_HEADER"
	case SnapshotFooter:
		return "SNAPSHOT_FOOTER"
	case KRaftVersion:
		return "KRAFT_VERSION"
	case KRaftVoters:
		return "KRAFT_VOTERS"
	}
	return "UNKNOWN"
}

// AppendControlKey appends the four bytes of a control record's key.
func AppendControlKey(dst []byte, t ControlType) []byte {
	return AppendInt16(AppendInt16(dst, 0), int16(t))
}

// ParseControlKey returns the type in a control record's key. A key version above 0 is read as version 0.
func ParseControlKey(key []byte) (ControlType, error) {
	if len(key) < 4 {
		return 0, fmt.Errorf("%w: control key of %d bytes", ErrInvalidRecord, len(key))
	}
	if v := int16(binary.BigEndian.Uint16(key)); v < 0 {
		return 0, fmt.Errorf("%w: control key version %d", ErrInvalidRecord, v)
	}
	return ControlType(binary.BigEndian.Uint16(key[2:])), nil
}

// AddControl appends a control record with this value to the batch, which must have been begun with Control set.
func (b *Builder) AddControl(t ControlType, value []byte) {
	var key [4]byte
	binary.BigEndian.PutUint16(key[2:], uint16(t))
	b.Add(key[:], value)
}

// SnapshotHeaderRecord is the first record of a checkpoint.
type SnapshotHeaderRecord struct {
	Version                     int16
	LastContainedLogTimestampMs int64
	UnknownTags                 []TaggedField
}

// AppendTo appends the value of the control record.
func (m *SnapshotHeaderRecord) AppendTo(dst []byte) []byte {
	return AppendUnknownTags(AppendInt64(AppendInt16(dst, m.Version), m.LastContainedLogTimestampMs), m.UnknownTags)
}

// Decode reads the value of the control record.
func (m *SnapshotHeaderRecord) Decode(value []byte) error {
	r := NewReader(value)
	*m = SnapshotHeaderRecord{Version: r.Int16(), LastContainedLogTimestampMs: r.Int64(), UnknownTags: r.UnknownTags()}
	return r.Err()
}

// SnapshotFooterRecord is the last record of a checkpoint.
type SnapshotFooterRecord struct {
	Version     int16
	UnknownTags []TaggedField
}

// AppendTo appends the value of the control record.
func (m *SnapshotFooterRecord) AppendTo(dst []byte) []byte {
	return AppendUnknownTags(AppendInt16(dst, m.Version), m.UnknownTags)
}

// Decode reads the value of the control record.
func (m *SnapshotFooterRecord) Decode(value []byte) error {
	r := NewReader(value)
	*m = SnapshotFooterRecord{Version: r.Int16(), UnknownTags: r.UnknownTags()}
	return r.Err()
}

// KRaftVersionRecord says which kraft.version is in force from its offset on (KIP-853).
type KRaftVersionRecord struct {
	Version      int16
	KRaftVersion int16
	UnknownTags  []TaggedField
}

// AppendTo appends the value of the control record.
func (m *KRaftVersionRecord) AppendTo(dst []byte) []byte {
	return AppendUnknownTags(AppendInt16(AppendInt16(dst, m.Version), m.KRaftVersion), m.UnknownTags)
}

// Decode reads the value of the control record.
func (m *KRaftVersionRecord) Decode(value []byte) error {
	r := NewReader(value)
	*m = KRaftVersionRecord{Version: r.Int16(), KRaftVersion: r.Int16(), UnknownTags: r.UnknownTags()}
	return r.Err()
}
