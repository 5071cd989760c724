package scenarios

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
)

// treeLog is what the metadata log of a tree says, as far as the start of a node will keep it: the latest snapshot, and what
// the segments add to it.
type treeLog struct {
	batches      int64                // of the log
	segments     bool                 // it has batches, that a snapshot replaces or not
	snapshot     bool                 // there is one beyond the bootstrap checkpoint
	end          int64                // offset behind the last batch, or the snapshot's
	voters       *record.VotersRecord // the newest, nil: none
	kraftVersion int16
	epoch        int32  // of the leader that wrote the last batch, or the snapshot's
	file         string // that epoch is from
}

// empty tells whether a node would begin with nothing but its bootstrap files.
func (l *treeLog) empty() bool { return l.batches == 0 && !l.snapshot }

// segmentFile is a segment of the tree.
type segmentFile struct {
	base int64
	*treeFile
}

// snapshotFile is a snapshot of the tree.
type snapshotFile struct {
	id raftlog.OffsetAndEpoch
	*treeFile
}

// readLog takes in what a start will keep (formats 9.3, kraft-protocol 4.7): the batches of the segments up to the first bad
// one, and the latest snapshot. One that is ahead of the log replaces it; otherwise the log has the last word. A log that
// begins above its snapshots, or a snapshot that cannot be read, is for the node to refuse.
func (t *storage) readLog() {
	segments, snapshots := t.logFiles()
	var log treeLog
	for _, s := range segments {
		if log.batches == 0 {
			log.end = s.base
		}
		if !t.readSegment(&log, s.treeFile) {
			break
		}
	}
	if len(snapshots) == 0 {
		t.log = log
		return
	}
	latest := snapshots[len(snapshots)-1]
	under := treeLog{snapshot: true, end: latest.id.Offset, epoch: latest.id.Epoch, file: baseName(latest.name)}
	if c, err := bootstrap.ParseCheckpoint(latest.data); err == nil {
		t.levelFrom(c.Entries)
		under.voters, under.kraftVersion = c.Voters, c.KRaftVersion
	}
	if log.batches == 0 || latest.id.Epoch > log.epoch || latest.id.Epoch == log.epoch && latest.id.Offset > log.end {
		under.segments = log.batches > 0
		t.log = under
		return
	}
	log.snapshot = true
	if log.voters == nil {
		log.voters = under.voters
	}
	log.kraftVersion = max(log.kraftVersion, under.kraftVersion)
	t.log = log
}

// logFiles are the segments and the snapshots of the metadata log, each ascending. Names that are not of their form are left
// out: the node refuses them.
func (t *storage) logFiles() (segments []segmentFile, snapshots []snapshotFile) {
	for i := range t.files {
		f := &t.files[i]
		name, inPartition := strings.CutPrefix(f.name, bootstrap.PartitionDir+"/")
		if f.dir != t.metadataDir() || !inPartition {
			continue
		}
		if base, ok := digits(strings.TrimSuffix(name, ".log")); ok && len(name) == len(firstSegment) {
			segments = append(segments, segmentFile{base, f})
			continue
		}
		if len(name) != len(bootstrap.CheckpointName) || name == bootstrap.CheckpointName {
			continue
		}
		offset, ok1 := digits(name[:20])
		epoch, ok2 := digits(name[21:31])
		id := raftlog.OffsetAndEpoch{Offset: offset, Epoch: int32(epoch)}
		if ok1 && ok2 && name == raftlog.SnapshotName(id) {
			snapshots = append(snapshots, snapshotFile{id, f})
		}
	}
	slices.SortStableFunc(segments, func(a, b segmentFile) int { return cmp.Compare(a.base, b.base) })
	slices.SortStableFunc(snapshots, func(a, b snapshotFile) int {
		return cmp.Or(cmp.Compare(a.id.Offset, b.id.Offset), cmp.Compare(a.id.Epoch, b.id.Epoch))
	})
	return segments, snapshots
}

// digits reads a number that is nothing but digits.
func digits(text string) (n int64, ok bool) {
	if strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// firstSegment is the segment of a log that begins at its beginning.
const firstSegment = "00000000000000000000.log"

// readSegment takes in the records of a segment; false when it ends in a bad batch.
func (t *storage) readSegment(log *treeLog, f *treeFile) bool {
	var it record.Iterator
	for content := f.data; len(content) > 0; {
		batch, rest, err := record.NextFileBatch(content)
		if err != nil || len(batch) == 0 || batch.Verify() != nil {
			return false
		}
		content = rest
		log.batches, log.end = log.batches+1, batch.NextOffset()
		if epoch := batch.LeaderEpoch(); epoch >= log.epoch {
			log.epoch, log.file = epoch, baseName(f.name)
		}
		var r record.Record
		for it.Reset(batch); it.Next(&r); {
			t.readRecord(log, batch.IsControl(), &r)
		}
	}
	return true
}

func (t *storage) readRecord(log *treeLog, control bool, r *record.Record) {
	if !control {
		if decoded, _, err := records.Decode(r.Value); err == nil {
			t.levelOf(decoded)
		}
		return
	}
	switch kind, err := record.ParseControlKey(r.Key); {
	case err != nil:
	case kind == record.KRaftVoters:
		v := &record.VotersRecord{}
		if v.Decode(r.Value) == nil {
			log.voters = v
		}
	case kind == record.KRaftVersion:
		var v record.KRaftVersionRecord
		if v.Decode(r.Value) == nil {
			log.kraftVersion = v.KRaftVersion
		}
	}
}

// voterSet is the newest voter set in log, snapshot and checkpoint, nil when there is none.
func (t *storage) voterSet() *record.VotersRecord {
	switch {
	case t.log.voters != nil:
		return t.log.voters
	case t.checkpoint != nil:
		return t.checkpoint.Voters
	}
	return nil
}

// dynamic tells whether the quorum is one of kraft.version 1.
func (t *storage) dynamic() bool {
	return t.voterSet() != nil || t.log.kraftVersion > 0 || t.checkpoint != nil && t.checkpoint.KRaftVersion > 0
}
