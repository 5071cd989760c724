package wire

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
)

// TestNegotiatedVersions pins what each pair of releases speaks.
func TestNegotiatedVersions(t *testing.T) {
	for _, c := range []struct {
		key       int16
		old, both int16 // when one side is Oct24; when both are Aug26
	}{
		{Fetch, 17, 18}, {APIVersions, 4, 5}, {Vote, 1, 2}, {BeginQuorumEpoch, 1, 1}, {EndQuorumEpoch, 1, 1},
		{DescribeQuorum, 2, 2}, {FetchSnapshot, 1, 1}, {AddRaftVoter, 0, 1}, {RemoveRaftVoter, 0, 0}, {UpdateRaftVoter, 0, 0},
	} {
		for _, pair := range [][2]Release{{Oct24, Oct24}, {Oct24, Aug26}, {Aug26, Oct24}, {Aug26, Aug26}} {
			want := c.old
			if pair[0] == Aug26 && pair[1] == Aug26 {
				want = c.both
			}
			got, err := Negotiate(c.key, Supported(pair[0]), Supported(pair[1]))
			require.NoError(t, err)
			require.Equal(t, want, got, "RPC %d between %s and %s", c.key, pair[0], pair[1])
		}
	}
}

func TestNegotiateRefuses(t *testing.T) {
	one := []raft.APIVersionRange{{APIKey: Fetch, MinVersion: 4, MaxVersion: 18}}
	for _, theirs := range [][]raft.APIVersionRange{
		nil,
		{{APIKey: Vote, MinVersion: 0, MaxVersion: 2}},
		{{APIKey: Fetch, MinVersion: 0, MaxVersion: 3}},
		{{APIKey: Fetch, MinVersion: 19, MaxVersion: 20}},
	} {
		_, err := Negotiate(Fetch, one, theirs)
		require.ErrorIs(t, err, ErrUnsupportedVersion)
		_, err = Negotiate(Fetch, theirs, one)
		require.ErrorIs(t, err, ErrUnsupportedVersion)
	}
	version, err := Negotiate(Fetch, one, []raft.APIVersionRange{{APIKey: Fetch, MinVersion: 0, MaxVersion: 4}})
	require.NoError(t, err)
	require.Equal(t, int16(4), version)
}

// TestSupportedIsWhatTheCodecKnows: every version a release speaks is one that can be read.
func TestSupportedIsWhatTheCodecKnows(t *testing.T) {
	for _, r := range []Release{Oct24, Aug26} {
		list := Supported(r)
		require.Len(t, list, 10)
		require.True(t, slices.IsSortedFunc(list, func(a, b raft.APIVersionRange) int { return int(a.APIKey) - int(b.APIKey) }))
		for _, a := range list {
			require.LessOrEqual(t, a.MinVersion, a.MaxVersion)
			require.LessOrEqual(t, a.MaxVersion, newest(a.APIKey))
		}
		list[0].MaxVersion = 99
		require.NotEqual(t, int16(99), Supported(r)[0].MaxVersion)
	}
	require.Nil(t, Supported(0))
	require.Equal(t, []string{"none", "oct24", "aug26"}, []string{Release(0).String(), Oct24.String(), Aug26.String()})
}

func TestUnknownKindsAndVersions(t *testing.T) {
	for kind := uint32(0); kind < 400; kind++ {
		_, err := Decode(kind, 0, nil)
		if newest(int16(kind>>1)) < 0 {
			require.ErrorIs(t, err, ErrUnknownKind, "kind %d", kind)
		}
	}
	_, err := Decode(uint32(Vote)<<1|1<<20, 0, nil)
	require.ErrorIs(t, err, ErrUnknownKind)
	for _, m := range allMessages() {
		key, _ := apiKeyOf(m.Kind())
		for _, version := range []int16{-1, newest(key) + 1} {
			_, err := Encode(m, version)
			require.ErrorIs(t, err, ErrUnsupportedVersion)
			_, err = Decode(m.Kind(), version, nil)
			require.ErrorIs(t, err, ErrUnsupportedVersion)
		}
	}
	_, err = Normalize(stranger{}, 0)
	require.ErrorIs(t, err, ErrUnknownKind)
	require.Zero(t, Correlation(stranger{}))
}

// stranger is a message of a kind that exists, but not one of raft's structs.
type stranger struct{}

func (stranger) Kind() uint32               { return raft.KindVoteRequest }
func (stranger) Key() uint64                { return 0 }
func (stranger) AppendTo(buf []byte) []byte { return buf }
