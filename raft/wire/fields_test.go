package wire

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// field is what a version carries of one field of a message.
type field struct {
	name    string // in the struct
	json    string // in Kafka's JSON; below, p is the one partition of the one topic; "-": not a field of its own
	since   int16  // the first version that carries it
	absent  any    // what it is below; nil: the zero value
	refused bool   // below, a value other than absent is refused and not dropped
}

// fields lists every field of every message but Header. A field that is added without a row here fails the tests.
var fields = map[uint32][]field{
	raft.KindFetchRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "ReplicaID", json: "replicaId|replicaState.replicaId", absent: int32(-1)},
		{name: "ReplicaEpoch", json: "replicaState.replicaEpoch", since: 15, absent: int64(-1)},
		{name: "ReplicaDirectoryID", json: "p.replicaDirectoryId", since: 17},
		{name: "MaxWaitMs", json: "maxWaitMs"},
		{name: "MinBytes", json: "minBytes"},
		{name: "MaxBytes", json: "maxBytes"},
		{name: "CurrentLeaderEpoch", json: "p.currentLeaderEpoch"},
		{name: "FetchOffset", json: "p.fetchOffset"},
		{name: "LastFetchedEpoch", json: "p.lastFetchedEpoch"},
		{name: "HighWatermark", json: "p.highWatermark", since: 18, absent: raft.HighWatermarkNotSent},
	},
	raft.KindFetchResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "PartitionError", json: "p.errorCode"},
		{name: "HighWatermark", json: "p.highWatermark"},
		{name: "LogStartOffset", json: "p.logStartOffset"},
		{name: "DivergingEpoch", json: "p.divergingEpoch", absent: noPoint},
		{name: "LeaderID", json: "p.currentLeader.leaderId", absent: int32(-1)},
		{name: "LeaderEpoch", json: "p.currentLeader.leaderEpoch", absent: int32(-1)},
		{name: "SnapshotID", json: "p.snapshotId", absent: noPoint},
		{name: "Records", json: "p.records"},
		{name: "Endpoint", json: "-", since: 17, absent: noEndpoint},
	},
	raft.KindVoteRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "VoterID", json: "voterId", since: 1, absent: int32(-1)},
		{name: "VoterDirectoryID", json: "p.voterDirectoryId", since: 1},
		{name: "ReplicaEpoch", json: "p.candidateEpoch|p.replicaEpoch"},
		{name: "ReplicaID", json: "p.candidateId|p.replicaId"},
		{name: "ReplicaDirectoryID", json: "p.candidateDirectoryId|p.replicaDirectoryId", since: 1},
		{name: "LastOffsetEpoch", json: "p.lastOffsetEpoch"},
		{name: "LastOffset", json: "p.lastOffset"},
		{name: "PreVote", json: "p.preVote", since: 2, refused: true},
	},
	raft.KindVoteResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "PartitionError", json: "p.errorCode"},
		{name: "LeaderID", json: "p.leaderId"},
		{name: "LeaderEpoch", json: "p.leaderEpoch"},
		{name: "VoteGranted", json: "p.voteGranted"},
		{name: "Endpoint", json: "-", since: 1, absent: noEndpoint},
	},
	raft.KindBeginQuorumEpochRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "VoterID", json: "voterId", since: 1, absent: int32(-1)},
		{name: "VoterDirectoryID", json: "p.voterDirectoryId", since: 1},
		{name: "LeaderID", json: "p.leaderId"},
		{name: "LeaderEpoch", json: "p.leaderEpoch"},
		{name: "LeaderEndpoints", json: "leaderEndpoints", since: 1},
	},
	raft.KindBeginQuorumEpochResponse: epochResponse,
	raft.KindEndQuorumEpochRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "LeaderID", json: "p.leaderId"},
		{name: "LeaderEpoch", json: "p.leaderEpoch"},
		{name: "PreferredCandidates.ID", json: "-"},
		{name: "PreferredCandidates.DirectoryID", json: "-", since: 1},
		{name: "LeaderEndpoints", json: "leaderEndpoints", since: 1},
	},
	raft.KindEndQuorumEpochResponse: epochResponse,
	raft.KindFetchSnapshotRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "ReplicaID", json: "replicaId"},
		{name: "ReplicaDirectoryID", json: "p.replicaDirectoryId", since: 1},
		{name: "MaxBytes", json: "maxBytes"},
		{name: "CurrentLeaderEpoch", json: "p.currentLeaderEpoch"},
		{name: "SnapshotID", json: "p.snapshotId"},
		{name: "Position", json: "p.position"},
	},
	raft.KindFetchSnapshotResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "PartitionError", json: "p.errorCode"},
		{name: "SnapshotID", json: "p.snapshotId"},
		{name: "LeaderID", json: "p.currentLeader.leaderId"},
		{name: "LeaderEpoch", json: "p.currentLeader.leaderEpoch"},
		{name: "Size", json: "p.size"},
		{name: "Position", json: "p.position"},
		{name: "Bytes", json: "p.unalignedRecords"},
		{name: "Endpoint", json: "-", since: 1, absent: noEndpoint},
	},
	raft.KindAddRaftVoterRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "TimeoutMs", json: "timeoutMs"},
		{name: "VoterID", json: "voterId"},
		{name: "VoterDirectoryID", json: "voterDirectoryId"},
		{name: "Listeners", json: "listeners"},
		{name: "AckWhenCommitted", json: "ackWhenCommitted", since: 1, absent: true, refused: true},
	},
	raft.KindAddRaftVoterResponse: {
		{name: "ErrorCode", json: "errorCode"}, {name: "ErrorMessage", json: "errorMessage"},
	},
	raft.KindRemoveRaftVoterRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "VoterID", json: "voterId"},
		{name: "VoterDirectoryID", json: "voterDirectoryId"},
	},
	raft.KindRemoveRaftVoterResponse: {
		{name: "ErrorCode", json: "errorCode"}, {name: "ErrorMessage", json: "errorMessage"},
	},
	raft.KindUpdateRaftVoterRequest: {
		{name: "ClusterID", json: "clusterId"},
		{name: "CurrentLeaderEpoch", json: "currentLeaderEpoch"},
		{name: "VoterID", json: "voterId"},
		{name: "VoterDirectoryID", json: "voterDirectoryId"},
		{name: "Listeners", json: "listeners"},
		{name: "MinKRaftVersion", json: "kRaftVersionFeature.minSupportedVersion"},
		{name: "MaxKRaftVersion", json: "kRaftVersionFeature.maxSupportedVersion"},
	},
	raft.KindUpdateRaftVoterResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "LeaderID", json: "currentLeader.leaderId", absent: int32(-1)},
		{name: "LeaderEpoch", json: "currentLeader.leaderEpoch", absent: int32(-1)},
		{name: "Endpoint", json: "-"},
	},
	raft.KindDescribeQuorumRequest: {},
	raft.KindDescribeQuorumResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "ErrorMessage", json: "errorMessage", since: 2},
		{name: "PartitionError", json: "p.errorCode"},
		{name: "PartitionMessage", json: "p.errorMessage", since: 2},
		{name: "LeaderID", json: "p.leaderId"},
		{name: "LeaderEpoch", json: "p.leaderEpoch"},
		{name: "HighWatermark", json: "p.highWatermark"},
		{name: "Voters.ID", json: "-"},
		{name: "Voters.DirectoryID", json: "-", since: 2},
		{name: "Voters.LogEndOffset", json: "-"},
		{name: "Voters.LastFetchTimeMs", json: "-", since: 1, absent: int64(-1)},
		{name: "Voters.LastCaughtUpTimeMs", json: "-", since: 1, absent: int64(-1)},
		{name: "Observers.ID", json: "-"},
		{name: "Observers.DirectoryID", json: "-", since: 2},
		{name: "Observers.LogEndOffset", json: "-"},
		{name: "Observers.LastFetchTimeMs", json: "-", since: 1, absent: int64(-1)},
		{name: "Observers.LastCaughtUpTimeMs", json: "-", since: 1, absent: int64(-1)},
		{name: "Nodes", json: "nodes", since: 2},
	},
	raft.KindApiVersionsRequest: {
		{name: "ClientSoftwareName", json: "clientSoftwareName", since: 3},
		{name: "ClientSoftwareVersion", json: "clientSoftwareVersion", since: 3},
		{name: "ClusterID", json: "clusterId", since: 5},
		{name: "NodeID", json: "nodeId", since: 5, absent: int32(-1)},
	},
	raft.KindApiVersionsResponse: {
		{name: "ErrorCode", json: "errorCode"},
		{name: "APIKeys", json: "apiKeys"},
		{name: "SupportedFeatures", json: "supportedFeatures", since: 3},
		{name: "FinalizedFeaturesEpoch", json: "finalizedFeaturesEpoch", since: 3, absent: int64(-1)},
		{name: "FinalizedFeatures", json: "finalizedFeatures", since: 3},
	},
}

