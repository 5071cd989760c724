package image

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func text(s string) *string { return &s }

func uuid(n int) record.UUID { return record.UUID{0: byte(n), 7: 1, 15: byte(200 + n)} }

var (
	someNames  = rapid.SampledFrom([]string{"a", "b", "c", "metadata.version", "kraft.version", "a.long.name.of.a.feature"})
	someValues = rapid.SampledFrom([]string{"", "1", "2", "abcdefgh", "abcdefghi", "x=y:z ü"})
	someUUIDs  = rapid.Map(rapid.IntRange(0, 5), uuid)
	someIDs    = rapid.SliceOfNDistinct(rapid.Int32Range(0, 5), 1, 4, rapid.ID[int32])
)

func someDirectories(n int) *rapid.Generator[[]record.UUID] { return rapid.SliceOfN(someUUIDs, n, n) }

// genRecord draws a record of any kind that the image takes. Names, ids and epochs come from small sets, so that records
// meet; many are impossible where they stand, and the caller leaves those out.
func genRecord() *rapid.Generator[records.Record] {
	return rapid.Custom(func(t *rapid.T) records.Record {
		switch kind := rapid.IntRange(0, 22).Draw(t, "kind"); {
		case kind < 5:
			return genPlain(t, kind)
		case kind < 12:
			return genTopics(t)
		case kind < 18:
			return genCluster(t)
		}
		return genSecurity(t)
	})
}

func genPlain(t *rapid.T, kind int) records.Record {
	switch kind {
	case 0:
		return &records.FeatureLevelRecord{Name: someNames.Draw(t, "name"), FeatureLevel: rapid.Int16Range(0, 3).Draw(t, "level")}
	case 1:
		return &records.ClusterIdRecord{ClusterId: rapid.SampledFrom([]string{"X", "Y"}).Draw(t, "id")}
	case 2:
		return &records.ProducerIdsRecord{BrokerId: 1, BrokerEpoch: 2, NextProducerId: rapid.Int64Range(-1, 2000).Draw(t, "next")}
	case 3:
		return &records.NoOpRecord{}
	}
	r := &records.ConfigRecord{
		ResourceType: rapid.SampledFrom([]int8{2, 4}).Draw(t, "type"),
		ResourceName: someValues.Draw(t, "resource"), Name: someNames.Draw(t, "name"),
	}
	if rapid.Bool().Draw(t, "set") {
		r.Value = text(someValues.Draw(t, "value"))
	}
	return r
}

func genTopics(t *rapid.T) records.Record {
	topic := someUUIDs.Draw(t, "topic")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		return &records.TopicRecord{Name: someValues.Draw(t, "name"), TopicId: topic}
	case 3:
		return &records.RemoveTopicRecord{TopicId: topic}
	case 4:
		return &records.ClearElrRecord{TopicName: someValues.Draw(t, "name")}
	case 5, 6:
		r := records.NewPartitionChangeRecord()
		r.PartitionId, r.TopicId = rapid.Int32Range(0, 2).Draw(t, "partition"), topic
		r.Leader = rapid.Int32Range(-2, 5).Draw(t, "leader")
		r.LeaderRecoveryState = rapid.Int8Range(-1, 1).Draw(t, "recovery")
		for _, list := range []*[]int32{&r.Isr, &r.RemovingReplicas, &r.AddingReplicas, &r.EligibleLeaderReplicas, &r.LastKnownElr} {
			switch rapid.IntRange(0, 3).Draw(t, "list") {
			case 0:
				*list = []int32{}
			case 1:
				*list = someIDs.Draw(t, "ids")
			}
		}
		if rapid.Bool().Draw(t, "reassigned") {
			r.Replicas = someIDs.Draw(t, "replicas")
			if rapid.Bool().Draw(t, "directories") {
				r.Directories = someDirectories(len(r.Replicas)).Draw(t, "directories")
			}
		}
		return r
	}
	r := records.NewPartitionRecord()
	r.PartitionId, r.TopicId = rapid.Int32Range(0, 2).Draw(t, "partition"), topic
	r.Replicas = someIDs.Draw(t, "replicas")
	r.Isr, r.Leader = r.Replicas[:1], rapid.Int32Range(-1, 5).Draw(t, "leader")
	r.LeaderEpoch, r.PartitionEpoch = 3, 4
	r.LeaderRecoveryState = rapid.Int8Range(0, 1).Draw(t, "recovery")
	if rapid.Bool().Draw(t, "elr") {
		r.EligibleLeaderReplicas, r.LastKnownElr = r.Replicas[1:], []int32{}
	}
	if rapid.Bool().Draw(t, "directories") {
		r.Directories = someDirectories(len(r.Replicas)).Draw(t, "directories")
	}
	return r
}

