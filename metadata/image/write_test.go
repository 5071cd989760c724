package image

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// load replays encoded records on a delta that replaces what was there.
func load(t require.TestingT, base *Image, frames [][]byte) *Image {
	d := &Delta{}
	d.ResetToSnapshot(base)
	for _, frame := range frames {
		r, _, err := records.Decode(frame)
		require.NoError(t, err)
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(base.Provenance())
}

// An image at a level that has everything comes back from its own snapshot, whatever was there before.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		img := apply(t, New(), genLog(t, 0, 60)...)
		img = apply(t, img, &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: rapid.Int16Range(34, 35).Draw(t, "level")})
		frames, err := img.AppendFrames(nil)
		require.NoError(t, err)
		again := load(t, apply(t, New(), genLog(t, 0, 20)...), frames)
		requireSound(t, again)
		require.Equal(t, img.AppendTo(nil), again.AppendTo(nil))
		require.Equal(t, img.Digest(), again.Digest())
		twice, err := again.AppendFrames(nil)
		require.NoError(t, err)
		require.Equal(t, frames, twice)
	})
}

// At any level the writer either reports a loss or what comes back is equal but for the level itself.
func TestLowerLevelLosesLoudly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		img := apply(t, New(), genLog(t, 0, 40)...)
		img = apply(t, img, &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: 34})
		level := rapid.Int16Range(featureLevelSince, 34).Draw(t, "level")
		var losses []string
		var frames [][]byte
		o := &WriteOptions{MetadataVersion: level, Loss: func(what string) error {
			losses = append(losses, what)
			return nil
		}}
		require.NoError(t, img.Write(o, func(r records.Record, version int16) error {
			require.LessOrEqual(t, r.Since(), level)
			frames = append(frames, records.Append(nil, r, version))
			return nil
		}))
		again := load(t, New(), frames)
		want := apply(t, img, &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: level})
		require.Equal(t, len(losses) == 0, want.Equal(again), "%v", losses)

		o.Loss = nil
		err := img.Write(o, func(records.Record, int16) error { return nil })
		require.Equal(t, len(losses) == 0, err == nil)
		if err != nil {
			require.ErrorIs(t, err, ErrLoss)
			require.ErrorContains(t, err, losses[0])
		}
	})
}

func TestRecordsInSnapshotOrder(t *testing.T) {
	img := apply(t, New(),
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, Iterations: 4096},
		&records.ConfigRecord{ResourceType: 4, Name: "k", Value: text("v")},
		&records.ClusterIdRecord{ClusterId: "X"},
		&records.FeatureLevelRecord{Name: "a.version", FeatureLevel: 1},
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 34},
		&records.FeatureLevelRecord{Name: "kraft.version", FeatureLevel: 1},
	)
	img = apply(t, img, everyPart()...)
	list, err := img.Records()
	require.NoError(t, err)
	var names []string
	for _, v := range list {
		names = append(names, v.Record.RecordName())
	}
	require.Equal(t, []string{
		"FeatureLevelRecord", "FeatureLevelRecord", "ClusterIdRecord", "RegisterBrokerRecord", "RegisterControllerRecord",
		"TopicRecord", "PartitionRecord", "ConfigRecord", "ClientQuotaRecord", "ProducerIdsRecord", "AccessControlEntryRecord",
		"UserScramCredentialRecord", "DelegationTokenRecord",
	}, names)
	require.Equal(t, "metadata.version", list[0].Record.(*records.FeatureLevelRecord).Name)
	require.Equal(t, []int16{4, 2}, []int16{list[3].Version, list[6].Version})
	require.Zero(t, img.FeatureLevel("kraft.version"))

	img = apply(t, img, &records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 33})
	_, err = img.Records()
	require.ErrorIs(t, err, ErrLoss, "a cluster id below its level would be lost")
	_, err = img.AppendFrames(nil)
	require.ErrorIs(t, err, ErrLoss)
}

