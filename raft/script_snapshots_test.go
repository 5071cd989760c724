package raft

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// The script commands about snapshots:
//
//	snapshot-file offset=3 epoch=1 values=(a,b) [voters=(1:1,2:2)] [damage=flip|cut|no-footer] [as=NAME]   lies in the directory
//	create offset=3 epoch=1 [values=(a)] [freeze] [abandon]                     the state machine makes one
//	freeze | abandon | register                                                what it does with it next, and the raft lane
//	fetch-snapshot from=2:2 epoch=1 snapshot=(1,3) pos=0 max=100 [other=topic]  a follower asks; snapshot=(epoch,offset)
//	answer peer=2 bytes=(0,100) ...                                            the leader answers a FetchSnapshot, see snapshotAnswer
//	dir | snapshots                                                            what is on the disk, and in force
func (s *script) snapshotCommands() map[string]func(*datadriven.TestData) error {
	return map[string]func(*datadriven.TestData) error{
		"snapshot-file": s.cmdSnapshotFile, "create": s.cmdCreate, "freeze": s.cmdFreeze, "abandon": s.cmdAbandon,
		"register": s.cmdRegister, "fetch-snapshot": s.cmdFetchSnapshot, "dir": s.cmdDir, "snapshots": s.cmdSnapshots,
	}
}

// snapshotOptions reads the options of `replica` that are about snapshots.
func (s *script) snapshotOptions(d *datadriven.TestData) {
	s.cfg.FetchSnapshotMaxBytes = int32(s.num(d, "piece", 1<<20))
	s.cfg.CleanIntervalMs = s.num(d, "clean-ms", 60_000)
	s.cfg.Log = raftlog.Config{
		SegmentBytes: s.num(d, "segment-bytes", 0), RetentionBytes: s.num(d, "retention-bytes", 0),
		RetentionMs: s.num(d, "retention-ms", 0), DeleteDelayMs: s.num(d, "delete-ms", 0),
	}
}

// epochAndOffset reads (epoch,offset).
func (s *script) epochAndOffset(d *datadriven.TestData, name, def string) OffsetAndEpoch {
	epoch, offset, _ := strings.Cut(arg(d, name, def), ",")
	e, err := strconv.ParseInt(strings.TrimSpace(epoch), 10, 32)
	require.NoError(s.t, err, d.Pos)
	o, err := strconv.ParseInt(strings.TrimSpace(offset), 10, 64)
	require.NoError(s.t, err, d.Pos)
	return OffsetAndEpoch{Epoch: int32(e), Offset: o}
}

func (s *script) idArgs(d *datadriven.TestData) OffsetAndEpoch {
	return OffsetAndEpoch{Offset: s.num(d, "offset", 0), Epoch: int32(s.num(d, "epoch", 0))}
}

func (s *script) values(d *datadriven.TestData) (values [][]byte) {
	for _, v := range strings.FieldsFunc(arg(d, "values", ""), func(r rune) bool { return r == ',' }) {
		values = append(values, []byte(strings.TrimSpace(v)))
	}
	return values
}

// snapshotContent is a whole snapshot: header, with kraft.version 1 if there are voters; records; footer.
func (s *script) snapshotContent(id OffsetAndEpoch, voterText string, values [][]byte) []byte {
	files := memfiles.New()
	files.WriteFile("/d/x", nil)
	l, err := raftlog.Open(files, "/d", raftlog.Config{})
	require.NoError(s.t, err)
	w, err := l.DownloadSnapshot(id, 0)
	require.NoError(s.t, err)
	header := raftlog.SnapshotHeader{LastContainedTimestampMs: 5}
	if voterText != "" {
		var set []voters.Voter
		for _, k := range s.keys(voterText) {
			set = append(set, voters.Voter{ReplicaKey: k, Endpoints: testEndpoints(k.ID), MaxKRaftVersion: 1})
		}
		vs, err := voters.New(set...)
		require.NoError(s.t, err)
		votersRecord := vs.Record()
		header.KRaftVersion, header.Voters = 1, &votersRecord
	}
	records, err := raftlog.NewSnapshotRecords(w, &header, 8<<20, 5)
	require.NoError(s.t, err)
	if len(values) > 0 {
		require.NoError(s.t, records.Append(5, values...))
	}
	require.NoError(s.t, records.Freeze(5))
	return files.ReadFile("/d/" + raftlog.SnapshotName(id))
}

