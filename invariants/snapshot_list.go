package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
)

// snapshotList is the complete snapshots of a volume, ascending by offset. A node may keep tens of thousands of them before its
// retention limits say otherwise, so whatever is asked with each message is answered from the end or from a count.
type snapshotList struct {
	files   []snapshotFile
	voices  int32 // of how many the header has voters
	loose   int32 // how many are not durable yet
	version int16 // highest kraft.version in a header
}

func (l *snapshotList) reset() { *l = snapshotList{files: l.files[:0]} }

// add takes in a snapshot, behind those of the same offset.
func (l *snapshotList) add(f snapshotFile) {
	at := len(l.files)
	for at > 0 && l.files[at-1].offset > f.offset {
		at--
	}
	l.files = slices.Insert(l.files, at, f)
	l.version = max(l.version, f.kraftVersion)
	if f.voters != noSet {
		l.voices++
	}
	if !f.durable {
		l.loose++
	}
}

// from returns the index of the first snapshot at or above an offset.
func (l *snapshotList) from(offset int64) int {
	at, _ := slices.BinarySearchFunc(l.files, offset, func(f snapshotFile, offset int64) int {
		if f.offset < offset {
			return -1
		}
		return 1
	})
	return at
}

// remove forgets a snapshot, if it is there.
func (l *snapshotList) remove(path string, offset int64) {
	for i := l.from(offset); i < len(l.files) && l.files[i].offset == offset; i++ {
		f := l.files[i]
		if f.path != path {
			continue
		}
		l.files = slices.Delete(l.files, i, i+1)
		if f.voters != noSet {
			l.voices--
		}
		if !f.durable {
			l.loose--
		}
		if f.kraftVersion == l.version {
			l.version = 0
			for k := len(l.files) - 1; k >= 0 && l.version < f.kraftVersion; k-- {
				l.version = max(l.version, l.files[k].kraftVersion)
			}
		}
		return
	}
}

// newest returns the snapshot with the highest offset, nil when there is none; of several, the first that came.
func (l *snapshotList) newest() *snapshotFile {
	if n := len(l.files); n > 0 {
		return &l.files[l.from(l.files[n-1].offset)]
	}
	return nil
}

// votersAt returns the voter set of the newest snapshot that has one, at or below an offset in the words of raft.VotersChanged;
// NoVotersInLog stands for any. noSet when there is none.
func (l *snapshotList) votersAt(offset int64) int32 {
	var newest *snapshotFile
	for i := len(l.files) - 1; l.voices > 0 && i >= 0; i-- {
		f := &l.files[i]
		if newest != nil && f.offset < newest.offset {
			break
		}
		if f.voters != noSet && (offset == raft.NoVotersInLog || f.offset-1 <= offset) {
			newest = f
		}
	}
	if newest == nil {
		return noSet
	}
	return newest.voters
}

// endsAt reports whether a snapshot with voters in its header ends at an offset. One that was downloaded may lie beyond the end of a log
// that it could not replace (the hazard snapshot-behind-uncommitted-tail), and says who votes all the same (kraft-protocol 5.1).
func (l *snapshotList) endsAt(offset int64) bool {
	for i := l.from(offset); i < len(l.files) && l.files[i].offset == offset; i++ {
		if l.files[i].voters != noSet {
			return true
		}
	}
	return false
}

// synced asks durably about the snapshots that are not durable yet.
func (l *snapshotList) synced(durably func(f *snapshotFile) bool) {
	for i, loose := len(l.files)-1, l.loose; loose > 0 && i >= 0; i-- {
		if f := &l.files[i]; !f.durable {
			loose--
			if f.durable = durably(f); f.durable {
				l.loose--
			}
		}
	}
}
