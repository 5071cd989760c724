package invariants

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/raft"
)

// TestSnapshotListAnswersAsASearchDoes compares each answer with a search of a list in order of arrival.
func TestSnapshotListAnswersAsASearchDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var l snapshotList
		var all []snapshotFile
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			offset, epoch := int64(rapid.IntRange(1, 8).Draw(rt, "offset")), int32(rapid.IntRange(1, 2).Draw(rt, "epoch"))
			f := snapshotFile{path: number(offset) + "-" + number(int64(epoch)), offset: offset, epoch: epoch, voters: noSet}
			l.remove(f.path, f.offset)
			all = slices.DeleteFunc(all, func(x snapshotFile) bool { return x.path == f.path })
			if rapid.Bool().Draw(rt, "add") {
				f.voters = int32(rapid.IntRange(int(noSet), 3).Draw(rt, "voters"))
				f.kraftVersion = int16(rapid.IntRange(0, 1).Draw(rt, "version"))
				f.durable = rapid.Bool().Draw(rt, "durable")
				l.add(f)
				all = append(all, f)
			}
			if rapid.IntRange(0, 3).Draw(rt, "sync") == 0 {
				l.synced(func(x *snapshotFile) bool { return x.offset%2 == 0 })
				for i := range all {
					all[i].durable = all[i].durable || all[i].offset%2 == 0
				}
			}
			compareWithSearch(rt, &l, all)
		}
	})
}

func compareWithSearch(t require.TestingT, l *snapshotList, all []snapshotFile) {
	var newest *snapshotFile
	version, loose := int16(0), int32(0)
	for i := range all {
		f := &all[i]
		if newest == nil || f.offset > newest.offset {
			newest = f
		}
		version = max(version, f.kraftVersion)
		if !f.durable {
			loose++
		}
	}
	require.Equal(t, newest, l.newest())
	require.Equal(t, version, l.version)
	require.Equal(t, loose, l.loose)
	require.Len(t, l.files, len(all))
	for offset := range int64(10) {
		require.Equal(t, slices.ContainsFunc(all, func(f snapshotFile) bool { return f.offset == offset && f.voters != noSet }), l.endsAt(offset))
	}
	for _, offset := range []int64{raft.NoVotersInLog, -1, 3, 7} {
		want, at := noSet, int64(-1)
		for i := range all {
			f := &all[i]
			if f.voters != noSet && f.offset > at && (offset == raft.NoVotersInLog || f.offset-1 <= offset) {
				want, at = f.voters, f.offset
			}
		}
		require.Equal(t, want, l.votersAt(offset), offset)
	}
}
