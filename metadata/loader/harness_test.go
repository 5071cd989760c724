package loader

import (
	"errors"
	"flag"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20261130")
	}
	os.Exit(m.Run())
}

func release(t require.TestingT, name string) *features.Release {
	r, err := features.Find(name)
	require.NoError(t, err)
	return r
}

func config(t require.TestingT) Config {
	return Config{Release: release(t, "kip1262"), StopOnLoadFailure: true, RetryNs: DefaultRetryNs}
}

// fakeRaft is a high watermark.
type fakeRaft struct {
	highWatermark int64
	known         bool
}

func (f *fakeRaft) HighWatermark() (int64, bool) { return f.highWatermark, f.known }

// log builds batches with ascending offsets.
type log struct {
	next  int64
	epoch int32
}

func (l *log) batch(rs ...records.Record) raft.Batch {
	frames := make([][]byte, 0, len(rs))
	for _, r := range rs {
		frames = append(frames, records.Append(nil, r, 0))
	}
	b := raft.Batch{BaseOffset: l.next, LastOffset: l.next + int64(len(rs)) - 1, Epoch: l.epoch, AppendTimestampMs: 1000 + l.next}
	b.Bytes = record.AppendBatch(nil, record.BatchSpec{BaseOffset: l.next, LeaderEpoch: l.epoch}, frames...)
	l.next += int64(len(rs))
	return b
}

func (l *log) control() raft.Batch {
	l.next++
	return raft.Batch{BaseOffset: l.next - 1, LastOffset: l.next - 1, Epoch: l.epoch, Control: true, Bytes: []byte{1, 2, 3}}
}

// imageOf returns what records make of an image.
func imageOf(t require.TestingT, img *image.Image, rs ...records.Record) *image.Image {
	d := image.NewDelta(img)
	for _, r := range rs {
		require.NoError(t, d.Replay(r))
	}
	return d.Apply(image.Provenance{})
}

// publication is what a publisher was told.
type publication struct {
	kind      ManifestKind
	at        image.Provenance
	aligned   bool
	changes   int
	batches   int32
	digest    uint64
	clusterID string
}

// differences counts the entries that a delta says are different.
func differences(d *image.Delta) (n int) {
	for range d.Features() {
		n++
	}
	for range d.Configs() {
		n++
	}
	if d.ClusterIDChanged() {
		n++
	}
	return n
}

type fakePublisher struct {
	name    string
	got     []publication
	leaders []raft.LeaderAndEpoch
	err     error
	order   *[]string
}

func (f *fakePublisher) Name() string { return f.name }

func (f *fakePublisher) OnMetadataUpdate(d *image.Delta, img *image.Image, m *Manifest) error {
	f.got = append(f.got, publication{
		kind: m.Kind, at: m.Provenance, aligned: m.BatchAligned, changes: differences(d), batches: m.Batches,
		digest: img.Digest(), clusterID: img.ClusterID(),
	})
	if f.order != nil {
		*f.order = append(*f.order, f.name)
	}
	return f.err
}

func (f *fakePublisher) OnControllerChange(l raft.LeaderAndEpoch) { f.leaders = append(f.leaders, l) }

type recorder struct{ events []Event }

func (r *recorder) Observe(e *Event) { r.events = append(r.events, *e) }

func (r *recorder) count(kind EventKind) (n int) {
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

func (r *recorder) kinds() (kinds []string) {
	for _, e := range r.events {
		kinds = append(kinds, e.Kind.String())
	}
	return kinds
}

// caughtUp returns a loader at offset 1 (a control batch, one record) with one initialised publisher.
func caughtUp(t *testing.T) (*Loader, *fakePublisher, *log, *recorder, *fakeRaft) {
	t.Helper()
	rec, rf, lg := &recorder{}, &fakeRaft{known: true, highWatermark: 2}, &log{epoch: 1}
	l, err := New(config(t), Deps{Raft: rf, Observer: rec})
	require.NoError(t, err)
	p := &fakePublisher{name: "p"}
	require.NoError(t, l.Install(0, p))
	require.NoError(t, l.HandleCommit(0, []raft.Batch{lg.control(), lg.batch(level("metadata.version", 34))}))
	require.NoError(t, l.Poll(0))
	require.True(t, l.CaughtUp())
	require.Len(t, p.got, 1)
	p.got, rec.events = nil, nil
	return l, p, lg, rec, rf
}

func level(name string, level int16) records.Record {
	return &records.FeatureLevelRecord{Name: name, FeatureLevel: level}
}

func setting(name, value string) records.Record {
	return &records.ConfigRecord{ResourceType: 4, Name: name, Value: &value}
}

func begin() records.Record { return &records.BeginTransactionRecord{} }
func end() records.Record   { return &records.EndTransactionRecord{} }
func abort() records.Record { return &records.AbortTransactionRecord{} }

// memory is a tree of files that survives nothing and can fail on demand.
type memory struct {
	content map[string][]byte
	open    map[int32]string
	nextFD  int32
	failing string // writes to paths with this prefix fail
	ops     []string
}

var errDisk = errors.New("test: disk")

func newMemory() *memory { return &memory{content: map[string][]byte{}, open: map[int32]string{}} }

func (m *memory) MkdirAll(string) error { return nil }

func (m *memory) List(dir string) (names []string, err error) {
	for path := range m.content {
		if rest, ok := strings.CutPrefix(path, dir+"/"); ok {
			names = append(names, rest)
		}
	}
	slices.Sort(names)
	return names, nil
}

func (m *memory) Open(path string, create bool) (int32, error) {
	if _, ok := m.content[path]; !ok {
		if !create {
			return 0, fs.ErrNotExist
		}
		m.content[path] = nil
	}
	m.nextFD++
	m.open[m.nextFD] = path
	return m.nextFD, nil
}

func (m *memory) Close(fd int32) error { delete(m.open, fd); return nil }

func (m *memory) Size(fd int32) (int64, error) { return int64(len(m.content[m.open[fd]])), nil }

func (m *memory) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	n := copy(p, m.content[m.open[fd]][offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (m *memory) WriteAt(fd int32, p []byte, offset int64) error {
	path := m.open[fd]
	if m.failing != "" && strings.HasPrefix(path, m.failing) {
		return errDisk
	}
	c := m.content[path]
	for int64(len(c)) < offset+int64(len(p)) {
		c = append(c, 0)
	}
	copy(c[offset:], p)
	m.content[path] = c
	return nil
}

func (m *memory) Truncate(fd int32, size int64) error {
	m.content[m.open[fd]] = m.content[m.open[fd]][:size]
	return nil
}

func (m *memory) Sync(fd int32) error { m.ops = append(m.ops, "sync "+m.open[fd]); return nil }

func (m *memory) Rename(from, to string) error {
	m.ops = append(m.ops, "rename "+to)
	m.content[to] = m.content[from]
	delete(m.content, from)
	return nil
}

func (m *memory) Remove(path string) error { delete(m.content, path); return nil }

func (m *memory) SyncDir(dir string) error { m.ops = append(m.ops, "syncdir "+dir); return nil }