func (s *script) cmdSnapshotFile(d *datadriven.TestData) error {
	id := s.idArgs(d)
	content := s.snapshotContent(id, arg(d, "voters", ""), s.values(d))
	switch arg(d, "damage", "") {
	case "flip":
		content[len(content)-1] ^= 1
	case "cut":
		content = content[:len(content)-1]
	case "no-footer":
		content = content[:len(content)-footerBytes]
	}
	s.writeFile(arg(d, "as", raftlog.SnapshotName(id)), content)
	return nil
}

// footerBytes is the size of the footer batch.
const footerBytes = 75

func (s *script) cmdCreate(d *datadriven.TestData) error {
	w, err := s.replica.CreateSnapshot(s.nowMs, s.idArgs(d), 5)
	switch {
	case err != nil:
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return nil
	case w == nil:
		fmt.Fprintln(&s.out, "none")
		return nil
	}
	s.writer = w
	fmt.Fprintf(&s.out, "snapshot %d-%d begun\n", w.ID().Offset, w.ID().Epoch)
	if values := s.values(d); len(values) > 0 {
		require.NoError(s.t, w.Append(s.nowMs, values...))
	}
	if d.HasArg("freeze") {
		if err := s.cmdFreeze(d); err != nil {
			return err
		}
		return s.cmdRegister(d)
	}
	if d.HasArg("abandon") {
		return s.cmdAbandon(d)
	}
	return nil
}

func (s *script) cmdFreeze(*datadriven.TestData) error {
	if err := s.writer.Freeze(s.nowMs); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return nil
	}
	header, err := CheckSnapshot(s.files.ReadFile(scriptDir + "/" + raftlog.SnapshotName(s.writer.ID())))
	require.NoError(s.t, err)
	fmt.Fprintf(&s.out, "frozen with kraft.version %d", header.KRaftVersion)
	if header.Voters != nil {
		for i := range header.Voters.Voters {
			fmt.Fprintf(&s.out, " %d", header.Voters.Voters[i].VoterID)
		}
	}
	fmt.Fprintln(&s.out)
	return nil
}

func (s *script) cmdAbandon(*datadriven.TestData) error {
	require.NoError(s.t, s.writer.Abandon())
	return nil
}

func (s *script) cmdRegister(*datadriven.TestData) error {
	return s.settle(func() error { return s.replica.SnapshotFrozen(s.nowMs, s.writer.ID()) })
}

func (s *script) cmdFetchSnapshot(d *datadriven.TestData) error {
	from := s.key(arg(d, "from", "2"))
	m := &FetchSnapshotRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d), ReplicaID: from.ID, ReplicaDirectoryID: from.DirectoryID,
		MaxBytes: int32(s.num(d, "max", 1<<20)), CurrentLeaderEpoch: int32(s.num(d, "epoch", 1)),
		SnapshotID: s.epochAndOffset(d, "snapshot", "0,0"), Position: s.num(d, "pos", 0),
	}
	if topic := arg(d, "other", ""); topic != "" {
		m.WrongShape, m.Other = true, []TopicPartition{{Topic: topic, Partition: 7}}
	}
	return s.receive(int64(from.ID), m)
}

// snapshotAnswer builds the answer to a FetchSnapshot: bytes=(from,to) of the content that values=, voters= and the id that
// was asked for give, at position pos= (default: as asked), of size= (default: the whole). snapshot=(epoch,offset) names
// another id.
func (s *script) snapshotAnswer(d *datadriven.TestData, q *FetchSnapshotRequest, m *FetchSnapshotResponse) {
	content := s.snapshotContent(q.SnapshotID, arg(d, "voters", ""), s.values(d))
	from, to, _ := strings.Cut(arg(d, "bytes", fmt.Sprintf("%d,%d", q.Position, min(int64(len(content)), q.Position+int64(q.MaxBytes)))), ",")
	low, err := strconv.ParseInt(strings.TrimSpace(from), 10, 64)
	require.NoError(s.t, err)
	high, err := strconv.ParseInt(strings.TrimSpace(to), 10, 64)
	require.NoError(s.t, err)
	if d.HasArg("flip") {
		content[len(content)-1] ^= 1
	}
	m.SnapshotID = s.epochAndOffset(d, "snapshot", fmt.Sprintf("%d,%d", q.SnapshotID.Epoch, q.SnapshotID.Offset))
	m.Size, m.Position = s.num(d, "size", int64(len(content))), s.num(d, "pos", q.Position)
	if m.PartitionError == None {
		m.Bytes = content[low:min(high, int64(len(content)))]
	}
}

