package image

import (
	"flag"
	"fmt"
	"iter"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20261130")
	}
	os.Exit(m.Run())
}

// requireSound checks what must hold in every image: the digest is that of its entries, and the maps that say nothing new
// agree with those that do.
func requireSound(t require.TestingT, img *Image) {
	sum := img.brokers.Digest() + img.controllers.Digest() + img.topicsByID.Digest() + img.partitions.Digest() +
		img.configs.Digest() + img.quotas.Digest() + img.acls.Digest() + img.scram.Digest() + img.tokens.Digest()
	for _, f := range img.features {
		sum += hashFeature(f.Name, f.Level)
	}
	if img.clusterID != "" {
		sum += hashClusterID(img.clusterID)
	}
	if img.producerID != noProducerID {
		sum += hashProducerID(img.producerID)
	}
	require.Equal(t, sum, img.Digest())
	require.Equal(t, img.mv, img.FeatureLevel(MetadataVersion))

	require.Equal(t, img.topicsByID.Len(), img.topicsByName.Len())
	partitions := int32(0)
	for topic := range img.TopicsByID() {
		require.Equal(t, topic, img.TopicByName(topic.Name))
		partitions += img.PartitionCount(topic.ID)
	}
	require.Equal(t, partitions, img.TotalPartitions(), "partitions without topic")
	members := map[memberKey]bool{}
	for key, p := range img.AllPartitions() {
		for member := range p.members() {
			members[memberKey{member, key}] = true
		}
		require.Len(t, p.Directories, len(p.Replicas))
	}
	require.Equal(t, int32(len(members)), img.members.Len())
	for e := range img.members.All() {
		require.True(t, members[e.Key], "%v", e.Key)
	}
}

// Any grouping of a log into deltas gives the same bytes and digest, no image ever changes, and what a delta says of the
// difference makes the one of the other.
func TestGroupingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := genLog(t, 0, 60)
		steps, bytes := []*Image{New()}, [][]byte{New().AppendTo(nil)}
		for _, r := range log {
			next := apply(t, steps[len(steps)-1], r)
			steps, bytes = append(steps, next), append(bytes, next.AppendTo(nil))
		}
		d, from := NewDelta(New()), 0
		for at, r := range log {
			require.NoError(t, d.Replay(r))
			if rapid.Bool().Draw(t, "cut") || at == len(log)-1 {
				img := d.Apply(Provenance{Offset: int64(at), Epoch: 1})
				requireSound(t, img)
				require.Equal(t, bytes[at+1], img.AppendTo(nil))
				require.Equal(t, steps[at+1].Digest(), img.Digest())
				require.Equal(t, steps[at+1].Provenance(), img.Provenance())
				require.True(t, steps[at+1].Equal(img))
				require.Equal(t, int64(at+1-from), d.Records())
				requireDifference(t, d, steps[from], steps[at+1])
				from = at + 1
				d.Reset(img)
			}
		}
		for at, img := range steps {
			require.Equal(t, bytes[at], img.AppendTo(nil), "image %d changed after it was made", at)
		}
		a, b := rapid.IntRange(0, len(log)).Draw(t, "a"), rapid.IntRange(0, len(log)).Draw(t, "b")
		require.Equal(t, string(bytes[a]) == string(bytes[b]), steps[a].Digest() == steps[b].Digest())
		require.Equal(t, string(bytes[a]) == string(bytes[b]), steps[a].Equal(steps[b]))
		d.Between(steps[a], steps[b])
		requireDifference(t, d, steps[a], steps[b])
	})
}