// What each level cannot say (metadata-bootstrap 5.7), and what the one before it lacks.
func TestLosses(t *testing.T) {
	broker := func(edit func(*records.RegisterBrokerRecord)) records.Record {
		r := &records.RegisterBrokerRecord{BrokerId: 1}
		edit(r)
		return r
	}
	topic := &records.TopicRecord{Name: "t", TopicId: uuid(1)}
	for _, c := range []struct {
		since int16
		what  string
		log   []records.Record
	}{
		{4, "feature levels", []records.Record{&records.FeatureLevelRecord{Name: "a", FeatureLevel: 1}}},
		{7, "the controlled shutdown of broker 1", []records.Record{broker(func(r *records.RegisterBrokerRecord) { r.InControlledShutdown = true })}},
		{8, "that broker 1 migrates from ZooKeeper", []records.Record{broker(func(r *records.RegisterBrokerRecord) { r.IsMigratingZkBroker = true })}},
		{11, "SCRAM credentials", []records.Record{&records.UserScramCredentialRecord{Mechanism: 1}}},
		{14, "delegation tokens", []records.Record{&records.DelegationTokenRecord{}}},
		{15, "controller registrations", []records.Record{&records.RegisterControllerRecord{}}},
		{17, "the log directories of broker 1", []records.Record{broker(func(r *records.RegisterBrokerRecord) { r.LogDirs = []record.UUID{uuid(1)} })}},
		{17, "the directories of partition " + uuid(1).String() + "-2", []records.Record{topic, &records.PartitionRecord{
			PartitionId: 2, TopicId: uuid(1), Replicas: []int32{1}, Directories: []record.UUID{uuid(2)}}}},
		{23, "the eligible leader replicas of partition " + uuid(1).String() + "-0", []records.Record{topic, &records.PartitionRecord{
			TopicId: uuid(1), Replicas: []int32{1}, LastKnownElr: []int32{1}}}},
		{30, "the cordoned log directories of broker 1", []records.Record{broker(func(r *records.RegisterBrokerRecord) { r.CordonedLogDirs = []record.UUID{uuid(1)} })}},
		{34, "the cluster id", []records.Record{&records.ClusterIdRecord{ClusterId: "X"}}},
	} {
		img := apply(t, New(), c.log...)
		last := ""
		o := &WriteOptions{MetadataVersion: c.since - 1, Loss: func(what string) error { last = what; return nil }}
		require.NoError(t, img.Write(o, func(records.Record, int16) error { return nil }))
		require.Equal(t, c.what, last)
		o.Loss = func(string) error { return errors.New("no") }
		require.ErrorIs(t, img.Write(o, func(records.Record, int16) error { return nil }), ErrLoss)
		o = &WriteOptions{MetadataVersion: c.since}
		require.NoError(t, img.Write(o, func(records.Record, int16) error { return nil }), c.what)
	}
	fault := errors.New("the disk is full")
	require.ErrorIs(t, apply(t, New(), everyPart()...).Write(&WriteOptions{MetadataVersion: 34}, func(records.Record, int16) error { return fault }), fault)
}

func FuzzBatchReader(f *testing.F) {
	frame := records.Append(nil, &records.ClusterIdRecord{ClusterId: "X"}, 0)
	f.Add(record.AppendBatch(nil, record.BatchSpec{BaseOffset: 7}, frame, frame))
	f.Add(make([]byte, record.BatchOverhead))
	f.Fuzz(func(t *testing.T, batch []byte) {
		if len(batch) < record.BatchOverhead {
			return
		}
		var r BatchReader
		r.Reset(batch)
		next := record.Batch(batch).BaseOffset()
		for r.Next() {
			require.Equal(t, next, r.Offset)
			require.NotNil(t, r.Record)
			next++
		}
		require.False(t, r.Next())
		if r.Err() == nil {
			require.Equal(t, int64(record.Batch(batch).RecordCount()), next-record.Batch(batch).BaseOffset())
		}
	})
}

// Whatever decodes can be replayed or is refused, and what comes of it is sound and comes back.
func FuzzReplay(f *testing.F) {
	var all []byte
	for _, r := range everyPart() {
		_, version := r.Versions()
		frame := records.Append(nil, r, version)
		f.Add(append([]byte{byte(len(frame))}, frame...))
		all = append(append(all, byte(len(frame))), frame...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, frames []byte) {
		d := NewDelta(New())
		for len(frames) > 0 {
			n := min(int(frames[0]), len(frames)-1)
			r, _, err := records.Decode(frames[1 : 1+n])
			frames = frames[1+n:]
			if err != nil {
				continue
			}
			if err := d.Replay(r); err != nil && !errors.Is(err, ErrNoPart) && !errors.Is(err, ErrImpossible) {
				t.Fatal(err)
			}
		}
		img := d.Apply(Provenance{})
		requireSound(t, img)
		var back [][]byte
		require.NoError(t, img.Write(&WriteOptions{MetadataVersion: canonicalLevel}, func(r records.Record, version int16) error {
			if f, ok := r.(*records.FeatureLevelRecord); ok && f.Name == MetadataVersion {
				f.FeatureLevel = img.MetadataVersion()
			}
			back = append(back, records.Append(nil, r, version))
			return nil
		}))
		require.True(t, load(t, New(), back).Equal(img))
	})
}

