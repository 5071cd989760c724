package records

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/google/uuid"
)

// reader walks one frame. The first failure sticks: every later read returns zero, so generated decoders need no test
// after each field. It never reads past the end and never allocates more than the frame can fill.
type reader struct {
	buf []byte
	at  int32
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.at = int32(len(r.buf))
}

func (r *reader) remaining() int32 { return int32(len(r.buf)) - r.at }

// take returns the next n bytes as a view.
func (r *reader) take(n int32) []byte {
	if n < 0 || n > r.remaining() {
		r.fail(errShort)
		return nil
	}
	b := r.buf[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

func (r *reader) bool() bool { return r.int8() != 0 }

func (r *reader) int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) int16() int16 { return int16(r.uint16()) }

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *reader) float64() Float64Bits { return Float64Bits(r.int64()) }

func (r *reader) uuid() (id uuid.UUID) {
	copy(id[:], r.take(16))
	return id
}

// uvarint reads an unsigned varint of at most five bytes. Bits above 32 are dropped, as Kafka's int arithmetic does.
func (r *reader) uvarint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := uint8(r.int8())
		if r.err != nil {
			return 0
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(errVarint)
	return 0
}

// length reads a compact length: -1 means null. A length beyond what is left is refused before anything is allocated.
func (r *reader) length() int32 {
	n := r.uvarint()
	if r.err != nil || n == 0 {
		return -1
	}
	if n > math.MaxInt32 || int32(n-1) > r.remaining() {
		r.fail(errShort)
		return -1
	}
	return int32(n - 1)
}

// arrayLength reads the count of a compact array; null (-1) is legal only where the schema says so.
func (r *reader) arrayLength(nullable bool) int32 {
	n := r.length()
	if n < 0 && !nullable {
		r.fail(errNull)
	}
	return n
}

func (r *reader) string() string {
	n := r.length()
	if n < 0 {
		r.fail(errNull)
		return ""
	}
	return r.text(n)
}

func (r *reader) nullableString() *string {
	n := r.length()
	if n < 0 {
		return nil
	}
	s := r.text(n)
	return &s
}

func (r *reader) text(n int32) string {
	if n > maxStringBytes {
		r.fail(errLongString)
		return ""
	}
	return decodeText(r.take(n))
}

func (r *reader) bytes() []byte {
	b := r.nullableBytes()
	if b == nil {
		r.fail(errNull)
	}
	return b
}

// nullableBytes returns a copy, never nil for a value that is present.
func (r *reader) nullableBytes() []byte {
	n := r.length()
	if n < 0 {
		return nil
	}
	return append(make([]byte, 0, n), r.take(n)...)
}

// unknownTag keeps a tagged field that this schema does not know.
func (r *reader) unknownTag(fields []TaggedField, tag, size uint32) []TaggedField {
	if size > math.MaxInt32 {
		r.fail(errShort)
		return fields
	}
	if n := len(fields); n > 0 && fields[n-1].Tag >= tag {
		r.fail(errTagOrder)
		return fields
	}
	payload := r.take(int32(size))
	if r.err != nil {
		return fields
	}
	return append(fields, TaggedField{Tag: tag, Payload: append([]byte{}, payload...)})
}

// decodeText turns UTF-8 into a string as Java does: each malformed piece becomes one U+FFFD, so what a record says
// after damage is what Kafka would see.
func decodeText(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		_, n := utf8.DecodeRune(b)
		if n > 1 || b[0] < utf8.RuneSelf {
			out = append(out, b[:n]...)
			b = b[n:]
			continue
		}
		out = utf8.AppendRune(out, utf8.RuneError)
		b = b[malformed(b):]
	}
	return string(out)
}

// malformed returns how many bytes one replacement character stands for: the longest beginning of a well formed
// sequence, except that an encoded surrogate counts whole.
func malformed(b []byte) int32 {
	continues := func(i int32) bool { return i < int32(len(b)) && b[i]&0xc0 == 0x80 }
	switch lead := b[0]; {
	case lead >= 0xe0 && lead < 0xf0:
		if !continues(1) || lead == 0xe0 && b[1] < 0xa0 {
			return 1
		}
		if !continues(2) {
			return 2
		}
		return 3
	case lead >= 0xf0 && lead < 0xf5:
		if !continues(1) || lead == 0xf0 && b[1] < 0x90 || lead == 0xf4 && b[1] > 0x8f {
			return 1
		}
		if !continues(2) {
			return 2
		}
		return 3
	}
	return 1
}
