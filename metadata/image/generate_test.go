package image

import (
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image/imagetest"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

func text(s string) *string { return &s }

func uuid(n int32) record.UUID { return imagetest.UUID(n) }

// genRecord draws a record of any kind that the image takes.
func genRecord() *rapid.Generator[records.Record] {
	return rapid.Custom(func(t *rapid.T) records.Record {
		return imagetest.Record(func(n int32) int32 { return rapid.Int32Range(0, n-1).Draw(t, "pick") })
	})
}

// genLog draws records that can follow each other.
func genLog(t *rapid.T, least, most int) []records.Record {
	var log []records.Record
	d := NewDelta(New())
	for _, r := range rapid.SliceOfN(genRecord(), least, most).Draw(t, "log") {
		if err := d.Replay(r); err != nil {
			require.ErrorIs(t, err, ErrImpossible)
			continue
		}
		log = append(log, r)
	}
	return log
}

// apply returns what the records make of an image, one at a time.
func apply(t require.TestingT, img *Image, log ...records.Record) *Image {
	for _, r := range log {
		d := NewDelta(img)
		require.NoError(t, d.Replay(r))
		img = d.Apply(Provenance{Offset: img.Provenance().Offset + 1, Epoch: 1})
	}
	return img
}
