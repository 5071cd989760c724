package dump

import (
	"encoding/hex"
	"errors"

	"github.com/kraftsim/kraftsim/metadata/recordjson"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// dumpRecords reports the records of a batch up to the first that cannot be told from the next.
func (b *batches) dumpRecords(batch record.Batch) {
	var r record.Record
	for b.iterator.Reset(batch); b.err == nil && b.iterator.Next(&r); {
		b.records++
		b.summary.Records++
		l := &recordLine{Type: "record", File: b.shown, Offset: r.Offset, Timestamp: batch.BaseTimestampMs(),
			Attributes: r.Attributes, KeyHex: hexOrNil(r.Key)}
		if batch.Attributes()&0x08 != 0 { // log append time: all records have that of the batch
			l.Timestamp = batch.MaxTimestampMs()
		}
		control := record.ControlType(0)
		if batch.IsControl() {
			control = b.control(l, &r)
		} else {
			b.metadata(l, &r)
		}
		if b.records == 1 {
			b.firstControl = control
		}
		b.lastControl = control
		if b.options.Hex || l.JSON == nil {
			text := hex.EncodeToString(r.Value)
			l.ValueHex = &text
		}
		b.emit(l)
		if l.Error != "" {
			b.damage(b.position, "record at offset %d: %s", r.Offset, l.Error)
		}
	}
	if err := b.iterator.Err(); err != nil {
		b.refusedByReader()
		b.damage(b.position, "%s", plainReason(err))
	}
}

func hexOrNil(b []byte) *string {
	if b == nil {
		return nil
	}
	text := hex.EncodeToString(b)
	return &text
}

// control fills in a control record; the iterator checked that the key is one.
func (b *batches) control(l *recordLine, r *record.Record) record.ControlType {
	t, err := record.ParseControlKey(r.Key)
	number := int16(t)
	l.ControlType, l.ControlTypeName = &number, t.String()
	if err == nil {
		var text []byte
		if text, l.HasUnknownTags, err = recordjson.AppendControl(b.json[:0], t, r.Value); err == nil {
			b.json = text
			l.JSON = text
			return t
		}
	}
	b.refusedByReader()
	l.Error = plainReason(err)
	return t
}

// metadata fills in a metadata record.
func (b *batches) metadata(l *recordLine, r *record.Record) {
	m, version, err := records.Decode(r.Value)
	if b.counters(r.Value, err) {
		return
	}
	if err != nil {
		l.Error = plainReason(err)
		b.frame(l, r.Value)
		if !errors.Is(err, records.ErrUnknownVersion) {
			b.refusedByReader() // whether Kafka reads a version that it does not know depends on the record (formats.md 5)
		}
		return
	}
	key, number := int64(m.APIKey()), int64(version)
	l.Name, l.APIKey, l.Version = m.RecordName(), &key, &number
	b.json = recordjson.Append(b.json[:0], m, version)
	l.JSON = b.json
	top, nested := recordjson.UnknownTags(m)
	l.HasUnknownTags = len(top) > 0 || nested > 0
	for _, tag := range top {
		l.UnknownTags = append(l.UnknownTags, tagLine{tag.Tag, hex.EncodeToString(tag.Data)})
	}
}

// counters tells whether the file holds the numbers that the state machine of Kafka's own simulation appends (scenarios kafka/...), four
// bytes each, in place of metadata records. The first record of the file decides: where that is a metadata record, four odd bytes are damage.
func (b *batches) counters(value []byte, err error) bool {
	const counterBytes = 4
	if b.values == undecided {
		b.values = metadataValues
		if errors.Is(err, records.ErrMalformed) && len(value) == counterBytes && value[0] == 0 { // a frame begins with 1
			b.values = counterValues
			b.warn(b.position, "values are counters of four bytes, as Kafka's own simulation appends, no metadata records: shown as hex")
		}
	}
	return b.values == counterValues && len(value) == counterBytes
}

// frame fills in what the frame of a record that cannot be decoded says about it.
func (b *batches) frame(l *recordLine, value []byte) {
	in := record.NewReader(value)
	frame, key, version := in.Uvarint(), int64(in.Uvarint()), int64(in.Uvarint())
	if in.Err() != nil || frame != 1 {
		return
	}
	l.APIKey, l.Version = &key, &version
	if key <= 1<<15-1 {
		if m := records.New(int16(key)); m != nil {
			l.Name = m.RecordName()
		}
	}
}
