package record

import "encoding/binary"

// The Append functions add one primitive to dst and return the longer slice, as the built-in append does.

// AppendBool appends 1 or 0.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// AppendInt8 appends one byte.
func AppendInt8(dst []byte, v int8) []byte { return append(dst, byte(v)) }

// AppendInt16 appends two bytes, big endian.
func AppendInt16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }

// AppendUint16 appends two bytes, big endian.
func AppendUint16(dst []byte, v uint16) []byte { return binary.BigEndian.AppendUint16(dst, v) }

// AppendInt32 appends four bytes, big endian.
func AppendInt32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }

// AppendInt64 appends eight bytes, big endian.
func AppendInt64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// AppendUint64 appends eight bytes, big endian; a float64 of a record is given as its 64 bits.
func AppendUint64(dst []byte, v uint64) []byte { return binary.BigEndian.AppendUint64(dst, v) }

// AppendUUID appends sixteen bytes.
func AppendUUID(dst []byte, u UUID) []byte { return append(dst, u[:]...) }

// AppendCompactString appends a compact string. The caller has checked that it is not longer than 32767 bytes.
func AppendCompactString(dst []byte, s string) []byte {
	dst = AppendUvarint(dst, uint32(len(s))+1)
	return append(dst, s...)
}

// AppendCompactNull appends the null of a compact string, compact bytes or compact array.
func AppendCompactNull(dst []byte) []byte { return append(dst, 0) }

// AppendCompactBytes appends compact bytes; a nil slice is empty, not null.
func AppendCompactBytes(dst, b []byte) []byte {
	dst = AppendUvarint(dst, uint32(len(b))+1)
	return append(dst, b...)
}

// AppendCompactArrayLength appends the count of a compact array; -1 is null.
func AppendCompactArrayLength(dst []byte, n int32) []byte { return AppendUvarint(dst, uint32(n+1)) }

// AppendNullableString appends a string with an int16 length; null when ok is false.
func AppendNullableString(dst []byte, s string, ok bool) []byte {
	if !ok {
		return AppendInt16(dst, -1)
	}
	dst = AppendInt16(dst, int16(len(s)))
	return append(dst, s...)
}
