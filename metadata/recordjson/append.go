package recordjson

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Append appends the JSON object of a record at a version that the record has (Record.Versions); another version is a
// programmer error and panics. Fields that the version lacks are left out, whatever they hold.
func Append(dst []byte, r records.Record, version int16) []byte {
	if lowest, highest := r.Versions(); version < lowest || version > highest {
		panic(fmt.Sprintf("recordjson: %s has no version %d", r.RecordName(), version))
	}
	return appendRecord(dst, r, version)
}

// UnknownTags returns the tagged fields at the top level of r that this code does not know, and the number of nested
// structs that have some.
func UnknownTags(r records.Record) (top []record.TaggedField, nested int32) { return unknownTags(r) }

// AppendString appends s as a JSON string. Control characters are escaped, those of Latin-1 too, so that the text is
// safe to show on a terminal; bytes that are no UTF-8 become U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069:
			dst = fmt.Appendf(dst, "\\u%04x", c)
		default:
			dst = utf8.AppendRune(dst, c)
		}
		i += n
	}
	return append(dst, '"')
}

// AppendFloat64 appends the float64 with these IEEE 754 bits as Java's Double.toString writes it (the shortest digits
// that tell it from its neighbours, as of Java 19). What is no number is a string, as Jackson writes it.
func AppendFloat64(dst []byte, bits uint64) []byte {
	v := math.Float64frombits(bits)
	switch {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	}
	if size := math.Abs(v); size == 0 || size >= 1e-3 && size < 1e7 {
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if dst = append(dst, text...); !strings.Contains(text, ".") {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	digits, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	if !strings.Contains(digits, ".") { // Java wants two digits, and of those the nearest
		digits, power, _ = strings.Cut(strconv.FormatFloat(v, 'e', 1, 64), "e")
	}
	dst = append(dst, digits...)
	exponent, _ := strconv.Atoi(power) // without a plus sign and leading zeros
	return strconv.AppendInt(append(dst, 'E'), int64(exponent), 10)
}

// appendName begins a field of an object.
func appendName(dst []byte, name string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), name...), '"', ':')
}

// appendComma separates the elements of an array.
func appendComma(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

func appendNull(dst []byte) []byte { return append(dst, "null"...) }

func appendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

func appendUUID(dst []byte, v record.UUID) []byte {
	return append(record.AppendUUIDText(append(dst, '"'), v), '"')
}

func appendBytes(dst, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), v), '"')
}
