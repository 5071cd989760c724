package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// pairOf makes two clusters of three voters each, with the same node ids, and what stands between them.
func pairOf(t *testing.T) (east, west *lab, s *Suite) {
	t.Helper()
	mark := func(own string) func(string, string) bool {
		return func(name, value string) bool { return name == "marked" && value != own }
	}
	s = New(Config{Clusters: []Cluster{{Foreign: mark("east")}, {Foreign: mark("west")}}})
	east, west = newLab(t, 3, Config{}), newLab(t, 3, Config{})
	s.cores, s.count = []*core{&east.core, &west.core}, 2
	s.separate()
	for i, m := range west.nodes { // a directory id belongs to one disk
		m.r.directoryID[0], m.r.id = 0xee, "w"+number(int64(i+1))
		for k := range m.r.directories {
			d := &m.r.directories[k]
			d.clusterID = west.core.ledger.text("west-id")
		}
		m.r.knowsID = true
	}
	return east, west, s
}

func at(m *member) place { return place{&m.lab.core, m.r} }

// TestForeignRequestsAreRefused: whatever the kind, a request of another cluster gets INCONSISTENT_CLUSTER_ID and nothing else.
func TestForeignRequestsAreRefused(t *testing.T) {
	foreign := raft.ClusterID{ID: "east-id", Known: true}
	header := raft.Header{Correlation: 7}
	answer := raft.Header{Correlation: 7, Response: true}
	for _, x := range []struct {
		name    string
		request func(id raft.ClusterID) raft.Message
		answer  func(code raft.ErrorCode) raft.Message
	}{
		{"Fetch", func(id raft.ClusterID) raft.Message { return &raft.FetchRequest{Header: header, ClusterID: id} },
			func(c raft.ErrorCode) raft.Message { return &raft.FetchResponse{Header: answer, ErrorCode: c} }},
		{"Vote", func(id raft.ClusterID) raft.Message { return &raft.VoteRequest{Header: header, ClusterID: id} },
			func(c raft.ErrorCode) raft.Message { return &raft.VoteResponse{Header: answer, ErrorCode: c} }},
		{"BeginQuorumEpoch", func(id raft.ClusterID) raft.Message {
			return &raft.BeginQuorumEpochRequest{Header: header, ClusterID: id}
		},
			func(c raft.ErrorCode) raft.Message {
				return &raft.BeginQuorumEpochResponse{Header: answer, ErrorCode: c}
			}},
		{"EndQuorumEpoch", func(id raft.ClusterID) raft.Message {
			return &raft.EndQuorumEpochRequest{Header: header, ClusterID: id}
		},
			func(c raft.ErrorCode) raft.Message { return &raft.EndQuorumEpochResponse{Header: answer, ErrorCode: c} }},
		{"FetchSnapshot", func(id raft.ClusterID) raft.Message { return &raft.FetchSnapshotRequest{Header: header, ClusterID: id} },
			func(c raft.ErrorCode) raft.Message { return &raft.FetchSnapshotResponse{Header: answer, ErrorCode: c} }},
		{"AddRaftVoter", func(id raft.ClusterID) raft.Message { return &raft.AddRaftVoterRequest{Header: header, ClusterID: id} },
			func(c raft.ErrorCode) raft.Message { return &raft.AddRaftVoterResponse{Header: answer, ErrorCode: c} }},
		{"RemoveRaftVoter", func(id raft.ClusterID) raft.Message {
			return &raft.RemoveRaftVoterRequest{Header: header, ClusterID: id}
		},
			func(c raft.ErrorCode) raft.Message {
				return &raft.RemoveRaftVoterResponse{Header: answer, ErrorCode: c}
			}},
		{"UpdateRaftVoter", func(id raft.ClusterID) raft.Message {
			return &raft.UpdateRaftVoterRequest{Header: header, ClusterID: id}
		},
			func(c raft.ErrorCode) raft.Message {
				return &raft.UpdateRaftVoterResponse{Header: answer, ErrorCode: c}
			}},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, y := range []struct {
				id    raft.ClusterID
				code  raft.ErrorCode
				wrong bool
			}{
				{foreign, raft.InconsistentClusterID, false}, {foreign, raft.None, true}, {foreign, raft.NotLeaderOrFollower, true},
				{raft.ClusterID{ID: "west-id", Known: true}, raft.None, false}, {raft.ClusterID{}, raft.None, false},
			} {
				east, west, s := pairOf(t)
				s.crossed(at(east.node(1)), at(west.node(2)), x.request(y.id))
				s.crossed(at(west.node(2)), at(east.node(3)), x.answer(raft.None)) // nothing that it asked
				s.crossed(at(west.node(2)), at(east.node(1)), x.answer(y.code))
				s.crossed(at(west.node(2)), at(east.node(1)), x.answer(raft.None)) // an answer answers once
				if y.wrong {
					west.breaks("clusters-apart/served")
				} else {
					west.clean()
				}
				east.clean()
			}
		})
	}
}

// TestUnknownIDTakesAny: a server that does not know its own cluster id yet has nothing to compare (KIP-1262).
func TestUnknownIDTakesAny(t *testing.T) {
	east, west, s := pairOf(t)
	west.node(1).r.knowsID = false
	s.crossed(at(east.node(1)), at(west.node(1)), &raft.FetchRequest{ClusterID: raft.ClusterID{ID: "east-id", Known: true}})
	s.crossed(at(west.node(1)), at(east.node(1)), &raft.FetchResponse{})
	west.clean()
}

// TestForeignRecords: a record of the neighbour's client, and a voter whose disk is the neighbour's, show in no log.
func TestForeignRecords(t *testing.T) {
	value := func(v string) *records.ConfigRecord { return &records.ConfigRecord{Name: "marked", Value: &v} }
	east, _, _ := pairOf(t)
	one := east.node(1)
	one.lead(1, 2)
	one.append(1, value("east"))
	east.clean()
	one.append(1, value("west"))
	east.breaks("clusters-apart/foreign-record")

	east, west, _ := pairOf(t)
	require.NotNil(t, east.core.owner(west.node(2).r.directoryID))
	require.Nil(t, east.core.owner(east.node(2).r.directoryID))
	require.Nil(t, east.core.owner(record.ZeroUUID))
	q := quorumFile{found: true, version: 1, epoch: 4, voted: 2, directory: west.node(2).r.directoryID}
	east.core.ownVote(east.node(1).r, &q)
	east.breaks("clusters-apart/foreign-vote")
}

// TestForeignEpoch: an answer that tells a higher epoch of the neighbour is the declared loss, from then on; one that tells no news is
// nothing.
func TestForeignEpoch(t *testing.T) {
	for _, x := range []struct {
		epoch int32
		want  string
	}{{2, ""}, {3, ""}, {4, ForeignEpoch}} {
		east, west, s := pairOf(t)
		asker := east.node(1)
		asker.r.roleEpoch = 3
		s.crossed(at(asker), at(west.node(1)), &raft.UpdateRaftVoterRequest{ClusterID: raft.ClusterID{ID: "east-id", Known: true}})
		s.crossed(at(west.node(1)), at(asker), &raft.UpdateRaftVoterResponse{ErrorCode: raft.InconsistentClusterID, LeaderEpoch: x.epoch})
		require.Equal(t, x.want, east.core.loss)
		require.Empty(t, west.core.loss)
	}
}
