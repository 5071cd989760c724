package wire

import "github.com/kraftsim/kraftsim/raft"

// headerOf returns the header of a message of raft, or nil.
func headerOf(m raft.Message) *raft.Header {
	switch m := m.(type) {
	case *raft.FetchRequest:
		return &m.Header
	case *raft.FetchResponse:
		return &m.Header
	case *raft.VoteRequest:
		return &m.Header
	case *raft.VoteResponse:
		return &m.Header
	case *raft.BeginQuorumEpochRequest:
		return &m.Header
	case *raft.BeginQuorumEpochResponse:
		return &m.Header
	case *raft.EndQuorumEpochRequest:
		return &m.Header
	case *raft.EndQuorumEpochResponse:
		return &m.Header
	case *raft.FetchSnapshotRequest:
		return &m.Header
	case *raft.FetchSnapshotResponse:
		return &m.Header
	case *raft.AddRaftVoterRequest:
		return &m.Header
	case *raft.AddRaftVoterResponse:
		return &m.Header
	case *raft.RemoveRaftVoterRequest:
		return &m.Header
	case *raft.RemoveRaftVoterResponse:
		return &m.Header
	case *raft.UpdateRaftVoterRequest:
		return &m.Header
	case *raft.UpdateRaftVoterResponse:
		return &m.Header
	case *raft.DescribeQuorumRequest:
		return &m.Header
	case *raft.DescribeQuorumResponse:
		return &m.Header
	case *raft.ApiVersionsRequest:
		return &m.Header
	case *raft.ApiVersionsResponse:
		return &m.Header
	}
	return nil
}

// Correlation returns the correlation id of a message of raft, 0 for any other.
func Correlation(m raft.Message) int32 {
	if h := headerOf(m); h != nil {
		return h.Correlation
	}
	return 0
}

// setCorrelation gives a message that was just decoded its correlation id.
func setCorrelation(m raft.Message, correlation int32) {
	if h := headerOf(m); h != nil {
		h.Correlation = correlation
	}
}
