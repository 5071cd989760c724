package record

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/snappy"
)

// snappyMagic begins the stream format of the Java library that Kafka uses: magic, two int32 versions, then blocks of
// an int32 size and a snappy block each. Without it the whole input is one snappy block.
var snappyMagic = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0}

const snappyHeader = 16

func unsnappy(body []byte) ([]byte, error) {
	if !bytes.HasPrefix(body, snappyMagic) {
		return snappyBlock(nil, body)
	}
	if len(body) < snappyHeader {
		return nil, ErrTruncated
	}
	var out []byte
	for rest := body[snappyHeader:]; len(rest) > 0; {
		if len(rest) < 4 {
			return nil, ErrTruncated
		}
		if bytes.HasPrefix(rest, snappyMagic) && len(rest) >= snappyHeader { // streams may be concatenated
			rest = rest[snappyHeader:]
			continue
		}
		n := int64(binary.BigEndian.Uint32(rest))
		if n > int64(len(rest)-4) {
			return nil, ErrTruncated
		}
		var err error
		if out, err = snappyBlock(out, rest[4:4+n]); err != nil {
			return nil, err
		}
		rest = rest[4+n:]
	}
	return out, nil
}

func snappyBlock(dst, block []byte) ([]byte, error) {
	n, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, err
	}
	if int64(n)+int64(len(dst)) > maxDecompressed {
		return nil, errTooLarge
	}
	if n == 0 && len(block) > 1 {
		return nil, errors.New("bytes behind an empty block")
	}
	out, err := snappy.Decode(nil, block)
	if err != nil {
		return nil, err
	}
	return append(dst, out...), nil
}
