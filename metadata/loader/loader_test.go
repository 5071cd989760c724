package loader

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// 7.2, points 2 and 3 (KAFKA-14857): nothing before the high watermark, and a first image without traffic.
func TestCatchingUp(t *testing.T) {
	rec, rf, lg := &recorder{}, &fakeRaft{}, &log{epoch: 3}
	l, err := New(config(t), Deps{Raft: rf, Observer: rec})
	require.NoError(t, err)
	require.Equal(t, int64(-1), l.LastAppliedOffset())
	require.Equal(t, int64(-1), l.DeadlineNs())
	p := &fakePublisher{name: "p"}
	require.NoError(t, l.Install(5, p))
	require.Equal(t, int64(5), l.DeadlineNs())

	poll := func() {
		require.NoError(t, l.Poll(l.DeadlineNs()))
	}
	require.NoError(t, l.Poll(4))
	require.Equal(t, int64(5), l.DeadlineNs(), "too early")
	poll()
	require.Equal(t, 5+DefaultRetryNs, l.DeadlineNs(), "no high watermark")

	rf.highWatermark, rf.known = 1, true
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.control()}))
	require.Equal(t, int64(0), l.LastAppliedOffset(), "control batches move the offset")
	poll()
	require.Empty(t, p.got, "no record seen: the first image is not empty")

	rf.highWatermark = 4
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(level("metadata.version", 33), setting("a", "1"))}))
	poll()
	require.Empty(t, p.got, "offset 2 of 3")
	require.Zero(t, rec.count(ImagePublished))
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "2"))}))
	require.Empty(t, p.got, "it has to be told the full state first")
	l.HandleLeaderChange(0, raft.LeaderAndEpoch{LeaderID: 2, Epoch: 3})
	poll()
	require.Equal(t, []publication{{
		kind: FullState, at: image.Provenance{Offset: 3, Epoch: 3}, aligned: true, changes: 2, digest: l.Image().Digest(),
	}}, p.got)
	require.Equal(t, []raft.LeaderAndEpoch{{LeaderID: 2, Epoch: 3}}, p.leaders)
	require.Equal(t, int64(-1), l.DeadlineNs())

	rf.known = false // the latch: never looked at again
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "3"))}))
	require.Len(t, p.got, 2)
	require.Equal(t, LogDelta, p.got[1].kind)
	late := &fakePublisher{name: "late"}
	require.NoError(t, l.Install(9, late))
	require.NoError(t, l.Poll(9))
	require.Equal(t, FullState, late.got[0].kind)
	require.ErrorIs(t, l.Install(9, &fakePublisher{name: "late"}), ErrDuplicateName)
	require.NoError(t, l.Install(9, &fakePublisher{name: "third"}))
	require.ErrorIs(t, l.Install(9, &fakePublisher{name: "third"}), ErrDuplicateName, "also while it waits")
}

func TestCaughtUpByCommit(t *testing.T) {
	rec, rf, lg := &recorder{}, &fakeRaft{known: true, highWatermark: 1}, &log{epoch: 1}
	l, err := New(config(t), Deps{Raft: rf, Observer: rec})
	require.NoError(t, err)
	l.HandleLoadBootstrap(0, []byte("anything"))
	require.Equal(t, int64(-1), l.LastAppliedOffset(), "closed without effect")
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(&records.NoOpRecord{})}))
	require.Equal(t, []string{"image-advanced", "caught-up", "image-published"}, rec.kinds())
	require.NoError(t, l.HandleCommit(0, nil))
	require.Len(t, rec.events, 3)
}

func TestControlBatchIsPublished(t *testing.T) {
	l, p, lg, _, _ := caughtUp(t)
	lg.epoch = 2
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.control()}))
	require.Equal(t, []publication{{
		at: image.Provenance{Offset: 2, Epoch: 2}, aligned: true, batches: 1, digest: l.Image().Digest(),
	}}, p.got)
}

func TestPublishersRunInOrder(t *testing.T) {
	l, p, lg, rec, _ := caughtUp(t)
	var order []string
	p.order, p.err = &order, errors.New("test: publisher")
	for _, name := range []string{"z", "a"} {
		require.NoError(t, l.Install(1, &fakePublisher{name: name, order: &order}))
	}
	require.NoError(t, l.Poll(1))
	order = nil
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "1"))}))
	require.Equal(t, []string{"p", "z", "a"}, order, "a failing publisher does not stop the others")
	require.Equal(t, 1, rec.count(PublisherFailed))

	p.err = errors.Join(ErrFatal, errors.New("test"))
	require.ErrorIs(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "2"))}), ErrFatal)
}

