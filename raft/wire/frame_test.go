package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
)

// TestNextFrameWaits: no prefix of a frame is one.
func TestNextFrameWaits(t *testing.T) {
	frame, err := AppendRequest(nil, &raft.VoteRequest{ReplicaEpoch: 3}, 1, "c")
	require.NoError(t, err)
	for n := range frame {
		_, rest, ok, err := NextFrame(frame[:n])
		require.NoError(t, err)
		require.False(t, ok)
		require.Len(t, rest, n)
	}
	got, rest, ok, err := NextFrame(frame)
	require.NoError(t, err)
	require.True(t, ok)
	require.Empty(t, rest)
	require.Equal(t, frame[4:], got)
	for _, size := range []uint32{1 << 31, 1<<32 - 1, uint32(MaxFrameBytes) + 1} {
		_, _, ok, err := NextFrame(binary.BigEndian.AppendUint32(nil, size))
		require.ErrorIs(t, err, ErrMalformed)
		require.False(t, ok)
	}
}

// TestCutRequests: a frame that ends early is malformed, wherever it ends.
func TestCutRequests(t *testing.T) {
	for _, zero := range allMessages() {
		key, response := apiKeyOf(zero.Kind())
		m := full(zero.Kind())
		var frame []byte
		var err error
		if response {
			frame, err = AppendResponse(nil, m, newest(key))
		} else {
			frame, err = AppendRequest(nil, m, newest(key), "client")
		}
		require.NoError(t, err)
		for n := range frame[4:] {
			if response {
				_, err = DecodeResponse(key, newest(key), frame[4:4+n])
			} else {
				_, _, err = DecodeRequest(frame[4 : 4+n])
			}
			require.Error(t, err, "%T cut at %d", m, n)
		}
	}
}

// TestErrorsLeaveTheBuffer: what was in the buffer is still there, and nothing more.
func TestErrorsLeaveTheBuffer(t *testing.T) {
	out, err := AppendRequest([]byte("before"), &raft.VoteRequest{PreVote: true}, 1, "c")
	require.ErrorIs(t, err, ErrUnsupportedVersion)
	require.Equal(t, "before", string(out))
	out, err = AppendResponse([]byte("before"), &raft.VoteResponse{}, 9)
	require.ErrorIs(t, err, ErrUnsupportedVersion)
	require.Equal(t, "before", string(out))
	out, err = AppendResponse(nil, &raft.FetchResponse{Records: make([]byte, MaxFrameBytes)}, 18)
	require.ErrorIs(t, err, ErrMalformed)
	require.Empty(t, out)
}

// TestApiVersionsTooNew: the one request whose unknown version is answered, in version 0, which the client understands.
func TestApiVersionsTooNew(t *testing.T) {
	frame, err := AppendRequest(nil, &raft.ApiVersionsRequest{Header: raft.Header{Correlation: 9}}, 5, "c")
	require.NoError(t, err)
	binary.BigEndian.PutUint16(frame[6:], 6)
	h, m, err := DecodeRequest(frame[4:])
	require.ErrorIs(t, err, ErrUnsupportedVersion)
	require.Nil(t, m)
	require.Equal(t, RequestHeader{APIKey: APIVersions, Version: 6, Correlation: 9, ClientID: "c", ClientIDKnown: true}, h)

	answer := &raft.ApiVersionsResponse{
		Header:    raft.Header{Correlation: 9, Response: true},
		ErrorCode: raft.UnsupportedVersion, APIKeys: Supported(Aug26), FinalizedFeaturesEpoch: -1,
	}
	frame, err = AppendResponse(nil, answer, 0)
	require.NoError(t, err)
	for _, asked := range []int16{0, 3, 4, 5, 6} {
		got, err := DecodeResponse(APIVersions, asked, frame[4:])
		require.NoError(t, err)
		require.Equal(t, answer, got)
	}
}

func TestUnknownRequests(t *testing.T) {
	frame := binary.BigEndian.AppendUint16(nil, 1000)
	frame = append(frame, make([]byte, 20)...)
	_, _, err := DecodeRequest(frame)
	require.ErrorIs(t, err, ErrUnknownKind)
	_, _, err = DecodeRequest([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 0})
	require.ErrorIs(t, err, ErrUnknownKind)
	_, err = DecodeResponse(1000, 0, frame)
	require.ErrorIs(t, err, ErrUnknownKind)
	_, _, err = DecodeRequest([]byte{0, 52, 0, 3, 0, 0, 0, 0, 0xff, 0xff, 0})
	require.ErrorIs(t, err, ErrUnsupportedVersion)
}
