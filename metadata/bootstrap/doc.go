// Package bootstrap is what a controller knows about a cluster that has no metadata yet: the records that the first
// active controller writes, and the two files that carry them from the format tool to the controller.
//
// The problem: metadata.version, feature levels, the cluster id and the first SCRAM credentials must exist before
// there is a log to read them from. The format tool leaves them in a file, and which file depends on the release
// (facts metadata-bootstrap 3.1):
//
//	bootstrap.checkpoint   oct24  root of each log directory; header, data records, footer
//	0-0.checkpoint         both   __cluster_metadata-0 of the metadata directory; header, kraft.version and voters,
//	                              in aug26 the data records too, footer
//
//	m, err := bootstrap.Load(disk, metadataDir, release)       // bootstrap.checkpoint, else the default
//	c, err := bootstrap.ParseCheckpoint(snapshot)              // what raft hands over as 0-0.checkpoint
//	m, err = bootstrap.New(c.Entries, "0-0.checkpoint", release.MinimumBootstrap)
//	content := c.AppendTo(nil, times)                          // byte for byte what Kafka writes
//
// Two readers, because Kafka has two: 0-0.checkpoint goes through raft's record iterator, which checks sizes and
// checksums; bootstrap.checkpoint goes through the batch file reader, which checks no checksum and takes a torn tail
// for the end. Golden `corrupt` has what each accepts.
//
// Guarantees: bytes depend only on content and timestamps; readers never panic and allocate no more than a small
// multiple of the file.
package bootstrap
