package record

import "fmt"

// Record is one record of a batch, as a view. Offset is base offset plus position: the raft decoder does not believe
// the offset delta of the record itself (formats.md 3). Key is nil when null; Value is never empty.
type Record struct {
	Offset     int64
	Attributes int8
	Key, Value []byte
}

// Iterator walks the records of one batch under the rules of the raft decoder: record length positive and inside the
// batch, timestamp delta 0, no headers; a data record has no key and a non-empty value, a control record a non-empty
// key and value, and its type is one of the five that the metadata log knows. A zero Iterator is empty; Reset may be
// called again and again. A compressed batch costs one allocation, an ordinary one none.
type Iterator struct {
	r       Reader
	next    int64
	left    int32
	size    int32 // of the batch: no record may claim more
	control bool
	err     error
}

// Reset starts over on batch. The checksum is not verified here. Errors show at the first call of Next.
func (it *Iterator) Reset(batch Batch) {
	_ = batch[BatchOverhead-1]
	it.next, it.left, it.size, it.control = batch.BaseOffset(), batch.RecordCount(), int32(len(batch)), batch.IsControl()
	it.err = nil
	if it.left <= 0 {
		it.err = fmt.Errorf("%w: batch at %d claims %d records", ErrInvalidRecord, it.next, it.left)
		return
	}
	body := []byte(batch[BatchOverhead:])
	if c := batch.Compression(); c != CompressionNone {
		if body, it.err = decompress(c, body); it.err != nil {
			return
		}
	}
	it.r.Reset(body)
}

// Next fills rec with the next record and returns true, or returns false at the end or at an error.
func (it *Iterator) Next(rec *Record) bool {
	if it.err != nil || it.left == 0 {
		return false
	}
	if !it.readShort(rec) {
		if err := it.read(rec); err != nil {
			it.err = fmt.Errorf("record at offset %d: %w", it.next, err)
			return false
		}
	}
	rec.Offset = it.next
	it.next++
	it.left--
	return true
}

// Err returns why Next stopped early; nil after the last record.
func (it *Iterator) Err() error { return it.err }

// readShort reads a record as most are: a value without a key, every varint one byte. It reports false, and has read nothing, when the
// record is another one, or none.
func (it *Iterator) readShort(rec *Record) bool {
	if it.control || it.r.err != nil {
		return false
	}
	b := it.r.buf[it.r.pos:]
	if len(b) < 8 {
		return false
	}
	n := int(b[5] >> 1) // the value's, never empty here
	if b[0] != byte(2*(6+n)) || b[0] >= 0x80 || b[2] != 0 || b[3] >= 0x80 || b[4] != 1 || b[5] < 2 || b[5]&1 != 0 ||
		len(b) < 7+n || b[6+n] != 0 || int32(6+n) > it.size {
		return false
	}
	rec.Attributes, rec.Key, rec.Value = int8(b[1]), nil, b[6:6+n:6+n]
	it.r.pos += int32(7 + n)
	return true
}

func (it *Iterator) read(rec *Record) error {
	size := it.r.Varint()
	if it.r.Err() == nil && (size <= 0 || size > it.size) {
		return fmt.Errorf("%w: length %d in a batch of %d bytes", ErrInvalidRecord, size, it.size)
	}
	body := it.r.Raw(size)
	if err := it.r.Err(); err != nil {
		return err
	}
	r := Reader{buf: body}
	rec.Attributes = r.Int8()
	timestampDelta := r.Varlong()
	r.Varint() // the offset delta, ignored
	rec.Key = r.nullable()
	rec.Value = r.nullable()
	headers := r.Varint()
	if r.err != nil {
		return r.err
	}
	if timestampDelta != 0 {
		return fmt.Errorf("%w: timestamp delta %d", ErrInvalidRecord, timestampDelta)
	}
	if headers != 0 {
		return fmt.Errorf("%w: %d headers", ErrInvalidRecord, headers)
	}
	return it.check(rec)
}

func (it *Iterator) check(rec *Record) error {
	switch {
	case len(rec.Value) == 0:
		return fmt.Errorf("%w: no value", ErrInvalidRecord)
	case !it.control && rec.Key != nil:
		return fmt.Errorf("%w: data record with a key", ErrInvalidRecord)
	case it.control && len(rec.Key) == 0:
		return fmt.Errorf("%w: control record without a key", ErrInvalidRecord)
	case it.control:
		t, err := ParseControlKey(rec.Key)
		if err != nil {
			return err
		}
		if !t.Known() {
			return fmt.Errorf("%w: control type %d", ErrInvalidRecord, t)
		}
	}
	return nil
}

// nullable reads bytes with a varint length; a negative length is null.
func (r *Reader) nullable() []byte {
	n := r.Varint()
	if n < 0 || r.err != nil {
		return nil
	}
	return r.Raw(n)
}