// 7.2, point 5, with what is published at which offset.
func TestTransactions(t *testing.T) {
	type pub struct {
		offset  int64
		aligned bool
		changes int
	}
	for _, c := range []struct {
		name  string
		calls [][][]records.Record // calls of batches of records, from offset 2
		want  []pub
		last  string // value of setting "a"
	}{
		{
			name:  "begin and end in one batch",
			calls: [][][]records.Record{{{begin(), setting("a", "1"), end()}}},
			want:  []pub{{4, true, 1}}, last: "1",
		},
		{
			name:  "over several calls",
			calls: [][][]records.Record{{{begin()}}, {{setting("a", "1"), setting("b", "1")}}, {{setting("a", "2"), end()}}},
			want:  []pub{{6, true, 2}}, last: "2",
		},
		{
			name:  "what came before begin in the same batch",
			calls: [][][]records.Record{{{setting("a", "1"), begin(), setting("b", "2")}}, {{end(), setting("a", "3")}}},
			want:  []pub{{2, false, 1}, {6, true, 2}}, last: "3",
		},
		{
			name:  "what came before begin in an earlier batch of the call",
			calls: [][][]records.Record{{{setting("a", "1")}, {begin(), setting("a", "2"), end()}}},
			want:  []pub{{2, true, 1}, {5, true, 1}}, last: "2",
		},
		{
			name:  "two transactions in one batch",
			calls: [][][]records.Record{{{begin(), setting("a", "1"), end(), begin(), setting("a", "2"), end()}}},
			want:  []pub{{4, false, 1}, {7, true, 1}}, last: "2",
		},
		{
			name:  "abort publishes an empty delta",
			calls: [][][]records.Record{{{begin(), setting("a", "1")}}, {{abort()}}},
			want:  []pub{{4, true, 0}},
		},
		{
			name:  "the trap: begin follows the abort in the same call",
			calls: [][][]records.Record{{{begin(), setting("a", "1")}}, {{abort(), begin(), setting("b", "2"), end()}}},
			want:  []pub{{4, false, 0}, {7, true, 1}},
		},
		{
			name:  "the trap: records follow the abort in the same call",
			calls: [][][]records.Record{{{begin(), setting("a", "1"), abort()}, {setting("b", "2")}}},
			want:  []pub{{5, true, 1}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, p, lg, _, _ := caughtUp(t)
			for _, call := range c.calls {
				var batches []raft.Batch
				for _, rs := range call {
					batches = append(batches, lg.batch(rs...))
				}
				require.NoError(t, l.HandleCommit(0, batches))
			}
			var got []pub
			for _, g := range p.got {
				got = append(got, pub{g.at.Offset, g.aligned, g.changes})
			}
			require.Equal(t, c.want, got)
			value, found := l.Image().Config(image.ConfigKey{Type: 4, Name: "a"})
			require.Equal(t, c.last != "", found)
			require.Equal(t, c.last, value)
		})
	}
}

func TestLoadFailures(t *testing.T) {
	for _, c := range []struct {
		name    string
		release string
		records []records.Record
	}{
		{name: "nested begin", records: []records.Record{begin(), begin()}},
		{name: "stray end", records: []records.Record{setting("a", "1"), end()}},
		{name: "stray abort", records: []records.Record{abort()}},
		{name: "unknown level", records: []records.Record{level("metadata.version", 35)}},
		{name: "unknown topic", records: []records.Record{records.NewPartitionRecord()}},
		{name: "two cluster ids", records: []records.Record{id("X"), id("Y")}},
		{name: "empty cluster id", records: []records.Record{&records.ClusterIdRecord{}}},
		{name: "cluster id in released", release: "upstream-4.5", records: []records.Record{&records.ClusterIdRecord{ClusterId: "X"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, _, lg, _, _ := caughtUp(t)
			if c.release != "" {
				l.cfg.Release = release(t, c.release)
			}
			before := l.Image().AppendTo(nil)
			bad := []raft.Batch{lg.batch(c.records...)}
			require.ErrorIs(t, l.HandleCommit(0, bad), ErrLoad, "a controller stops")

			l, p, _, rec, _ := caughtUp(t)
			l.cfg.StopOnLoadFailure = false
			if c.release != "" {
				l.cfg.Release = release(t, c.release)
			}
			require.NoError(t, l.HandleCommit(0, bad))
			require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(setting("a", "2"))}))
			require.Equal(t, before, l.Image().AppendTo(nil), "a broker keeps its last good image")
			require.Empty(t, p.got)
			require.Equal(t, 1, rec.count(LoadFailed))
		})
	}
	l, _, _, _, _ := caughtUp(t)
	require.ErrorIs(t, l.HandleCommit(0, []raft.Batch{{Bytes: make([]byte, 61)}}), ErrLoad)

	l, _, lg, _, _ := caughtUp(t)
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(&records.ClusterIdRecord{ClusterId: "X"})}))
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(&records.ClusterIdRecord{ClusterId: "X"})}), "T12")
	require.ErrorIs(t, l.HandleCommit(0, []raft.Batch{lg.batch(&records.ClusterIdRecord{ClusterId: "Y"})}), ErrLoad, "C3")
}

