package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// Reader decodes primitives from a byte slice, front to back. The first error sticks: every later call returns zero
// values, so a decoder reads a whole struct and asks Err once. The zero Reader is an empty one. Not safe for
// concurrent use.
type Reader struct {
	buf []byte
	pos int32
	err error
}

// NewReader returns a Reader over b, which must stay unchanged while views of it are in use. Slices above 2 GiB are
// refused.
func NewReader(b []byte) Reader {
	r := Reader{}
	r.Reset(b)
	return r
}

// Reset starts over on b and forgets the error.
func (r *Reader) Reset(b []byte) {
	r.buf, r.pos, r.err = b, 0, nil
	if int64(len(b)) > math.MaxInt32 {
		*r = Reader{err: fmt.Errorf("%w: more than 2 GiB", ErrMalformed)}
	}
}

// Err returns the first error met, nil when all was well.
func (r *Reader) Err() error { return r.err }

// Offset returns how many bytes were read.
func (r *Reader) Offset() int32 { return r.pos }

// Remaining returns how many bytes are left; 0 after an error.
func (r *Reader) Remaining() int32 {
	if r.err != nil {
		return 0
	}
	return int32(len(r.buf)) - r.pos
}

// Fail records err unless an earlier one sticks. Decoders built on the Reader use it for rules of their own.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Raw returns a view of the next n bytes. A negative n is malformed.
func (r *Reader) Raw(n int32) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 {
		r.err = fmt.Errorf("%w: length %d", ErrMalformed, n)
		return nil
	}
	if int32(len(r.buf))-r.pos < n {
		r.err = fmt.Errorf("%w: %d bytes wanted at %d, %d left", ErrTruncated, n, r.pos, int32(len(r.buf))-r.pos)
		return nil
	}
	v := r.buf[r.pos : r.pos+n : r.pos+n]
	r.pos += n
	return v
}

// Bool reads one byte; anything but 0 is true, as in Kafka.
func (r *Reader) Bool() bool { return r.Int8() != 0 }

// Int8 reads one byte.
func (r *Reader) Int8() int8 {
	if v := r.Raw(1); v != nil {
		return int8(v[0])
	}
	return 0
}

// Int16 reads two bytes, big endian.
func (r *Reader) Int16() int16 { return int16(r.Uint16()) }

// Uint16 reads two bytes, big endian.
func (r *Reader) Uint16() uint16 {
	if v := r.Raw(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

// Int32 reads four bytes, big endian.
func (r *Reader) Int32() int32 { return int32(r.Uint32()) }

// Uint32 reads four bytes, big endian.
func (r *Reader) Uint32() uint32 {
	if v := r.Raw(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

// Int64 reads eight bytes, big endian.
func (r *Reader) Int64() int64 { return int64(r.Uint64()) }

// Uint64 reads eight bytes, big endian. A float64 of a record is carried as these 64 bits.
func (r *Reader) Uint64() uint64 {
	if v := r.Raw(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// UUID reads sixteen bytes.
func (r *Reader) UUID() UUID {
	var u UUID
	copy(u[:], r.Raw(16))
	return u
}

// Uvarint reads an unsigned varint of at most five bytes. Bits above the 32nd are lost, as in Kafka's reader.
func (r *Reader) Uvarint() uint32 {
	if p := int(r.pos); p < len(r.buf) && r.buf[p] < 0x80 && r.err == nil { // most are short
		r.pos++
		return uint32(r.buf[p])
	}
	v, n := decodeUvarint(r.rest())
	if n <= 0 {
		r.failVarint(n)
		return 0
	}
	r.pos += n
	return v
}

// Varint reads a zigzag varint of at most five bytes.
func (r *Reader) Varint() int32 { return unzigzag32(r.Uvarint()) }

// Uvarlong reads an unsigned varint of at most ten bytes.
func (r *Reader) Uvarlong() uint64 {
	if p := int(r.pos); p < len(r.buf) && r.buf[p] < 0x80 && r.err == nil {
		r.pos++
		return uint64(r.buf[p])
	}
	v, n := decodeUvarlong(r.rest())
	if n <= 0 {
		r.failVarint(n)
		return 0
	}
	r.pos += n
	return v
}

// Varlong reads a zigzag varint of at most ten bytes.
func (r *Reader) Varlong() int64 { return unzigzag64(r.Uvarlong()) }

func (r *Reader) rest() []byte {
	if r.err != nil {
		return nil
	}
	return r.buf[r.pos:]
}

func (r *Reader) failVarint(n int32) {
	if r.err != nil {
		return
	}
	if n == 0 {
		r.err = fmt.Errorf("%w: varint at %d", ErrTruncated, r.pos)
		return
	}
	r.err = fmt.Errorf("%w: varint at %d is too long", ErrMalformed, r.pos)
}

// compactLength reads "length + 1"; null is -1.
func (r *Reader) compactLength() int32 {
	v := r.Uvarint()
	if r.err != nil {
		return -1
	}
	return int32(v - 1) // 0 is null; above 2^31 the length is negative and Raw refuses it
}

// CompactNullableBytes reads compact bytes as a view; null gives nil, empty gives an empty non-nil slice.
func (r *Reader) CompactNullableBytes() []byte {
	n := r.compactLength()
	if r.err != nil || n == -1 {
		return nil
	}
	return r.Raw(n)
}

// CompactBytes reads compact bytes as a view; null is malformed.
func (r *Reader) CompactBytes() []byte {
	v := r.CompactNullableBytes()
	if v == nil && r.err == nil {
		r.err = fmt.Errorf("%w: null where bytes must not be null", ErrMalformed)
	}
	return v
}

// CompactNullableString reads a compact string; ok is false for null. The string is a copy.
func (r *Reader) CompactNullableString() (s string, ok bool) {
	n := r.compactLength()
	if r.err != nil || n == -1 {
		return "", false
	}
	return r.text(n)
}

// CompactString reads a compact string; null is malformed.
func (r *Reader) CompactString() string {
	s, ok := r.CompactNullableString()
	if !ok && r.err == nil {
		r.err = fmt.Errorf("%w: null where a string must not be null", ErrMalformed)
	}
	return s
}

// NullableString reads a string with an int16 length; ok is false for null.
func (r *Reader) NullableString() (s string, ok bool) {
	n := r.Int16()
	if r.err != nil || n == -1 {
		return "", false
	}
	return r.text(int32(n))
}

// text reads n bytes of UTF-8. Kafka's reader replaces bytes that are no UTF-8, which loses them; here they are
// refused, and so is a string longer than the writer can encode (formats.md 1, rule 5).
func (r *Reader) text(n int32) (string, bool) {
	if n > math.MaxInt16 {
		r.Fail(fmt.Errorf("%w: string of %d bytes", ErrMalformed, n))
		return "", false
	}
	v := r.Raw(n)
	if r.err != nil {
		return "", false
	}
	if !utf8.Valid(v) {
		r.err = fmt.Errorf("%w: string at %d is not UTF-8", ErrMalformed, r.pos-n)
		return "", false
	}
	return string(v), true
}

// CompactArrayLength reads the count of a compact array; -1 is null. A count larger than the bytes that are left is
// refused, as in Kafka: every element takes at least one byte, so nobody allocates for a count that cannot be true.
func (r *Reader) CompactArrayLength() int32 {
	n := r.compactLength()
	if r.err != nil {
		return 0
	}
	if n < -1 || n > r.Remaining() {
		r.err = fmt.Errorf("%w: array of %d elements in %d bytes", ErrMalformed, n, int32(len(r.buf))-r.pos)
		return 0
	}
	return n
}
