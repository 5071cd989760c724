package record_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft/record"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func fromHex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	require.NoError(t, err)
	return b
}

// TestVectors holds V6 to V13 of formats.md 10.
func TestVectors(t *testing.T) {
	voters := func(ids ...int32) (out []record.LeaderChangeVoter) {
		for _, id := range ids {
			out = append(out, record.LeaderChangeVoter{VoterID: id})
		}
		return out
	}
	const time = 1700000000000
	key := record.AppendControlKey(nil, record.LeaderChange)
	change := record.LeaderChangeMessage{LeaderID: 1, Voters: voters(1, 2, 3), GrantingVoters: voters(1, 2)}
	header := record.SnapshotHeaderRecord{LastContainedLogTimestampMs: time}
	version := record.KRaftVersionRecord{KRaftVersion: 1}
	directory, err := record.ParseUUID("J8aAPcfLQt2bqs1JT_rMgQ")
	require.NoError(t, err)
	set := record.VotersRecord{Voters: []record.VoterEntry{{VoterID: 1, VoterDirectoryID: directory,
		Endpoints: []record.VoterEndpoint{{Name: "CONTROLLER", Host: "localhost", Port: 9093}}, MaxSupportedVersion: 1}}}
	var control record.Builder
	control.Reset(nil, record.BatchSpec{LeaderEpoch: 1, TimestampMs: time, Control: true})
	control.AddControl(record.LeaderChange, change.AppendTo(nil, 0))
	v1 := fromHex(t, "010c00116d657461646174612e76657273696f6e001600")
	v2 := fromHex(t, "01140000")
	data := record.AppendBatch(nil, record.BatchSpec{BaseOffset: 5, LeaderEpoch: 3, TimestampMs: time}, v1, v2)
	for _, c := range []struct {
		name, want string
		got        []byte
	}{
		{"V6", "00000002", key},
		{"V7", "00000000000104000000010000000002000000000300030000000100000000020000", change.AppendTo(nil, 0)},
		{"V8", "00000000018bcfe5680000", header.AppendTo(nil)},
		{"V9", "000000", new(record.SnapshotFooterRecord).AppendTo(nil)},
		{"V10", "0000000100", version.AppendTo(nil)},
		{"V11", "0000020000000127c6803dc7cb42dd9baacd494ffacc81020b434f4e54524f4c4c45520a6c6f63616c686f737423850000000001000000",
			set.AppendTo(nil)},
		{"V12", "00000000000000000000005e00000001021735ab2b0020000000000000018bcfe568000000018bcfe56800ffffffffffffffffffffffff" +
			"ffff00000001580000000800000002440000000000010400000001000000000200000000030003000000010000000002000000", control.Finish()},
		{"V13", "00000000000000050000005a0000000302076c4f100000000000010000018bcfe568000000018bcfe56800ffffffffffffffffffffffff" +
			"ffff000000023a000000012e010c00116d657461646174612e76657273696f6e001600001400000201080114000000", data},
	} {
		require.Equal(t, c.want, hexOf(c.got), c.name)
	}
	require.Equal(t, uint32(0xE3069283), record.Checksum([]byte("123456789")))
	smallest := record.AppendBatch(nil, record.BatchSpec{}, v2)
	require.Len(t, smallest, 72)
}

func TestReaderErrors(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		read      func(r *record.Reader)
		want      error
	}{
		{"int64 cut short", "00000000000000", func(r *record.Reader) { r.Int64() }, record.ErrTruncated},
		{"varint cut short", "ffff", func(r *record.Reader) { r.Uvarint() }, record.ErrTruncated},
		{"varint of six bytes", "ffffffffff01", func(r *record.Reader) { r.Uvarint() }, record.ErrMalformed},
		{"varlong of eleven bytes", "ffffffffffffffffffff01", func(r *record.Reader) { r.Uvarlong() }, record.ErrMalformed},
		{"null string", "00", func(r *record.Reader) { r.CompactString() }, record.ErrMalformed},
		{"null bytes", "00", func(r *record.Reader) { r.CompactBytes() }, record.ErrMalformed},
		{"string past the end", "0541", func(r *record.Reader) { r.CompactString() }, record.ErrTruncated},
		{"string not UTF-8", "02ff", func(r *record.Reader) { r.CompactString() }, record.ErrMalformed},
		{"string of negative length", "ffffffff0f", func(r *record.Reader) { r.CompactString() }, record.ErrMalformed},
		{"array larger than the input", "ff7f", func(r *record.Reader) { r.CompactArrayLength() }, record.ErrMalformed},
		{"tags larger than the input", "ff7f", func(r *record.Reader) { r.UnknownTags() }, record.ErrTruncated},
		{"tag past the end", "010502", func(r *record.Reader) { r.UnknownTags() }, record.ErrTruncated},
		{"int16 string of length -2", "fffe", func(r *record.Reader) { r.NullableString() }, record.ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := record.NewReader(fromHex(t, c.hex))
			c.read(&r)
			require.ErrorIs(t, r.Err(), c.want)
			require.Zero(t, r.Int32(), "the first error sticks")
			require.ErrorIs(t, r.Err(), c.want)
			require.Zero(t, r.Remaining())
		})
	}
}

func TestPrimitivesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i8, i16, i32, i64 := rapid.Int8().Draw(t, "i8"), rapid.Int16().Draw(t, "i16"), rapid.Int32().Draw(t, "i32"), rapid.Int64().Draw(t, "i64")
		u16, u64 := rapid.Uint16().Draw(t, "u16"), rapid.Uint64().Draw(t, "u64")
		s := rapid.StringN(0, 40, 200).Draw(t, "s")
		raw := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "raw")
		id := record.UUIDFromHalves(u64, uint64(i64))
		b := record.AppendBool(nil, i8 > 0)
		b = record.AppendInt8(b, i8)
		b = record.AppendInt16(b, i16)
		b = record.AppendUint16(b, u16)
		b = record.AppendInt32(b, i32)
		b = record.AppendInt64(b, i64)
		b = record.AppendUint64(b, u64)
		b = record.AppendVarint(b, i32)
		b = record.AppendVarlong(b, i64)
		b = record.AppendUvarlong(b, u64)
		b = record.AppendUUID(b, id)
		b = record.AppendCompactString(b, s)
		b = record.AppendCompactBytes(b, raw)
		b = record.AppendCompactNull(b)
		b = record.AppendNullableString(b, s, true)
		b = record.AppendNullableString(b, "", false)
		b = record.AppendCompactArrayLength(b, -1)
		b = record.AppendUnknownTags(b, []record.TaggedField{{Tag: 7, Data: raw}})
		r := record.NewReader(b)
		require.Equal(t, i8 > 0, r.Bool())
		require.Equal(t, i8, r.Int8())
		require.Equal(t, i16, r.Int16())
		require.Equal(t, u16, r.Uint16())
		require.Equal(t, i32, r.Int32())
		require.Equal(t, i64, r.Int64())
		require.Equal(t, u64, r.Uint64())
		require.Equal(t, i32, r.Varint())
		require.Equal(t, i64, r.Varlong())
		require.Equal(t, u64, r.Uvarlong())
		require.Equal(t, id, r.UUID())
		require.Equal(t, s, r.CompactString())
		require.Equal(t, hexOf(raw), hexOf(r.CompactBytes()))
		require.Nil(t, r.CompactNullableBytes())
		got, ok := r.NullableString()
		require.True(t, ok)
		require.Equal(t, s, got)
		_, ok = r.NullableString()
		require.False(t, ok)
		require.EqualValues(t, -1, r.CompactArrayLength())
		tags := r.UnknownTags()
		require.Len(t, tags, 1)
		require.Equal(t, hexOf(raw), hexOf(tags[0].Data))
		require.NoError(t, r.Err())
		require.Zero(t, r.Remaining())
		require.EqualValues(t, len(b), r.Offset())
	})
}

