package vdisk

import (
	"encoding/binary"
	"math/bits"
)

// prefixSum is the digest of the first n bytes of a file, n a multiple of 8, so that the digest of a log that grows costs what
// was added since the last one and not the whole log. Whatever changes bytes below n calls cut.
type prefixSum struct {
	n int64
	h uint64
}

// cut forgets the sum if it covers bytes at and behind offset.
func (s *prefixSum) cut(offset int64) {
	if offset < s.n {
		*s = prefixSum{}
	}
}

// append appends the digest of data, the whole file, whose first s.n bytes have not changed since they were summed.
func (s *prefixSum) append(buf, data []byte) []byte {
	s.cut(int64(len(data)))
	h := s.h
	rest := data[s.n:]
	for len(rest) > 8 {
		h = fold(h ^ binary.LittleEndian.Uint64(rest))
		rest = rest[8:]
	}
	if len(rest) == 8 {
		h, rest = fold(h^binary.LittleEndian.Uint64(rest)), nil
	}
	s.n, s.h = int64(len(data)-len(rest)), h
	tail := uint64(0)
	for i := len(rest) - 1; i >= 0; i-- {
		tail = tail<<8 | uint64(rest[i])
	}
	return binary.BigEndian.AppendUint64(buf, fold(fold(h^tail)^uint64(len(data))))
}

func fold(x uint64) uint64 {
	hi, lo := bits.Mul64(x^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	return hi ^ lo
}
