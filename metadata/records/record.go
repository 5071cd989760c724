package records

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

//go:generate go run ./gen

// Record is one metadata record, always a pointer to a generated struct. Records are plain data: a decoded one shares
// no memory with the frame it came from.
type Record interface {
	// APIKey is the number that stands for the type in a frame.
	APIKey() int16
	// RecordName is the schema name, e.g. "FeatureLevelRecord".
	RecordName() string
	// Versions is the range of versions that this code reads and writes.
	Versions() (lowest, highest int16)
	// Since is the lowest metadata.version level at which a controller may write the record.
	Since() int16
	// Check tells why the record cannot be written at version: the version is unknown, a field that it lacks is set,
	// null stands where it is not legal, or a string is longer than 32767 bytes.
	Check(version int16) error

	appendTo(dst []byte, version int16) []byte
	decode(r *reader, version int16)
}

// Float64Bits is a float64 as its IEEE 754 bits: the deterministic rooms do no float arithmetic.
type Float64Bits uint64

// What Decode wraps.
var (
	// ErrUnknownKey: no record has this key. Kafka stops on it.
	ErrUnknownKey = errors.New("records: unknown record key")
	// ErrUnknownVersion: the key is known, the version is newer than this code. Kafka reads some of these as the newest
	// version it knows and is right only by luck; they are refused here (formats 5).
	ErrUnknownVersion = errors.New("records: unknown record version")
	// ErrMalformed: the bytes are not a frame of version 1 with exactly one record in it.
	ErrMalformed = errors.New("records: malformed record")
)

const (
	frameVersion   = 1
	maxStringBytes = 32767
	maxHeaderValue = 32767
	allTags        = 1 << 32 // above every tag
)

var (
	errNull       = errors.New("null where the schema allows none")
	errLongString = errors.New("a string is longer than 32767 bytes")
	errTagOrder   = errors.New("tags do not ascend")
	errTagVersion = errors.New("a tag that this version does not have")
)

// Append writes the frame (frame version 1, key, version, body) of r. It panics when r.Check(version) fails: whoever
// builds a record from outside input calls Check first.
func Append(dst []byte, r Record, version int16) []byte {
	if err := r.Check(version); err != nil {
		panic(err)
	}
	dst = append(dst, frameVersion)
	dst = record.AppendUvarint(dst, uint32(r.APIKey()))
	dst = record.AppendUvarint(dst, uint32(version))
	return r.appendTo(dst, version)
}

// Decode reads one whole frame. A tagged field that is known is read by its type and its stated size is not looked at,
// as Kafka does; everything else that is odd is an error, which for the reader of a committed log is fatal.
func Decode(frame []byte) (r Record, version int16, err error) {
	in := reader{record.NewReader(frame)}
	header := [3]uint32{in.Uvarint(), in.Uvarint(), in.Uvarint()}
	if in.Err() != nil {
		return nil, 0, fmt.Errorf("%w: frame header: %w", ErrMalformed, in.Err())
	}
	if header[0] != frameVersion {
		return nil, 0, fmt.Errorf("%w: frame version %d, want %d", ErrMalformed, header[0], frameVersion)
	}
	if header[1] > maxHeaderValue || header[2] > maxHeaderValue {
		return nil, 0, fmt.Errorf("%w: key %d or version %d above %d", ErrMalformed, header[1], header[2], maxHeaderValue)
	}
	r = New(int16(header[1]))
	if r == nil {
		return nil, 0, fmt.Errorf("%w: %d", ErrUnknownKey, header[1])
	}
	version = int16(header[2])
	if err := checkVersion(r, version); err != nil {
		return nil, 0, err
	}
	r.decode(&in, version)
	if in.Err() != nil {
		return nil, 0, fmt.Errorf("%w: %s version %d: %w", ErrMalformed, r.RecordName(), version, in.Err())
	}
	if n := in.Remaining(); n > 0 {
		return nil, 0, fmt.Errorf("%w: %s version %d: %d bytes left over", ErrMalformed, r.RecordName(), version, n)
	}
	return r, version, nil
}

func checkVersion(r Record, version int16) error {
	if lowest, highest := r.Versions(); version < lowest || version > highest {
		return fmt.Errorf("%w: %s version %d, known are %d to %d", ErrUnknownVersion, r.RecordName(), version,
			lowest, highest)
	}
	return nil
}

func checkString(field, s string) error {
	if len(s) > maxStringBytes {
		return fmt.Errorf("records: %s has %d bytes, a string holds at most %d", field, len(s), maxStringBytes)
	}
	return nil
}

func errAbsent(field string, version int16) error {
	return fmt.Errorf("records: %s is set, but version %d has no such field", field, version)
}

func errNotNullable(field string, version int16) error {
	return fmt.Errorf("records: %s is null, which version %d does not allow", field, version)
}

// checkTags wants ascending unknown tags, none of which the schema knows.
func checkTags(name string, unknown []record.TaggedField, known ...uint32) error {
	for i, f := range unknown {
		if i > 0 && unknown[i-1].Tag >= f.Tag {
			return fmt.Errorf("records: %s: unknown tag %d does not ascend", name, f.Tag)
		}
		for _, tag := range known {
			if tag == f.Tag {
				return fmt.Errorf("records: %s: tag %d is a known field", name, f.Tag)
			}
		}
	}
	return nil
}
