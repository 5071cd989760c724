// Package records holds the records of Kafka's metadata log as Go structs, with the exact bytes that Kafka gives them.
//
// The problem: a controller, a loader, a formatter and a checker all read and write the same 25-odd record types in up
// to five versions each. Hand-written codecs drift apart. Here one table (schema.txt) states keys, versions, field
// order, nullability, tags and defaults, and metadata/records/gen turns it into code; golden bytes written by Kafka
// prove the table.
//
//	frame := records.Append(nil, &records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22}, 0)
//	r, version, err := records.Decode(frame)
//
// Guarantees. Append and Decode are pure functions of their arguments. Decode never panics, reads no further than
// the frame, allocates no more than a small multiple of it, and refuses every version it does not know. What Decode
// accepts, Append writes back; unknown tagged fields survive (KIP-482). A record whose fields do not fit the
// version is refused by Check and never silently shortened.
//
// Layout of a frame (formats 5): unsigned varints 1, key, version; then the flexible encoding of that version.
//
// Refused: reflection over struct tags (slow, and float64 or nullable fields need exceptions anyway), and Kafka's JSON
// schema files (they are not ours to copy, and say more than is needed).
package records