// requireDifference checks that the delta says exactly what is different between the two images.
func requireDifference(t require.TestingT, d *Delta, before, after *Image) {
	require.True(t, before.Equal(d.Base()))
	require.True(t, after.Equal(d.Image()))
	sum := before.Digest()
	for c := range d.Features() {
		if c.Old != nil {
			require.Equal(t, *c.Old, before.FeatureLevel(c.Key))
			sum -= hashFeature(c.Key, *c.Old)
		}
		if c.New != nil {
			require.Equal(t, *c.New, after.FeatureLevel(c.Key))
			sum += hashFeature(c.Key, *c.New)
		}
	}
	require.Equal(t, before.ClusterID() != after.ClusterID(), d.ClusterIDChanged())
	require.Equal(t, before.NextProducerID() != after.NextProducerID(), d.ProducerIDsChanged())
	require.Equal(t, before.MetadataVersion() != after.MetadataVersion(), d.MetadataVersionChanged())
	if before.ClusterID() != "" {
		sum -= hashClusterID(before.ClusterID())
	}
	if after.ClusterID() != "" {
		sum += hashClusterID(after.ClusterID())
	}
	if before.NextProducerID() != noProducerID {
		sum -= hashProducerID(before.NextProducerID())
	}
	if after.NextProducerID() != noProducerID {
		sum += hashProducerID(after.NextProducerID())
	}
	for c := range d.Brokers() {
		sum += difference(t, c, before.Broker, after.Broker, func(_ int32, b *Broker) uint64 { return hashBroker(b) })
	}
	for c := range d.Controllers() {
		sum += difference(t, c, before.Controller, after.Controller, func(_ int32, b *Controller) uint64 { return hashController(b) })
	}
	for c := range d.Topics() {
		sum += difference(t, c, before.TopicByID, after.TopicByID, func(_ record.UUID, b *Topic) uint64 { return hashTopic(b) })
	}
	for c := range d.Partitions() {
		in := func(img *Image) func(PartitionKey) *Partition {
			return func(k PartitionKey) *Partition { return img.Partition(k.TopicID, k.Partition) }
		}
		sum += difference(t, c, in(before), in(after), hashPartition)
	}
	for c := range d.Configs() {
		in := func(img *Image) func(ConfigKey) *string {
			return func(k ConfigKey) *string {
				if v, ok := img.Config(k); ok {
					return &v
				}
				return nil
			}
		}
		sum += difference(t, c, in(before), in(after), func(k ConfigKey, v *string) uint64 { return hashConfig(k, *v) })
	}
	for c := range d.Quotas() {
		in := func(img *Image) func(QuotaKey) *records.Float64Bits {
			return func(k QuotaKey) *records.Float64Bits {
				if v, ok := img.Quota(k); ok {
					return &v
				}
				return nil
			}
		}
		sum += difference(t, c, in(before), in(after), func(k QuotaKey, v *records.Float64Bits) uint64 { return hashQuota(k, *v) })
	}
	for c := range d.ACLs() {
		sum += difference(t, c, before.ACL, after.ACL, func(_ record.UUID, a *ACL) uint64 { return hashACL(a) })
	}
	for c := range d.Scrams() {
		sum += difference(t, c, before.Scram, after.Scram, hashScram)
	}
	for c := range d.Tokens() {
		sum += difference(t, c, before.Token, after.Token, func(_ string, a *Token) uint64 { return hashToken(a) })
	}
	require.Equal(t, after.Digest(), sum, "the delta leaves something out")
}

func difference[K comparable, V any](t require.TestingT, c Change[K, V], before, after func(K) *V, hash func(K, *V) uint64) (sum uint64) {
	require.Equal(t, before(c.Key), c.Old)
	require.Equal(t, after(c.Key), c.New)
	require.NotEqual(t, c.Old, c.New)
	if c.Old != nil {
		sum -= hash(c.Key, c.Old)
	}
	if c.New != nil {
		sum += hash(c.Key, c.New)
	}
	return sum
}

// A failing record leaves the delta as it was.
func TestFailureChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := NewDelta(apply(t, New(), genLog(t, 0, 40)...))
		for _, r := range rapid.SliceOfN(genRecord(), 1, 20).Draw(t, "more") {
			before := d.Image().AppendTo(nil)
			count := d.Records()
			if err := d.Replay(r); err != nil {
				require.Equal(t, before, d.Image().AppendTo(nil), "%s", r.RecordName())
				require.Equal(t, count, d.Records())
				requireSound(t, d.Image())
			}
		}
	})
}

// The digest goes into traces, so it may not depend on architecture or Go version. Do not change the numbers: change the
// engine version together with them.
func TestDigestRegression(t *testing.T) {
	img := apply(t, New(),
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.ClusterIdRecord{ClusterId: "4L6g3nShT-eMCtK--X86sw"},
		&records.ConfigRecord{ResourceType: 4, Name: "min.insync.replicas", Value: text("2")},
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 2, Salt: []byte{1, 2}, ServerKey: []byte{3}, Iterations: 8192},
	)
	require.Equal(t, "74bcfcc3d2063b31", fmt.Sprintf("%016x", img.Digest()))
	require.Zero(t, New().Digest())
	require.Equal(t, "9f40bddf9a954b25", fmt.Sprintf("%016x", apply(t, img, everyPart()...).Digest()))
}

