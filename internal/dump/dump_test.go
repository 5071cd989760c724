package dump_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/internal/dump"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/stretchr/testify/require"
)

// batch makes a batch of NoOp records.
func batch(base int64, epoch int32, count int) []byte {
	values := make([][]byte, count)
	for i := range values {
		values[i] = records.Append(nil, &records.NoOpRecord{}, 0)
	}
	return batchOf(base, epoch, values...)
}

func batchOf(base int64, epoch int32, values ...[]byte) []byte {
	body := []byte{}
	for i, v := range values {
		r := record.AppendVarint([]byte{0, 0}, int32(i))
		r = record.AppendVarint(append(r, 1), int32(len(v)))
		r = append(append(r, v...), 0)
		body = append(record.AppendVarint(body, int32(len(r))), r...)
	}
	return seal(base, epoch, int32(len(values)), body)
}

// seal puts a header in front of the records.
func seal(base int64, epoch, count int32, body []byte) []byte {
	b := make([]byte, record.BatchOverhead, record.BatchOverhead+len(body))
	binary.BigEndian.PutUint64(b, uint64(base))
	binary.BigEndian.PutUint32(b[8:], uint32(record.BatchOverhead-12+len(body)))
	binary.BigEndian.PutUint32(b[12:], uint32(epoch))
	b[16] = record.MagicV2
	binary.BigEndian.PutUint32(b[23:], uint32(count-1))
	binary.BigEndian.PutUint64(b[27:], 1700000000000)
	binary.BigEndian.PutUint64(b[35:], 1700000000000)
	for i := 43; i < 57; i++ {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint32(b[57:], uint32(count))
	b = append(b, body...)
	binary.BigEndian.PutUint32(b[17:], record.Checksum(b[21:]))
	return b
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, content, 0o600))
}

func text(t *testing.T, path string, options dump.Options) (string, dump.Summary) {
	t.Helper()
	var out bytes.Buffer
	summary, err := dump.Dump(&out, path, options)
	require.NoError(t, err)
	return out.String(), summary
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestRecoveryOfADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "__cluster_metadata-0")
	bad := batch(4, 1, 1)
	bad[len(bad)-1] ^= 1
	write(t, dir+"/00000000000000000000.log", batch(0, 1, 3))
	write(t, dir+"/00000000000000000003.log", join(batch(3, 1, 1), bad, batch(5, 1, 1)))
	write(t, dir+"/00000000000000000006.log", batch(6, 2, 1))
	write(t, dir+"/00000000000000000008.log", batch(8, 2, 1))
	got, summary := text(t, dir, dump.Options{})
	require.EqualValues(t, 1, summary.Damaged)
	require.EqualValues(t, 7, summary.Records, "the batches behind the damage are decoded")
	require.Contains(t, got, "damage at 72: corrupt batch: checksum")
	require.Contains(t, got, "recovery would cut at 72 and drop 144 bytes")
	require.Contains(t, got, "warning: the segment begins at 8, the one before ends at 7")
	require.Contains(t, got, "recovery would cut "+dir+"/00000000000000000003.log at 72 and drop "+
		dir+"/00000000000000000006.log, "+dir+"/00000000000000000008.log\n")
}

// TestLogWithoutItsBeginning: what lies below the first segment has to be in a snapshot that reaches it (kraft-protocol 4.7); one below
// it is removed at start, one that is left over or not frozen is none, and other logs need none.
func TestLogWithoutItsBeginning(t *testing.T) {
	const told = "damage: the log begins at 3 and no snapshot reaches that far: Kafka refuses to start"
	for _, c := range []struct {
		name, where, beside string
		told                bool
	}{
		{"no snapshot", "__cluster_metadata-0", "", true},
		{"of formatting", "__cluster_metadata-0", "00000000000000000000-0000000000.checkpoint", true},
		{"below", "__cluster_metadata-0", "00000000000000000002-0000000001.checkpoint", true},
		{"not frozen", "__cluster_metadata-0", "00000000000000000003-0000000001-7.checkpoint.part", true},
		{"on its way out", "__cluster_metadata-0", "00000000000000000003-0000000001.checkpoint.deleted", true},
		{"at the beginning", "__cluster_metadata-0", "00000000000000000003-0000000001.checkpoint", false},
		{"ahead", "__cluster_metadata-0", "00000000000000000009-0000000001.checkpoint", false},
		{"a topic's", "topic-0", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), c.where)
			write(t, dir+"/00000000000000000003.log", batch(3, 1, 1))
			write(t, dir+"/00000000000000000004.log", batch(4, 1, 1))
			if c.beside != "" {
				write(t, dir+"/"+c.beside, nil)
			}
			got, _ := text(t, dir, dump.Options{})
			want := 0
			if c.told {
				want = 1
			}
			require.Equal(t, want, strings.Count(got, told), got)
		})
	}
}