func TestUUID(t *testing.T) {
	require.Equal(t, "AAAAAAAAAAAAAAAAAAAAAA", record.ZeroUUID.String())
	require.Equal(t, "AAAAAAAAAAAAAAAAAAAAAQ", record.MetadataTopicID.String())
	require.True(t, record.UUIDFromHalves(0, 99).IsReserved())
	require.False(t, record.UUIDFromHalves(0, 100).IsReserved())
	require.True(t, record.UUIDFromHalves(0, 1<<63).IsReserved(), "the comparison is signed")
	require.False(t, record.UUIDFromHalves(1, 0).IsReserved())
	for _, text := range []string{"", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAA\nAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA+",
		"AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAA==="} {
		_, err := record.ParseUUID(text)
		require.ErrorIs(t, err, record.ErrMalformed, "%q", text)
	}
	spare, err := record.ParseUUID("AAAAAAAAAAAAAAAAAAAAAf==")
	require.NoError(t, err)
	require.Equal(t, record.MetadataTopicID, spare, "spare bits are lost")
	rapid.Check(t, func(t *rapid.T) {
		u := record.UUIDFromHalves(rapid.Uint64().Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
		back, err := record.ParseUUID(u.String())
		require.NoError(t, err)
		require.Equal(t, u, back)
	})
}

func TestBatchRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := record.BatchSpec{BaseOffset: rapid.Int64Range(0, 1<<60).Draw(t, "base"), LeaderEpoch: rapid.Int32Min(0).Draw(t, "epoch"),
			TimestampMs: rapid.Int64().Draw(t, "time")}
		values := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 1, 300), 1, 80).Draw(t, "values")
		prefix := []byte("prefix")
		b := record.AppendBatch(prefix, spec, values...)
		require.True(t, strings.HasPrefix(string(b), "prefix"))
		batch, rest, err := record.NextBatch(b[len(prefix):])
		require.NoError(t, err)
		require.Empty(t, rest)
		require.NoError(t, batch.Verify())
		require.Equal(t, spec.BaseOffset+int64(len(values)), batch.NextOffset())
		require.Equal(t, spec.TimestampMs, batch.BaseTimestampMs())
		var it record.Iterator
		var r record.Record
		it.Reset(batch)
		for i := range values {
			require.True(t, it.Next(&r))
			require.Equal(t, spec.BaseOffset+int64(i), r.Offset)
			require.Equal(t, values[i], r.Value)
		}
		require.False(t, it.Next(&r))
		require.NoError(t, it.Err())
	})
}

// TestDamage flips every bit of a batch: outside of the fields that the checksum leaves out, recovery must cut there.
func TestDamage(t *testing.T) {
	b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: 9, LeaderEpoch: 2, TimestampMs: 5}, []byte("one"), []byte("two"))
	for i := range b {
		for bit := range 8 {
			d := append([]byte(nil), b...)
			d[i] ^= 1 << bit
			valid, reason := record.Recover(d)
			uncovered := i < 8 || i >= 12 && i < 16 || i == 16 && int8(d[16]) > 2
			require.Equal(t, uncovered, valid == int64(len(d)), "byte %d bit %d", i, bit)
			require.Equal(t, uncovered, reason == nil)
		}
	}
	for n := range b {
		valid, _ := record.Recover(b[:n])
		require.Zero(t, valid)
	}
}

func TestIteratorRules(t *testing.T) {
	build := func(control bool, key, value []byte) record.Batch {
		var b record.Builder
		b.Reset(nil, record.BatchSpec{Control: control})
		b.Add(key, value)
		return b.Finish()
	}
	good := record.AppendControlKey(nil, record.KRaftVersion)
	for _, c := range []struct {
		name  string
		batch record.Batch
		ok    bool
	}{
		{"data", build(false, nil, []byte{1}), true},
		{"data with key", build(false, []byte{1}, []byte{1}), false},
		{"data without value", build(false, nil, nil), false},
		{"data with empty value", build(false, nil, []byte{}), false},
		{"control", build(true, good, []byte{1}), true},
		{"control without key", build(true, nil, []byte{1}), false},
		{"control with short key", build(true, []byte{0, 0, 2}, []byte{1}), false},
		{"control of type 1", build(true, []byte{0, 0, 0, 1}, []byte{1}), false},
		{"control of type 7", build(true, []byte{0, 0, 0, 7}, []byte{1}), false},
		{"control with key version -1", build(true, []byte{255, 255, 0, 2}, []byte{1}), false},
		{"control with key version 9", build(true, []byte{0, 9, 0, 2}, []byte{1}), true},
		{"control with empty value", build(true, good, []byte{}), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var it record.Iterator
			var r record.Record
			it.Reset(c.batch)
			require.Equal(t, c.ok, it.Next(&r))
			if c.ok {
				require.False(t, it.Next(&r))
				require.NoError(t, it.Err())
			} else {
				require.ErrorIs(t, it.Err(), record.ErrInvalidRecord)
			}
		})
	}
	require.Panics(t, func() {
		var b record.Builder
		b.Reset(nil, record.BatchSpec{})
		b.Finish()
	})
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	b := record.AppendBatch(nil, record.BatchSpec{}, []byte("one"), []byte("two"), []byte("three"))
	var it record.Iterator
	var r record.Record
	require.Zero(t, testing.AllocsPerRun(100, func() {
		batch, _, _ := record.NextBatch(b)
		_ = batch.Verify()
		it.Reset(batch)
		for it.Next(&r) {
		}
	}))
}