// everyPart has a record for each part that TestDigestRegression does not name otherwise.
func everyPart() []records.Record {
	return []records.Record{
		&records.RegisterBrokerRecord{
			BrokerId: 1, BrokerEpoch: 9, IncarnationId: uuid(1), Fenced: true, Rack: text("r"), LogDirs: []record.UUID{uuid(2)},
			EndPoints: []records.BrokerEndpoint{{Name: "PLAINTEXT", Host: "h", Port: 9092}},
			Features:  []records.BrokerFeature{{Name: "metadata.version", MinSupportedVersion: 7, MaxSupportedVersion: 33}},
		},
		&records.RegisterControllerRecord{ControllerId: 3, IncarnationId: uuid(3), Features: []records.ControllerFeature{{Name: "f"}}},
		&records.TopicRecord{Name: "t", TopicId: uuid(4)},
		&records.PartitionRecord{TopicId: uuid(4), Replicas: []int32{1, 2}, Isr: []int32{1}, Leader: 1, EligibleLeaderReplicas: []int32{2}},
		&records.ClientQuotaRecord{Entity: []records.EntityData{{EntityType: "user"}}, Key: "k", Value: 1},
		&records.ProducerIdsRecord{NextProducerId: 1000},
		&records.AccessControlEntryRecord{Id: uuid(5), ResourceType: 2, ResourceName: "t", PatternType: 3, Principal: "p", Host: "*", Operation: 3, PermissionType: 3},
		&records.DelegationTokenRecord{TokenId: "token", Owner: "o", Requester: "q", Renewers: []string{"a"}, MaxTimestamp: 5},
	}
}

func TestReading(t *testing.T) {
	img := apply(t, New(),
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 2},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "b.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "b.version", FeatureLevel: 0},
		&records.ClusterIdRecord{ClusterId: "X"},
		&records.ConfigRecord{ResourceType: 4, ResourceName: "2", Name: "k", Value: text("w")},
		&records.ConfigRecord{ResourceType: 4, ResourceName: "1", Name: "k", Value: text("v")},
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, Iterations: 4096},
	)
	require.Equal(t, []Feature{{"a.version", 1}, {"metadata.version", 34}}, img.Features())
	require.Equal(t, int16(34), img.MetadataVersion())
	require.Equal(t, "X", img.ClusterID())
	value, found := img.Config(ConfigKey{Type: 4, Resource: "1", Name: "k"})
	require.True(t, found)
	require.Equal(t, "v", value)
	require.Equal(t, int32(2), img.ConfigCount())
	for key := range img.Configs() {
		require.Equal(t, "1", key.Resource)
		break
	}
	for name, value := range img.ConfigsOf(4, "2") {
		require.Equal(t, "k=w", name+"="+value)
	}
	require.Equal(t, int32(4096), img.Scram(ScramKey{Mechanism: 1, User: "u"}).Iterations)
	require.Equal(t, Provenance{Offset: 8, Epoch: 1}, img.Provenance())
	require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 2}, Provenance{Offset: 9, Epoch: 2}.AppendTo(nil))

	full := apply(t, img, everyPart()...)
	require.Equal(t, int64(9), full.Broker(1).Epoch)
	require.False(t, full.Broker(1).Active())
	require.Equal(t, FeatureRange{"metadata.version", 7, 33}, full.Broker(1).FeatureRange("metadata.version"))
	require.Equal(t, FeatureRange{Name: "other"}, full.Broker(1).FeatureRange("other"))
	require.Equal(t, FeatureRange{Name: "f"}, full.Controller(3).FeatureRange("f"))
	require.Equal(t, []int32{1, 1, 1, 1}, []int32{full.BrokerCount(), full.ControllerCount(), full.TopicCount(), full.TotalPartitions()})
	require.Equal(t, uuid(4), full.TopicByName("t").ID)
	require.Equal(t, int32(1), full.Partition(uuid(4), 0).Leader)
	require.Equal(t, int64(1000), full.NextProducerID())
	require.Equal(t, "p", full.ACL(uuid(5)).Principal)
	require.Equal(t, "q", full.Token("token").Requester)
	quota, found := full.Quota(QuotaKey{Entity: NewQuotaEntity([]records.EntityData{{EntityType: "user"}}), Name: "k"})
	require.True(t, found)
	require.Equal(t, records.Float64Bits(1), quota)
	_, found = full.Quota(QuotaKey{Name: "k"})
	require.False(t, found)
	require.Nil(t, full.Broker(2))
	require.Nil(t, full.TopicByName("u"))
}

