package image

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// BatchReader walks the metadata records of one committed data batch. The zero BatchReader is empty.
//
//	reader.Reset(batch.Bytes)
//	for reader.Next() { use(reader.Offset, reader.Record) }
//	if reader.Err() != nil { ... } // fatal for whoever follows a committed log
type BatchReader struct {
	Offset int64          // of the current record
	Record records.Record // owned by the caller

	it  record.Iterator
	raw record.Record
	err error
}

// Reset starts over on a whole RecordBatch.
func (r *BatchReader) Reset(batch []byte) {
	r.err = nil
	r.it.Reset(record.Batch(batch))
}

// Next moves to the next record, or returns false at the end or at an error.
func (r *BatchReader) Next() bool {
	if r.err != nil || !r.it.Next(&r.raw) {
		return false
	}
	m, _, err := records.Decode(r.raw.Value)
	if err != nil {
		r.err = fmt.Errorf("image: record at offset %d: %w", r.raw.Offset, err)
		return false
	}
	r.Offset, r.Record = r.raw.Offset, m
	return true
}

// Err returns why Next stopped early, nil after the last record.
func (r *BatchReader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.it.Err()
}
