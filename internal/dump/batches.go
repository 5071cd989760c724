package dump

import (
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
)

// maxBatch bounds the batches that are decoded, in bytes. Kafka writes 8 MiB at most.
const maxBatch = 64 << 20

const createTime = "CreateTime"

// batches walks the batches of a file, the sound and the damaged ones.
type batches struct {
	*file
	log          bool  // recovery at start looks at the file
	position     int64 // of the next batch
	cutAt        int64 // of the first batch that recovery refuses; -1: none
	stopAt       int64 // of the first batch that the raft reader refuses; -1: none
	batches      int64
	records      int64
	nextOffset   int64 // that the next batch should begin with; -1: not known
	epoch        int32 // of the batch before; -1: none
	iterator     record.Iterator
	json         []byte
	firstControl record.ControlType // of the first and the last record of the file, 0 for data
	lastControl  record.ControlType
	values       valueKind // of the records that are not control records
}

// valueKind is what the values of a file are.
type valueKind uint8

const (
	undecided valueKind = iota // no record yet
	metadataValues
	counterValues
)

func newBatches(f *file, log bool) *batches {
	return &batches{file: f, log: log, cutAt: -1, stopAt: -1, nextOffset: -1, epoch: -1}
}

// walk dumps all batches. Damage inside of a batch does not end the walk, damage of what tells its length does.
func (b *batches) walk() error {
	for b.position < b.in.size && b.err == nil {
		more, err := b.next()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// next dumps the batch at the position and moves behind it; more is false when nothing can be read behind.
func (b *batches) next() (more bool, err error) {
	left := b.in.size - b.position
	head, err := b.in.window(b.position, min(left, record.BatchOverhead))
	if err != nil {
		return false, err
	}
	size, reason := record.FileBatchSize(head, left)
	if size == 0 || reason != nil {
		b.endsBadly(head, left, reason)
		return false, nil
	}
	if size > maxBatch {
		return true, b.tooLarge(head, size)
	}
	whole, err := b.in.window(b.position, size)
	if err != nil {
		return false, err
	}
	batch := record.Batch(whole)
	b.header(batch, size, batch.Verify())
	b.dumpRecords(batch)
	b.position += size
	return true, nil
}

// endsBadly reports a header that does not tell where its batch ends, or a batch that is cut short: recovery takes
// both for the end, the raft reader takes only the latter for one.
func (b *batches) endsBadly(head []byte, left int64, reason error) {
	b.refusedByRecovery()
	if _, _, err := record.NextBatch(head); reason != nil || err != nil {
		b.refusedByReader()
	}
	if reason == nil {
		reason = fmt.Errorf("%w: %d bytes of a batch that is cut short", record.ErrTruncated, left)
	}
	b.damage(b.position, "%s; the last %d bytes cannot be decoded", plainReason(reason), left)
}

// tooLarge checks a batch that is not taken into memory whole.
func (b *batches) tooLarge(head []byte, size int64) error {
	header := record.Batch(append([]byte{}, head...))
	var sum uint32
	table := crc32.MakeTable(crc32.Castagnoli)
	for at := int64(21); at < size; {
		n := min(size-at, pieceSize)
		piece, err := b.in.window(b.position+at, n)
		if err != nil {
			return err
		}
		sum = crc32.Update(sum, table, piece)
		at += n
	}
	var wrong error
	if sum != header.CRC() {
		wrong = fmt.Errorf("%w: checksum %08x stored, %08x computed", record.ErrCorrupt, header.CRC(), sum)
	}
	b.header(header, size, wrong)
	b.damage(b.position, "a batch of %d bytes is not decoded, the limit is %d", size, int64(maxBatch))
	b.position += size
	return nil
}

// header reports the header of a batch and what is wrong or odd about it.
func (b *batches) header(h record.Batch, size int64, wrong error) {
	b.batches++
	b.summary.Batches++
	b.emit(&batchLine{
		Type: "batch", File: b.shown, Position: b.position, SizeInBytes: size, BaseOffset: h.BaseOffset(),
		LastOffset: h.LastOffset(), LeaderEpoch: h.LeaderEpoch(), Magic: h.Magic(), CRC: h.CRC(), Valid: wrong == nil,
		Attributes: h.Attributes(), IsControl: h.IsControl(), Compression: compressionName(h.Compression()),
		TimestampType: timestampType(h), BaseTimestamp: h.BaseTimestampMs(), MaxTimestamp: h.MaxTimestampMs(),
		ProducerID: h.ProducerID(), ProducerEpoch: h.ProducerEpoch(), BaseSequence: h.BaseSequence(), Count: h.RecordCount(),
	})
	if wrong != nil {
		b.refusedByRecovery()
		b.refusedByReader()
		b.damage(b.position, "%s", plainReason(wrong))
	}
	if h.Magic() != record.MagicV2 {
		b.refusedByReader()
		b.damage(b.position, "magic %d, which recovery takes for 2 and the raft reader refuses", h.Magic())
	}
	b.order(h)
}

// order warns of what Kafka's readers do not look at: base offset and epoch are not under the checksum.
func (b *batches) order(h record.Batch) {
	if b.nextOffset >= 0 && h.BaseOffset() != b.nextOffset {
		b.warn(b.position, "base offset %d where %d is expected", h.BaseOffset(), b.nextOffset)
	}
	if h.LeaderEpoch() < b.epoch {
		b.warn(b.position, "epoch %d behind epoch %d", h.LeaderEpoch(), b.epoch)
	}
	if spanned := int64(h.LastOffsetDelta()) + 1; spanned != int64(h.RecordCount()) {
		b.warn(b.position, "%d records in the header, which spans %d offsets", h.RecordCount(), spanned)
	}
	b.nextOffset, b.epoch = h.NextOffset(), h.LeaderEpoch()
}

func (b *batches) refusedByRecovery() {
	if b.cutAt < 0 {
		b.cutAt = b.position
	}
}

func (b *batches) refusedByReader() {
	if b.stopAt < 0 {
		b.stopAt = b.position
	}
}

// end reports the whole file.
func (b *batches) end() {
	l := &endLine{Type: "end", File: b.shown, Batches: b.batches, Records: b.records, SizeInBytes: b.in.size, sound: !b.damaged && !b.warned}
	if b.log {
		valid := b.in.size
		if b.cutAt >= 0 {
			valid = b.cutAt
		}
		l.ValidBytes = &valid
	}
	if b.stopAt >= 0 {
		l.ReaderStopsAt = &b.stopAt
	}
	l.sound = l.sound && b.cutAt < 0 && b.stopAt < 0
	b.emit(l)
}

func compressionName(c int8) string {
	switch c {
	case record.CompressionNone:
		return "none"
	case record.CompressionGzip:
		return "gzip"
	case record.CompressionSnappy:
		return "snappy"
	case record.CompressionLZ4:
		return "lz4"
	case record.CompressionZstd:
		return "zstd"
	}
	return fmt.Sprintf("unknown %d", c)
}

func timestampType(h record.Batch) string {
	if h.Attributes()&0x08 != 0 {
		return "LogAppendTime"
	}
	return createTime
}

// plainReason is the text of an error without the names of the packages that it comes through.
func plainReason(err error) string {
	text := err.Error()
	for _, name := range []string{"record: ", "records: ", "raftlog: ", "quorumstate: ", "metaprops: "} {
		text = strings.ReplaceAll(text, name, "")
	}
	return text
}
