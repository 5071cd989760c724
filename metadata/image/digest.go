package image

import "math/bits"

// Each entry contributes one well mixed 64-bit hash, and the digest is their sum: order does not matter and an entry
// can be taken out again by subtraction. The mixing is one 64x64 multiplication for eight bytes of text. The values
// are compared between nodes of one run and pinned by a test; they are never persisted.

const (
	mixA = 0x9e3779b97f4a7c15
	mixB = 0xd6e8feb86659fd93
)

func mix(h, v uint64) uint64 {
	high, low := bits.Mul64(h^v^mixA, mixB)
	return high ^ low + h
}

func seal(h uint64) uint64 {
	h ^= h >> 32
	h *= mixA
	return h ^ h>>29
}

// hashText folds a length and then the text in, so that no two lists of texts share a stream of bytes.
func hashText(h uint64, s string) uint64 {
	h = mix(h, uint64(len(s)))
	for len(s) >= 8 {
		h = mix(h, uint64(s[0])|uint64(s[1])<<8|uint64(s[2])<<16|uint64(s[3])<<24|
			uint64(s[4])<<32|uint64(s[5])<<40|uint64(s[6])<<48|uint64(s[7])<<56)
		s = s[8:]
	}
	if len(s) > 0 {
		var tail uint64
		for at := 0; at < len(s); at++ {
			tail |= uint64(s[at]) << (8 * at)
		}
		h = mix(h, tail)
	}
	return h
}

func hashBytes(h uint64, b []byte) uint64 { return hashText(h, string(b)) }

func hashFeature(name string, level int16) uint64 {
	return seal(mix(hashText(uint64(PartFeature), name), uint64(uint16(level))))
}

func hashClusterID(id string) uint64 { return seal(hashText(uint64(PartClusterID), id)) }

func hashConfig(key ConfigKey, value string) uint64 {
	h := mix(uint64(PartConfig), uint64(uint8(key.Type)))
	return seal(hashText(hashText(hashText(h, key.Resource), key.Name), value))
}

func hashScram(key ScramKey, c *ScramCredential) uint64 {
	h := mix(uint64(PartScram), uint64(uint8(key.Mechanism)))
	h = hashBytes(hashBytes(hashBytes(hashText(h, key.User), c.Salt), c.StoredKey), c.ServerKey)
	return seal(mix(h, uint64(uint32(c.Iterations))))
}