// cmdDir lists the partition directory: snapshots and segments with their sizes, and what is left of them.
func (s *script) cmdDir(*datadriven.TestData) error {
	hook := s.files.Hook
	s.files.Hook = nil
	defer func() { s.files.Hook = hook }()
	names, err := s.files.List(scriptDir)
	require.NoError(s.t, err)
	for _, name := range names {
		if strings.Contains(name, ".log") || strings.Contains(name, "000.checkpoint") || strings.Contains(name, ".checkpoint") {
			fmt.Fprintf(&s.out, "%s %d bytes\n", name, len(s.files.ReadFile(scriptDir+"/"+name)))
		}
	}
	return nil
}

// cmdSnapshots tells what the replica stands on.
func (s *script) cmdSnapshots(*datadriven.TestData) error {
	earliest, found := s.replica.log.EarliestSnapshot()
	latest, _ := s.replica.LatestSnapshotID()
	fmt.Fprintf(&s.out, "log [%d, %d) high watermark %d", s.replica.LogStartOffset(), s.replica.LogEndOffset(), s.replica.logHighWatermark)
	if found {
		fmt.Fprintf(&s.out, ", %d snapshots from %d-%d to %d-%d", s.replica.log.Snapshots(), earliest.Offset, earliest.Epoch,
			latest.Offset, latest.Epoch)
	}
	fmt.Fprintln(&s.out)
	return nil
}

// HandleLoadSnapshot implements SnapshotListener.
func (s *script) HandleLoadSnapshot(id OffsetAndEpoch, content []byte) {
	header, err := CheckSnapshot(content)
	require.NoError(s.t, err)
	fmt.Fprintf(&s.out, "app: load snapshot %d-%d, kraft.version %d\n", id.Offset, id.Epoch, header.KRaftVersion)
}

// describeSnapshotMessage writes a message; ok is false for others.
func describeSnapshotMessage(m Message) (text string, ok bool) {
	switch m := m.(type) {
	case *FetchSnapshotRequest:
		return fmt.Sprintf("FetchSnapshot epoch=%d snapshot=(%d,%d) pos=%d max=%s", m.CurrentLeaderEpoch, m.SnapshotID.Epoch,
			m.SnapshotID.Offset, m.Position, bytesText(m.MaxBytes)), true
	case *FetchSnapshotResponse:
		if len(m.Other) == 1 {
			return fmt.Sprintf("FetchSnapshotResponse for %s-%d %v", m.Other[0].Topic, m.Other[0].Partition, m.PartitionError), true
		}
		return fmt.Sprintf("FetchSnapshotResponse epoch=%d leader=%d%s snapshot=(%d,%d) pos=%d bytes=%d of=%d%s", m.LeaderEpoch, m.LeaderID,
			at(m.Endpoint), m.SnapshotID.Epoch, m.SnapshotID.Offset, m.Position, len(m.Bytes), m.Size,
			errorText(m.ErrorCode, m.PartitionError)), true
	}
	return "", false
}

func bytesText(n int32) string {
	if n == math.MaxInt32 || n == 1<<20 {
		return "1MiB"
	}
	return strconv.FormatInt(int64(n), 10)
}

// observeSnapshot writes an event; the others are the caller's.
func (s *script) observeSnapshot(e *Event) {
	switch e.Kind {
	case SnapshotStored:
		fmt.Fprintf(&s.out, "snapshot %d-%d stored\n", e.Offset, e.Other)
	case LogReplaced:
		fmt.Fprintf(&s.out, "log, which ended at %d, begins at snapshot %d\n", e.Other, e.Offset)
	case LogPrefixDeleted:
		fmt.Fprintf(&s.out, "log start %d -> %d\n", e.Other, e.Offset)
	}
}