func TestNamesInThePartitionDirectory(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"base.log", "bootstrap.checkpoint", "5.checkpoint"} {
		write(t, root+"/__cluster_metadata-0/"+name, nil)
		write(t, root+"/elsewhere/"+name, nil)
	}
	got, _ := text(t, root+"/__cluster_metadata-0", dump.Options{})
	require.Equal(t, 3, strings.Count(got, "Kafka refuses to start"))
	got, _ = text(t, root+"/elsewhere", dump.Options{})
	require.NotContains(t, got, "Kafka refuses to start")
	// A single file knows its directory too.
	got, summary := text(t, root+"/__cluster_metadata-0/base.log", dump.Options{})
	require.Contains(t, got, "Kafka refuses to start")
	require.EqualValues(t, 1, summary.Damaged)
}

func TestLeftoversAreNoDamage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "__cluster_metadata-0")
	torn := batch(0, 1, 3)[:70]
	for _, name := range []string{
		"00000000000000000000.log.deleted", "00000000000000000000.index.deleted", "00000000000000000009-0000000002-871.checkpoint.part",
		"00000000000000000005-0000000001.checkpoint.deleted", "quorum-state.tmp", "00000000000000000007.log.swap",
		"leader-epoch-checkpoint.tmp", "partition.metadata.tmp",
	} {
		write(t, dir+"/"+name, torn)
	}
	write(t, dir+"/noise.tmp", torn)
	got, summary := text(t, dir, dump.Options{})
	require.Zero(t, summary.Damaged)
	require.EqualValues(t, 9, summary.Files)
	require.EqualValues(t, 1, summary.Unknown)
	require.Positive(t, summary.Warnings)
	require.Contains(t, got, "checkpoint, left over .part, 70 bytes")
	require.NotContains(t, got, "recovery would cut "+dir)
}

func TestUnknownRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	write(t, path, batchOf(0, 1, []byte{1, 99, 0, 7, 0}, []byte{1, 12, 9, 0}, []byte{1, 2}, []byte{1, 20, 0, 0}))
	got, summary := text(t, path, dump.Options{})
	require.Contains(t, got, "    0 key 99 v0 hex 0163000700\n")
	require.Contains(t, got, "    1 FeatureLevelRecord v9 hex 010c0900\n")
	require.Contains(t, got, "    2 undecoded hex 0102\n")
	require.Contains(t, got, "    3 NoOpRecord v0 {}\n", "the record behind is decoded")
	require.Contains(t, got, "record at offset 0: unknown record key: 99")
	require.EqualValues(t, 1, summary.Damaged)
	all, _ := lines(t, path, dump.Options{})
	require.Equal(t, "0163000700", ofType(all, "record")[0]["valueHex"])
	require.NotContains(t, ofType(all, "record")[3], "valueHex")
}

// TestCounters: a log of the counters that Kafka's own simulation appends is whole; four odd bytes behind a metadata record are damage, and so
// are odd bytes of another length.
func TestCounters(t *testing.T) {
	file := t.TempDir() + "/__cluster_metadata-0/00000000000000000000.log"
	one, odd := []byte{0, 0, 0, 1}, []byte{0, 0, 0, 1, 0}
	for _, c := range []struct {
		content        []byte
		damaged, warns int64
	}{
		{join(batchOf(0, 1, one), batchOf(1, 1, one, one)), 0, 1},
		{join(batchOf(0, 1, one), batch(1, 1, 1)), 0, 1},
		{join(batchOf(0, 1, one), batchOf(1, 1, odd)), 1, 1},
		{join(batch(0, 1, 1), batchOf(1, 1, one)), 1, 0},
		{batchOf(0, 1, odd), 1, 0},
	} {
		write(t, file, c.content)
		got, summary := text(t, file, dump.Options{})
		require.Equal(t, c.damaged, summary.Damaged, got)
		require.Equal(t, c.warns, summary.Warnings, got)
		if c.damaged == 0 {
			require.Contains(t, got, "\n    0 undecoded hex 00000001\n")
		}
	}
}

