// Package image holds what a node knows of the cluster's metadata: the sum of all records up to an offset.
//
// The problem: controller and loader both turn the same records into state, one ahead of the commit and able to go
// back, the other behind it and only ever forward; publishers keep the image of one moment while the next is made; and a
// checker wants to know at every event whether two nodes at one offset hold the same. So there is one state, [Image],
// which never changes, and one way from an image to the next, [Delta].
//
//	delta := image.NewDelta(img)
//	err := delta.Replay(&records.TopicRecord{Name: "t", TopicId: id}) // img does not move
//	next := delta.Apply(image.Provenance{Offset: 3, Epoch: 1})        // what came of it
//	for c := range delta.Topics() { ... }                             // and what is different: c.Old, c.New
//
// # Guarantees
//
// An Image is a pure function of the records replayed: any grouping into deltas gives the same bytes ([Image.AppendTo]) and
// the same [Image.Digest]. The digest is a sum of one hash for each entry, so a change costs O(1) and two images compare
// in O(1); equal images have equal digests, and different ones collide with probability 2^-64. Provenance is not part of
// either: images of two nodes are compared at equal (offset, epoch). Transaction markers never come in here
// (metadata-bootstrap 3.4), nor does kraft.version (KAFKA-18979), which belongs to raft.
//
// A new image costs what changed, not what exists: its parts are [ordered.Map], which share what stays the same. Keeping
// images is free: a controller keeps one for each offset that it may have to go back to, and a snapshot is written from
// one while the log goes on. Only the Delta is mutable, and owned by one lane; images and what they return may be read on
// any lane at the same time.
//
// What a Delta says of the difference is the difference of two images, not a list of records: a topic that was created and
// deleted between them is not in it (KAFKA-19497), and one that a snapshot does not mention any more is (KAFKA-16892).
//
// # What an image holds, and how to ask for it
//
//	provenance           Provenance() (offset, epoch)
//	whole                Digest(), Equal(other), Empty(), AppendTo(buf)
//	features             MetadataVersion(), FeatureLevel(name), Features()
//	cluster id           ClusterID()
//	brokers              Broker(id), Brokers(), BrokerCount(); Broker.Active(), Broker.FeatureRange(name)
//	controllers          Controller(id), Controllers(), ControllerCount()
//	topics               TopicByName(name), TopicByID(id), Topics(), TopicsByID(), TopicCount()
//	partitions           Partition(topic, n), Partitions(topic), PartitionCount(topic), AllPartitions(), TotalPartitions()
//	partitions by broker PartitionsIn(broker): in its ISR or ELR; Leaderless(); by an index, unless it began with NewPlain()
//	configurations       Config(key), Configs(), ConfigsOf(type, resource), ConfigCount()
//	client quotas        Quota(key), Quotas(); NewQuotaEntity(parts), QuotaEntity.Parts()
//	producer ids         NextProducerID()
//	access control       ACL(id), ACLs()
//	SCRAM                Scram(key), Scrams()
//	delegation tokens    Token(id), Tokens()
//
// Lookups cost O(log n), counts O(1) (PartitionCount O(log n)); everything that yields does so in ascending order, and the
// loop may end at any time. Lookups that find nothing return nil, or false.
//
// A Delta has Base() and Image() for its two sides, and Features(), Brokers(), Controllers(), Topics(), Partitions(),
// Configs(), Quotas(), ACLs(), Scrams(), Tokens() for what is different, as a sequence of [Change]; MetadataVersionChanged(),
// ClusterIDChanged(), ProducerIDsChanged() for the rest. Reset(img) begins the next one, ResetToSnapshot(img) one that replaces
// everything, Between(a, b) says what lies between any two images.
//
// # To records and back
//
// [Image.Write] gives the records that recreate an image, in Kafka's order, with the versions that a metadata.version has;
// [Image.AppendFrames] the same encoded. What that version cannot say is a loss: an error, unless the caller takes it.
//
// # What is refused
//
// Replay refuses what no controller can have written (ErrImpossible): a change of a broker, topic or partition that is not
// there, or of another broker epoch; a topic whose name or id is taken. Like Kafka's images, and unlike its controller, it
// takes the removal of a credential, a quota or a token that is not there, and a registration over an older one.
//
// # Deviations
//
// Eligible leader replicas are written whenever the metadata.version can say them; the original leaves them out, without
// calling that a loss, while eligible.leader.replicas.version is 0. A node fed by that snapshot would differ from one fed
// by the log.
//
// Refused: one mutable image (what it was before: nothing could be kept but by a copy, and going back needed an inverse for
// every record); maps of Go (random order, no sharing).
package image
