package records

import (
	"encoding/binary"

	"github.com/google/uuid"
)

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func appendInt8(dst []byte, v int8) []byte      { return append(dst, uint8(v)) }
func appendInt16(dst []byte, v int16) []byte    { return binary.BigEndian.AppendUint16(dst, uint16(v)) }
func appendUint16(dst []byte, v uint16) []byte  { return binary.BigEndian.AppendUint16(dst, v) }
func appendInt32(dst []byte, v int32) []byte    { return binary.BigEndian.AppendUint32(dst, uint32(v)) }
func appendInt64(dst []byte, v int64) []byte    { return binary.BigEndian.AppendUint64(dst, uint64(v)) }
func appendUuid(dst []byte, v uuid.UUID) []byte { return append(dst, v[:]...) }

func appendFloat64(dst []byte, v Float64Bits) []byte {
	return binary.BigEndian.AppendUint64(dst, uint64(v))
}

func appendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, uint8(v)|0x80)
		v >>= 7
	}
	return append(dst, uint8(v))
}

func appendLength(dst []byte, n int) []byte { return appendUvarint(dst, uint32(n)+1) }

func appendString(dst []byte, s string) []byte { return append(appendLength(dst, len(s)), s...) }

func appendNullableString(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, 0)
	}
	return appendString(dst, *s)
}

func appendBytes(dst, b []byte) []byte { return append(appendLength(dst, len(b)), b...) }

func appendNullableBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 0)
	}
	return appendBytes(dst, b)
}

// closeTag puts the size of a tagged payload, which starts at dst[start], in front of it.
func closeTag(dst []byte, start int) []byte {
	size := len(dst) - start
	dst = appendUvarint(dst, uint32(size))
	width := len(dst) - start - size
	var prefix [5]byte
	copy(prefix[:], dst[start+size:])
	copy(dst[start+width:], dst[start:start+size])
	copy(dst[start:], prefix[:width])
	return dst
}

// appendUnknown writes the unknown fields whose tag is below limit and returns those left.
func appendUnknown(dst []byte, fields []TaggedField, limit uint64) ([]byte, []TaggedField) {
	for len(fields) > 0 && uint64(fields[0].Tag) < limit {
		dst = appendUvarint(dst, fields[0].Tag)
		dst = appendUvarint(dst, uint32(len(fields[0].Payload)))
		dst = append(dst, fields[0].Payload...)
		fields = fields[1:]
	}
	return dst, fields
}
