package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The LZ4 frame format, as far as Kafka's writer uses it. Checksums of frame and blocks are skipped: the checksum of
// the batch covers the same bytes.
const (
	lz4Magic           = 0x184D2204
	lz4FlagBlockCheck  = 1 << 4
	lz4FlagSize        = 1 << 3
	lz4FlagDictionary  = 1
	lz4Uncompressed    = 1 << 31
	lz4MinMatch        = 4
	lz4LengthContinues = 15
)

var errLZ4 = errors.New("malformed lz4 block")

func unlz4(body []byte) ([]byte, error) {
	r := NewReader(body)
	head := r.Raw(7)
	if r.Err() != nil {
		return nil, r.Err()
	}
	if magic := binary.LittleEndian.Uint32(head); magic != lz4Magic {
		return nil, fmt.Errorf("lz4 magic %08x", magic)
	}
	flags := head[4]
	if flags>>6 != 1 || flags&lz4FlagDictionary != 0 {
		return nil, fmt.Errorf("lz4 frame flags %02x", flags)
	}
	if flags&lz4FlagSize != 0 {
		r.Raw(8)
	}
	var out []byte
	for {
		word := r.Raw(4)
		if r.Err() != nil {
			return nil, r.Err()
		}
		size := binary.LittleEndian.Uint32(word)
		if size == 0 {
			return out, nil
		}
		block := r.Raw(int32(size &^ lz4Uncompressed))
		if flags&lz4FlagBlockCheck != 0 {
			r.Raw(4)
		}
		if r.Err() != nil {
			return nil, r.Err()
		}
		var err error
		if size&lz4Uncompressed != 0 {
			out = append(out, block...)
		} else if out, err = lz4Block(out, block); err != nil {
			return nil, err
		}
		if len(out) > maxDecompressed {
			return nil, errTooLarge
		}
	}
}

// lz4Block appends what a compressed block holds to out. Matches may reach back into earlier blocks.
func lz4Block(out, block []byte) ([]byte, error) {
	for len(block) > 0 {
		token := block[0]
		block = block[1:]
		n, rest, ok := lz4Length(int64(token>>4), block)
		if !ok || n > int64(len(rest)) {
			return nil, errLZ4
		}
		out, block = append(out, rest[:n]...), rest[n:]
		if len(block) == 0 {
			return out, nil // the last sequence has no match
		}
		if len(block) < 2 {
			return nil, errLZ4
		}
		distance := int(binary.LittleEndian.Uint16(block))
		n, block, ok = lz4Length(int64(token&15), block[2:])
		if !ok || distance == 0 || distance > len(out) {
			return nil, errLZ4
		}
		n += lz4MinMatch
		if int64(len(out))+n > maxDecompressed {
			return nil, errTooLarge
		}
		for from := len(out) - distance; n > 0; n-- { // byte by byte: a match may overlap what it produces
			out = append(out, out[from])
			from++
		}
	}
	return out, nil
}

// lz4Length completes a length whose four bits are all set from the bytes that follow.
func lz4Length(n int64, b []byte) (int64, []byte, bool) {
	if n < lz4LengthContinues {
		return n, b, true
	}
	for i, c := range b {
		n += int64(c)
		if c != 255 {
			return n, b[i+1:], n <= maxDecompressed
		}
	}
	return 0, nil, false
}
