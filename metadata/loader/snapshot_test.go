package loader

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// snapshot is the content of a snapshot with these records.
func snapshot(timestampMs int64, rs ...records.Record) []byte {
	var b record.Builder
	b.Reset(nil, record.BatchSpec{Control: true})
	b.AddControl(record.SnapshotHeader, (&record.SnapshotHeaderRecord{LastContainedLogTimestampMs: timestampMs}).AppendTo(nil))
	content := b.Finish()
	next := int64(1)
	for _, r := range rs {
		content = record.AppendBatch(content, record.BatchSpec{BaseOffset: next}, records.Append(nil, r, 0))
		next++
	}
	b.Reset(content, record.BatchSpec{BaseOffset: next, Control: true})
	b.AddControl(record.SnapshotFooter, (&record.SnapshotFooterRecord{}).AppendTo(nil))
	return b.Finish()
}

func at(offset int64, epoch int32) raft.OffsetAndEpoch {
	return raft.OffsetAndEpoch{Offset: offset, Epoch: epoch}
}

// 7.2, point 6: a snapshot replaces the image; what it does not mention is gone, and the publishers are told the difference.
func TestSnapshotReplacesTheImage(t *testing.T) {
	l, p, lg, rec, _ := caughtUp(t)
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "1"), setting("b", "2"))}))
	p.got, rec.events = nil, nil
	require.NoError(t, l.HandleLoadSnapshot(0, at(50, 7), snapshot(99, level("metadata.version", 33), setting("b", "3"))))
	require.Equal(t, image.Provenance{Offset: 49, Epoch: 7}, l.Image().Provenance(), "the id is exclusive")
	require.EqualValues(t, 33, l.Image().MetadataVersion())
	_, found := l.Image().Config(image.ConfigKey{Type: 4, Name: "a"})
	require.False(t, found)
	value, _ := l.Image().Config(image.ConfigKey{Type: 4, Name: "b"})
	require.Equal(t, "3", value)
	require.Len(t, p.got, 1)
	require.Equal(t, Snapshot, p.got[0].kind)
	require.Equal(t, image.Provenance{Offset: 49, Epoch: 7}, p.got[0].at)
	require.True(t, p.got[0].aligned)
	require.Equal(t, 3, p.got[0].changes, "two set, one deleted")
	require.Equal(t, []string{"snapshot-loaded", "image-advanced", "image-published"}, rec.kinds())

	fresh := imageOf(t, image.New(), level("metadata.version", 33), setting("b", "3"))
	require.Equal(t, fresh.Digest(), l.Image().Digest())
	require.Equal(t, fresh.AppendTo(nil), l.Image().AppendTo(nil))

	lg.next, lg.epoch = 50, 7
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("c", "4"))}))
	require.Equal(t, LogDelta, p.got[1].kind)
	require.EqualValues(t, 50, l.LastAppliedOffset())
}

// An empty snapshot moves the offset, with its provenance.
func TestEmptySnapshot(t *testing.T) {
	l, p, _, _, _ := caughtUp(t)
	require.NoError(t, l.HandleLoadSnapshot(0, at(400, 100), snapshot(4000)))
	require.Equal(t, image.Provenance{Offset: 399, Epoch: 100}, l.Image().Provenance())
	require.Equal(t, image.New().Digest(), l.Image().Digest())
	require.Len(t, p.got, 1)
}

// A snapshot drops an open transaction.
func TestSnapshotDuringTransaction(t *testing.T) {
	l, p, lg, _, _ := caughtUp(t)
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(begin(), setting("a", "1"))}))
	require.Empty(t, p.got)
	require.NoError(t, l.HandleLoadSnapshot(0, at(50, 2), snapshot(1, level("metadata.version", 34))))
	require.Len(t, p.got, 1)
	_, found := l.Image().Config(image.ConfigKey{Type: 4, Name: "a"})
	require.False(t, found)
	lg.next = 50
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(begin(), setting("a", "2"), end())}))
	require.Len(t, p.got, 2)
}

