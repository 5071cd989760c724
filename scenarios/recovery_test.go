package scenarios

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// sequence is a metadata log with a part that was cleaned away, several segments and several snapshots, as a sole voter left it.
type sequence struct {
	tree      fstest.MapFS
	segments  []int64 // base offsets, ascending
	snapshots []int64 // offsets, ascending
	names     map[int64]string
	end       int64
	epoch     int32
}

func (s *sequence) segment(i int) string {
	return fmt.Sprintf("dir0/%s%020d.log", partition, s.segments[i])
}

func (s *sequence) snapshot(i int) string { return s.names[s.snapshots[i]] }

// newSequence runs a node with tiny segments and frequent snapshots.
func newSequence(t *testing.T) *sequence {
	t.Helper()
	p, err := PlanFrom(formatted(t, "kip1262", 1, nil), 1, FromOptions{})
	require.NoError(t, err)
	for name, value := range map[string]string{"segment_bytes": "400", "snapshot_max_bytes": "500", "retention_bytes": "4000",
		"clean_interval_ms": "50", "delete_delay_ms": "1", "max_idle_interval_ms": "50", "append_linger_ms": "1"} {
		p.Params[name] = value
	}
	p.StormUs = 8_000_000
	r, v := bootPlan(t, p)
	requireUp(t, r, v)
	s := &sequence{tree: exported(r), names: map[int64]string{}, end: r.LogEndOffset, epoch: r.Epoch}
	for name := range s.tree {
		base := path.Base(name)
		offset, err := strconv.ParseInt(base[:min(20, len(base))], 10, 64)
		switch {
		case err != nil:
		case strings.HasSuffix(base, ".log"):
			s.segments = append(s.segments, offset)
		case strings.HasSuffix(base, ".checkpoint"):
			s.snapshots = append(s.snapshots, offset)
			s.names[offset] = name
		}
	}
	slices.Sort(s.segments)
	slices.Sort(s.snapshots)
	return s
}

// first keeps only the n oldest snapshots.
func (s *sequence) first(n int) map[string][]byte {
	changes := map[string][]byte{}
	for i := n; i < len(s.snapshots); i++ {
		changes[s.snapshot(i)] = nil
	}
	return changes
}

// and adds a change.
func and(changes map[string][]byte, name string, data []byte) map[string][]byte {
	changes[name] = data
	return changes
}

// halved is a file without its second half, flipped one with a bit in the middle turned.
func (s *sequence) halved(name string) []byte { return s.tree[name].Data[:len(s.tree[name].Data)/2] }

func (s *sequence) flipped(name string) []byte {
	data := slices.Clone(s.tree[name].Data)
	data[len(data)/2] ^= 1
	return data
}

// batchAt is the base offset of the batch of a segment that the middle of the file falls into.
func (s *sequence) batchAt(t *testing.T, name string) int64 {
	t.Helper()
	data := s.tree[name].Data
	for at := 0; ; {
		batch, rest, err := record.NextFileBatch(data[at:])
		require.NoError(t, err)
		next := len(data) - len(rest)
		if next > len(data)/2 {
			return batch.BaseOffset()
		}
		at = next
	}
}

// recovery is what a start makes of a directory: where the log begins and ends before anything is written, or why it refuses.
type recovery struct {
	start, end int64
	stop       string
}

// recoveryOf starts a node on a directory. Its own first record, that of the next epoch, shows where the log ended.
func recoveryOf(t *testing.T, s *sequence, tree fstest.MapFS) (got recovery, files fstest.MapFS) {
	t.Helper()
	c := Catalogue()
	p, err := PlanFrom(tree, 2, FromOptions{Release: "kip1262"})
	require.NoError(t, err)
	p.Params["clean_interval_ms"], p.StormUs = "50", 1_000_000 // the cleaner looks at sizes and ages
	run, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	hosts, err := HostsOf(c, p.Scenario)
	require.NoError(t, err)
	files = exported(&FromResult{Files: hosts[0].Files})
	if len(run.Verdict.Stopped) > 0 {
		return recovery{stop: run.Verdict.Stopped[0].Error}, files
	}
	require.Equal(t, plan.OK, run.Verdict.Outcome, "%v", run.Verdict.Broken)
	got = recovery{start: hosts[0].Metrics.LogStartOffset, end: -1}
	for name, f := range files {
		if !strings.HasSuffix(name, ".log") {
			continue
		}
		for rest := f.Data; len(rest) > 0; {
			var batch record.Batch
			batch, rest, err = record.NextFileBatch(rest)
			require.NoError(t, err)
			if batch.LeaderEpoch() > s.epoch && (got.end < 0 || batch.BaseOffset() < got.end) {
				got.end = batch.BaseOffset()
			}
		}
	}
	return got, files
}

