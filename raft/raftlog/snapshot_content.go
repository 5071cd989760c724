package raftlog

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/raft/record"
)

// ErrSnapshotContent is for bytes that are no whole snapshot.
var ErrSnapshotContent = errors.New("raftlog: invalid snapshot content")

// SnapshotHeader is what the first batch of a snapshot says (kraft-protocol 4.3). Voters without KRaftVersion 1 is refused by the
// writer: that quorum's voters are static.
type SnapshotHeader struct {
	LastContainedTimestampMs int64 // append time of the last record that the snapshot covers
	KRaftVersion             int16
	Voters                   *record.VotersRecord // nil: none known
}

// SnapshotRecords writes the content of a snapshot, record by record, into a SnapshotWriter: a control batch with the header,
// data batches, a control batch with the footer, byte for byte as Kafka's RecordsSnapshotWriter. Offsets count the records of
// the file, the epoch is the snapshot's. The records of one Append share a batch; a call that does not fit into the open
// batch begins the next one. Finished batches reach the file together, when they are as many bytes as a batch may have or with the
// footer: Kafka's writer keeps them in its accumulator too, and a write for each would buy nothing.
type SnapshotRecords struct {
	raw           *SnapshotWriter
	maxBatchBytes int32
	nextOffset    int64
	open          bool
	builder       record.Builder
	pending       []byte // finished batches that are not in the file yet
}

// NewSnapshotRecords begins with the header, dated nowMs. maxBatchBytes is 8 MiB in Kafka, others are simulation only; a single
// record must fit.
func NewSnapshotRecords(raw *SnapshotWriter, header *SnapshotHeader, maxBatchBytes int32, nowMs int64) (*SnapshotRecords, error) {
	if header.Voters != nil && header.KRaftVersion < 1 {
		return nil, fmt.Errorf("%w: a voter set at kraft.version %d", ErrSnapshotContent, header.KRaftVersion)
	}
	s := &SnapshotRecords{raw: raw, maxBatchBytes: maxBatchBytes, pending: raw.room()}
	s.begin(nowMs, true)
	first := record.SnapshotHeaderRecord{LastContainedLogTimestampMs: header.LastContainedTimestampMs}
	var value [24]byte
	s.builder.AddControl(record.SnapshotHeader, first.AppendTo(value[:0]))
	if header.KRaftVersion > 0 {
		version := record.KRaftVersionRecord{KRaftVersion: header.KRaftVersion}
		s.builder.AddControl(record.KRaftVersion, version.AppendTo(value[:0]))
		if header.Voters != nil {
			s.builder.AddControl(record.KRaftVoters, header.Voters.AppendTo(nil))
		}
	}
	return s, s.flush()
}

