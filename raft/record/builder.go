package record

import (
	"encoding/binary"
	"math"
)

// BatchSpec is what a batch says of itself besides its records.
type BatchSpec struct {
	BaseOffset  int64
	LeaderEpoch int32
	TimestampMs int64 // append time, wall clock
	Control     bool
}

// Builder writes one RecordBatch byte for byte as Kafka's raft module does: uncompressed, no producer, all timestamps
// equal. The zero Builder is ready for Reset. It owns the slice between Reset and Finish.
type Builder struct {
	buf   []byte
	start int32
	spec  BatchSpec
	count int32
}

// emptyHeader keeps the place of a header.
var emptyHeader [BatchOverhead]byte

// Reset begins a batch that is appended to dst (nil is fine).
func (b *Builder) Reset(dst []byte, spec BatchSpec) {
	b.start, b.count = int32(len(dst)), 0
	b.buf = append(dst, emptyHeader[:]...)
	b.spec.BaseOffset, b.spec.LeaderEpoch = spec.BaseOffset, spec.LeaderEpoch
	b.spec.TimestampMs, b.spec.Control = spec.TimestampMs, spec.Control
}

// maxShort bounds the values and the positions of records whose varints all take one byte.
const maxShort = 56

// Add appends a record. A nil key or value is null; data records of the metadata log have a nil key.
func (b *Builder) Add(key, value []byte) {
	if key == nil && value != nil && len(value) < maxShort && b.count < maxShort { // each varint is one byte
		n := int32(len(value))
		b.buf = append(b.buf, byte(zigzag32(6+n)), 0, 0, byte(zigzag32(b.count)), byte(zigzag32(-1)), byte(zigzag32(n)))
		b.buf = append(append(b.buf, value...), 0)
		b.count++
		return
	}
	b.buf = AppendVarint(b.buf, recordBodySize(b.count, key, value))
	b.buf = append(b.buf, 0, 0) // attributes, timestamp delta
	b.buf = AppendVarint(b.buf, b.count)
	b.buf = appendNullable(b.buf, key)
	b.buf = appendNullable(b.buf, value)
	b.buf = append(b.buf, 0) // header count
	b.count++
}

// Count returns how many records were added.
func (b *Builder) Count() int32 { return b.count }

// Size returns the bytes of the batch so far.
func (b *Builder) Size() int32 { return int32(len(b.buf)) - b.start }

// NextOffset returns the offset that the next record will get.
func (b *Builder) NextOffset() int64 { return b.spec.BaseOffset + int64(b.count) }

// Finish fills in the header and returns dst with the batch behind it. A batch without records is a programmer error.
func (b *Builder) Finish() []byte {
	if b.count == 0 {
		panic("record: a batch needs at least one record")
	}
	h := b.buf[b.start:]
	_ = h[BatchOverhead-1]
	binary.BigEndian.PutUint64(h[0:], uint64(b.spec.BaseOffset))
	binary.BigEndian.PutUint32(h[8:], uint32(len(h)-logOverhead))
	binary.BigEndian.PutUint32(h[12:], uint32(b.spec.LeaderEpoch))
	h[16] = MagicV2
	attributes := uint16(0)
	if b.spec.Control {
		attributes = attributeControl
	}
	binary.BigEndian.PutUint16(h[21:], attributes)
	binary.BigEndian.PutUint32(h[23:], uint32(b.count-1))
	binary.BigEndian.PutUint64(h[27:], uint64(b.spec.TimestampMs))
	binary.BigEndian.PutUint64(h[35:], uint64(b.spec.TimestampMs))
	binary.BigEndian.PutUint64(h[43:], math.MaxUint64) // producer id, producer epoch and base sequence are all -1
	binary.BigEndian.PutUint32(h[51:], math.MaxUint32)
	binary.BigEndian.PutUint16(h[55:], math.MaxUint16)
	binary.BigEndian.PutUint32(h[57:], uint32(b.count))
	binary.BigEndian.PutUint32(h[17:], Checksum(h[21:]))
	return b.buf
}

// AppendBatch appends a batch of data records, one per value, to dst. Values must not be empty.
func AppendBatch(dst []byte, spec BatchSpec, values ...[]byte) []byte {
	var b Builder
	b.Reset(dst, spec)
	for _, v := range values {
		b.Add(nil, v)
	}
	return b.Finish()
}

// RecordSize returns the bytes that a record takes at position offsetDelta of its batch, its length field included. A
// batch writer uses it to decide whether a record still fits.
func RecordSize(offsetDelta int32, key, value []byte) int32 {
	if key == nil && value != nil && len(value) < maxShort && uint32(offsetDelta) < maxShort {
		return 7 + int32(len(value))
	}
	n := recordBodySize(offsetDelta, key, value)
	return VarintSize(n) + n
}

func recordBodySize(offsetDelta int32, key, value []byte) int32 {
	return 3 + VarintSize(offsetDelta) + nullableSize(key) + nullableSize(value)
}

func nullableSize(b []byte) int32 {
	if b == nil {
		return 1
	}
	return VarintSize(int32(len(b))) + int32(len(b))
}

func appendNullable(dst, b []byte) []byte {
	if b == nil {
		return AppendVarint(dst, -1)
	}
	return append(AppendVarint(dst, int32(len(b))), b...)
}