// TestRecoveryOfEveryFile: what a start makes of each file of a metadata log that is missing, empty, cut or damaged, and of what is
// left over beside it (formats 6, 7, 9; kraft-protocol 1.6, 4.5, 4.7). The log is [start, end), with snapshots up to and behind its
// segments' bases.
func TestRecoveryOfEveryFile(t *testing.T) {
	s := newSequence(t)
	require.GreaterOrEqual(t, len(s.segments), 4)
	require.GreaterOrEqual(t, len(s.snapshots), 3)
	require.Positive(t, s.segments[0])
	const middle = 2
	last, latest := len(s.segments)-1, len(s.snapshots)-1
	newest := s.snapshots[latest]
	whole := recovery{start: s.segments[0], end: s.end}
	replaced := recovery{start: newest, end: newest} // the snapshot is ahead of what is left of the log
	dir := "dir0/" + partition
	junk := []byte("junk")
	type row struct {
		name    string
		changes map[string][]byte
		want    recovery
	}
	one := func(name string, data []byte) map[string][]byte { return map[string][]byte{name: data} }
	rows := []row{
		{"nothing", nil, whole},
		{"first segment missing", one(s.segment(0), nil), recovery{start: s.segments[1], end: s.end}},
		{"first segment missing, no snapshot reaches the second", and(s.first(1), s.segment(0), nil), recovery{stop: "no snapshot reaches that far"}},
		{"first segment cut", one(s.segment(0), s.halved(s.segment(0))), replaced},
		{"first segment flipped", one(s.segment(0), s.flipped(s.segment(0))), replaced},
		{"middle segment cut", one(s.segment(middle), s.halved(s.segment(middle))), replaced},
		{"middle segment flipped", one(s.segment(middle), s.flipped(s.segment(middle))), replaced},
		{"middle segment cut, older snapshots", and(s.first(1), s.segment(middle), s.halved(s.segment(middle))),
			recovery{start: s.segments[0], end: s.batchAt(t, s.segment(middle))}},
		{"middle segment flipped, older snapshots", and(s.first(1), s.segment(middle), s.flipped(s.segment(middle))),
			recovery{start: s.segments[0], end: s.batchAt(t, s.segment(middle))}},
		{"last segment missing", one(s.segment(last), nil), recovery{start: s.segments[0], end: s.segments[last]}},
		{"last segment empty", one(s.segment(last), []byte{}), recovery{start: s.segments[0], end: s.segments[last]}},
		{"last segment cut", one(s.segment(last), s.halved(s.segment(last))), recovery{start: s.segments[0], end: s.batchAt(t, s.segment(last))}},
		{"last segment flipped", one(s.segment(last), s.flipped(s.segment(last))), recovery{start: s.segments[0], end: s.batchAt(t, s.segment(last))}},
		{"latest snapshot missing", one(s.snapshot(latest), nil), whole},
		{"all snapshots missing", s.first(0), recovery{stop: "no snapshot reaches that far"}},
		{"latest snapshot empty", one(s.snapshot(latest), []byte{}), recovery{stop: fmt.Sprintf("snapshot %d-%d", newest, s.epoch)}},
		{"latest snapshot cut", one(s.snapshot(latest), s.halved(s.snapshot(latest))), recovery{stop: fmt.Sprintf("snapshot %d-%d", newest, s.epoch)}},
		{"latest snapshot flipped", one(s.snapshot(latest), s.flipped(s.snapshot(latest))), recovery{stop: fmt.Sprintf("snapshot %d-%d", newest, s.epoch)}},
		{"older snapshot missing", one(s.snapshot(0), nil), whole},
		{"older snapshot flipped", one(s.snapshot(0), s.flipped(s.snapshot(0))), whole},
		{"older snapshot empty", one(s.snapshot(0), []byte{}), // no header to tell its age, when that is looked at
			recovery{stop: path.Base(s.snapshot(0)) + ": raftlog: invalid snapshot content"}},
		{"all segments missing", func() map[string][]byte {
			changes := map[string][]byte{}
			for i := range s.segments {
				changes[s.segment(i)] = nil
			}
			return changes
		}(), replaced},
		{"snapshot below the log", one(dir+"00000000000000000003-0000000001.checkpoint", junk), whole},
		{"epochs missing", one(dir+"leader-epoch-checkpoint", nil), whole},
		{"epochs empty", one(dir+"leader-epoch-checkpoint", []byte{}), whole},
		{"epochs of another log", one(dir+"leader-epoch-checkpoint", []byte("0\n1\n9 7\n")), whole},
		{"epochs cut", one(dir+"leader-epoch-checkpoint", []byte("0\n1\n")), recovery{stop: "leader-epoch-checkpoint"}},
		{"epochs unreadable", one(dir+"leader-epoch-checkpoint", junk), recovery{stop: "leader-epoch-checkpoint"}},
		{"partition.metadata missing", one(dir+"partition.metadata", nil), whole},
		{"partition.metadata empty", one(dir+"partition.metadata", []byte{}), recovery{stop: "partition.metadata"}},
		{"partition.metadata cut", one(dir+"partition.metadata", []byte("version: 0\ntopic_id: AAA")), recovery{stop: "partition.metadata"}},
		{"quorum-state missing", one(dir+"quorum-state", nil), whole},
		{"quorum-state empty", one(dir+"quorum-state", []byte{}), recovery{stop: "quorum-state"}},
		{"quorum-state cut", one(dir+"quorum-state", s.halved(dir+"quorum-state")), recovery{stop: "quorum-state"}},
		{"quorum-state of no version", one(dir+"quorum-state", []byte(`{"leaderId":1,"leaderEpoch":1,"votedId":-1}`)), recovery{stop: "quorum-state"}},
	}
	for _, name := range []string{"quorum-state.tmp", "leader-epoch-checkpoint.tmp", "partition.metadata.tmp",
		fmt.Sprintf("%020d.index", s.segments[0]), fmt.Sprintf("%020d.timeindex", s.segments[0]), fmt.Sprintf("%020d.txnindex", s.segments[0]),
		fmt.Sprintf("%020d.snapshot", s.segments[0])} {
		rows = append(rows, row{"ignored: " + name, one(dir+name, junk), whole})
	}
	removed := []string{"00000000000000000003.log.deleted", "00000000000000000003.index.deleted", "00000000000000000003-0000000001.checkpoint.deleted",
		fmt.Sprintf("%020d-%010d.checkpoint.deleted", newest+1, s.epoch), fmt.Sprintf("%020d-%010d-77.checkpoint.part", newest+1, s.epoch),
		"00000000000000000003.log.cleaned", "00000000000000000003.log.swap"}
	for _, name := range removed {
		rows = append(rows, row{"removed: " + name, one(dir+name, junk), whole})
	}
	page, err := os.ReadFile(filepath.Join("..", "docs", "protocol.md"))
	require.NoError(t, err)
	for _, r := range rows[1:] {
		require.True(t, strings.Contains(r.name, ": ") || strings.Contains(string(page), r.name), "docs/protocol.md has no row %q", r.name)
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			got, files := recoveryOf(t, s, with(s.tree, r.changes))
			if r.want.stop != "" {
				require.Contains(t, got.stop, r.want.stop)
				return
			}
			require.Equal(t, r.want, got)
			for _, name := range removed {
				require.NotContains(t, files, dir+name)
			}
		})
	}
}

