package vdisk

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// step is one letter of the alphabet of histories. name and other are file names in /d.
type step struct {
	kind        Kind
	name, other string
	at, size    int // in units; at -1: the end
}

func (s step) String() string {
	return fmt.Sprintf("%s(%s%s %d %d)", s.kind, s.name, s.other, s.at, s.size)
}

// possible reports whether the step succeeds in this state.
func (s step) possible(sp *spec) bool {
	_, ok := sp.names[s.name]
	switch s.kind {
	case OpCreate:
		return !ok
	case OpSyncDir:
		return true
	}
	return ok
}

// tell applies the step to the rules; fill is the byte that a write writes.
func (s step) tell(sp *spec, fill byte) {
	f := sp.names[s.name]
	switch s.kind {
	case OpCreate:
		sp.change(specName{kind: OpCreate, from: s.name, file: &specFile{lost: map[int]bool{}}})
	case OpWrite:
		f.write(s.offset(f), bytes.Repeat([]byte{fill}, s.size))
	case OpTruncate:
		f.truncate(s.size)
	case OpSync:
		f.sync()
	case OpSyncFailed:
		if !sp.keepsDirty { // R10
			f.failSync()
		}
	case OpRename:
		sp.change(specName{kind: OpRename, from: s.name, to: s.other, file: f})
	case OpRemove:
		sp.change(specName{kind: OpRemove, from: s.name, file: f})
	case OpSyncDir:
		sp.syncDir()
	}
}

func (s step) offset(f *specFile) int {
	if s.at < 0 {
		return len(f.cache)
	}
	return s.at
}

// do applies the step to the volume.
func (s step) do(v *Volume, h *Handle, fill byte) error {
	path := "/d/" + s.name
	switch s.kind {
	case OpRename:
		return h.Rename(path, "/d/"+s.other)
	case OpRemove:
		return h.Remove(path)
	case OpSyncDir:
		return h.SyncDir("/d")
	}
	fd, err := h.Open(path, s.kind == OpCreate)
	if err != nil {
		return err
	}
	defer h.Close(fd)
	switch s.kind {
	case OpWrite:
		at := int64(s.at) * unit
		if s.at < 0 {
			at, _ = h.Size(fd)
		}
		return h.WriteAt(fd, bytes.Repeat([]byte{fill}, s.size*unit), at)
	case OpTruncate:
		return h.Truncate(fd, int64(s.size)*unit)
	case OpSync:
		return h.Sync(fd)
	case OpSyncFailed:
		v.SetErrors("", Errors{Sync: true})
		defer v.SetErrors("", Errors{})
		if h.Sync(fd) == nil {
			return fmt.Errorf("the fsync did not fail")
		}
	}
	return nil
}

// state renders what the volume holds in the units of the spec.
func state(v *Volume) string {
	contents := map[string]string{}
	v.Walk(func(path string, data []byte) {
		var b []byte
		for ; len(data) >= unit; data = data[unit:] {
			if bytes.Count(data[:unit], data[:1]) != unit {
				panic("a unit is torn: sectors are not whole")
			}
			b = append(b, data[0])
		}
		if len(data) != 0 {
			panic("half a unit")
		}
		contents[path[len("/d/"):]] = string(b)
	})
	return render(contents)
}

// explorer replays one history against volume and rules, for every list of crash decisions.
type explorer struct {
	volume *Volume
	loaded string // units of file f, and behind a bar of g, at the start; "" for no file
	script script
	vectors,
	limit int
	tail   []step // issued behind the history, or where the process is killed, and never committed
	killAt int    // the process is killed before this step of the history; 0: not
	late   bool   // commit at the end, not after each step
	model  Model
}

// replay runs the history; the last step stays in progress when asked.
func (x *explorer) replay(history []step, inProgress bool) (ops []OpID, err error) {
	x.start()
	v, host := x.volume, &lane{}
	h := v.Handle(benignLane{host})
	fill := byte('1')
	tail := func() {
		for _, s := range x.tail {
			if err == nil {
				err = s.do(v, h, 'x')
			}
		}
	}
	for i, s := range history {
		if i > 0 && i == x.killAt {
			issued := len(host.issued)
			tail()
			for _, op := range host.issued[:issued] {
				v.Commit(op)
			}
			v.Crash(Kill, nil, Immediate{})
			host.issued = host.issued[:0]
			h = v.Handle(benignLane{host})
		}
		if err = s.do(v, h, fill); err != nil {
			return nil, err
		}
		fill++
		if !x.late && (i < len(history)-1 || !inProgress) {
			host.commitAll(v)
		}
	}
	issued := len(host.issued)
	if x.killAt == 0 {
		tail()
	}
	ops = host.issued[:issued]
	for x.late && (len(ops) > 1 || len(ops) > 0 && !inProgress) {
		v.Commit(ops[0])
		ops = ops[1:]
	}
	return ops, err
}