var epochResponse = []field{
	{name: "ErrorCode", json: "errorCode"},
	{name: "PartitionError", json: "p.errorCode"},
	{name: "LeaderID", json: "p.leaderId"},
	{name: "LeaderEpoch", json: "p.leaderEpoch"},
	{name: "Endpoint", json: "-", since: 1, absent: noEndpoint},
}

// zeroOr returns the value of a field that a version does not carry.
func (f *field) zeroOr(t reflect.Type) any {
	if f.absent != nil {
		return f.absent
	}
	return reflect.Zero(t).Interface()
}

// at returns the field of a message; in a list, that of the first element.
func at(m raft.Message, name string) reflect.Value {
	v := reflect.ValueOf(m).Elem()
	for _, step := range strings.Split(name, ".") {
		if v.Kind() == reflect.Slice {
			v = v.Index(0)
		}
		v = v.FieldByName(step)
	}
	return v
}

// full returns a message of the kind with something in every field, but no error of the whole.
func full(kind uint32) raft.Message {
	for _, m := range allMessages() {
		if m.Kind() != kind {
			continue
		}
		v := reflect.ValueOf(m).Elem()
		for i := range v.NumField() {
			switch name := v.Type().Field(i).Name; name {
			case "Header", "Other", "ErrorCode":
			case "AckWhenCommitted": // true is the default
			default:
				fill(v.Field(i), int64(7+i))
			}
		}
		if e := v.FieldByName("Endpoint"); e.IsValid() {
			e.FieldByName("NodeID").Set(v.FieldByName("LeaderID"))
		}
		return m
	}
	panic("no such kind")
}

