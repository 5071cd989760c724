package dump

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/kraftsim/kraftsim/metadata/recordjson"
)

// line is one thing that a dump says: a JSON object, or a line of text.
type line interface {
	appendText(dst []byte) []byte
}

// emit writes a line.
func (d *dumper) emit(l line) {
	if d.err != nil {
		return
	}
	if d.options.JSON {
		encoder := json.NewEncoder(d.out)
		encoder.SetEscapeHTML(false)
		d.err = encoder.Encode(l)
		return
	}
	d.text = append(l.appendText(d.text[:0]), '\n')
	_, d.err = d.out.Write(d.text)
}

// fileLine begins a file.
type fileLine struct {
	Type        string `json:"type"` // "file"
	File        string `json:"file"`
	Kind        string `json:"kind"`
	SizeInBytes *int64 `json:"sizeInBytes,omitempty"`
	Leftover    string `json:"leftover,omitempty"` // the suffix that says so
}

func (l *fileLine) appendText(dst []byte) []byte {
	dst = append(append(appendPlain(dst, l.File), ": "...), l.Kind...)
	if l.Leftover != "" {
		dst = append(append(dst, ", left over "...), l.Leftover...)
	}
	if l.SizeInBytes != nil {
		dst = append(appendNumber(append(dst, ", "...), *l.SizeInBytes), " bytes"...)
	}
	return dst
}

// problemLine is damage, a warning, or a failure to read.
type problemLine struct {
	Type     string `json:"type"` // "problem"
	File     string `json:"file"`
	Severity string `json:"severity"`           // "damage", "warning" or "unreadable"
	Position *int64 `json:"position,omitempty"` // byte of the file
	Reason   string `json:"reason"`
}

func (l *problemLine) appendText(dst []byte) []byte {
	dst = append(append(dst, "  "...), l.Severity...)
	if l.Severity == "unreadable" {
		dst = appendPlain(append(dst, ' '), l.File)
	}
	if l.Position != nil {
		dst = appendNumber(append(dst, " at "...), *l.Position)
	}
	return appendPlain(append(dst, ": "...), l.Reason)
}

// batchLine is the header of a batch, with the names that the golden indexes use.
type batchLine struct {
	Type          string `json:"type"` // "batch"
	File          string `json:"file"`
	Position      int64  `json:"position"`
	SizeInBytes   int64  `json:"sizeInBytes"`
	BaseOffset    int64  `json:"baseOffset"`
	LastOffset    int64  `json:"lastOffset"`
	LeaderEpoch   int32  `json:"partitionLeaderEpoch"`
	Magic         int8   `json:"magic"`
	CRC           uint32 `json:"crc"`
	Valid         bool   `json:"valid"` // the checksum is right
	Attributes    int16  `json:"attributes"`
	IsControl     bool   `json:"isControl"`
	Compression   string `json:"compression"`
	TimestampType string `json:"timestampType"`
	BaseTimestamp int64  `json:"baseTimestamp"`
	MaxTimestamp  int64  `json:"maxTimestamp"`
	ProducerID    int64  `json:"producerId"`
	ProducerEpoch int16  `json:"producerEpoch"`
	BaseSequence  int32  `json:"baseSequence"`
	Count         int32  `json:"count"`
}

func (l *batchLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  batch at "...), l.Position)
	dst = appendNumber(append(dst, ": offsets "...), l.BaseOffset)
	dst = appendNumber(append(dst, " to "...), l.LastOffset)
	dst = appendNumber(append(dst, ", epoch "...), int64(l.LeaderEpoch))
	if l.IsControl {
		dst = append(dst, ", control"...)
	}
	dst = appendNumber(append(dst, ", records "...), int64(l.Count))
	dst = append(appendNumber(append(dst, ", "...), l.SizeInBytes), " bytes"...)
	dst = appendCRC(append(dst, ", crc "...), l.CRC)
	dst = appendTime(append(dst, ", "...), l.MaxTimestamp)
	if l.BaseTimestamp != l.MaxTimestamp {
		dst = appendTime(append(dst, ", base "...), l.BaseTimestamp)
	}
	if l.TimestampType != createTime {
		dst = append(append(dst, ", "...), l.TimestampType...)
	}
	if l.Compression != "none" {
		dst = append(append(dst, ", "...), l.Compression...)
	}
	if l.Magic != 2 {
		dst = appendNumber(append(dst, ", magic "...), int64(l.Magic))
	}
	if l.ProducerID != -1 || l.ProducerEpoch != -1 || l.BaseSequence != -1 {
		dst = appendNumber(append(dst, ", producer "...), l.ProducerID)
		dst = appendNumber(append(dst, " epoch "...), int64(l.ProducerEpoch))
		dst = appendNumber(append(dst, " sequence "...), int64(l.BaseSequence))
	}
	return dst
}

// recordLine is one record. Name, APIKey and Version are those of a metadata record, ControlTypeName and ControlType
// those of a control record; JSON is missing when the value cannot be decoded, and ValueHex then tells it.
type recordLine struct {
	Type            string          `json:"type"` // "record"
	File            string          `json:"file"`
	Offset          int64           `json:"offset"`
	Timestamp       int64           `json:"timestamp"`
	Attributes      int8            `json:"attributes,omitempty"`
	KeyHex          *string         `json:"keyHex"`
	ValueHex        *string         `json:"valueHex,omitempty"`
	ControlTypeName string          `json:"controlTypeName,omitempty"`
	ControlType     *int16          `json:"controlType,omitempty"`
	Name            string          `json:"name,omitempty"`
	APIKey          *int64          `json:"apiKey,omitempty"`
	Version         *int64          `json:"version,omitempty"`
	JSON            json.RawMessage `json:"json,omitempty"`
	HasUnknownTags  bool            `json:"hasUnknownTaggedFields,omitempty"`
	UnknownTags     []tagLine       `json:"unknownTaggedFields,omitempty"`
	Error           string          `json:"error,omitempty"`
}

