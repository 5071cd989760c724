package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
)

// Sizes and positions inside a RecordBatch of magic 2 (formats.md 3).
const (
	BatchOverhead = 61 // bytes before the first record
	logOverhead   = 12 // base offset and batch length, which the batch length does not count
	magicEnd      = 17 // the bytes up to and including the magic
	minBatchSize  = 14 // the smallest batch length that any format has

	// MagicV2 is the only magic that the metadata log knows.
	MagicV2 = 2

	attributeCompression = 0x07
	attributeControl     = 0x20
)

// Compression types of the attributes. Only None is ever written.
const (
	CompressionNone   = 0
	CompressionGzip   = 1
	CompressionSnappy = 2
	CompressionLZ4    = 3
	CompressionZstd   = 4
)

// Batch is a view of one whole RecordBatch. NextBatch and NextFileBatch return only batches that hold at least the
// header; a Batch made by other means must have BatchOverhead bytes at least, or its methods panic.
type Batch []byte

// BaseOffset is the offset of the first record. The checksum does not cover it.
func (b Batch) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(b)) }

// LeaderEpoch is the epoch of the leader that appended the batch. The checksum does not cover it.
func (b Batch) LeaderEpoch() int32 { return int32(binary.BigEndian.Uint32(b[12:])) }

// Magic is the format version; the log file reader lets values above 2 pass.
func (b Batch) Magic() int8 { return int8(b[16]) }

// CRC is the stored checksum.
func (b Batch) CRC() uint32 { return binary.BigEndian.Uint32(b[17:]) }

// Attributes are the sixteen flag bits of formats.md 3.
func (b Batch) Attributes() int16 { return int16(binary.BigEndian.Uint16(b[21:])) }

// IsControl tells whether the batch holds control records.
func (b Batch) IsControl() bool { return b.Attributes()&attributeControl != 0 }

// Compression is the compression type, 0 to 7, of which 5 to 7 mean nothing.
func (b Batch) Compression() int8 { return int8(b.Attributes() & attributeCompression) }

// LastOffsetDelta is the offset of the last record relative to the base offset.
func (b Batch) LastOffsetDelta() int32 { return int32(binary.BigEndian.Uint32(b[23:])) }

// LastOffset is the offset of the last record as the header claims it.
func (b Batch) LastOffset() int64 { return b.BaseOffset() + int64(b.LastOffsetDelta()) }

// NextOffset is the base offset that the next batch has to have.
func (b Batch) NextOffset() int64 { return b.LastOffset() + 1 }

// BaseTimestampMs is the wall clock of the leader at the append, in milliseconds.
func (b Batch) BaseTimestampMs() int64 { return int64(binary.BigEndian.Uint64(b[27:])) }

// MaxTimestampMs is the largest timestamp of the records; Kafka takes it for the append time of the batch.
func (b Batch) MaxTimestampMs() int64 { return int64(binary.BigEndian.Uint64(b[35:])) }

// ProducerID is -1 in the metadata log.
func (b Batch) ProducerID() int64 { return int64(binary.BigEndian.Uint64(b[43:])) }

// ProducerEpoch is -1 in the metadata log.
func (b Batch) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(b[51:])) }

// BaseSequence is -1 in the metadata log.
func (b Batch) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(b[53:])) }

// RecordCount is the number of records as the header claims it.
func (b Batch) RecordCount() int32 { return int32(binary.BigEndian.Uint32(b[57:])) }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of b (check value of "123456789": E3069283).
func Checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// Verify compares the stored checksum with the bytes. It says nothing of base offset, length, epoch and magic, which
// the checksum does not cover.
func (b Batch) Verify() error {
	if len(b) < BatchOverhead {
		return fmt.Errorf("%w: %d bytes are less than a batch header", ErrCorrupt, len(b))
	}
	if got, want := Checksum(b[21:]), b.CRC(); got != want {
		return fmt.Errorf("%w: checksum %08x stored, %08x computed", ErrCorrupt, want, got)
	}
	return nil
}

// NextBatch splits the first batch off b by the rules of the raft decoder. It does not verify the checksum. An empty
// batch with a nil error is the end: b is empty, or what is left is cut short, which Kafka takes for the end of the
// data too; rest is then what was left over. Errors are ErrCorrupt: a length below the minimum, a magic other than 2,
// less than a header.
func NextBatch(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) >= BatchOverhead && b[16] == MagicV2 {
		if size := int64(int32(binary.BigEndian.Uint32(b[8:]))) + logOverhead; size >= BatchOverhead && size <= int64(len(b)) {
			return Batch(b[:size:size]), b[size:], nil
		}
	}
	return nextOddBatch(b)
}