func TestOddOffsetsAndEpochs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	write(t, path, join(batch(0, 5, 1), batch(2, 4, 1), seal(3, 4, 1, nil)))
	got, summary := text(t, path, dump.Options{})
	require.Contains(t, got, "warning at 72: base offset 2 where 1 is expected")
	require.Contains(t, got, "warning at 72: epoch 4 behind epoch 5")

	write(t, path, join(batch(0, 5, 1), batch(2, 5, 1)))
	gap, _ := text(t, path, dump.Options{})
	require.Contains(t, gap, "warning at 72: base offset 2 where 1 is expected")
	require.Contains(t, gap, "; recovery would keep all of it")
	require.NotContains(t, gap, "all sound")
	require.EqualValues(t, 1, summary.Damaged, "the last batch claims a record that is not there")
	require.Contains(t, got, "readers stop at 144; recovery would keep all of it")
}

func TestCheckpoints(t *testing.T) {
	root := t.TempDir()
	write(t, root+"/00000000000000000007-0000000002.checkpoint", batch(0, 3, 1))
	got, summary := text(t, root, dump.Options{})
	require.EqualValues(t, 1, summary.Damaged)
	require.Contains(t, got, "damage at 0: the first record is no SNAPSHOT_HEADER")
	require.Contains(t, got, "damage at 72: the last record is no SNAPSHOT_FOOTER")
	require.Contains(t, got, "the batches have epoch 3, the name says 2")
	require.NotContains(t, got, "recovery")

	write(t, root+"/b/bootstrap.checkpoint", batch(0, 0, 1))
	got, summary = text(t, root+"/b", dump.Options{})
	require.Zero(t, summary.Damaged, "its reader asks for neither header nor footer")
	require.EqualValues(t, 1, summary.Warnings)
	require.Contains(t, got, "0 NoOpRecord v0 {}")
}

func entry(numbers ...int32) []byte {
	var b []byte
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint32(b, uint32(n))
	}
	return b
}

func TestIndexes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/00000000000000000100.log", join(batch(100, 1, 2), batch(102, 1, 1)))
	for name, c := range map[string]struct {
		file    string
		content []byte
		want    string
		damaged int64
	}{
		"sound":         {"00000000000000000100.index", entry(2, 83), "  offset 102 at 83\n", 0},
		"preallocated":  {"00000000000000000100.index", append(entry(2, 83), make([]byte, 80)...), "unused: 80 bytes", 0},
		"noise behind":  {"00000000000000000100.index", append(append(entry(2, 83), make([]byte, 80)...), 1, 2, 3, 4, 5, 6, 7, 8), "damage at 88: bytes behind", 1},
		"wrong place":   {"00000000000000000100.index", entry(2, 82), "damage at 0: the segment has no batch at 82 that ends with offset 102", 1},
		"out of order":  {"00000000000000000100.index", entry(2, 83, 1, 0), "do not ascend", 1},
		"odd size":      {"00000000000000000100.index", append(entry(2, 83), 1), "damage at 8: 1 bytes that are no whole entry", 1},
		"no segment":    {"00000000000000000200.index", nil, "warning: there is no segment", 0},
		"time":          {"00000000000000000100.timeindex", entry(0x18b, -0x301a9800, 2), "  time 2023-11-14T22:13:20.000Z offset 102\n", 0},
		"time backward": {"00000000000000000100.timeindex", entry(0, 9, 2, 0, 8, 2), "do not ascend", 1},
		"time unused":   {"00000000000000000100.timeindex", entry(0, 9, 2, 0, 0, 0), "unused: 12 bytes", 0},
		"transaction": {"00000000000000000100.txnindex", append([]byte{0, 0}, entry(0, 9, 0, 1, 0, 2, 0, 3)...),
			"aborted transaction of producer 9, offsets 1 to 2, last stable offset 3", 0},
		"transaction of the future": {"00000000000000000100.txnindex", append([]byte{0, 1}, entry(0, 9, 0, 1, 0, 2, 0, 3)...), "entry of version 1", 1},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir+"/"+c.file, c.content)
			got, summary := text(t, dir+"/"+c.file, dump.Options{})
			require.Contains(t, got, c.want)
			require.Equal(t, c.damaged, summary.Damaged)
			require.NoError(t, os.Remove(dir+"/"+c.file))
		})
	}
}