// tagLine is a tagged field at the top level of a record that this code does not know.
type tagLine struct {
	Tag uint32 `json:"tag"`
	Hex string `json:"hex"`
}

func (l *recordLine) appendText(dst []byte) []byte {
	dst = append(appendNumber(append(dst, "    "...), l.Offset), ' ')
	switch {
	case l.ControlType != nil:
		dst = append(dst, l.ControlTypeName...)
	case l.Name != "":
		dst = appendNumber(append(append(dst, l.Name...), " v"...), *l.Version)
	case l.APIKey != nil:
		dst = appendNumber(append(dst, "key "...), *l.APIKey)
		dst = appendNumber(append(dst, " v"...), *l.Version)
	default:
		dst = append(dst, "undecoded"...)
	}
	if l.JSON != nil {
		dst = append(append(dst, ' '), l.JSON...)
	}
	if l.ValueHex != nil {
		dst = append(append(dst, " hex "...), *l.ValueHex...)
	}
	if l.HasUnknownTags {
		dst = append(dst, " with unknown tagged fields"...)
		for _, tag := range l.UnknownTags {
			dst = appendNumber(append(dst, ' '), int64(tag.Tag))
			dst = append(append(dst, '='), tag.Hex...)
		}
	}
	return dst
}

// endLine ends a file of batches.
type endLine struct {
	Type        string `json:"type"` // "end"
	File        string `json:"file"`
	Batches     int64  `json:"batches"`
	Records     int64  `json:"records"`
	SizeInBytes int64  `json:"sizeInBytes"`
	// ValidBytes is where recovery at start would cut a log; missing for files that are not recovered.
	ValidBytes *int64 `json:"validBytes,omitempty"`
	// ReaderStopsAt is the position of the first batch that the raft reader refuses; missing when it refuses none.
	ReaderStopsAt *int64 `json:"readerStopsAt,omitempty"`
	sound         bool
}

func (l *endLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "  batches "...), l.Batches)
	dst = appendNumber(append(dst, ", records "...), l.Records)
	if l.sound {
		return append(dst, ", all sound"...)
	}
	if l.ReaderStopsAt != nil {
		dst = appendNumber(append(dst, "; readers stop at "...), *l.ReaderStopsAt)
	}
	if l.ValidBytes != nil && *l.ValidBytes == l.SizeInBytes {
		dst = append(dst, "; recovery would keep all of it"...)
	} else if l.ValidBytes != nil {
		dst = appendNumber(append(dst, "; recovery would cut at "...), *l.ValidBytes)
		dst = appendNumber(append(dst, " and drop "...), l.SizeInBytes-*l.ValidBytes)
		dst = append(dst, " bytes"...)
	}
	return dst
}

// recoveryLine says what recovery at start would do to the segments of a directory: it cuts at the first bad batch and
// drops the segments behind it (formats.md 9.3).
type recoveryLine struct {
	Type            string   `json:"type"` // "recovery"
	File            string   `json:"file"` // the segment that would be cut
	CutAt           int64    `json:"cutAt"`
	DroppedSegments []string `json:"droppedSegments"`
}

func (l *recoveryLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(appendPlain(append(dst, "recovery would cut "...), l.File), " at "...), l.CutAt)
	for i, name := range l.DroppedSegments {
		separator := ", "
		if i == 0 {
			separator = " and drop "
		}
		dst = appendPlain(append(dst, separator...), name)
	}
	return dst
}

// summaryLine ends the dump.
type summaryLine struct {
	Type string `json:"type"` // "summary"
	*Summary
}

func (l *summaryLine) appendText(dst []byte) []byte {
	dst = appendNumber(append(dst, "files "...), l.Files)
	for _, part := range []struct {
		name  string
		count int64
	}{
		{"damaged", l.Damaged}, {"unknown", l.Unknown}, {"unreadable", l.Unreadable}, {"batches", l.Batches},
		{"records", l.Records}, {"warnings", l.Warnings},
	} {
		dst = appendNumber(append(append(append(dst, ", "...), part.name...), ' '), part.count)
	}
	return dst
}

func appendNumber(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

func appendCRC(dst []byte, crc uint32) []byte {
	const digits = "0123456789abcdef"
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, digits[crc>>shift&15])
	}
	return dst
}

// appendTime appends milliseconds as a time in UTC; what lies far outside of our time stays a number.
func appendTime(dst []byte, ms int64) []byte {
	if ms < 0 || ms >= 1<<48 {
		return append(appendNumber(dst, ms), " ms"...)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// appendPlain appends text that comes from outside as it is when a terminal can show it, else as a JSON string.
func appendPlain(dst []byte, text string) []byte {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if utf8.ValidString(text) && strings.IndexFunc(text, odd) < 0 {
		return append(dst, text...)
	}
	return recordjson.AppendString(dst, text)
}
