package plan

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// packVersion is the first byte of a packed block.
const packVersion = 1

// maxPacked bounds what UnpackDecisions allocates for a hostile block.
const maxPacked = 1 << 24

// PackDecisions packs decisions, in the order of their names' hashes, into a block of at most 12 bytes each (for values below
// 2^25) plus a small head. The order in which a run drew them is not kept: a decision is found by its name.
//
// Layout: one byte version, uvarint count, then a raw deflate stream that holds the eight bytes of the differences between
// neighbouring hashes, most significant first and column by column (the high columns are almost all zero), followed by the
// values as uvarints.
func PackDecisions(drawn []DrawnDecision) []byte {
	sorted := slices.Clone(drawn)
	slices.SortStableFunc(sorted, func(a, b DrawnDecision) int { return cmp.Compare(a.Hash, b.Hash) })
	n := len(sorted)
	plain := make([]byte, 8*n, 11*n)
	last := uint64(0)
	for i := range sorted {
		difference := sorted[i].Hash - last
		last = sorted[i].Hash
		for column := range 8 {
			plain[column*n+i] = byte(difference >> (56 - 8*column))
		}
	}
	for i := range sorted {
		plain = binary.AppendUvarint(plain, uint64(sorted[i].Value))
	}
	var out bytes.Buffer
	out.WriteByte(packVersion)
	out.Write(binary.AppendUvarint(nil, uint64(n)))
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		panic("plan: deflate level refused: " + err.Error())
	}
	// A bytes.Buffer accepts every write.
	_, _ = w.Write(plain)
	_ = w.Close()
	return out.Bytes()
}

// UnpackDecisions reads a block that PackDecisions wrote: hashes and values, ascending by hash. Names and Benign are not in
// the block. An empty block is no decision.
func UnpackDecisions(block []byte) ([]DrawnDecision, error) {
	if len(block) == 0 {
		return nil, nil
	}
	if block[0] != packVersion {
		return nil, fmt.Errorf("plan: decision block of version %d, this program reads %d", block[0], packVersion)
	}
	count, head := binary.Uvarint(block[1:])
	if head <= 0 || count > maxPacked {
		return nil, errors.New("plan: decision block has no sensible count")
	}
	n := int(count)
	limit := int64(n)*(8+binary.MaxVarintLen64) + 1
	plain, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(block[1+head:])), limit))
	if err != nil {
		return nil, fmt.Errorf("plan: decision block: %w", err)
	}
	if len(plain) < 8*n {
		return nil, errors.New("plan: decision block is too short")
	}
	drawn := make([]DrawnDecision, n)
	values, hash := plain[8*n:], uint64(0)
	for i := range drawn {
		difference := uint64(0)
		for column := range 8 {
			difference = difference<<8 | uint64(plain[column*n+i])
		}
		if difference > ^hash {
			return nil, errors.New("plan: decision block is not in order")
		}
		hash += difference
		value, size := binary.Uvarint(values)
		if size <= 0 {
			return nil, errors.New("plan: decision block is too short")
		}
		values = values[size:]
		drawn[i] = DrawnDecision{Hash: hash, Value: int64(value)}
	}
	if len(values) != 0 {
		return nil, errors.New("plan: decision block is too long")
	}
	return drawn, nil
}

// Matched counts the decisions of a stored block that a run drew again with the same value. Neither needs to be sorted.
func Matched(stored, drawn []DrawnDecision) (same int64) {
	values := make(map[uint64]int64, len(drawn))
	for i := range drawn {
		values[drawn[i].Hash] = drawn[i].Value
	}
	for i := range stored {
		if v, ok := values[stored[i].Hash]; ok && v == stored[i].Value {
			same++
		}
	}
	return same
}
