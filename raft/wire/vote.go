package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// normalVoteRequest: version 1 adds the voter's key and the candidate's directory, which are ignorable; version 2 adds
// PreVote, which is not (kraft-protocol 2.5, KIP-996).
func normalVoteRequest(m *raft.VoteRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	e.clusterID(&n.ClusterID)
	if n.WrongShape {
		set(&e, &n, raft.VoteRequest{Header: n.Header, ClusterID: n.ClusterID, VoterID: n.VoterID})
	}
	if version < 1 {
		set(&e, &n.VoterID, -1)
		set(&e, &n.VoterDirectoryID, record.ZeroUUID)
		set(&e, &n.ReplicaDirectoryID, record.ZeroUUID)
	}
	if version < 2 && n.PreVote {
		e.refuse("PreVote", version)
	}
	return finish(&e, m, &n)
}

// appendVoteRequest appends the body of a normalized request.
func appendVoteRequest(dst []byte, m *raft.VoteRequest, version int16) []byte {
	k := kmsg.VoteRequest{Version: version, ClusterID: clusterIDPointer(&m.ClusterID), VoterID: m.VoterID}
	if m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.VoteRequestTopicPartition{{
		CandidateEpoch:       m.ReplicaEpoch,
		CandidateID:          m.ReplicaID,
		CandidateDirectoryID: m.ReplicaDirectoryID,
		VoterDirectoryID:     m.VoterDirectoryID,
		LastOffsetEpoch:      m.LastOffsetEpoch,
		LastOffset:           m.LastOffset,
		PreVote:              m.PreVote,
	}}
	topics := [1]kmsg.VoteRequestTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	return k.AppendTo(dst)
}

// decodeVoteRequest reads a body.
func decodeVoteRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.VoteRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.VoteRequest{ClusterID: toClusterID(k.ClusterID), VoterID: k.VoterID}
	if len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadata(k.Topics[0].Topic, k.Topics[0].Partitions[0].Partition) {
		m.WrongShape = true
		return m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.VoterDirectoryID = p.VoterDirectoryID
	m.ReplicaEpoch, m.ReplicaID, m.ReplicaDirectoryID = p.CandidateEpoch, p.CandidateID, p.CandidateDirectoryID
	m.LastOffsetEpoch, m.LastOffset, m.PreVote = p.LastOffsetEpoch, p.LastOffset, p.PreVote
	return m, nil
}

// emptyVoteResponse is a response that says nothing of the partition.
func emptyVoteResponse(h raft.Header, code raft.ErrorCode) raft.VoteResponse {
	h.WrongShape = h.WrongShape && code == raft.None
	return raft.VoteResponse{Header: h, ErrorCode: code, LeaderID: -1, LeaderEpoch: -1, Endpoint: noEndpoint}
}

// normalVoteResponse: version 1 adds the leader's endpoint.
func normalVoteResponse(m *raft.VoteResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	if n.ErrorCode != raft.None || n.WrongShape {
		set(&e, &n, emptyVoteResponse(n.Header, n.ErrorCode))
	}
	e.endpoint(&n.Endpoint, n.LeaderID, version >= 1)
	return finish(&e, m, &n)
}

// appendVoteResponse appends the body of a normalized response.
func appendVoteResponse(dst []byte, m *raft.VoteResponse, version int16) []byte {
	k := kmsg.VoteResponse{Version: version, ErrorCode: int16(m.ErrorCode)}
	if m.ErrorCode != raft.None || m.WrongShape {
		return k.AppendTo(dst)
	}
	partitions := [1]kmsg.VoteResponseTopicPartition{{
		ErrorCode:   int16(m.PartitionError),
		LeaderID:    m.LeaderID,
		LeaderEpoch: m.LeaderEpoch,
		VoteGranted: m.VoteGranted,
	}}
	topics := [1]kmsg.VoteResponseTopic{{Topic: metadataTopic, Partitions: partitions[:]}}
	k.Topics = topics[:]
	k.NodeEndpoints = toNodes[kmsg.VoteResponseNodeEndpoint](&m.Endpoint)
	return k.AppendTo(dst)
}

// decodeVoteResponse reads a body.
func decodeVoteResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.VoteResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := emptyVoteResponse(raft.Header{Response: true, WrongShape: true}, raft.ErrorCode(k.ErrorCode))
	if m.ErrorCode != raft.None || len(k.Topics) != 1 || len(k.Topics[0].Partitions) != 1 ||
		!isMetadata(k.Topics[0].Topic, k.Topics[0].Partitions[0].Partition) {
		return &m, nil
	}
	p := &k.Topics[0].Partitions[0]
	m.WrongShape = false
	m.PartitionError, m.LeaderID, m.LeaderEpoch = raft.ErrorCode(p.ErrorCode), p.LeaderID, p.LeaderEpoch
	m.VoteGranted = p.VoteGranted
	if version >= 1 { // below, the tag means nothing
		m.Endpoint = fromNodes(k.NodeEndpoints, m.LeaderID)
	}
	return &m, nil
}
