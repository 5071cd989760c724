// Package dump decodes the files of a Kafka node's storage for people and programs: log segments and snapshots batch by
// batch and record by record, indexes, checkpoints, quorum-state, meta.properties, and whatever else lies beside them.
//
// The problem: after a finding, and after an outage, the question is what the files say. They may be damaged, half
// written or foreign, so a decoder that stops at the first odd byte is of no use, and one that guesses is worse. This
// one says for each file what is there, where it is damaged and why, goes on as far as any of Kafka's readers would, and
// says where Kafka's readers stop and where recovery at start would cut.
//
//	summary, err := dump.Dump(os.Stdout, "/var/kafka", dump.Options{})
//
// Guarantees. Nothing is written, and nothing but regular files is opened. Files are read front to back in pieces;
// memory is bounded by one batch (64 MiB at most, larger ones are checked and not decoded) and the names of a directory.
// The same files give the same bytes of output. A damaged file is not an error but part of the Summary; errors are
// about reading and writing.
//
// Severities. Damage is what makes a reader of Kafka fail or what recovery drops, and what could not be decoded. A
// warning is odd, but Kafka's readers take it without a word: a gap between offsets, an epoch that goes back, leftovers
// of an interrupted operation whatever is in them.
//
// Refused: building on raftlog.Open, which recovers (writes), wants a whole directory, and keeps an index in memory; and
// a nested JSON document per file, which cannot be read before it ends.
package dump
