package bootstrap

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

var errRecord = errors.New("invalid record")

// ParseBatchFile reads a bootstrap.checkpoint and returns its data records. It accepts exactly what Kafka's batch file
// reader accepts: no checksum is looked at, a batch that is cut short ends the file, control records are decoded and
// dropped, and no header or footer is asked for.
func ParseBatchFile(content []byte) ([]Entry, error) {
	var entries []Entry
	for rest := content; ; {
		at := len(content) - len(rest)
		batch, next, err := record.NextFileBatch(rest)
		if err != nil {
			return nil, fmt.Errorf("%w: at byte %d: %w", ErrCheckpoint, at, err)
		}
		if len(batch) == 0 {
			return entries, nil
		}
		if entries, err = appendBatch(entries, batch); err != nil {
			return nil, fmt.Errorf("%w: batch at byte %d: %w", ErrCheckpoint, at, err)
		}
		rest = next
	}
}

func appendBatch(entries []Entry, batch record.Batch) ([]Entry, error) {
	if batch.RecordCount() <= 0 {
		return nil, fmt.Errorf("%w: the batch claims %d records", errRecord, batch.RecordCount())
	}
	if batch.Compression() != record.CompressionNone {
		return appendCompressed(entries, batch)
	}
	in := record.NewReader(batch[record.BatchOverhead:])
	for n := batch.RecordCount(); n > 0; n-- {
		key, value, err := readRecord(&in)
		if err == nil {
			entries, err = appendRecord(entries, batch.IsControl(), key, value)
		}
		if err != nil {
			return nil, err
		}
	}
	if in.Remaining() > 0 {
		return nil, fmt.Errorf("%w: %d bytes after the last record of the batch", errRecord, in.Remaining())
	}
	return entries, nil
}

// appendCompressed leaves unpacking and the (stricter) checks to raft's iterator; no writer compresses this file.
func appendCompressed(entries []Entry, batch record.Batch) ([]Entry, error) {
	var it record.Iterator
	var r record.Record
	for it.Reset(batch); it.Next(&r); {
		var err error
		if entries, err = appendRecord(entries, batch.IsControl(), r.Key, r.Value); err != nil {
			return nil, err
		}
	}
	return entries, it.Err()
}

func appendRecord(entries []Entry, control bool, key, value []byte) ([]Entry, error) {
	if control {
		return entries, checkControl(key, value)
	}
	decoded, version, err := records.Decode(value)
	if err != nil {
		return nil, err
	}
	return append(entries, Entry{Record: decoded, Version: version}), nil
}

func checkControl(key, value []byte) error {
	kind, err := record.ParseControlKey(key)
	if err != nil {
		return err
	}
	if kind == record.LeaderChange {
		var m record.LeaderChangeMessage
		return m.Decode(value, 0)
	}
	return new(Checkpoint).addControl(kind, value)
}

// readRecord reads one record as Kafka's DefaultRecord does: fields first, then the sizes are compared. Timestamp and
// offset deltas and headers may be anything.
func readRecord(in *record.Reader) (key, value []byte, err error) {
	size := in.Varint()
	if in.Err() == nil && size > in.Remaining() {
		return nil, nil, fmt.Errorf("%w: length %d with %d bytes left", errRecord, size, in.Remaining())
	}
	start := in.Offset()
	in.Int8()
	in.Varlong()
	in.Varint()
	key, value = readField(in), readField(in)
	headers := in.Varint()
	if in.Err() == nil && (headers < 0 || headers > in.Remaining()) {
		return nil, nil, fmt.Errorf("%w: %d headers", errRecord, headers)
	}
	for ; headers > 0 && in.Err() == nil; headers-- {
		if n := in.Varint(); n < 0 {
			return nil, nil, fmt.Errorf("%w: header key of length %d", errRecord, n)
		} else {
			in.Raw(n)
		}
		readField(in)
	}
	if in.Err() != nil {
		return nil, nil, in.Err()
	}
	if got := in.Offset() - start; got != size {
		return nil, nil, fmt.Errorf("%w: length %d, but its fields take %d bytes", errRecord, size, got)
	}
	return key, value, nil
}

func readField(in *record.Reader) []byte {
	if n := in.Varint(); n >= 0 {
		return in.Raw(n)
	}
	return nil
}
