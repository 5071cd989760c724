// Package wire turns the messages of raft into the bytes of Kafka's RPCs and back, version by version.
//
// The problem: raft works on plain structs that hold every field of the newest version, for the one partition that it
// knows. On a connection an older version may have been agreed on, which lacks some of the fields, and a peer may send
// any topics and partitions. Kafka's rule for a field that the version lacks is: drop it when the schema calls it
// ignorable, else refuse the message when the field says something (formats 1, rule 4). That refusal is part of the
// protocol: a pre-vote for a peer that does not know pre-votes must fail with UNSUPPORTED_VERSION (kraft-protocol 2.1),
// because without its flag it would be a real vote. The codec beneath, kmsg, drops such fields silently; this package
// checks before it lets kmsg see anything.
//
//	version, err := wire.Negotiate(52, wire.Supported(wire.Aug26), wire.Supported(wire.Oct24)) // Vote: 1
//	frame, err := wire.AppendRequest(nil, &raft.VoteRequest{...}, version, "raft-client-1")
//	header, m, err := wire.DecodeRequest(frame[4:])
//
// A simulator that moves structs and not bytes calls Normalize at the place where bytes would be made. The law between the
// two, which makes runs with structs and runs with bytes hash alike, is
//
//	Decode(kind, version, Encode(m, version)) == Normalize(m, version)   apart from the correlation id,
//
// which travels in the frame's header; with frames it holds for that too. Normalize is idempotent and returns the message
// itself when there is nothing to change.
//
// Canonical forms, which Normalize and Decode share: an empty list is nil; a null text has no letters; a response with a
// top level error says nothing else; a message with WrongShape has no fields of a partition; an endpoint that is not that of
// the leader named beside it does not exist. Fields that Kafka's server fills only from the version on that has them (the
// leader's endpoint, which Fetch has from version 16 and raft fills from 17; directory ids and nodes of DescribeQuorum;
// features whose minimum is 0) are dropped, not refused: raft does not know the version that it answers.
//
// Unknown tagged fields are skipped. Nothing here keeps state. Decoded byte fields are views of the bytes given, which
// must not change afterwards.
//
// Refused: encoders of our own (kmsg comes from Kafka's schemas by other hands and so is a second opinion), and handing
// kmsg's structs to raft (they have topics inside topics, pointers for null, and an allocation for each).
package wire
