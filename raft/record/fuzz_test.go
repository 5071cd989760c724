package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/record"
)

// FuzzRecover walks any bytes in all three ways; what recovery keeps, the file reader walks whole.
func FuzzRecover(f *testing.F) {
	f.Add(record.AppendBatch(nil, record.BatchSpec{BaseOffset: 1}, []byte("one"), []byte("two")))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		valid, reason := record.Recover(b)
		require.Equal(t, valid == int64(len(b)), reason == nil)
		for rest := b[:valid]; len(rest) > 0; {
			batch, next, err := record.NextFileBatch(rest)
			require.NoError(t, err)
			require.NotEmpty(t, batch)
			rest = next
		}
		for rest := b; ; {
			batch, next, _, err := decodeBatch(rest, false)
			if err != nil || len(batch) == 0 {
				break
			}
			require.Len(t, next, len(rest)-len(batch))
			rest = next
		}
	})
}

// FuzzCompressed decodes any bytes as the records of a compressed batch.
func FuzzCompressed(f *testing.F) {
	for kind := range byte(8) {
		f.Add(kind, []byte("\x04\x22\x4d\x18\x60\x40\x82\x00\x00\x00\x00"))
		f.Add(kind, []byte("\x82SNAPPY\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x01\x00"))
	}
	f.Fuzz(func(t *testing.T, kind byte, body []byte) {
		b := record.AppendBatch(nil, record.BatchSpec{}, []byte("one"))[:record.BatchOverhead]
		b = append(b, body...)
		b[22] = kind & 7
		var it record.Iterator
		var r record.Record
		it.Reset(record.Batch(b))
		n := 0
		for it.Next(&r) {
			n++
		}
		require.LessOrEqual(t, n, 1, "the header says one record")
		require.Equal(t, n == 0, it.Err() != nil)
	})
}

// FuzzControlRecords decodes any bytes as each control record; what decodes encodes to bytes that decode to the same.
func FuzzControlRecords(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 3, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0})
	f.Add([]byte{0, 0, 0, 1, 0})
	f.Add([]byte{0, 0, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		var change, change2 record.LeaderChangeMessage
		for version := range int16(2) {
			if change.Decode(b, version) == nil {
				require.NoError(t, change2.Decode(change.AppendTo(nil, version), version))
				require.Equal(t, change, change2)
			}
		}
		var voters, voters2 record.VotersRecord
		if voters.Decode(b) == nil {
			require.NoError(t, voters2.Decode(voters.AppendTo(nil)))
			require.Equal(t, voters, voters2)
		}
		var header, header2 record.SnapshotHeaderRecord
		if header.Decode(b) == nil {
			require.NoError(t, header2.Decode(header.AppendTo(nil)))
			require.Equal(t, header, header2)
		}
		var footer, footer2 record.SnapshotFooterRecord
		if footer.Decode(b) == nil {
			require.NoError(t, footer2.Decode(footer.AppendTo(nil)))
			require.Equal(t, footer, footer2)
		}
		var version, version2 record.KRaftVersionRecord
		if version.Decode(b) == nil {
			require.NoError(t, version2.Decode(version.AppendTo(nil)))
			require.Equal(t, version, version2)
		}
		_, _ = record.ParseControlKey(b)
	})
}

// FuzzParseUUID: text that parses prints as a text that parses to the same.
func FuzzParseUUID(f *testing.F) {
	f.Add("J8aAPcfLQt2bqs1JT_rMgQ")
	f.Add("AAAAAAAAAAAAAAAAAAAAAQ==")
	f.Fuzz(func(t *testing.T, text string) {
		u, err := record.ParseUUID(text)
		if err != nil {
			return
		}
		back, err := record.ParseUUID(u.String())
		require.NoError(t, err)
		require.Equal(t, u, back)
	})
}

// FuzzReader reads any bytes as a script of reads; no read goes past the end.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := record.NewReader(b)
		reads := []func(){func() { r.Int8() }, func() { r.Int16() }, func() { r.Int32() }, func() { r.Int64() }, func() { r.Varint() },
			func() { r.Varlong() }, func() { r.UUID() }, func() { r.CompactString() }, func() { r.CompactBytes() },
			func() { r.CompactArrayLength() }, func() { r.UnknownTags() }, func() { r.NullableString() }}
		for _, op := range b {
			reads[int(op)%len(reads)]()
			require.LessOrEqual(t, int(r.Offset()), len(b))
		}
	})
}
