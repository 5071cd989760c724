// Package raftlog is the replicated log of one KRaft node on its directory: segments of record batches, the leader
// epoch checkpoint, and the snapshots that stand beside them.
//
// The problem: a replica acknowledges what it has stored, so what a restart finds must be exactly a prefix of what
// was written, at least as long as what was flushed. The package keeps that promise on a Files that loses every
// unsynced byte and directory entry at a power loss, and reads and writes the files that Apache Kafka reads and
// writes (formats.md 6 and 9).
//
// What it guarantees
//
//   - After Flush returns, every byte below EndOffset, the length of its file and its directory entry are durable. A
//     segment is synced, and so is its directory entry, before the next one is created: no crash leaves a hole
//     between segments (KB-17).
//   - Open cuts the log at the first bad batch, in a torn tail and in the middle alike, and removes every later
//     segment (formats.md 9.3). That is what Kafka does, and what KB-44 calls a loss; Recovered tells what was cut.
//     Batch fields that the checksum does not cover are believed, as Kafka believes them.
//   - Open syncs what it kept. Kafka does not: after the kill of a process it offers as acknowledged what may still
//     sit in the page cache only, until its next flush.
//   - A truncation is durable before a new byte or a new epoch is written. Kafka leaves that to the order of its file
//     system.
//   - The epochs of the log are those of its batches; the checkpoint is written for Kafka's sake and checked at
//     start, not believed.
//   - Truncation never goes below the high watermark it is given, nor below the log start.
//   - No clock, no randomness, no goroutine: the calls on Files are a function of the calls on Log.
//
// The smallest example:
//
//	l, err := raftlog.Open(files, "/data/dir0/__cluster_metadata-0", raftlog.Config{})
//	err = l.AppendLeader(batch) // base offset == l.EndOffset()
//	err = l.Flush()
//	records, err := l.Read(0, 1<<20)
//
// A Log keeps an index of all batches in memory (48 bytes each) and no record bytes. Offset and time indexes of Kafka
// are tolerated in the directory, neither read nor written: Kafka rebuilds them, because it recovers the whole
// metadata log at every start.
//
// An error of an operation that writes leaves the Log in an undefined state: for the replica it is fatal
// (kraft-protocol 3.6).
//
// Snapshots (kraft-protocol 4): CreateSnapshot and DownloadSnapshot begin one, Freeze gives it its name when its bytes
// are durable, RegisterSnapshot lets it count. SnapshotRecords and CheckSnapshot know the content. A log that a snapshot
// is ahead of gives way to it (TruncateToLatestSnapshot, and Open after a crash in between); Clean deletes the prefix that
// a snapshot covers, oldest segment first and before the snapshots that covered it, so that whatever a crash leaves has
// no hole and begins at or below a snapshot. A snapshot without a footer, which Kafka loads, is refused.
//
// Refused: mapping files into memory (the simulated disk has no pages), and sparse indexes on disk (Kafka needs them
// for logs of many gigabytes; a metadata log is scanned at start anyway).
package raftlog
