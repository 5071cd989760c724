package wire

import (
	"errors"
	"fmt"
	"math"

	"github.com/kraftsim/kraftsim/raft"
)

// Normalize returns what is left of a message when it travels in that version: fields that the version lacks are dropped
// where Kafka's schemas call them ignorable, and ErrUnsupportedVersion tells of a field that is not and says something,
// or of a version that does not exist. The result is the message itself when nothing changes; it shares slices with it
// otherwise. The correlation id stays.
func Normalize(m raft.Message, version int16) (raft.Message, error) {
	if err := checkVersion(m.Kind(), version); err != nil {
		return nil, err
	}
	switch m := m.(type) {
	case *raft.FetchRequest:
		return normalFetchRequest(m, version)
	case *raft.FetchResponse:
		return normalFetchResponse(m, version)
	case *raft.VoteRequest:
		return normalVoteRequest(m, version)
	case *raft.VoteResponse:
		return normalVoteResponse(m, version)
	case *raft.BeginQuorumEpochRequest:
		return normalBeginRequest(m, version)
	case *raft.BeginQuorumEpochResponse:
		return normalBeginResponse(m, version)
	case *raft.EndQuorumEpochRequest:
		return normalEndRequest(m, version)
	case *raft.EndQuorumEpochResponse:
		return normalEndResponse(m, version)
	case *raft.FetchSnapshotRequest:
		return normalSnapshotRequest(m, version)
	case *raft.FetchSnapshotResponse:
		return normalSnapshotResponse(m, version)
	case *raft.AddRaftVoterRequest:
		return normalAddRequest(m, version)
	case *raft.AddRaftVoterResponse:
		return normalAddResponse(m)
	case *raft.RemoveRaftVoterRequest:
		return normalRemoveRequest(m)
	case *raft.RemoveRaftVoterResponse:
		return normalRemoveResponse(m)
	case *raft.UpdateRaftVoterRequest:
		return normalUpdateRequest(m)
	case *raft.UpdateRaftVoterResponse:
		return normalUpdateResponse(m)
	case *raft.DescribeQuorumRequest:
		return normalDescribeRequest(m)
	case *raft.DescribeQuorumResponse:
		return normalDescribeResponse(m, version)
	case *raft.ApiVersionsRequest:
		return normalVersionsRequest(m, version)
	case *raft.ApiVersionsResponse:
		return normalVersionsResponse(m, version)
	}
	return nil, fmt.Errorf("%w: %T", ErrUnknownKind, m)
}

// Encode returns the body of a message in that version: no header, no length. Errors are those of Normalize.
func Encode(m raft.Message, version int16) ([]byte, error) { return AppendBody(nil, m, version) }

// AppendBody is Encode into a buffer; on an error it returns the buffer as it was.
func AppendBody(dst []byte, m raft.Message, version int16) ([]byte, error) {
	n, err := Normalize(m, version)
	if err != nil {
		return dst, err
	}
	switch n := n.(type) {
	case *raft.FetchRequest:
		return appendFetchRequest(dst, n, version), nil
	case *raft.FetchResponse:
		return appendFetchResponse(dst, n, version), nil
	case *raft.VoteRequest:
		return appendVoteRequest(dst, n, version), nil
	case *raft.VoteResponse:
		return appendVoteResponse(dst, n, version), nil
	case *raft.BeginQuorumEpochRequest:
		return appendBeginRequest(dst, n, version), nil
	case *raft.BeginQuorumEpochResponse:
		return appendBeginResponse(dst, n, version), nil
	case *raft.EndQuorumEpochRequest:
		return appendEndRequest(dst, n, version), nil
	case *raft.EndQuorumEpochResponse:
		return appendEndResponse(dst, n, version), nil
	case *raft.FetchSnapshotRequest:
		return appendSnapshotRequest(dst, n, version), nil
	case *raft.FetchSnapshotResponse:
		return appendSnapshotResponse(dst, n, version), nil
	case *raft.AddRaftVoterRequest:
		return appendAddRequest(dst, n, version), nil
	case *raft.AddRaftVoterResponse:
		return appendAddResponse(dst, n, version), nil
	case *raft.RemoveRaftVoterRequest:
		return appendRemoveRequest(dst, n, version), nil
	case *raft.RemoveRaftVoterResponse:
		return appendRemoveResponse(dst, n, version), nil
	case *raft.UpdateRaftVoterRequest:
		return appendUpdateRequest(dst, n, version), nil
	case *raft.UpdateRaftVoterResponse:
		return appendUpdateResponse(dst, n, version), nil
	case *raft.DescribeQuorumRequest:
		return appendDescribeRequest(dst, n, version), nil
	case *raft.DescribeQuorumResponse:
		return appendDescribeResponse(dst, n, version), nil
	case *raft.ApiVersionsRequest:
		return appendVersionsRequest(dst, n, version), nil
	case *raft.ApiVersionsResponse:
		return appendVersionsResponse(dst, n, version), nil
	}
	return dst, fmt.Errorf("%w: %T", ErrUnknownKind, n)
}

