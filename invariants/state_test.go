package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/image/imagetest"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// follow replays records with the checkers' code.
func follow(s *recordState, log ...records.Record) {
	l := &ledger{}
	for _, r := range log {
		l.edit(r)
	}
	for _, e := range l.edits {
		s.apply(e)
	}
}

func newRecordState(log ...records.Record) *recordState {
	s := &recordState{}
	s.reset()
	follow(s, log...)
	return s
}

// genLog draws records that can follow each other, and the image before each and after the last.
func genLog(t *rapid.T) (log []records.Record, images []*image.Image) {
	images = []*image.Image{image.New()}
	for range rapid.IntRange(0, 80).Draw(t, "records") {
		r := imagetest.Record(func(n int32) int32 { return rapid.Int32Range(0, n-1).Draw(t, "pick") })
		d := image.NewDelta(images[len(images)-1])
		if d.Replay(r) == nil {
			log, images = append(log, r), append(images, d.Apply(image.Provenance{}))
		}
	}
	return log, images
}

// The rows of a log and those of the snapshot that the product writes of it are the same, and they tell states apart exactly as
// images do: two readings of the facts that agree. An aborted transaction leaves nothing.
func TestRowsAgreeWithImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log, images := genLog(t)
		rows := make([]*recordState, len(images))
		for n := range images {
			rows[n] = newRecordState(log[:n]...)
			require.False(t, rows[n].opaque)
			var snapshot []records.Record
			require.NoError(t, images[n].Write(&image.WriteOptions{MetadataVersion: 1<<15 - 1}, func(r records.Record, _ int16) error {
				if f, ok := r.(*records.FeatureLevelRecord); ok && f.Name == image.MetadataVersion {
					f.FeatureLevel = images[n].MetadataVersion()
				}
				snapshot = append(snapshot, r)
				return nil
			}))
			again := newRecordState(snapshot...)
			require.Equal(t, rows[n].rows, again.rows)
			require.Equal(t, rows[n].sum, again.sum)
		}
		a, b := rapid.IntRange(0, len(log)).Draw(t, "a"), rapid.IntRange(0, len(log)).Draw(t, "b")
		require.Equal(t, images[a].Equal(images[b]), rows[a].sum == rows[b].sum)

		from := min(a, b)
		aborted := newRecordState(log[:from]...)
		follow(aborted, &records.BeginTransactionRecord{})
		follow(aborted, log[from:]...)
		follow(aborted, &records.AbortTransactionRecord{})
		require.Equal(t, rows[from].rows, aborted.rows)
		require.Equal(t, rows[from].sum, aborted.sum)
		follow(aborted, log[from:]...)
		require.Equal(t, rows[len(log)].sum, aborted.sum)
	})
}
