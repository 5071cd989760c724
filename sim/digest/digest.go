// Package digest hashes bytes and words for traces: 64 bits, fast, the same on every machine.
//
// A run is compared by the hash of everything that happened in it, folded in event by event:
//
//	h := digest.Word(seed, uint64(atNs)) // a running digest, and what comes next
//	h = digest.Bytes(h, payload)
//
// It is a multiply-and-fold hash of the wyhash family over math/bits.Mul64, a few dozen lines, so that the simulator core needs
// nothing but the standard library. Guarantees: the values are pinned by a test, for they are in capsules and tables of hashes
// for ever; Bytes takes the length in, so that two strings one after the other are not one; no function allocates. It is no
// cryptographic hash: it tells runs apart, not forgers.
//
// Refused: hash/maphash (a seed of its own in each process), and FNV and hash/crc64 (a byte at a time, where this
// takes sixteen).
package digest

import (
	"encoding/binary"
	"math/bits"
)

const (
	k0 = 0xa0761d6478bd642f
	k1 = 0xe7037ed1a0b428db
	k2 = 0x8ebc6af09c88c6e3
)

// Word folds one word into a running digest.
func Word(h, v uint64) uint64 {
	hi, lo := bits.Mul64(h^k0, v^k1)
	return hi ^ lo ^ bits.RotateLeft64(h, 23)
}

// Bytes folds a byte string, its length included, into a running digest.
func Bytes(h uint64, b []byte) uint64 {
	n, whole := uint64(len(b)), b
	for len(b) > 16 { // of what follows something is left, which the compiler makes use of: it need not look for the end of memory
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^k1^h, binary.LittleEndian.Uint64(b[8:])^k2)
		h = hi ^ lo ^ bits.RotateLeft64(h, 29)
		b = b[16:]
	}
	if len(b) == 16 {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(b)^k1^h, binary.LittleEndian.Uint64(b[8:])^k2)
		h = hi ^ lo ^ bits.RotateLeft64(h, 29)
		b = nil
	}
	var a uint64
	if len(b) >= 8 {
		a = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	c := rest(whole, len(b))
	hi, lo := bits.Mul64(a^k0^h, c^k2^n*0x9e3779b97f4a7c15)
	return hi ^ lo ^ bits.RotateLeft64(h, 17)
}

// rest returns the last n bytes of b, n below 8, as a number in little-endian order: one load where b has eight bytes.
func rest(b []byte, n int) (c uint64) {
	if len(b) >= 8 {
		return binary.LittleEndian.Uint64(b[len(b)-8:]) >> 8 >> (56 - 8*n)
	}
	for i := n - 1; i >= 0; i-- {
		c = c<<8 | uint64(b[len(b)-n+i])
	}
	return c
}

// BytesTwice folds a byte string into two running digests, which is what Bytes does to each; the two chains of multiplications run side by
// side.
func BytesTwice(h, g uint64, b []byte) (uint64, uint64) {
	n, whole := uint64(len(b)), b
	for len(b) > 16 {
		x, y := binary.LittleEndian.Uint64(b)^k1, binary.LittleEndian.Uint64(b[8:])^k2
		hi, lo := bits.Mul64(x^h, y)
		hi2, lo2 := bits.Mul64(x^g, y)
		h = hi ^ lo ^ bits.RotateLeft64(h, 29)
		g = hi2 ^ lo2 ^ bits.RotateLeft64(g, 29)
		b = b[16:]
	}
	if len(b) == 16 {
		x, y := binary.LittleEndian.Uint64(b)^k1, binary.LittleEndian.Uint64(b[8:])^k2
		hi, lo := bits.Mul64(x^h, y)
		hi2, lo2 := bits.Mul64(x^g, y)
		h = hi ^ lo ^ bits.RotateLeft64(h, 29)
		g = hi2 ^ lo2 ^ bits.RotateLeft64(g, 29)
		b = nil
	}
	var a uint64
	if len(b) >= 8 {
		a = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	c := rest(whole, len(b))
	a, c = a^k0, c^k2^n*0x9e3779b97f4a7c15
	hi, lo := bits.Mul64(a^h, c)
	hi2, lo2 := bits.Mul64(a^g, c)
	return hi ^ lo ^ bits.RotateLeft64(h, 17), hi2 ^ lo2 ^ bits.RotateLeft64(g, 17)
}

// String folds a string like Bytes.
func String(h uint64, s string) uint64 {
	var buf [64]byte
	for len(s) > len(buf) {
		copy(buf[:], s)
		h = Bytes(h, buf[:])
		s = s[len(buf):]
	}
	return Bytes(h, buf[:copy(buf[:], s)])
}