// nextOddBatch is NextBatch for what is not a whole batch of the one magic that the log has: an end, or an error.
func nextOddBatch(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) < logOverhead {
		return nil, b, nil
	}
	length := int32(binary.BigEndian.Uint32(b[8:]))
	if length < minBatchSize {
		return nil, b, fmt.Errorf("%w: batch length %d is below the minimum of %d", ErrCorrupt, length, minBatchSize)
	}
	if len(b) < magicEnd {
		return nil, b, nil
	}
	magic := int8(b[16])
	if magic < 0 || magic > MagicV2 {
		return nil, b, fmt.Errorf("%w: magic %d", ErrCorrupt, magic)
	}
	size := int64(length) + logOverhead
	if int64(len(b)) < size {
		return nil, b, nil
	}
	if magic != MagicV2 {
		return nil, b, fmt.Errorf("%w: magic %d is older than the metadata log", ErrCorrupt, magic)
	}
	if size < BatchOverhead {
		return nil, b, fmt.Errorf("%w: batch of %d bytes is smaller than its header", ErrCorrupt, size)
	}
	return Batch(b[:size:size]), b[size:], nil
}

// NextFileBatch splits the first batch off b by the rules of the log file reader: a magic above 2 counts as 2, and a
// file of exactly 17 bytes has no batch. End and errors are as for NextBatch. It does not verify the checksum.
func NextFileBatch(b []byte) (batch Batch, rest []byte, err error) {
	if len(b) <= magicEnd {
		return nil, b, nil
	}
	size, err := fileBatchSize(b)
	if err != nil || int64(len(b)) < size {
		return nil, b, err
	}
	if err := checkFileBatch(b, size); err != nil {
		return nil, b, err
	}
	return Batch(b[:size:size]), b[size:], nil
}

// fileBatchSize returns the size of the batch that begins at b, which has more than magicEnd bytes.
func fileBatchSize(b []byte) (int64, error) {
	length := int32(binary.BigEndian.Uint32(b[8:]))
	if length < minBatchSize {
		return 0, fmt.Errorf("%w: batch length %d is below the minimum of %d", ErrCorrupt, length, minBatchSize)
	}
	return int64(length) + logOverhead, nil
}

func checkFileBatch(b []byte, size int64) error {
	if magic := int8(b[16]); magic < MagicV2 {
		return fmt.Errorf("%w: magic %d is older than the metadata log", ErrCorrupt, magic)
	}
	if size < BatchOverhead {
		return fmt.Errorf("%w: batch of %d bytes is smaller than its header", ErrCorrupt, size)
	}
	return nil
}

// FileBatchSize looks at the beginning of what is left of a log file: head holds its first bytes (at least 18 of them
// when there are that many) and remaining says how many there are in all. It returns the size of the batch that
// begins there, 0 when what is left is cut short, or ErrCorrupt. It lets a recovery scan read a file piece by piece.
func FileBatchSize(head []byte, remaining int64) (int64, error) {
	if remaining <= magicEnd || len(head) <= magicEnd {
		return 0, nil
	}
	size, err := fileBatchSize(head)
	if err != nil {
		return 0, err
	}
	if size > remaining {
		return 0, nil
	}
	if size > math.MaxInt32 {
		return 0, fmt.Errorf("%w: batch of %d bytes", ErrCorrupt, size)
	}
	return size, checkFileBatch(head, size)
}

// Recover walks the content of a log file as recovery at start does (formats.md 9.3): validBytes is where the file
// has to be cut, and reason says what was wrong there: nil when every byte belongs to a sound batch, ErrTruncated for
// a torn tail, ErrCorrupt otherwise.
func Recover(b []byte) (validBytes int64, reason error) {
	rest := b
	for len(rest) > 0 {
		batch, next, err := NextFileBatch(rest)
		if err != nil {
			return validBytes, err
		}
		if len(batch) == 0 {
			return validBytes, fmt.Errorf("%w: %d bytes of a batch that is cut short", ErrTruncated, len(rest))
		}
		if err := batch.Verify(); err != nil {
			return validBytes, err
		}
		validBytes += int64(len(batch))
		rest = next
	}
	return validBytes, nil
}
