package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
)

// TestStructsAndBytesHashAlike: the same plan with structs and with bytes on the wire, and in the debug mode, gives one verdict.
func TestStructsAndBytesHashAlike(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	for name, seeds := range map[string]uint64{"raft/wire": 30, "raft/storm-3": 20, "raft/snapshots": 10, "raft/dynamic-3": 10, "kip1262/draft": 10,
		"bootstrap/golden": 10, "reconfig/mixed-releases": 20, "reconfig/churn": 10} {
		s := c.Scenario(name)
		for seed := uint64(1); seed <= seeds; seed++ {
			p := s.Draw(seed)
			p.Network.CorruptPpm = 0
			p.Params["wire"] = "structs"
			structs := verdictOf(t, e, p, sim.Options{})
			p.Params["wire"] = "bytes"
			frames := verdictOf(t, e, p, sim.Options{Poison: seed%10 == 0})
			require.Equal(t, structs, frames, "%s:%d", name, seed)
		}
	}
}

// TestCorruptionNeedsBytes: structs have no bits.
func TestCorruptionNeedsBytes(t *testing.T) {
	c := Catalogue()
	p := c.Scenario("raft/storm-3").Draw(1)
	p.Network.CorruptPpm = 5
	_, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.ErrorContains(t, err, "network.corrupt_ppm needs params.wire to be bytes")
}

// TestDamagedRecordsAreFetchedAgain: bits that a batch's checksum covers break nothing and cost fetches only.
func TestDamagedRecordsAreFetchedAgain(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	damaged := int64(0)
	for seed := uint64(1); seed <= 20; seed++ {
		p := c.Scenario("raft/storm-3").Draw(seed)
		p.Params["wire"], p.Network.CorruptPpm = "bytes", 200_000
		v := verdictOf(t, e, p, sim.Options{})
		require.Empty(t, v.Broken, "raft/storm-3:%d", seed)
		damaged += v.Stats["net-corrupted"]
	}
	require.Positive(t, damaged)
}

// testFrame is a fetch answer of one batch as a frame.
func testFrame(t *testing.T, anyBit bool) *frame {
	t.Helper()
	batch := make([]byte, record.BatchOverhead+3)
	batch[11], batch[16] = byte(len(batch)-12), 2
	m := &raft.FetchResponse{Header: raft.Header{Correlation: 7, Response: true}, HighWatermark: 3, LogStartOffset: 0, LeaderID: 1, LeaderEpoch: 2,
		DivergingEpoch: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}, SnapshotID: raft.OffsetAndEpoch{Offset: -1, Epoch: -1},
		Endpoint: raft.NodeEndpoint{NodeID: -1}, Records: batch}
	b, err := wire.AppendResponse(nil, m, 17)
	require.NoError(t, err)
	return &frame{plain: m, bytes: b, version: 17, anyBit: anyBit}
}

// TestFrameWithAnyBitFlipped: each decodes or is refused; only bits of the records leave the rest of the message as it was.
func TestFrameWithAnyBitFlipped(t *testing.T) {
	f := testFrame(t, true)
	m, err := f.decode()
	require.NoError(t, err)
	require.Equal(t, f.plain, m)
	refused, same := 0, 0
	for bit := range f.Bits() {
		flipped := f.Flip(bit).(*frame)
		require.True(t, flipped.damaged)
		require.NotEqual(t, f.bytes, flipped.bytes)
		if m, err := flipped.decode(); err != nil {
			refused++
		} else if string(m.AppendTo(nil)) == string(f.plain.AppendTo(nil)) {
			same++
		}
	}
	require.Positive(t, refused)
	require.Less(t, refused+same, int(f.Bits()))
	covered := testFrame(t, false)
	require.Equal(t, int64(record.BatchOverhead+3-coveredFrom)*8, covered.Bits())
	for bit := range covered.Bits() {
		m, err := covered.Flip(bit).(*frame).decode()
		require.NoError(t, err)
		got := *m.(*raft.FetchResponse)
		require.NotEqual(t, covered.plain.(*raft.FetchResponse).Records, got.Records)
		require.Equal(t, covered.plain.(*raft.FetchResponse).Records[:coveredFrom], got.Records[:coveredFrom])
		got.Records = covered.plain.(*raft.FetchResponse).Records
		require.Equal(t, covered.plain, raft.Message(&got))
	}
}

// TestVersionsBetweenReleases: what both ends speak, and what the sender's own client answers for the rest (kraft-protocol 2.1).
func TestVersionsBetweenReleases(t *testing.T) {
	host := func(name string) *hostSettings {
		r, err := features.Find(name)
		require.NoError(t, err)
		return &hostSettings{release: r}
	}
	vote := &raft.VoteRequest{Header: raft.Header{Correlation: 9}, PreVote: true}
	for _, c := range []struct {
		one, two string
		want     int16
	}{{"upstream-4.5", "upstream-4.5", 2}, {"upstream-4.5", "4.0", 1}, {"3.9", "4.0", 1}, {"3.6", "upstream-4.5", 0}} {
		v, err := versionFor(vote, host(c.one), host(c.two))
		require.NoError(t, err)
		require.Equal(t, c.want, v, "%s to %s", c.one, c.two)
		_, err = wire.Normalize(vote, v)
		if v < 2 {
			require.ErrorIs(t, err, wire.ErrUnsupportedVersion)
		}
	}
	_, err := versionFor(&raft.AddRaftVoterRequest{}, host("upstream-4.5"), host("3.6"))
	require.ErrorIs(t, err, wire.ErrUnsupportedVersion)
	answer := unsupported(vote).(*raft.VoteResponse)
	require.Equal(t, raft.UnsupportedVersion, answer.ErrorCode)
	require.Equal(t, int32(9), answer.Correlation)
	require.Nil(t, unsupported(answer))
}

// TestNormalizingCostsNothing: a struct that its version can carry crosses as it is.
func TestNormalizingCostsNothing(t *testing.T) {
	m := &raft.FetchRequest{ReplicaID: 1, ReplicaEpoch: -1, MaxWaitMs: 10, CurrentLeaderEpoch: 1, HighWatermark: 3}
	h := &hostSettings{}
	var err error
	h.release, err = features.Find("upstream-4.5")
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		v, err := versionFor(m, h, h)
		n, err2 := wire.Normalize(m, v)
		if err != nil || err2 != nil || n != raft.Message(m) {
			panic("not the message itself")
		}
	}))
}