// TestRecoveryOfAGap: a segment that is missing, or empty, in the middle is no bad batch, so nothing is cut (9.3). A snapshot that
// reaches over the gap hides it; otherwise listeners get what comes after, and the invariant about them tells.
func TestRecoveryOfAGap(t *testing.T) {
	s := newSequence(t)
	const middle = 2
	require.Less(t, middle, len(s.segments)-1)
	for _, data := range [][]byte{nil, {}} {
		got, _ := recoveryOf(t, s, with(s.tree, map[string][]byte{s.segment(middle): data}))
		require.Equal(t, recovery{start: s.segments[0], end: s.end}, got)
		p, err := PlanFrom(with(s.tree, and(s.first(1), s.segment(middle), data)), 2, FromOptions{Release: "kip1262"})
		require.NoError(t, err)
		_, v := bootPlan(t, p)
		require.NotEmpty(t, v.Broken)
		require.Equal(t, "listener-order", v.Broken[0].Invariant)
		require.Contains(t, v.Broken[0].Detail, fmt.Sprintf("gave listener loader the batch at %d, next was %d", s.segments[middle+1], s.segments[middle]))
	}
	got, _ := recoveryOf(t, s, with(s.tree, map[string][]byte{s.segment(0): {}}))
	require.Equal(t, recovery{start: s.segments[0], end: s.end}, got)
}