// A loader that begins with a snapshot catches up by it.
func TestSnapshotFirst(t *testing.T) {
	l, err := New(config(t), Deps{Raft: &fakeRaft{known: true, highWatermark: 50}})
	require.NoError(t, err)
	p := &fakePublisher{name: "p"}
	require.NoError(t, l.Install(0, p))
	require.NoError(t, l.HandleLoadSnapshot(0, at(50, 2), snapshot(1, level("metadata.version", 34))))
	require.True(t, l.CaughtUp())
	require.NoError(t, l.Poll(0))
	require.Equal(t, FullState, p.got[0].kind)
	require.EqualValues(t, 49, p.got[0].at.Offset)
}

// What cannot be a snapshot of this node stops a controller and freezes a broker's image.
func TestBadSnapshots(t *testing.T) {
	good := snapshot(1, level("metadata.version", 34))
	flipped := append([]byte(nil), good...)
	flipped[len(flipped)-1] ^= 1
	for name, c := range map[string]struct {
		id      raft.OffsetAndEpoch
		content []byte
	}{
		"from the past":    {at(1, 1), good},
		"no footer":        {at(50, 1), good[:len(good)-75]},
		"cut short":        {at(50, 1), good[:len(good)-1]},
		"flipped":          {at(50, 1), flipped},
		"nothing":          {at(50, 1), nil},
		"unknown version":  {at(50, 1), snapshot(1, level("metadata.version", 999))},
		"transaction mark": {at(50, 1), snapshot(1, begin())},
	} {
		t.Run(name, func(t *testing.T) {
			l, p, _, _, _ := caughtUp(t)
			before := l.Image().Digest()
			require.ErrorIs(t, l.HandleLoadSnapshot(0, c.id, c.content), ErrLoad)
			require.Empty(t, p.got)
			require.Equal(t, before, l.Image().Digest())
			l, _, _, rec, _ := caughtUp(t)
			l.cfg.StopOnLoadFailure = false
			require.NoError(t, l.HandleLoadSnapshot(0, c.id, c.content))
			require.Equal(t, 1, rec.count(LoadFailed))
			require.NoError(t, l.HandleLoadSnapshot(0, at(60, 1), good), "it reads no further")
			require.EqualValues(t, 1, l.LastAppliedOffset())
		})
	}
}

// The guard is asked about a cluster id in a snapshot, too (4.8).
func TestSnapshotOfAnotherCluster(t *testing.T) {
	d := discover(t, map[string]string{"/d/a": "X", "/d/b": "X", "/d/c": "X"}, "/d/b")
	err := d.loader.HandleLoadSnapshot(0, at(50, 1), snapshot(1, level("metadata.version", 34), id("Y")))
	require.ErrorIs(t, err, ErrClusterID)
}

// lane is a SnapshotLane that keeps the jobs.
type lane struct {
	jobs  []*SnapshotJob
	nowNs int64
}

func (l *lane) Submit(job *SnapshotJob) { l.jobs = append(l.jobs, job) }
func (l *lane) MonotonicNs() int64      { return l.nowNs }