// Only the id of the cluster is not enough to be something (metadata-bootstrap T17).
func TestEmpty(t *testing.T) {
	require.True(t, New().Empty())
	require.True(t, apply(t, New(), &records.ClusterIdRecord{ClusterId: "X"}, &records.NoOpRecord{}).Empty())
	for _, r := range everyPart() {
		if _, ok := r.(*records.PartitionRecord); !ok {
			require.False(t, apply(t, New(), r).Empty(), r.RecordName())
		}
	}
	require.False(t, apply(t, New(), &records.FeatureLevelRecord{Name: "a", FeatureLevel: 1}).Empty())
}

// The members of partitions are found by broker, and the leaderless ones on their own.
func TestPartitionsByBroker(t *testing.T) {
	img := apply(t, New(), &records.TopicRecord{Name: "t", TopicId: uuid(1)}, &records.TopicRecord{Name: "u", TopicId: uuid(2)})
	for n := range int32(4) {
		img = apply(t, img, &records.PartitionRecord{
			PartitionId: n, TopicId: uuid(1), Replicas: []int32{1, 2, 3}, Isr: []int32{1, 2}, Leader: 1, EligibleLeaderReplicas: []int32{3},
		})
	}
	img = apply(t, img, &records.PartitionRecord{TopicId: uuid(2), Replicas: []int32{2}, Isr: []int32{2}, Leader: 2})
	in := func(broker int32) (list []string) {
		for key := range img.PartitionsIn(broker) {
			list = append(list, fmt.Sprintf("%s-%d", img.TopicByID(key.TopicID).Name, key.Partition))
		}
		return list
	}
	require.Equal(t, []string{"t-0", "t-1", "t-2", "t-3"}, in(1))
	require.Equal(t, []string{"t-0", "t-1", "t-2", "t-3", "u-0"}, in(2))
	require.Equal(t, []string{"t-0", "t-1", "t-2", "t-3"}, in(3))
	require.Empty(t, in(4))

	change := records.NewPartitionChangeRecord()
	change.PartitionId, change.TopicId, change.Isr, change.Leader = 1, uuid(1), []int32{2}, -1
	img = apply(t, img, change)
	require.Equal(t, []string{"t-0", "t-2", "t-3"}, in(1))
	for key, p := range img.Leaderless() {
		require.Equal(t, PartitionKey{uuid(1), 1}, key)
		require.False(t, p.HasLeader())
	}
	img = apply(t, img, &records.RemoveTopicRecord{TopicId: uuid(1)})
	require.Equal(t, []string{"u-0"}, in(2))
	require.Empty(t, in(noBroker))
	require.Equal(t, []*Topic{{"u", uuid(2)}}, slices.Collect(img.Topics()))
}

// A plain image is the same one without the index of members: the same digest, bytes and answers, from the log and from a snapshot.
func TestAPlainImageAnswersAlike(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		img, plain := New(), NewPlain()
		level := &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: rapid.Int16Range(34, 35).Draw(t, "level")}
		for _, r := range append(genLog(t, 0, 60), level) {
			img, plain = apply(t, img, r), apply(t, plain, r)
		}
		requirePlain(t, img, plain)
		frames, err := img.AppendFrames(nil)
		require.NoError(t, err)
		requirePlain(t, img, load(t, plain, frames))
	})
}

func requirePlain(t require.TestingT, img, plain *Image) {
	require.Equal(t, img.Digest(), plain.Digest())
	require.Equal(t, img.AppendTo(nil), plain.AppendTo(nil))
	require.Zero(t, plain.members.Len())
	for broker := noBroker; broker < 12; broker++ {
		require.Equal(t, maps(img.PartitionsIn(broker)), maps(plain.PartitionsIn(broker)), "broker %d", broker)
	}
}

func maps(partitions iter.Seq2[PartitionKey, *Partition]) (list []any) {
	for key, p := range partitions {
		list = append(list, key, *p)
	}
	return list
}
