package record

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// UUID is a Kafka uuid: cluster members' directories, topics, incarnations. Its text is not the dashed hexadecimal
// form of RFC 4122 but 22 characters of URL-safe base64 without padding (formats.md 1.1). The zero UUID means "none".
type UUID uuid.UUID

// The well-known uuids. All with a high half of 0 and a low half below 100 are reserved.
var (
	// ZeroUUID stands for "absent" on the wire.
	ZeroUUID = UUID{}
	// MetadataTopicID is the id of the topic __cluster_metadata.
	MetadataTopicID = UUID{15: 1}
	// DirectoryMigrating, DirectoryUnassigned and DirectoryLost are the special directory ids of KIP-858.
	DirectoryMigrating  = UUID{}
	DirectoryUnassigned = UUID{15: 1}
	DirectoryLost       = UUID{15: 2}
)

const uuidAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// UUIDTextSize is the length of the text form.
const UUIDTextSize = 22

// UUIDFromHalves makes a UUID of its most and least significant 64 bits.
func UUIDFromHalves(high, low uint64) UUID {
	var u UUID
	binary.BigEndian.PutUint64(u[:8], high)
	binary.BigEndian.PutUint64(u[8:], low)
	return u
}

// Halves returns the most and the least significant 64 bits.
func (u UUID) Halves() (high, low uint64) {
	return binary.BigEndian.Uint64(u[:8]), binary.BigEndian.Uint64(u[8:])
}

// IsZero tells whether u is the zero uuid.
func (u UUID) IsZero() bool { return u == UUID{} }

// IsReserved tells whether u may not be given to a directory. The comparison with 100 is signed, as in Kafka, so a
// high half of 0 with the top bit of the low half set counts as reserved too.
func (u UUID) IsReserved() bool {
	high, low := u.Halves()
	return high == 0 && int64(low) < 100
}

// String returns the 22 characters of the text form.
func (u UUID) String() string { return string(AppendUUIDText(make([]byte, 0, UUIDTextSize), u)) }

// AppendUUIDText appends the text form of u.
func AppendUUIDText(dst []byte, u UUID) []byte {
	for i := 0; i < 15; i += 3 {
		v := uint32(u[i])<<16 | uint32(u[i+1])<<8 | uint32(u[i+2])
		dst = append(dst, uuidAlphabet[v>>18], uuidAlphabet[v>>12&63], uuidAlphabet[v>>6&63], uuidAlphabet[v&63])
	}
	return append(dst, uuidAlphabet[u[15]>>2], uuidAlphabet[u[15]&3<<4])
}

// ParseUUID reads the text form: 22 characters, or 24 of which the last two are "==". Spare bits of the last
// character are ignored. Line breaks, which Go's own decoder would skip, are refused.
func ParseUUID(text string) (UUID, error) {
	t := text
	if len(t) == 24 && t[22:] == "==" {
		t = t[:22]
	}
	if len(t) != UUIDTextSize {
		return UUID{}, fmt.Errorf("%w: uuid %q does not have 22 characters", ErrMalformed, text)
	}
	var u UUID
	var acc, bits uint32
	n := 0
	for i := 0; i < len(t); i++ {
		v, ok := uuidDigit(t[i])
		if !ok {
			return UUID{}, fmt.Errorf("%w: uuid %q: character %d is not URL-safe base64", ErrMalformed, text, i+1)
		}
		acc, bits = acc<<6|v, bits+6
		if bits >= 8 {
			bits -= 8
			u[n] = byte(acc >> bits)
			n++
		}
	}
	return u, nil
}

func uuidDigit(c byte) (uint32, bool) {
	switch {
	case c >= 'A' && c <= 'Z':
		return uint32(c - 'A'), true
	case c >= 'a' && c <= 'z':
		return uint32(c-'a') + 26, true
	case c >= '0' && c <= '9':
		return uint32(c-'0') + 52, true
	case c == '-':
		return 62, true
	case c == '_':
		return 63, true
	}
	return 0, false
}
