// Package imagetest draws metadata records for the property tests of whoever reads a metadata log.
//
// The problem: a law such as "a snapshot of the log's state is the log's state" is worth what the logs are that it is tested
// with. So names, ids and epochs come from small sets, that records meet; every kind of record and every field that may be
// absent is drawn. Many records are impossible where they stand: the caller replays them on an image and leaves out what it
// refuses.
//
//	r := imagetest.Record(func(n int32) int32 { return rapid.Int32Range(0, n-1).Draw(t, "pick") })
//
// Refused: a generator of rapid itself, which only tests may import.
package imagetest

import (
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Pick returns a number from 0 to n-1.
type Pick func(n int32) int32

var (
	names  = []string{"a", "b", "c", "metadata.version", "kraft.version", "a.long.name.of.a.feature"}
	values = []string{"", "1", "2", "abcdefgh", "abcdefghi", "x=y:z ü"}
)

func (p Pick) name() string             { return names[p(int32(len(names)))] }
func (p Pick) value() string            { return values[p(int32(len(values)))] }
func (p Pick) yes() bool                { return p(2) == 1 }
func (p Pick) uuid() record.UUID        { return UUID(p(6)) }
func (p Pick) small(n int32) int8       { return int8(p(n)) }
func (p Pick) between(a, b int32) int32 { return a + p(b-a+1) }

// UUID returns one of the ids that records are drawn with, for n from 0 to 5.
func UUID(n int32) record.UUID { return record.UUID{0: byte(n), 7: 1, 15: byte(200 + n)} }

// ids draws one to four different node ids from 0 to 5.
func (p Pick) ids() []int32 {
	pool := []int32{0, 1, 2, 3, 4, 5}
	list := make([]int32, 0, 4)
	for n := 1 + p(4); n > 0; n-- {
		at := p(int32(len(pool)))
		list = append(list, pool[at])
		pool = append(pool[:at], pool[at+1:]...)
	}
	return list
}

func (p Pick) directories(n int32) []record.UUID {
	list := make([]record.UUID, n)
	for at := range list {
		list[at] = p.uuid()
	}
	return list
}

// Record draws a record of any kind but the three markers of transactions.
func Record(p Pick) records.Record {
	switch kind := p(28); {
	case kind < 8:
		return p.plain(kind)
	case kind < 17:
		return p.topics()
	case kind < 23:
		return p.cluster()
	}
	return p.security()
}

func (p Pick) plain(kind int32) records.Record {
	switch kind {
	case 0:
		return &records.FeatureLevelRecord{Name: p.name(), FeatureLevel: int16(p(4))}
	case 1:
		return &records.ClusterIdRecord{ClusterId: [2]string{"X", "Y"}[p(2)]}
	case 2:
		return &records.ProducerIdsRecord{BrokerId: 1, BrokerEpoch: 2, NextProducerId: int64(p.between(-1, 2000))}
	case 3:
		return [2]records.Record{&records.NoOpRecord{}, &records.ZkMigrationStateRecord{ZkMigrationState: 1}}[p(2)]
	}
	r := &records.ConfigRecord{ResourceType: [2]int8{2, 4}[p(2)], ResourceName: p.value(), Name: p.name()}
	if value := p.value(); p.yes() {
		r.Value = &value
	}
	return r
}

func (p Pick) topics() records.Record {
	topic := p.uuid()
	switch kind := p(12); {
	case kind < 3:
		return &records.TopicRecord{Name: p.value(), TopicId: topic}
	case kind < 5:
		return &records.RemoveTopicRecord{TopicId: topic}
	case kind == 5:
		return &records.ClearElrRecord{TopicName: p.value()}
	case kind < 8:
		return p.partitionChange(topic)
	}
	r := records.NewPartitionRecord()
	r.PartitionId, r.TopicId, r.Replicas = p(3), topic, p.ids()
	r.Isr, r.Leader, r.LeaderEpoch, r.PartitionEpoch = r.Replicas[:1], p.between(-1, 5), 3, 4
	r.LeaderRecoveryState = p.small(2)
	if p.yes() {
		r.EligibleLeaderReplicas, r.LastKnownElr = r.Replicas[1:], []int32{}
	}
	if p.yes() {
		r.Directories = p.directories(int32(len(r.Replicas)))
	}
	return r
}

func (p Pick) partitionChange(topic record.UUID) records.Record {
	r := records.NewPartitionChangeRecord()
	r.PartitionId, r.TopicId, r.Leader, r.LeaderRecoveryState = p(3), topic, p.between(-2, 5), p.small(3)-1
	for _, list := range []*[]int32{&r.Isr, &r.RemovingReplicas, &r.AddingReplicas, &r.EligibleLeaderReplicas, &r.LastKnownElr} {
		switch p(4) {
		case 0:
			*list = []int32{}
		case 1:
			*list = p.ids()
		}
	}
	if p.yes() { // a controller that assigns replicas names their directories
		r.Replicas = p.ids()
		r.Directories = p.directories(int32(len(r.Replicas)))
	}
	return r
}

func (p Pick) cluster() records.Record {
	id, epoch := p(3), int64(p.between(7, 8))
	switch p(10) {
	case 0:
		return &records.UnregisterBrokerRecord{BrokerId: id, BrokerEpoch: epoch}
	case 1:
		return &records.FenceBrokerRecord{Id: id, Epoch: epoch}
	case 2:
		return &records.UnfenceBrokerRecord{Id: id, Epoch: epoch}
	case 3:
		r := &records.BrokerRegistrationChangeRecord{
			BrokerId: id, BrokerEpoch: epoch, Fenced: p.small(3) - 1, InControlledShutdown: p.small(2),
			LogDirs: p.directories(p(3)),
		}
		if p.yes() {
			r.CordonedLogDirs = r.LogDirs
		}
		return r
	case 4, 5:
		return &records.RegisterControllerRecord{
			ControllerId: id, IncarnationId: p.uuid(), ZkMigrationReady: p.yes(),
			EndPoints: []records.ControllerEndpoint{{Name: "CONTROLLER", Host: p.value(), Port: 9093}},
			Features: []records.ControllerFeature{
				{Name: "metadata.version", MinSupportedVersion: 1, MaxSupportedVersion: int16(epoch)},
			},
		}
	case 6:
		return &records.UnregisterControllerRecord{ControllerId: id}
	}
	r := &records.RegisterBrokerRecord{
		BrokerId: id, BrokerEpoch: epoch, IncarnationId: p.uuid(), Fenced: p.yes(), InControlledShutdown: p.yes(),
		IsMigratingZkBroker: p.yes(), LogDirs: p.directories(p(3)),
		EndPoints: []records.BrokerEndpoint{{Name: "EXTERNAL", Host: "h", Port: 65535, SecurityProtocol: 3}},
		Features:  []records.BrokerFeature{{Name: p.name(), MaxSupportedVersion: 3}},
	}
	if rack := p.value(); p.yes() {
		r.Rack = &rack
	}
	if p.yes() {
		r.CordonedLogDirs = r.LogDirs
	}
	return r
}

func (p Pick) security() records.Record {
	switch p(9) {
	case 0, 1:
		return &records.UserScramCredentialRecord{
			Name: p.value(), Mechanism: 1 + p.small(2), Salt: []byte(p.value()), StoredKey: []byte{},
			ServerKey: []byte(p.value()), Iterations: 4096 + p(3),
		}
	case 2:
		return &records.RemoveUserScramCredentialRecord{Name: p.value(), Mechanism: 1 + p.small(2)}
	case 3:
		return &records.AccessControlEntryRecord{
			Id: p.uuid(), ResourceType: 2, ResourceName: p.value(), PatternType: 3, Principal: p.value(), Host: "*",
			Operation: 1 + p.small(3), PermissionType: 3,
		}
	case 4:
		return &records.RemoveAccessControlEntryRecord{Id: p.uuid()}
	case 5:
		r := &records.DelegationTokenRecord{
			Owner: "o", Requester: p.value(), TokenId: p.value(), IssueTimestamp: 1, MaxTimestamp: 3,
			ExpirationTimestamp: int64(1 + p(2)),
		}
		for n := p(3); n > 0; n-- {
			r.Renewers = append(r.Renewers, p.value())
		}
		return r
	case 6:
		return &records.RemoveDelegationTokenRecord{TokenId: p.value()}
	}
	const two = 0x4000000000000000 // 2.0, as its bits
	r := &records.ClientQuotaRecord{Key: p.value(), Value: two, Remove: p.yes()}
	for n := 1 + p(2); n > 0; n-- {
		part := records.EntityData{EntityType: [2]string{"user", "client-id"}[p(2)]}
		if name := p.value(); p.yes() {
			part.EntityName = &name
		}
		r.Entity = append(r.Entity, part)
	}
	return r
}
