// Package record reads and writes the bytes that Kafka's metadata log is made of: primitives, uuid text, RecordBatch
// v2 and the control records of KRaft.
//
// The problem: every layer above (log, replica, metadata records, checkpoint files) has to agree with Apache Kafka to
// the last byte, and a simulator decodes the same batches millions of times. So nothing here allocates on a good
// path: readers hand out views into the bytes they were given, writers append to a slice the caller owns.
//
// What it guarantees
//
//   - Bytes written are those that Kafka writes for the same content (formats.md 1, 3 and 4; the golden tests prove
//     it).
//   - Bytes read never panic, whatever they hold: a Reader keeps its first error, a walker returns it.
//   - Views are valid, and must not be changed, for as long as the bytes they point into.
//   - No state outside of the values: the same input gives the same output on every machine.
//
// The smallest example, one batch there and back:
//
//	var b record.Builder
//	b.Reset(nil, record.BatchSpec{BaseOffset: 5, LeaderEpoch: 3, TimestampMs: 1700000000000})
//	b.Add(nil, []byte{1, 20, 0, 0})
//	batch, rest, err := record.NextBatch(b.Finish())
//	var it record.Iterator
//	it.Reset(batch)
//	var r record.Record
//	for it.Next(&r) {
//		use(r.Offset, r.Value)
//	}
//	if it.Err() != nil { ... }
//
// Three ways to walk concatenated batches exist because Kafka has them and they disagree on damaged bytes: NextBatch
// is the raft decoder (strict magic), NextFileBatch is the log file reader (a magic above 2 counts as 2), and Recover
// is the start-up scan on top of the latter, which says where a file is cut.
//
// Refused: a tree of decoded objects per batch (an allocation per record on the fetch path), and io.Reader based
// decoding (an interface call per byte). Compressed batches are read, never written: KRaft writes its metadata log
// uncompressed.
package record