// Append adds records; nowMs dates the batch if one begins with them. Records that no batch can hold together are refused
// with ErrSnapshotContent.
func (s *SnapshotRecords) Append(nowMs int64, values ...[]byte) error {
	if s.raw.closed {
		return fmt.Errorf("%w: append to %s", ErrSnapshotWriter, SnapshotName(s.raw.id))
	}
	if s.open && s.builder.Size()+sizeOf(s.builder.Count(), values) > s.maxBatchBytes {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if !s.open {
		if n := record.BatchOverhead + sizeOf(0, values); n > s.maxBatchBytes {
			return fmt.Errorf("%w: a batch of %d bytes, the limit is %d", ErrSnapshotContent, n, s.maxBatchBytes)
		}
		s.begin(nowMs, false)
	}
	for _, v := range values {
		s.builder.Add(nil, v)
	}
	return nil
}

// sizeOf is the bytes that the records take from position first of a batch on.
func sizeOf(first int32, values [][]byte) (size int32) {
	for i, v := range values {
		size += record.RecordSize(first+int32(i), nil, v)
	}
	return size
}

// snapshotRoom is the bytes that a small snapshot takes: header, one record, footer.
const snapshotRoom = 256

// room is memory for a small snapshot.
func (w *SnapshotWriter) room() []byte {
	if w.alloc == nil {
		return make([]byte, 0, snapshotRoom)
	}
	return w.alloc(snapshotRoom)[:0]
}

// Freeze writes the rest and the footer, dated nowMs, and freezes the file.
func (s *SnapshotRecords) Freeze(nowMs int64) error {
	if err := s.flush(); err != nil {
		return err
	}
	s.begin(nowMs, true)
	var value [8]byte
	s.builder.AddControl(record.SnapshotFooter, (&record.SnapshotFooterRecord{}).AppendTo(value[:0]))
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.write(); err != nil {
		return err
	}
	return s.raw.Freeze()
}

// Abandon removes the partial file; on a frozen snapshot it does nothing.
func (s *SnapshotRecords) Abandon() error { return s.raw.Abandon() }

// ID returns the id that the snapshot will have.
func (s *SnapshotRecords) ID() OffsetAndEpoch { return s.raw.id }

func (s *SnapshotRecords) begin(nowMs int64, control bool) {
	s.builder.Reset(s.pending, record.BatchSpec{
		BaseOffset: s.nextOffset, LeaderEpoch: s.raw.id.Epoch, TimestampMs: nowMs, Control: control,
	})
	s.open = true
}

// flush finishes the open batch, if any, and hands what is finished to the file once it is worth a write.
func (s *SnapshotRecords) flush() error {
	if !s.open {
		return nil
	}
	s.open = false
	s.nextOffset = s.builder.NextOffset()
	s.pending = s.builder.Finish()
	if len(s.pending) < int(s.maxBatchBytes) {
		return nil
	}
	return s.write()
}

// write hands everything finished to the file.
func (s *SnapshotRecords) write() error {
	bytes := s.pending
	s.pending = nil
	return s.raw.Append(bytes)
}

// CheckSnapshot verifies the content of a whole snapshot and returns its header: every batch is sound, the first record is
// the header, the last one the footer, and neither occurs anywhere else. Kafka's reader looks at the header only: a file cut
// at the end of a batch loads without complaint (kraft-protocol 4.3). ErrSnapshotContent otherwise.
func CheckSnapshot(content []byte) (*SnapshotHeader, error) {
	c := snapshotCheck{}
	var it record.Iterator
	for rest := content; len(rest) > 0; {
		batch, next, err := record.NextBatch(rest)
		if err == nil && len(batch) == 0 {
			err = record.ErrTruncated
		}
		if err == nil {
			err = batch.Verify()
		}
		if err == nil {
			var r record.Record
			for it.Reset(batch); it.Next(&r) && err == nil; {
				err = c.add(batch.IsControl(), &r)
			}
			err = errors.Join(err, it.Err())
		}
		if err != nil {
			return nil, fmt.Errorf("%w: at byte %d: %w", ErrSnapshotContent, len(content)-len(rest), err)
		}
		rest = next
	}
	if !c.footer {
		return nil, fmt.Errorf("%w: no footer at the end", ErrSnapshotContent)
	}
	return &c.header, nil
}

var errSnapshotOrder = errors.New("header, data records and footer are not in this order")

// snapshotCheck takes in the records of a snapshot one by one.
type snapshotCheck struct {
	header  SnapshotHeader
	records int64
	footer  bool
}

func (c *snapshotCheck) add(control bool, r *record.Record) error {
	first := c.records == 0
	c.records++
	if c.footer {
		return errSnapshotOrder
	}
	if !control {
		if first {
			return errSnapshotOrder
		}
		return nil
	}
	kind, err := record.ParseControlKey(r.Key)
	if err != nil {
		return err
	}
	if first != (kind == record.SnapshotHeader) {
		return errSnapshotOrder
	}
	switch kind {
	case record.SnapshotHeader:
		var h record.SnapshotHeaderRecord
		err = h.Decode(r.Value)
		c.header.LastContainedTimestampMs = h.LastContainedLogTimestampMs
	case record.KRaftVersion:
		var v record.KRaftVersionRecord
		err = v.Decode(r.Value)
		c.header.KRaftVersion = v.KRaftVersion
	case record.KRaftVoters:
		c.header.Voters = &record.VotersRecord{}
		err = c.header.Voters.Decode(r.Value)
	case record.SnapshotFooter:
		c.footer = true
		err = (&record.SnapshotFooterRecord{}).Decode(r.Value)
	default:
		return errSnapshotOrder
	}
	return err
}

// SnapshotTimestampMs returns the timestamp in the header of a snapshot, from its first batch only.
func SnapshotTimestampMs(content []byte) (int64, error) {
	batch, _, err := record.NextBatch(content)
	if err == nil && len(batch) == 0 {
		err = record.ErrTruncated
	}
	if err == nil {
		err = batch.Verify()
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshotContent, err)
	}
	var it record.Iterator
	var r record.Record
	it.Reset(batch)
	if !batch.IsControl() || !it.Next(&r) {
		return 0, fmt.Errorf("%w: no header", ErrSnapshotContent)
	}
	var c snapshotCheck
	if err := c.add(true, &r); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrSnapshotContent, err)
	}
	return c.header.LastContainedTimestampMs, nil
}
