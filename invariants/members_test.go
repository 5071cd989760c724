package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// foreign is a message that is not raft's.
type foreign struct{}

func (foreign) Kind() uint32               { return 5000 }
func (foreign) Key() uint64                { return 0 }
func (foreign) AppendTo(buf []byte) []byte { return buf }

func TestStepsOfAReplicaEndWithItsOwnMessages(t *testing.T) {
	require.True(t, byReplica(&raft.FetchRequest{}))
	require.False(t, byReplica(foreign{}))
}

// memberLog feeds records to a Members.
type memberLog struct {
	m    *Members
	next int64
}

func (l *memberLog) add(list ...records.Record) {
	var frames [][]byte
	for _, r := range list {
		version := int16(0)
		if r.APIKey() == records.RegisterBrokerRecordKey {
			version = 3
		}
		frames = append(frames, records.Append(nil, r, version))
	}
	b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: l.next, LeaderEpoch: 1}, frames...)
	last := l.next + int64(len(list)) - 1
	d := &CommitDelivered{Listener: "controller", Batches: []raft.Batch{{BaseOffset: l.next, LastOffset: last, Epoch: 1, Bytes: b}}}
	l.m.OnProtocol(nil, d)
	l.m.OnProtocol(nil, d) // the same from another node
	l.next = last + 1
}

func broker(id, incarnation byte, epoch int64, mv [2]int16) *records.RegisterBrokerRecord {
	return &records.RegisterBrokerRecord{BrokerId: int32(id), IncarnationId: record.UUID{0: incarnation}, BrokerEpoch: epoch, Fenced: true,
		Features: []records.BrokerFeature{{Name: features.MetadataVersion, MinSupportedVersion: mv[0], MaxSupportedVersion: mv[1]}}}
}

func version(level int16) records.Record {
	return &records.FeatureLevelRecord{Name: features.MetadataVersion, FeatureLevel: level}
}

func TestMembers(t *testing.T) {
	wide := [2]int16{7, 33}
	old := &records.RegisterControllerRecord{ControllerId: 4, Features: []records.ControllerFeature{
		{Name: features.MetadataVersion, MinSupportedVersion: 7, MaxSupportedVersion: 30}}}
	for _, c := range []struct {
		name string
		log  [][]records.Record
		want string // invariant/evidence, "" for none
	}{
		{"good", [][]records.Record{{version(20)}, {broker(1, 1, 1, wide)}, {broker(1, 1, 1, wide)}, {broker(1, 2, 3, wide)}, {version(33)}}, ""},
		{"a level that a broker lacks", [][]records.Record{{version(20)}, {broker(1, 1, 1, [2]int16{7, 20})}, {version(21)}}, "levels-supported/broker"},
		{"a broker that lacks the level", [][]records.Record{{version(20)}, {broker(1, 1, 1, [2]int16{7, 19})}}, "levels-supported/broker"},
		{"unregistered in time", [][]records.Record{{version(20)}, {broker(1, 1, 1, [2]int16{7, 20})},
			{&records.UnregisterBrokerRecord{BrokerId: 1, BrokerEpoch: 1}}, {version(21)}}, ""},
		{"a controller lacks it", [][]records.Record{{version(20)}, {old}, {version(31)}}, "levels-supported/controller"},
		{"the leader goes by its software", [][]records.Record{{version(20)}, {&records.RegisterControllerRecord{ControllerId: 9}}, {version(31)}}, ""},
		{"a controller that comes later", [][]records.Record{{version(31)}, {old}}, ""},
		{"another epoch", [][]records.Record{{version(20)}, {broker(1, 1, 1, wide)}, {broker(1, 1, 2, wide)}}, "broker-epochs/changed"},
		{"an epoch twice", [][]records.Record{{version(20)}, {broker(1, 1, 1, wide)}, {broker(2, 2, 1, wide)}}, "broker-epochs/not-new"},
		{"an epoch too high", [][]records.Record{{version(20)}, {broker(1, 1, 2, wide)}}, "broker-epochs/from-the-future"},
		{"aborted", [][]records.Record{{version(20)}, {&records.BeginTransactionRecord{}, broker(1, 1, 2, [2]int16{7, 20})},
			{&records.AbortTransactionRecord{}}, {version(21)}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, found, count := NewMembers(), "", int64(0)
			m.reset(func(invariant, evidence, _ string) { found = invariant + "/" + evidence }, func(string) *int64 { return &count })
			l := &memberLog{m: m}
			m.OnProtocol(nil, &LeaderDelivered{Leader: raft.LeaderAndEpoch{LeaderID: 9, Epoch: 1}})
			for _, batch := range c.log {
				l.add(batch...)
			}
			require.False(t, m.blind)
			require.Equal(t, c.want, found)
			require.Equal(t, c.name == "a controller that comes later" || c.name == "the leader goes by its software", count == 0)
		})
	}
}