func genCluster(t *rapid.T) records.Record {
	id, epoch := rapid.Int32Range(0, 2).Draw(t, "id"), rapid.Int64Range(7, 8).Draw(t, "epoch")
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return &records.UnregisterBrokerRecord{BrokerId: id, BrokerEpoch: epoch}
	case 1:
		return &records.FenceBrokerRecord{Id: id, Epoch: epoch}
	case 2:
		return &records.UnfenceBrokerRecord{Id: id, Epoch: epoch}
	case 3:
		r := &records.BrokerRegistrationChangeRecord{
			BrokerId: id, BrokerEpoch: epoch, Fenced: rapid.Int8Range(-1, 1).Draw(t, "fenced"),
			InControlledShutdown: rapid.Int8Range(0, 1).Draw(t, "shutdown"),
		}
		r.LogDirs = someDirectories(rapid.IntRange(0, 2).Draw(t, "n")).Draw(t, "directories")
		if rapid.Bool().Draw(t, "cordoned") {
			r.CordonedLogDirs = r.LogDirs
		}
		return r
	case 4, 5:
		return &records.RegisterControllerRecord{
			ControllerId: id, IncarnationId: someUUIDs.Draw(t, "incarnation"), ZkMigrationReady: rapid.Bool().Draw(t, "zk"),
			EndPoints: []records.ControllerEndpoint{{Name: "CONTROLLER", Host: someValues.Draw(t, "host"), Port: 9093}},
			Features:  []records.ControllerFeature{{Name: "metadata.version", MinSupportedVersion: 1, MaxSupportedVersion: int16(epoch)}},
		}
	case 6:
		return &records.UnregisterControllerRecord{ControllerId: id}
	}
	r := &records.RegisterBrokerRecord{
		BrokerId: id, BrokerEpoch: epoch, IncarnationId: someUUIDs.Draw(t, "incarnation"), Fenced: rapid.Bool().Draw(t, "fenced"),
		InControlledShutdown: rapid.Bool().Draw(t, "shutdown"), IsMigratingZkBroker: rapid.Bool().Draw(t, "zk"),
		EndPoints: []records.BrokerEndpoint{{Name: "EXTERNAL", Host: "h", Port: 65535, SecurityProtocol: 3}},
		Features:  []records.BrokerFeature{{Name: someNames.Draw(t, "feature"), MaxSupportedVersion: 3}},
		LogDirs:   someDirectories(rapid.IntRange(0, 2).Draw(t, "n")).Draw(t, "directories"),
	}
	if rapid.Bool().Draw(t, "rack") {
		r.Rack = text(someValues.Draw(t, "rack"))
	}
	if rapid.Bool().Draw(t, "cordoned") {
		r.CordonedLogDirs = r.LogDirs
	}
	return r
}

func genSecurity(t *rapid.T) records.Record {
	switch rapid.IntRange(0, 8).Draw(t, "kind") {
	case 0, 1:
		return &records.UserScramCredentialRecord{
			Name: someValues.Draw(t, "user"), Mechanism: rapid.Int8Range(1, 2).Draw(t, "mechanism"),
			Salt: []byte(someValues.Draw(t, "salt")), StoredKey: []byte{}, ServerKey: []byte(someValues.Draw(t, "key")),
			Iterations: rapid.Int32Range(4096, 4098).Draw(t, "iterations"),
		}
	case 2:
		return &records.RemoveUserScramCredentialRecord{
			Name: someValues.Draw(t, "user"), Mechanism: rapid.Int8Range(1, 2).Draw(t, "mechanism"),
		}
	case 3:
		return &records.AccessControlEntryRecord{
			Id: someUUIDs.Draw(t, "id"), ResourceType: 2, ResourceName: someValues.Draw(t, "resource"), PatternType: 3,
			Principal: someValues.Draw(t, "principal"), Host: "*", Operation: rapid.Int8Range(1, 3).Draw(t, "operation"),
			PermissionType: 3,
		}
	case 4:
		return &records.RemoveAccessControlEntryRecord{Id: someUUIDs.Draw(t, "id")}
	case 5:
		return &records.DelegationTokenRecord{
			Owner: "o", Requester: someValues.Draw(t, "requester"), TokenId: someValues.Draw(t, "token"), IssueTimestamp: 1,
			Renewers:     rapid.SliceOfN(someValues, 0, 2).Draw(t, "renewers"),
			MaxTimestamp: 3, ExpirationTimestamp: rapid.Int64Range(1, 2).Draw(t, "expiration"),
		}
	case 6:
		return &records.RemoveDelegationTokenRecord{TokenId: someValues.Draw(t, "token")}
	}
	r := &records.ClientQuotaRecord{Key: someValues.Draw(t, "key"), Value: 4611686018427387904, Remove: rapid.Bool().Draw(t, "remove")}
	for n := rapid.IntRange(1, 2).Draw(t, "parts"); n > 0; n-- {
		part := records.EntityData{EntityType: rapid.SampledFrom([]string{"user", "client-id"}).Draw(t, "type")}
		if rapid.Bool().Draw(t, "named") {
			part.EntityName = text(someValues.Draw(t, "name"))
		}
		r.Entity = append(r.Entity, part)
	}
	return r
}

// genLog draws records that can follow each other.
func genLog(t *rapid.T, least, most int) []records.Record {
	var log []records.Record
	d := NewDelta(New())
	for _, r := range rapid.SliceOfN(genRecord(), least, most).Draw(t, "log") {
		if err := d.Replay(r); err != nil {
			require.ErrorIs(t, err, ErrImpossible)
			continue
		}
		log = append(log, r)
	}
	return log
}

// apply returns what the records make of an image, one at a time.
func apply(t require.TestingT, img *Image, log ...records.Record) *Image {
	for _, r := range log {
		d := NewDelta(img)
		require.NoError(t, d.Replay(r))
		img = d.Apply(Provenance{Offset: img.Provenance().Offset + 1, Epoch: 1})
	}
	return img
}
