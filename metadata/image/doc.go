// Package image holds what a node knows of the cluster's metadata: the sum of all records up to an offset.
//
// The problem: controller and loader both turn the same records into state, one ahead of the commit and able to go
// back, the other behind it and only ever forward; and a checker wants to know at every event whether two nodes at
// one offset hold the same. So there is one state, [Image]; one description of what a record does to it, [Change];
// and one rule from record to change, [ChangeOf].
//
//	var delta image.Delta
//	delta.Replay(&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22}) // the image does not move yet
//	img.Apply(&delta, image.Provenance{Offset: 3, Epoch: 1})                              // now it does
//
// Guarantees. An Image is a pure function of the changes applied to it: any grouping into deltas gives the same bytes
// ([Image.AppendTo]) and the same [Image.Digest]. The digest is a sum of one hash for each entry, so a change costs
// O(1) and two images compare in O(1); equal images have equal digests, and different ones collide with probability
// 2^-64. Provenance is not part of either: images of two nodes are compared at equal (offset, epoch). Transaction
// markers never come in here (metadata-bootstrap 3.4), nor does kraft.version (KAFKA-18979), which belongs to raft.
//
// [Image.Set] returns the change that undoes it; that is all a controller needs to go back.
//
// An Image is mutable and owned by one lane. Whoever gets it in a callback may read it during that call and takes a
// [Image.Clone] to keep it. Refused: an immutable image for each publication, as the original has it (a copy of the map
// for every commit, on a path that runs a hundred thousand times a second), and persistent trees (an allocation for
// each level).
//
// Parts so far: features, cluster id, configurations, SCRAM credentials. Brokers, topics, quotas, ACLs, producer ids
// and tokens come with the issues that name them: a new [Part], its case in Set, ChangeOf, AppendTo and
// AppendRecords.
package image
