package records

import (
	"fmt"
	"unicode/utf8"

	"github.com/kraftsim/kraftsim/raft/record"
)

// reader is record.Reader with the rules of metadata records on top: text that is not UTF-8 is repaired and not refused
// (a committed log that Kafka reads must be readable here), and slices are copies, so that a record outlives its frame.
type reader struct{ record.Reader }

func (r *reader) float64Bits() Float64Bits { return Float64Bits(r.Uint64()) }

// arrayLength reads the count of a compact array; null (-1) is legal only where the schema says so.
func (r *reader) arrayLength(nullable bool) int32 {
	n := r.CompactArrayLength()
	if n < 0 && !nullable && r.Err() == nil {
		r.Fail(errNull)
	}
	return n
}

func (r *reader) text() string {
	raw := r.CompactBytes()
	if int32(len(raw)) > maxStringBytes {
		r.Fail(errLongString)
		return ""
	}
	return decodeText(raw)
}

func (r *reader) nullableText() *string {
	raw := r.CompactNullableBytes()
	if int32(len(raw)) > maxStringBytes {
		r.Fail(errLongString)
	}
	if raw == nil || r.Err() != nil {
		return nil
	}
	s := decodeText(raw)
	return &s
}

func (r *reader) blob() []byte { return append([]byte{}, r.CompactBytes()...) }

// nullableBlob returns nil for null only.
func (r *reader) nullableBlob() []byte {
	raw := r.CompactNullableBytes()
	if raw == nil {
		return nil
	}
	return append([]byte{}, raw...)
}

// unknownTag keeps a tagged field that this schema does not know.
func (r *reader) unknownTag(fields []record.TaggedField, tag, size uint32) []record.TaggedField {
	if size > 1<<31-1 {
		r.Fail(fmt.Errorf("tag %d of %d bytes", tag, size))
		return fields
	}
	if n := len(fields); n > 0 && fields[n-1].Tag >= tag {
		r.Fail(errTagOrder)
		return fields
	}
	payload := r.Raw(int32(size))
	if r.Err() != nil {
		return fields
	}
	return append(fields, record.TaggedField{Tag: tag, Data: append([]byte{}, payload...)})
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