// fill puts something into a value.
func fill(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n+int64(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n+int64(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), n+int64(i))
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("text")
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(uint64(n))
	default:
		v.SetInt(n)
	}
}

// TestEveryFieldHasARow keeps the table complete.
func TestEveryFieldHasARow(t *testing.T) {
	for _, m := range allMessages() {
		listed := map[string]bool{"Header": true, "Other": true}
		for _, f := range fields[m.Kind()] {
			listed[strings.Split(f.name, ".")[0]] = true
		}
		v := reflect.TypeOf(m).Elem()
		for i := range v.NumField() {
			require.True(t, listed[v.Field(i).Name], "%s.%s", v.Name(), v.Field(i).Name)
		}
		require.Len(t, listed, v.NumField()+boolInt(!hasField(v, "Other")), v.Name())
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func hasField(t reflect.Type, name string) bool {
	_, found := t.FieldByName(name)
	return found
}

// TestFields looks at each field in each version: what the version carries arrives, the rest is dropped or refused.
func TestFields(t *testing.T) {
	for _, zero := range allMessages() {
		kind := zero.Kind()
		key, _ := apiKeyOf(kind)
		first := int16(0)
		if key == Fetch {
			first = fetchByTopicID
		}
		for version := first; version <= newest(key); version++ {
			m := full(kind)
			for _, f := range fields[kind] {
				if !f.refused || version >= f.since {
					continue
				}
				if v := at(m, f.name); f.zeroOr(v.Type()) == true { // absent is true, so false says something
					v.SetBool(false)
				}
				_, err := Normalize(m, version)
				require.ErrorIs(t, err, ErrUnsupportedVersion, "%T %d %s", m, version, f.name)
				require.ErrorContains(t, err, f.name)
				_, err = Encode(m, version)
				require.ErrorIs(t, err, ErrUnsupportedVersion)
				at(m, f.name).Set(reflect.ValueOf(f.zeroOr(at(m, f.name).Type())))
			}
			n, err := Normalize(m, version)
			require.NoError(t, err)
			body, err := Encode(m, version)
			require.NoError(t, err)
			d, err := Decode(kind, version, body)
			require.NoError(t, err)
			require.Equal(t, n, d)
			for _, f := range fields[kind] {
				if f.since > 0 && version < f.since && !strings.Contains(f.name, ".") {
					require.Equal(t, f.zeroOr(at(d, f.name).Type()), at(d, f.name).Interface(), "%T %d %s", d, version, f.name)
					continue
				}
				want := at(full(kind), f.name).Interface()
				if version < f.since {
					want = f.zeroOr(at(d, f.name).Type())
				}
				require.Equal(t, want, at(d, f.name).Interface(), "%T %d %s", d, version, f.name)
			}
		}
	}
}

// TestRefusedOneByOne: the two fields that are not ignorable, with nothing else in the message.
func TestRefusedOneByOne(t *testing.T) {
	for _, version := range []int16{0, 1} {
		_, err := Normalize(&raft.VoteRequest{PreVote: true}, version)
		require.ErrorIs(t, err, ErrUnsupportedVersion)
		_, err = Normalize(&raft.VoteRequest{}, version)
		require.NoError(t, err)
	}
	_, err := Normalize(&raft.VoteRequest{PreVote: true}, 2)
	require.NoError(t, err)
	_, err = Normalize(&raft.AddRaftVoterRequest{}, 0)
	require.ErrorIs(t, err, ErrUnsupportedVersion)
	_, err = Normalize(&raft.AddRaftVoterRequest{}, 1)
	require.NoError(t, err)
	_, err = Normalize(&raft.AddRaftVoterRequest{AckWhenCommitted: true}, 0)
	require.NoError(t, err)
}

// TestNormalizeReturnsTheMessageItself: what is canonical already costs nothing and keeps its slices.
func TestNormalizeReturnsTheMessageItself(t *testing.T) {
	for _, zero := range allMessages() {
		key, response := apiKeyOf(zero.Kind())
		m := full(zero.Kind())
		headerOf(m).Response = response
		n, err := Normalize(m, newest(key))
		require.NoError(t, err)
		require.Same(t, m, n)
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Normalize(m, newest(key)) }), "%T", m)
	}
}

