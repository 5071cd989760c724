package records

import "github.com/kraftsim/kraftsim/raft/record"

func appendLength(dst []byte, n int32) []byte { return record.AppendCompactArrayLength(dst, n) }

func appendFloat64Bits(dst []byte, v Float64Bits) []byte { return record.AppendUint64(dst, uint64(v)) }

func appendNullableText(dst []byte, s *string) []byte {
	if s == nil {
		return record.AppendCompactNull(dst)
	}
	return record.AppendCompactString(dst, *s)
}

func appendNullableBlob(dst, b []byte) []byte {
	if b == nil {
		return record.AppendCompactNull(dst)
	}
	return record.AppendCompactBytes(dst, b)
}

// closeTag puts the size of a tagged payload, which starts at dst[start], in front of it.
func closeTag(dst []byte, start int) []byte {
	size := int32(len(dst) - start)
	dst = record.AppendUvarint(dst, uint32(size))
	width := len(dst) - start - int(size)
	var prefix [5]byte
	copy(prefix[:], dst[start+int(size):])
	copy(dst[start+width:], dst[start:start+int(size)])
	copy(dst[start:], prefix[:width])
	return dst
}

// appendUnknown writes the unknown fields whose tag is below limit and returns those left.
func appendUnknown(dst []byte, fields []record.TaggedField, limit uint64) ([]byte, []record.TaggedField) {
	for len(fields) > 0 && uint64(fields[0].Tag) < limit {
		dst = record.AppendTaggedField(dst, fields[0].Tag, fields[0].Data)
		fields = fields[1:]
	}
	return dst, fields
}