// 7.3: bytes, then time, only when the last job is over and only at the end of a batch.
func TestSnapshotGenerator(t *testing.T) {
	ln := &lane{nowNs: 5}
	g, err := NewSnapshotGenerator(SnapshotConfig{MaxBytes: 100, IntervalNs: 50}, ln)
	require.NoError(t, err)
	img := imageOf(t, image.New(), level("metadata.version", 34))
	update := func(kind ManifestKind, offset, bytes int64, aligned bool) int {
		m := &Manifest{Kind: kind, Provenance: image.Provenance{Offset: offset, Epoch: 3}, BatchAligned: aligned, Bytes: bytes, AppendTimestampMs: 77}
		require.NoError(t, g.OnMetadataUpdate(image.NewDelta(img), img, m))
		return len(ln.jobs)
	}
	require.Equal(t, 0, update(LogDelta, 1, 99, true))
	require.Equal(t, 0, update(LogDelta, 2, 1, false), "not at the end of a batch")
	require.Equal(t, 1, update(LogDelta, 3, 0, true))
	job := ln.jobs[0]
	require.Equal(t, at(4, 3), job.ID, "one more than the last offset in it (KAFKA-14618)")
	require.EqualValues(t, 77, job.TimestampMs)
	frames, err := job.Image.AppendFrames(nil)
	require.NoError(t, err)
	require.Equal(t, [][]byte{records.Append(nil, level("metadata.version", 34), 0)}, frames)
	require.Equal(t, 1, update(LogDelta, 4, 500, true), "the last job is not over")
	g.JobDone()
	require.Equal(t, 2, update(LogDelta, 5, 0, true))
	g.JobDone()
	ln.nowNs = 54
	require.Equal(t, 2, update(LogDelta, 6, 1, true))
	ln.nowNs = 55
	require.Equal(t, 3, update(LogDelta, 7, 1, true), "by time")
	g.JobDone()
	ln.nowNs = 1000
	require.Equal(t, 3, update(Snapshot, 8, 500, true), "a snapshot that was loaded is as good as one that was made")
	require.Equal(t, 3, update(LogDelta, 9, 99, true))
	require.Equal(t, 4, update(LogDelta, 10, 1, true))

	g, err = NewSnapshotGenerator(SnapshotConfig{MaxBytes: 100}, ln)
	require.NoError(t, err)
	ln.nowNs = 1 << 60
	require.Equal(t, 4, update(LogDelta, 1, 99, true), "an interval of 0 is off")
	_, err = NewSnapshotGenerator(SnapshotConfig{}, ln)
	require.ErrorIs(t, err, ErrConfig)
}

// The image is captured when the job is made: what happens to it afterwards is not in the snapshot (KB-40).
func TestSnapshotJobIsFixed(t *testing.T) {
	ln := &lane{}
	g, err := NewSnapshotGenerator(SnapshotConfig{MaxBytes: 1}, ln)
	require.NoError(t, err)
	l, _, lg, _, _ := caughtUp(t)
	require.NoError(t, l.Install(0, g))
	require.NoError(t, l.Poll(0))
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "1"))}))
	require.Len(t, ln.jobs, 1)
	digest := l.Image().Digest()
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "2"))}))
	job := ln.jobs[0]
	require.Equal(t, digest, job.Image.Digest())
	frames, err := job.Image.AppendFrames(nil)
	require.NoError(t, err)
	rebuilt := image.New()
	for _, frame := range frames {
		r, _, err := records.Decode(frame)
		require.NoError(t, err)
		rebuilt = imageOf(t, rebuilt, r)
	}
	require.Equal(t, digest, rebuilt.Digest())
}

// noSnapshots is a RaftSnapshots that nobody may ask.
type noSnapshots struct{ t *testing.T }

func (n noSnapshots) CreateSnapshot(int64, raft.OffsetAndEpoch, int64) (*raft.SnapshotWriter, error) {
	n.t.Fatal("a snapshot was begun")
	return nil, nil
}

// An image that its metadata.version cannot express makes no snapshot, and is no reason to stop (7.2).
func TestSnapshotLoss(t *testing.T) {
	ln := &lane{}
	g, err := NewSnapshotGenerator(SnapshotConfig{MaxBytes: 1}, ln)
	require.NoError(t, err)
	img := imageOf(t, image.New(), level("metadata.version", 7), id("X"))
	require.NoError(t, g.OnMetadataUpdate(image.NewDelta(img), img, &Manifest{Bytes: 1, BatchAligned: true}))
	require.Len(t, ln.jobs, 1)
	frozen, err := ln.jobs[0].Write(0, noSnapshots{t}, 1)
	require.False(t, frozen)
	require.ErrorIs(t, err, ErrContent)
	require.ErrorIs(t, err, image.ErrLoss)
}
