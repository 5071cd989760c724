package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// bench is a recorder of one host whose files are known; each digit of a .log file is a record with that offset, any other file says its content.
type bench struct {
	*recorder
	t *testing.T
}

func newBench(t *testing.T, profile string) *bench {
	t.Helper()
	c := &sim.Catalogue{Decode: func(path string, data []byte) (units []sim.Decoded) {
		if len(path) < 4 || path[len(path)-4:] != ".log" {
			return []sim.Decoded{{Offset: -1, End: int64(len(data)), Text: string(data)}}
		}
		for i := range data {
			units = append(units, sim.Decoded{Offset: int64(data[i] - '0'), Epoch: 1, End: int64(i) + 1, Text: "record"})
		}
		return units
	}}
	p := &plan.Plan{Hosts: []plan.Host{{ID: "n1"}}}
	p.Disk.Profile = profile
	b := &bench{newRecorder(c, p), t}
	b.files[0] = &disk{files: map[string]*file{}}
	return b
}

func (b *bench) op(op vdisk.Op) *Event {
	e := Event{Kind: Disk}
	b.disk(&e, &sim.TraceLine{Disk: &op})
	b.history.Events = append(b.history.Events, e)
	return &b.history.Events[len(b.history.Events)-1]
}

func (b *bench) create(path, content string) {
	b.op(vdisk.Op{Kind: vdisk.OpCreate, Path: path})
	b.op(vdisk.Op{Kind: vdisk.OpWrite, Path: path, Data: []byte(content), Size: int64(len(content))})
}

func (b *bench) sync(path string) *Event {
	return b.op(vdisk.Op{Kind: vdisk.OpSync, Path: path, Size: int64(len(b.files[0].files[path].data))})
}

func clauseOf(e *Event) string {
	if e.Claim == nil {
		return ""
	}
	return e.Claim.Topic + ": " + e.Claim.Clause
}

func TestAFlushIsWorthTheNameOfItsFile(t *testing.T) {
	b := newBench(t, "")
	b.create("/d/p/0.log", "012")
	require.Equal(t, "flush-nameless: flushes its log up to offset 2 in 0.log, and not the directory that names it", clauseOf(b.sync("/d/p/0.log")))
	require.Equal(t, "flush: flushes its log up to offset 2", clauseOf(b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/p"})))
	b.op(vdisk.Op{Kind: vdisk.OpWrite, Path: "/d/p/0.log", Offset: 3, Data: []byte("3"), Size: 4})
	require.Equal(t, "flush: flushes its log up to offset 3", clauseOf(b.sync("/d/p/0.log")))
}

// The one profile makes durable what came before in the journal, the other only the names of the directory.
func TestADirectoryOfAnotherNameIsFlushedToo(t *testing.T) {
	for profile, want := range map[string]string{"": "flush: flushes its log up to offset 0", "posix": ""} {
		b := newBench(t, profile)
		b.create("/d/p/0.log", "0")
		b.sync("/d/p/0.log")
		b.create("/d/q/other", "")
		require.Equal(t, want, clauseOf(b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/q"})), profile)
	}
}

func TestWhatAPowerLossTookSaysWhichFlushWasMissing(t *testing.T) {
	written := func(b *bench) {
		b.create("/d/p/state", "old")
		b.sync("/d/p/state")
		b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/p"})
		b.create("/d/p/state.tmp", "new")
	}
	renamed := func(b *bench) { b.op(vdisk.Op{Kind: vdisk.OpRename, Path: "/d/p/state.tmp", To: "/d/p/state"}) }
	reset := func(b *bench, path, content string) string {
		return clauseOf(b.op(vdisk.Op{Kind: vdisk.OpReset, Path: path, Data: []byte(content), Size: int64(len(content))}))
	}
	t.Run("the content", func(t *testing.T) {
		b := newBench(t, "")
		b.create("/d/p/0.log", "012")
		b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/p"})
		require.Equal(t, "lost: loses offsets 1 to 2, not flushed", reset(b, "/d/p/0.log", "0"))
	})
	t.Run("the name of a rename", func(t *testing.T) {
		b := newBench(t, "")
		written(b)
		b.sync("/d/p/state.tmp")
		renamed(b)
		require.Equal(t, "lost: loses what it had written to state (new), since no fsync of the directory came behind "+
			"the rename of state.tmp to state", reset(b, "/d/p/state", "old"))
	})
	t.Run("a file without a name", func(t *testing.T) {
		b := newBench(t, "")
		b.create("/d/p/0.log", "012")
		b.sync("/d/p/0.log")
		require.Equal(t, "lost: loses the file 0.log with offsets 0 to 2, since no fsync of the directory came behind its creation",
			clauseOf(b.op(vdisk.Op{Kind: vdisk.OpVanish, Path: "/d/p/0.log"})))
	})
	t.Run("a disk that lied", func(t *testing.T) {
		b := newBench(t, "")
		b.create("/d/p/0.log", "012")
		b.sync("/d/p/0.log")
		b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/p"})
		require.Equal(t, "lost: loses offset 2, although it was flushed", reset(b, "/d/p/0.log", "01"))
	})
	t.Run("after it nothing is pending", func(t *testing.T) {
		b := newBench(t, "")
		b.create("/d/p/0.log", "012")
		b.files[0].lost = true // a power loss that took nothing
		b.op(vdisk.Op{Kind: vdisk.OpWrite, Path: "/d/p/0.log", Offset: 3, Data: []byte("3"), Size: 4})
		require.Equal(t, "flush: flushes its log up to offset 3", clauseOf(b.sync("/d/p/0.log")))
	})
}

func TestSmallFilesThatAreNotDurable(t *testing.T) {
	b := newBench(t, "")
	b.create("/d/p/state", "one")
	require.Equal(t, []Unflushed{{Seq: 1, Path: "state", Text: "one"}}, b.unflushed())
	b.sync("/d/p/state")
	require.Equal(t, []Unflushed{{Seq: 1, Path: "state", Text: "one", Whole: true}}, b.unflushed())
	b.op(vdisk.Op{Kind: vdisk.OpSyncDir, Path: "/d/p"})
	require.Empty(t, b.unflushed())
}