// However a log is cut into batches and calls, the loader ends at the same image, publishes every offset range once and
// in order, and never what an open or aborted transaction holds.
func TestCutsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, pending := image.New(), image.New()
		open := false
		var rs []records.Record
		stable := map[uint64]bool{}
		for range rapid.IntRange(1, 30).Draw(t, "records") {
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case kind == 0 && !open:
				rs, open, pending = append(rs, begin()), true, want
			case kind == 0:
				rs, open, want = append(rs, end()), false, pending
			case kind == 1 && open:
				rs, open = append(rs, abort()), false
			default:
				r := setting(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), rapid.StringN(0, 3, 3).Draw(t, "value"))
				rs = append(rs, r)
				if open {
					pending = imageOf(t, pending, r)
				} else {
					want = imageOf(t, want, r)
				}
			}
			stable[want.Digest()] = true
		}
		rec, lg := &recorder{}, &log{epoch: 1}
		rf := &fakeRaft{known: true, highWatermark: 0}
		l, err := New(config(t), Deps{Raft: rf, Observer: rec})
		require.NoError(t, err)
		for len(rs) > 0 {
			var batches []raft.Batch
			for range rapid.IntRange(1, 3).Draw(t, "batches") {
				n := min(len(rs), rapid.IntRange(1, 4).Draw(t, "batch"))
				if n == 0 {
					break
				}
				batches, rs = append(batches, lg.batch(rs[:n]...)), rs[n:]
			}
			require.NoError(t, l.HandleCommit(0, batches))
		}
		require.Equal(t, want.AppendTo(nil), l.Image().AppendTo(nil))
		require.Equal(t, want.Digest(), l.Image().Digest())
		at := int64(-1)
		for _, e := range rec.events {
			if e.Kind == ImageAdvanced {
				require.Equal(t, at, e.Other)
				require.Greater(t, e.Offset, at)
				at = e.Offset
				require.True(t, stable[e.Digest], "a state that was never stable")
			}
		}
	})
}

func TestConfigIsChecked(t *testing.T) {
	_, err := New(Config{RetryNs: 1}, Deps{})
	require.ErrorIs(t, err, ErrConfig)
	_, err = New(Config{Release: release(t, "4.0")}, Deps{})
	require.ErrorIs(t, err, ErrConfig)
	for k := ImageAdvanced; k <= DirectoryFailed; k++ {
		require.NotEmpty(t, k.String())
	}
	require.Panics(t, func() { _ = EventKind(0).String() })
}

func TestAppendState(t *testing.T) {
	l, _, lg, _, _ := caughtUp(t)
	before, protocol := l.AppendState(nil, false), l.AppendState(nil, true)
	require.NoError(t, l.Install(7, &fakePublisher{name: "q"}))
	require.NotEqual(t, before, l.AppendState(nil, false))
	l.waiting, l.deadlineNs = nil, 7
	require.NotEqual(t, before, l.AppendState(nil, false))
	require.Equal(t, protocol, l.AppendState(nil, true), "times are left out")
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.batch(begin(), setting("a", "1"))}))
	require.NotEqual(t, protocol, l.AppendState(nil, true))
}

func BenchmarkHandleCommit(b *testing.B) {
	l, err := New(config(b), Deps{Raft: &fakeRaft{known: true}, Observer: quiet{}})
	require.NoError(b, err)
	lg := &log{epoch: 1}
	batches := []raft.Batch{lg.batch(setting("workload.0", "some value"))}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		batches[0].LastOffset = int64(i)
		_ = l.HandleCommit(0, batches)
	}
}

type quiet struct{}

func (quiet) Observe(*Event) {}
