package wire

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft"
)

// draw returns any message, most of them without error of the whole and with an endpoint that is the leader's.
func draw(t *rapid.T) raft.Message {
	m := rapid.OneOf(
		made[raft.FetchRequest](), made[raft.FetchResponse](), made[raft.VoteRequest](), made[raft.VoteResponse](),
		made[raft.BeginQuorumEpochRequest](), made[raft.BeginQuorumEpochResponse](),
		made[raft.EndQuorumEpochRequest](), made[raft.EndQuorumEpochResponse](),
		made[raft.FetchSnapshotRequest](), made[raft.FetchSnapshotResponse](),
		made[raft.AddRaftVoterRequest](), made[raft.AddRaftVoterResponse](),
		made[raft.RemoveRaftVoterRequest](), made[raft.RemoveRaftVoterResponse](),
		made[raft.UpdateRaftVoterRequest](), made[raft.UpdateRaftVoterResponse](),
		made[raft.DescribeQuorumRequest](), made[raft.DescribeQuorumResponse](),
		made[raft.ApiVersionsRequest](), made[raft.ApiVersionsResponse](),
	).Draw(t, "message")
	v := reflect.ValueOf(m).Elem()
	if rapid.IntRange(0, 3).Draw(t, "plain") > 0 {
		headerOf(m).WrongShape = false
		if e := v.FieldByName("ErrorCode"); e.IsValid() {
			e.SetInt(0)
		}
	}
	if e := v.FieldByName("Endpoint"); e.IsValid() && rapid.Bool().Draw(t, "leader's") {
		e.FieldByName("NodeID").Set(v.FieldByName("LeaderID"))
	}
	return m
}

// made draws one type of message, as the interface.
func made[T any, P interface {
	*T
	raft.Message
}]() *rapid.Generator[raft.Message] {
	return rapid.Map(rapid.Make[T](), func(m T) raft.Message { return P(&m) })
}

// TestLawDecodeEncodeIsNormalize is the law of the package comment.
func TestLawDecodeEncodeIsNormalize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		key, response := apiKeyOf(m.Kind())
		version := int16(rapid.IntRange(0, int(newest(key))).Draw(t, "version"))
		n, refused := Normalize(m, version)
		body, err := Encode(m, version)
		require.Equal(t, refused, err)
		if refused != nil {
			require.ErrorIs(t, refused, ErrUnsupportedVersion)
			require.Nil(t, n)
			require.Nil(t, body)
			return
		}
		again, err := Normalize(n, version)
		require.NoError(t, err)
		require.Same(t, n, again)
		d, err := Decode(m.Kind(), version, body)
		require.NoError(t, err)
		require.Zero(t, Correlation(d))
		setCorrelation(d, Correlation(m))
		require.Equal(t, n, d)
		require.Equal(t, n.AppendTo(nil), d.AppendTo(nil))

		// and with frames
		client := rapid.StringN(0, 20, 100).Draw(t, "client")
		prefix := []byte("prefix")
		if response {
			frame, err := AppendResponse(prefix, m, version)
			require.NoError(t, err)
			frame, rest, ok, err := NextFrame(append(frame, 1, 2, 3)[len(prefix):])
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, []byte{1, 2, 3}, rest)
			d, err = DecodeResponse(key, version, frame)
			require.NoError(t, err)
			if v, ok := d.(*raft.ApiVersionsResponse); ok && v.ErrorCode == raft.UnsupportedVersion && version > 0 {
				return // read as version 0, of which there is another test
			}
			require.Equal(t, n, d)
			return
		}
		frame, err := AppendRequest(prefix, m, version, client)
		require.NoError(t, err)
		frame, rest, ok, err := NextFrame(frame[len(prefix):])
		require.NoError(t, err)
		require.True(t, ok)
		require.Empty(t, rest)
		h, d, err := DecodeRequest(frame)
		require.NoError(t, err)
		require.Equal(t, RequestHeader{APIKey: key, Version: version, Correlation: Correlation(m), ClientID: client,
			ClientIDKnown: true}, h)
		require.Equal(t, n, d)
	})
}

// TestLawNormalizeDown: what a newer version carries, an older one drops the same way before as after.
func TestLawNormalizeDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := draw(t)
		key, _ := apiKeyOf(m.Kind())
		newer := int16(rapid.IntRange(0, int(newest(key))).Draw(t, "newer"))
		older := int16(rapid.IntRange(0, int(newer)).Draw(t, "older"))
		n, err := Normalize(m, newer)
		if err != nil {
			return
		}
		direct, errDirect := Normalize(m, older)
		stepped, errStepped := Normalize(n, older)
		require.Equal(t, errDirect, errStepped)
		require.Equal(t, direct, stepped)
	})
}