func (x *explorer) start() {
	v := x.volume
	v.Reset(x.model)
	if x.loaded == "" {
		v.Load("/d/x", nil)
		return
	}
	f, g, both := strings.Cut(x.loaded, "|")
	v.Load("/d/f", expand(f))
	if both {
		v.Load("/d/g", expand(g))
	}
}

// benignLane decides benign and keeps the operations in flight.
type benignLane struct{ *lane }

func (b benignLane) Choose(s *decide.Site, _, _ uint64, _ int64) int64 { return s.Benign() }
func (b benignLane) Chance(s *decide.Site, _, _ uint64, _ int64) bool  { return s.Benign() != 0 }

func expand(units string) []byte {
	var b []byte
	for i := range len(units) {
		b = append(b, bytes.Repeat([]byte{units[i]}, unit)...)
	}
	return b
}

// reached collects the states of all decision lists; false when there are more than the limit.
func (x *explorer) reached(history []step, inProgress bool, kind CrashKind) (map[string]bool, bool, error) {
	got := map[string]bool{}
	x.script = script{values: x.script.values[:0], domains: x.script.domains[:0]}
	for n := 0; ; n++ {
		ops, err := x.replay(history, inProgress)
		if err != nil {
			return nil, false, err
		}
		x.volume.Crash(kind, ops, &x.script)
		got[state(x.volume)] = true
		x.vectors++
		if !x.script.advance() {
			return got, true, nil
		}
		if n == x.limit {
			return got, false, nil
		}
	}
}

func (x *explorer) newSpec() *spec {
	sp := newSpec()
	sp.posix, sp.keepsDirty = x.model.Profile == Posix, x.model.KeepDirty
	if x.loaded != "" {
		f, g, both := strings.Cut(x.loaded, "|")
		sp.load("f", []byte(f))
		if both {
			sp.load("g", []byte(g))
		}
	} else {
		sp.load("x", nil)
	}
	return sp
}

// allowed is the set of the rules. A step in progress is pending, or (fsync, SyncDir) happened or not (R2).
func (x *explorer) allowed(history []step, inProgress bool, kind CrashKind) map[string]bool {
	sp := x.newSpec()
	into := map[string]bool{}
	add := func() {
		if kind == Kill {
			into[sp.afterKill()] = true
		} else {
			sp.afterPowerLoss(into)
		}
	}
	for i, s := range history {
		if i == len(history)-1 && inProgress {
			add() // it did not happen
			if f := sp.names[s.name]; s.kind == OpWrite && kind == Kill {
				x.sectorPrefixes(f, s, byte('1'+i), into, sp)
				return into
			}
		}
		s.tell(sp, byte('1'+i))
	}
	add()
	return into
}

func (x *explorer) sectorPrefixes(f *specFile, s step, fill byte, into map[string]bool, sp *spec) {
	before, at := f.cache, s.offset(f)
	for n := 1; n <= s.size; n++ {
		if n == s.size || (at+n)%2 == 0 {
			f.cache = overlaid(before, at, bytes.Repeat([]byte{fill}, n))
			into[sp.afterKill()] = true
		}
	}
}

func keys(m map[string]bool) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func same(a, b map[string]bool) bool {
	if len(a) != len(b) {
		return false
	}
	for k := range a {
		if !b[k] {
			return false
		}
	}
	return true
}

var alphabet = []step{
	{kind: OpCreate, name: "f"},
	{kind: OpCreate, name: "g"},
	{kind: OpWrite, name: "f", at: -1, size: 3}, // one sector and a half
	{kind: OpWrite, name: "g", at: -1, size: 2},
	{kind: OpWrite, name: "f", at: 1, size: 2}, // overwrites in two sectors, or extends
	{kind: OpTruncate, name: "f", size: 1},
	{kind: OpSync, name: "f"},
	{kind: OpSync, name: "g"},
	{kind: OpRename, name: "f", other: "g"},
	{kind: OpRename, name: "g", other: "f"},
	{kind: OpRemove, name: "f"},
	{kind: OpSyncDir},
}