// Every field of every part comes back from a snapshot: drawn images rarely have a value in all of them.
func TestSnapshotKeepsEveryField(t *testing.T) {
	img := apply(t, New(), &records.FeatureLevelRecord{Name: MetadataVersion, FeatureLevel: 34},
		&records.ClusterIdRecord{ClusterId: "X"},
		&records.RegisterBrokerRecord{
			BrokerId: 1, BrokerEpoch: 9, IncarnationId: uuid(1), Fenced: true, InControlledShutdown: true, IsMigratingZkBroker: true, Rack: text("r"),
			LogDirs: []record.UUID{uuid(2), uuid(3)}, CordonedLogDirs: []record.UUID{uuid(3)},
			EndPoints: []records.BrokerEndpoint{{Name: "PLAINTEXT", Host: "h", Port: 9092, SecurityProtocol: 1}},
			Features:  []records.BrokerFeature{{Name: "metadata.version", MinSupportedVersion: 7, MaxSupportedVersion: 33}},
		},
		&records.RegisterControllerRecord{ControllerId: 3, IncarnationId: uuid(3), ZkMigrationReady: true,
			EndPoints: []records.ControllerEndpoint{{Name: "CONTROLLER", Host: "h", Port: 9093, SecurityProtocol: 2}},
			Features:  []records.ControllerFeature{{Name: "f", MinSupportedVersion: 1, MaxSupportedVersion: 2}}},
		&records.TopicRecord{Name: "t", TopicId: uuid(4)},
		&records.PartitionRecord{TopicId: uuid(4), PartitionId: 5, Replicas: []int32{1, 2, 3}, Isr: []int32{1}, RemovingReplicas: []int32{2},
			AddingReplicas: []int32{3}, Leader: 1, LeaderEpoch: 4, PartitionEpoch: 6, LeaderRecoveryState: 1, EligibleLeaderReplicas: []int32{2},
			LastKnownElr: []int32{3}, Directories: []record.UUID{uuid(7), uuid(8), uuid(9)}},
		&records.ConfigRecord{ResourceType: 2, ResourceName: "t", Name: "k", Value: text("v")},
		&records.ClientQuotaRecord{Entity: []records.EntityData{{EntityType: "user", EntityName: text("u")}}, Key: "k", Value: 1},
		&records.ProducerIdsRecord{NextProducerId: 1000},
		&records.AccessControlEntryRecord{Id: uuid(5), ResourceType: 2, ResourceName: "t", PatternType: 3, Principal: "p", Host: "*", Operation: 4, PermissionType: 2},
		&records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, StoredKey: []byte{2}, ServerKey: []byte{3}, Iterations: 4096},
		&records.DelegationTokenRecord{TokenId: "token", Owner: "o", Requester: "q", Renewers: []string{"a"}, IssueTimestamp: 4, MaxTimestamp: 5, ExpirationTimestamp: 6})
	frames, err := img.AppendFrames(nil)
	require.NoError(t, err)
	again := load(t, New(), frames)
	require.Equal(t, img.Broker(1), again.Broker(1))
	require.Equal(t, img.Controller(3), again.Controller(3))
	require.Equal(t, img.Partition(uuid(4), 5), again.Partition(uuid(4), 5))
	require.Equal(t, img.ACL(uuid(5)), again.ACL(uuid(5)))
	require.Equal(t, img.Token("token"), again.Token("token"))
	require.Equal(t, img.Scram(ScramKey{Mechanism: 1, User: "u"}), again.Scram(ScramKey{Mechanism: 1, User: "u"}))
	require.Equal(t, img.Digest(), again.Digest(), "cluster id, features, configurations, quotas, producer ids")
}
