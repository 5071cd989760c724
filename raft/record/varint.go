package record

// maxVarintBytes and maxVarlongBytes are the longest encodings a reader accepts (formats.md 1).
const (
	maxVarintBytes  = 5
	maxVarlongBytes = 10
)

// decodeUvarint returns the value and the bytes it took; 0 bytes: cut short; -1: the fifth byte says that more follow.
func decodeUvarint(b []byte) (uint32, int32) {
	var v uint32
	for i := int32(0); i < int32(len(b)); i++ {
		c := b[i]
		v |= uint32(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
		if i+1 == maxVarintBytes {
			return 0, -1
		}
	}
	return 0, 0
}

// decodeUvarlong is decodeUvarint for 64 bits and ten bytes.
func decodeUvarlong(b []byte) (uint64, int32) {
	var v uint64
	for i := int32(0); i < int32(len(b)); i++ {
		c := b[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v, i + 1
		}
		if i+1 == maxVarlongBytes {
			return 0, -1
		}
	}
	return 0, 0
}

func zigzag32(v int32) uint32   { return uint32(v)<<1 ^ uint32(v>>31) }
func unzigzag32(v uint32) int32 { return int32(v>>1) ^ -int32(v&1) }
func zigzag64(v int64) uint64   { return uint64(v)<<1 ^ uint64(v>>63) }
func unzigzag64(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// AppendUvarint appends v as an unsigned varint.
func AppendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// AppendVarint appends v as a zigzag varint.
func AppendVarint(dst []byte, v int32) []byte { return AppendUvarint(dst, zigzag32(v)) }

// AppendUvarlong appends v as an unsigned varint of up to ten bytes.
func AppendUvarlong(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// AppendVarlong appends v as a zigzag varint of up to ten bytes.
func AppendVarlong(dst []byte, v int64) []byte { return AppendUvarlong(dst, zigzag64(v)) }

// UvarintSize returns the bytes that AppendUvarint takes for v.
func UvarintSize(v uint32) int32 {
	n := int32(1)
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// VarintSize returns the bytes that AppendVarint takes for v.
func VarintSize(v int32) int32 { return UvarintSize(zigzag32(v)) }