// All histories of four operations over two files: what the sampler reaches over all decisions is what the rules allow.
func TestEveryHistoryOfFourReachesWhatTheRulesAllow(t *testing.T) {
	for _, c := range []struct {
		loaded string
		model  Model
	}{{"", Model{}}, {"abc", Model{}}, {"abc|xy", Model{}}, {"", Model{Profile: Posix}}, {"abc|xy", Model{Profile: Posix}}} {
		x := &explorer{volume: NewVolume("v", c.model), model: c.model, loaded: c.loaded, limit: 1 << 20}
		histories := 0
		var walk func(history []step, sp *spec)
		walk = func(history []step, sp *spec) {
			for _, s := range alphabet {
				if !s.possible(sp) {
					continue
				}
				h := append(history[:len(history):len(history)], s)
				if len(h) < 4 {
					next := x.newSpec()
					for i, s := range h {
						s.tell(next, byte('1'+i))
					}
					walk(h, next)
					continue
				}
				histories++
				x.compare(t, h)
			}
		}
		walk(nil, x.newSpec())
		require.Greater(t, histories, 500)
		t.Logf("start %q, profile %d: %d histories, %d lists of decisions", c.loaded, c.model.Profile, histories, x.vectors)
	}
}

func (x *explorer) compare(t require.TestingT, h []step) {
	for _, kind := range []CrashKind{Kill, PowerLoss} {
		for _, inProgress := range []bool{false, true} {
			got, all, err := x.reached(h, inProgress, kind)
			require.NoError(t, err, "%v", h)
			want := x.allowed(h, inProgress, kind)
			if all && !same(got, want) {
				require.Equal(t, keys(want), keys(got), "%v in progress %v kind %d", h, inProgress, kind)
			}
			for s := range got {
				if !want[s] {
					require.Failf(t, "not allowed", "%s after %v", s, h)
				}
			}
		}
	}
}

// Longer histories on a wider alphabet, with failed fsyncs, holes and several sectors, drawn by rapid, and operations
// behind the cut: those must leave no trace, neither at the crash nor at a later one.
func TestLongerHistoriesReachWhatTheRulesAllow(t *testing.T) {
	wide := append([]step{
		{kind: OpWrite, name: "f", at: -1, size: 1},
		{kind: OpWrite, name: "f", at: 0, size: 1},
		{kind: OpWrite, name: "f", at: 2, size: 4},
		{kind: OpWrite, name: "f", at: 7, size: 2}, // leaves a hole
		{kind: OpWrite, name: "g", at: 0, size: 3},
		{kind: OpTruncate, name: "f", size: 0},
		{kind: OpTruncate, name: "f", size: 3},
		{kind: OpTruncate, name: "f", size: 6},
		{kind: OpSyncFailed, name: "f"},
		{kind: OpSyncFailed, name: "g"},
		{kind: OpRemove, name: "g"},
	}, alphabet...)
	x := &explorer{volume: NewVolume("v", Model{}), limit: 1000}
	rapid.Check(t, func(rt *rapid.T) {
		x.loaded = rapid.SampledFrom([]string{"", "abc", "abcdefg", "abcd|xyz"}).Draw(rt, "loaded")
		x.late = rapid.Bool().Draw(rt, "late")
		x.model = Model{Profile: rapid.SampledFrom([]Profile{Ordered, Posix}).Draw(rt, "profile"), KeepDirty: rapid.Bool().Draw(rt, "keep")}
		draw := func(h []step, most int, label string) (more []step) {
			sp := x.newSpec()
			for _, s := range h {
				s.tell(sp, 'x')
			}
			for range rapid.IntRange(0, most).Draw(rt, label+" length") {
				s := rapid.SampledFrom(wide).Filter(func(s step) bool { return s.possible(sp) }).Draw(rt, label)
				s.tell(sp, 'x')
				more = append(more, s)
			}
			return more
		}
		h := append([]step{{kind: OpSyncDir}}, draw(nil, 5, "step")...)
		x.killAt = 0
		if rapid.Bool().Draw(rt, "kill") {
			x.killAt = len(h)
		}
		x.tail = draw(h, 3, "tail")
		if x.killAt > 0 {
			h = append(h, draw(h, 3, "after")...)
		}
		x.compare(rt, h)
	})
	t.Logf("%d lists of decisions", x.vectors)
}