func TestSmallFiles(t *testing.T) {
	empty := append([]byte{0, 1}, entry(int32(record.Checksum([]byte{0, 0, 0, 0})), 0)...)
	for name, c := range map[string]struct {
		file, content, want string
		damaged             int64
	}{
		"epochs":                {"leader-epoch-checkpoint", "0\n2\n1 0\n3 5\n", "epoch 3, startOffset 5", 0},
		"epochs, empty":         {"leader-epoch-checkpoint", "", "0 bytes", 0},
		"epochs, version":       {"leader-epoch-checkpoint", "1\n0\n", `line 1 is "1"`, 1},
		"epochs, count":         {"leader-epoch-checkpoint", "0\n2\n1 0\n", "line 2 says 2 entries, there are 1", 1},
		"epochs, no count":      {"leader-epoch-checkpoint", "0\nx\n", `damage at 2: line 2 is "x"`, 1},
		"epochs, no entry":      {"leader-epoch-checkpoint", "0\n1\n1 x\n", `damage at 4: line 3 is "1 x"`, 1},
		"epochs, order":         {"leader-epoch-checkpoint", "0\n2\n3 5\n1 0\n", "warning at 8: epochs and start offsets", 0},
		"epochs, long":          {"leader-epoch-checkpoint", strings.Repeat("0", 2<<20), "a line of more than", 1},
		"offsets":               {"recovery-point-offset-checkpoint", "0\n1\n__cluster_metadata 0 17\n", `topic "__cluster_metadata", partition 0, offset 17`, 0},
		"offsets, bad":          {"replication-offset-checkpoint", "0\n1\nt 0\n", "no entry", 1},
		"partition":             {"partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ", `version 0, topicId "AAAAAAAAAAAAAAAAAAAAAQ"`, 0},
		"partition, version":    {"partition.metadata", "version: 1\n", "line 1 is", 1},
		"partition, half":       {"partition.metadata", "version: 0", "no topic_id", 1},
		"partition, zero":       {"partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "damage at 11: line 2", 1},
		"partition, foreign":    {"__cluster_metadata-0/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAABQ", "not __cluster_metadata", 1},
		"quorum-state":          {"quorum-state", `{"clusterId":"","leaderId":1,"leaderEpoch":2,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":1},{"voterId":2}],"data_version":0}`, "dataVersion 0, leaderId 1, leaderEpoch 2, votedId -1, currentVoters [1,2]", 0},
		"quorum-state, torn":    {"quorum-state", `{"leaderId":1`, "damage at 0: invalid quorum-state", 1},
		"quorum-state, huge":    {"quorum-state", strings.Repeat(" ", 2<<20), "too many for a file of this kind", 1},
		"meta.properties":       {"meta.properties", "version=2\nnode.id=5\n", "version 2, nodeId 5", 0},
		"meta.properties, torn": {"meta.properties", "version=1\ncluster.id=x\n", "node.id is missing", 1},
		"producers":             {"00000000000000000005.snapshot", string(empty), "version 1, producers 0", 0},
		"producers, crc":        {"00000000000000000005.snapshot", "\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "damage at 2: checksum", 1},
		"producers, torn":       {"00000000000000000005.snapshot", "\x00\x01", "no producer state", 1},
		"clean shutdown":        {".kafka_cleanshutdown", `{"version":0,"brokerEpoch":9007199254740993}`, "brokerEpoch 9007199254740993", 0},
		"clean shutdown, old":   {".kafka_cleanshutdown", "x", "warning at 0", 0},
		"lock":                  {".lock", "", ".lock: lock, 0 bytes", 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(c.file))
			write(t, path, []byte(c.content))
			got, summary := text(t, filepath.Dir(path), dump.Options{})
			require.Contains(t, got, c.want)
			require.Equal(t, c.damaged, summary.Damaged)
			require.Zero(t, summary.Unknown)
		})
	}
}

func TestLargeBatchIsCheckedAndNotDecoded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00000000000000000000.log")
	large := seal(0, 1, 1, make([]byte, 65<<20))
	write(t, path, append(large, batch(1, 1, 1)...))
	got, summary := text(t, path, dump.Options{})
	require.NotContains(t, got, "checksum")
	require.Contains(t, got, "is not decoded")
	require.EqualValues(t, 1, summary.Records, "the batch behind is decoded")
	large[len(large)-1] ^= 1
	write(t, path, large)
	got, _ = text(t, path, dump.Options{})
	require.Contains(t, got, "checksum")
}