// TestNormalizeDoesNotTouchTheMessage: messages are immutable once sent.
func TestNormalizeDoesNotTouchTheMessage(t *testing.T) {
	for _, zero := range allMessages() {
		for version := int16(0); version <= newest(int16(zero.Kind()>>1)); version++ {
			for _, wrong := range []bool{false, true} {
				m, same := full(zero.Kind()), full(zero.Kind())
				headerOf(m).WrongShape, headerOf(same).WrongShape = wrong, wrong
				_, _ = Normalize(m, version)
				require.Equal(t, same, m)
			}
		}
	}
}

// TestFeaturesWithZeroMinimum: kraft.version is invisible below version 4 (KAFKA-17011).
func TestFeaturesWithZeroMinimum(t *testing.T) {
	features := []raft.SupportedFeature{{Name: "kraft.version", MaxVersion: 1}, {Name: "metadata.version", MinVersion: 7, MaxVersion: 25}}
	m := &raft.ApiVersionsResponse{SupportedFeatures: features, FinalizedFeaturesEpoch: -1}
	for version := int16(0); version <= 5; version++ {
		n, err := Normalize(m, version)
		require.NoError(t, err)
		want := features
		if version < 4 {
			want = features[1:]
		}
		if version < 3 {
			want = nil
		}
		require.Equal(t, want, n.(*raft.ApiVersionsResponse).SupportedFeatures, "version %d", version)
	}
	require.Len(t, features, 2)
}

// TestPreferredSuccessors: version 0 of EndQuorumEpoch has ids alone, in order.
func TestPreferredSuccessors(t *testing.T) {
	m := &raft.EndQuorumEpochRequest{PreferredCandidates: []raft.ReplicaKey{{ID: 3, DirectoryID: record.UUID{3}}, {ID: 1}}}
	for version, want := range map[int16][]raft.ReplicaKey{0: {{ID: 3}, {ID: 1}}, 1: m.PreferredCandidates} {
		body, err := Encode(m, version)
		require.NoError(t, err)
		d, err := Decode(m.Kind(), version, body)
		require.NoError(t, err)
		require.Equal(t, want, d.(*raft.EndQuorumEpochRequest).PreferredCandidates)
	}
}

// TestTextsTooLong: Kafka's writers refuse a text of more than 32767 bytes, and its readers too.
func TestTextsTooLong(t *testing.T) {
	long := strings.Repeat("x", 32768)
	for _, m := range []raft.Message{
		&raft.VoteRequest{ClusterID: raft.ClusterID{ID: long, Known: true}},
		&raft.VoteResponse{LeaderID: 1, Endpoint: raft.NodeEndpoint{NodeID: 1, Host: long}},
		&raft.BeginQuorumEpochRequest{LeaderEndpoints: []voters.Endpoint{{Name: long}}},
		&raft.BeginQuorumEpochRequest{LeaderEndpoints: []voters.Endpoint{{Host: long}}},
		&raft.FetchSnapshotRequest{Header: raft.Header{WrongShape: true}, Other: []raft.TopicPartition{{Topic: long}}},
		&raft.AddRaftVoterResponse{ErrorMessage: raft.ErrorMessage{Text: long, Known: true}},
		&raft.DescribeQuorumResponse{Nodes: []raft.DescribedNode{{Listeners: []voters.Endpoint{{Name: long}}}}},
		&raft.ApiVersionsRequest{ClientSoftwareName: long},
		&raft.ApiVersionsRequest{ClientSoftwareVersion: long},
		&raft.ApiVersionsResponse{SupportedFeatures: []raft.SupportedFeature{{Name: long, MinVersion: 1}}},
		&raft.ApiVersionsResponse{FinalizedFeatures: []raft.FinalizedFeature{{Name: long}}},
	} {
		key, _ := apiKeyOf(m.Kind())
		_, err := Encode(m, newest(key))
		require.ErrorIs(t, err, ErrMalformed, "%T", m)
	}
	m := &raft.RemoveRaftVoterRequest{ClusterID: raft.ClusterID{ID: long, Known: true}}
	_, err := Decode(m.Kind(), 0, appendRemoveRequest(nil, m, 0))
	require.ErrorIs(t, err, ErrMalformed)
}
