// Package metaprops reads and writes meta.properties, the file that says whose a log directory is: cluster id, node id,
// directory id. A node that trusts a wrong one mixes two clusters or votes with another node's disk, so the rules are
// exact (facts metadata-bootstrap 2).
//
//	p, err := metaprops.Parse(content, 1)                 // as software that knows V0 and V1
//	e := metaprops.Load(disk, dirs, metadataDir, 2)       // one state per directory: empty, failed, loaded
//	err = e.Verify(metaprops.Expected{NodeID: &nodeID}, metaprops.RequireOneValid)
//	err = metaprops.Write(disk, dir, p, nowMs)            // durable and all at once
//
// Versions: V0 is what ZooKeeper brokers wrote, V1 what kafka-storage writes, V2 (PR 21547, KIP-1262) may lack the
// cluster id. Software that does not know V2 takes such a file for a broken one, which is why Parse is told the highest
// version it knows.
//
// Guarantees: reading follows java.util.Properties to the last escape. Writing is deterministic, keys ascending; it
// differs from Kafka in one point: Kafka writes UTF-8 that its own reader takes for Latin-1, here characters
// outside printable ASCII are written as \uXXXX escapes, which every reader understands, so that any cluster id
// survives (formats 8).
package metaprops