func TestLinksAndSpecialFiles(t *testing.T) {
	root := t.TempDir()
	disk := t.TempDir()
	write(t, disk+"/meta.properties", []byte("version=0\n"))
	write(t, disk+"/sub/quorum-state", nil)
	require.NoError(t, os.Symlink(disk, root+"/dir0"))
	require.NoError(t, os.Symlink(disk+"/sub", disk+"/loop"))
	require.NoError(t, os.Symlink(root, disk+"/up"))
	require.NoError(t, os.Symlink("nowhere", root+"/gone"))
	require.NoError(t, os.Symlink(disk+"/meta.properties", root+"/meta.properties"))
	require.NoError(t, syscall.Mkfifo(root+"/fifo.log", 0o600))
	got, summary := text(t, root, dump.Options{})
	require.Contains(t, got, root+"/dir0/meta.properties: meta.properties")
	require.Contains(t, got, root+"/meta.properties: meta.properties")
	require.Contains(t, got, root+"/dir0/up: link to a directory")
	require.Contains(t, got, root+"/gone: dangling link")
	require.Contains(t, got, root+"/fifo.log: special file")
	require.EqualValues(t, 4, summary.Unknown)
	require.EqualValues(t, 1, summary.Damaged)
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/thing", batch(0, 1, 1))
	_, err := dump.Dump(&bytes.Buffer{}, dir+"/missing", dump.Options{})
	require.ErrorIs(t, err, dump.ErrPath)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = dump.Dump(&bytes.Buffer{}, "/dev/null", dump.Options{})
	require.ErrorIs(t, err, dump.ErrPath)
	summary, err := dump.Dump(&bytes.Buffer{}, dir, dump.Options{})
	require.ErrorIs(t, err, dump.ErrNothing)
	require.EqualValues(t, 1, summary.Unknown)
	_, err = dump.Dump(&bytes.Buffer{}, t.TempDir(), dump.Options{})
	require.ErrorIs(t, err, dump.ErrNothing)
	_, err = dump.Dump(&bytes.Buffer{}, dir+"/thing", dump.Options{})
	require.ErrorIs(t, err, dump.ErrKind)
	_, err = dump.Dump(&bytes.Buffer{}, dir+"/thing", dump.Options{As: "soup"})
	require.ErrorIs(t, err, dump.ErrKind)
	_, err = dump.Dump(&bytes.Buffer{}, dir, dump.Options{As: "log"})
	require.ErrorIs(t, err, dump.ErrKind)
	for _, kind := range dump.Kinds() {
		_, err = dump.Dump(&bytes.Buffer{}, dir+"/thing", dump.Options{As: kind})
		require.NoError(t, err)
	}
	got, _ := text(t, dir+"/thing", dump.Options{As: "log"})
	require.Contains(t, got, "NoOpRecord")
	_, err = dump.Dump(full{}, dir, dump.Options{})
	require.ErrorIs(t, err, errFull)
}

var errFull = errors.New("disk full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestUnreadableFilesDoNotEndTheDump(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := t.TempDir()
	write(t, dir+"/a/meta.properties", nil)
	write(t, dir+"/b/meta.properties", []byte("version=0\n"))
	require.NoError(t, os.Chmod(dir+"/a/meta.properties", 0))
	var out bytes.Buffer
	summary, err := dump.Dump(&out, dir, dump.Options{})
	require.ErrorIs(t, err, dump.ErrUnreadable)
	require.EqualValues(t, 1, summary.Unreadable)
	require.Contains(t, out.String(), "version 0")
}

func TestNamesThatAreNoText(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a\x1b[31m\n.log", nil)
	got, _ := text(t, dir, dump.Options{})
	require.NotContains(t, got, "\x1b")
	require.Contains(t, got, `a\u001b[31m\n.log": log, 0 bytes`)
	lines(t, dir, dump.Options{})
}

// FuzzDump: whatever a file holds, it is dumped in every kind, as text and as JSON lines, and what recovery would keep is
// what package record says.
func FuzzDump(f *testing.F) {
	f.Add(join(batch(0, 1, 3), batch(3, 1, 1)), uint8(0))
	f.Add(batchOf(0, 1, []byte{1, 99, 0}), uint8(1))
	f.Add(entry(2, 83, 0, 0), uint8(3))
	f.Add([]byte("0\n1\n1 0\n"), uint8(7))
	kinds := dump.Kinds()
	f.Fuzz(func(t *testing.T, content []byte, kind uint8) {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		as := kinds[int(kind)%len(kinds)]
		all, summary := lines(t, path, dump.Options{As: as})
		_, again := text(t, path, dump.Options{As: as, Hex: true})
		require.Equal(t, summary, again)
		if as == "log" {
			valid, _ := record.Recover(content)
			got, err := ofType(all, "end")[0]["validBytes"].(interface{ Int64() (int64, error) }).Int64()
			require.NoError(t, err)
			require.Equal(t, valid, got)
		}
	})
}