// Decode reads the body of a message of that kind and version. The result is in the canonical form of the package
// comment and has correlation id 0. A request with other topics and partitions than the metadata partition is no error: it
// has WrongShape. Bytes after the message are ignored, as in Kafka. Errors are ErrMalformed, ErrUnsupportedVersion and
// ErrUnknownKind.
func Decode(kind uint32, version int16, body []byte) (raft.Message, error) {
	if err := checkVersion(kind, version); err != nil {
		return nil, err
	}
	m, err := decode(kind, version, body)
	if err == nil && len(body) > math.MaxInt16 { // only then can a text be too long for Kafka's readers
		if _, long := Normalize(m, version); errors.Is(long, ErrMalformed) {
			return nil, long
		}
	}
	return m, err
}

// decode reads a body of a kind and version that exist.
func decode(kind uint32, version int16, body []byte) (raft.Message, error) {
	switch kind {
	case raft.KindFetchRequest:
		return decodeFetchRequest(version, body)
	case raft.KindFetchResponse:
		return decodeFetchResponse(version, body)
	case raft.KindVoteRequest:
		return decodeVoteRequest(version, body)
	case raft.KindVoteResponse:
		return decodeVoteResponse(version, body)
	case raft.KindBeginQuorumEpochRequest:
		return decodeBeginRequest(version, body)
	case raft.KindBeginQuorumEpochResponse:
		return decodeBeginResponse(version, body)
	case raft.KindEndQuorumEpochRequest:
		return decodeEndRequest(version, body)
	case raft.KindEndQuorumEpochResponse:
		return decodeEndResponse(version, body)
	case raft.KindFetchSnapshotRequest:
		return decodeSnapshotRequest(version, body)
	case raft.KindFetchSnapshotResponse:
		return decodeSnapshotResponse(version, body)
	case raft.KindAddRaftVoterRequest:
		return decodeAddRequest(version, body)
	case raft.KindAddRaftVoterResponse:
		return decodeAddResponse(version, body)
	case raft.KindRemoveRaftVoterRequest:
		return decodeRemoveRequest(version, body)
	case raft.KindRemoveRaftVoterResponse:
		return decodeRemoveResponse(version, body)
	case raft.KindUpdateRaftVoterRequest:
		return decodeUpdateRequest(version, body)
	case raft.KindUpdateRaftVoterResponse:
		return decodeUpdateResponse(version, body)
	case raft.KindDescribeQuorumRequest:
		return decodeDescribeRequest(version, body)
	case raft.KindDescribeQuorumResponse:
		return decodeDescribeResponse(version, body)
	case raft.KindApiVersionsRequest:
		return decodeVersionsRequest(version, body)
	}
	return decodeVersionsResponse(version, body) // the one kind that is left of those that checkVersion lets pass
}

// kmsgMessage is a request or response of kmsg.
type kmsgMessage interface {
	SetVersion(version int16)
	ReadFrom(src []byte) error
}

// read lets kmsg read a body.
func read(k kmsgMessage, version int16, body []byte) error {
	k.SetVersion(version)
	if err := k.ReadFrom(body); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return nil
}
