// Package startup is what a node does between "the process runs" and "raft opens": it finds out who it is.
//
// The problem: identity lies in one meta.properties per log directory. Some may be missing, unreadable, or somebody else's, and a
// node that guesses votes twice or joins the wrong cluster. The steps and their order are those of metadata-bootstrap 2.4
// (Kafka as released) and 2.5 (self-formatting of KIP-1262):
//
//  1. load every directory, verify that they belong together and to this node;
//  2. refuse a metadata log in a directory that is not the metadata directory;
//  3. every directory that is not failed must be formatted, or may be formatted now, if the variant allows;
//  4. lock the directories against other processes (KAFKA-14557), before anything is written;
//  5. give a directory id to each directory that lacks one;
//  6. load the candidate bootstrap records.
//
// Only when Run returned may raft be opened: the directory id of any RPC is durable before it is sent.
//
//	node, err := startup.Run(disk, startup.Config{NodeID: 1, Directories: dirs, MetadataDir: dirs[0], Release: r, ...})
//
// Run is deterministic given the files and the chooser. It writes one directory at a time (temp, fsync, rename, fsync of
// the directory), so a crash anywhere is mended by the next start.
package startup
