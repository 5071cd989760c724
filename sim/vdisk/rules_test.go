package vdisk

import (
	"fmt"
	"sort"
	"strings"
)

// This file is the brute-force enumerator: the rules of doc.go written a second time, declaratively, byte by byte and set
// by set, sharing no code with the sampler. Lengths and offsets are in units of half a sector, one byte of the spec standing
// for one unit.

const unit = SectorSize / 2

type specEvent struct {
	truncate bool
	at       int // offset, or length for a truncation
	data     []byte
}

type specFile struct {
	platter, cache []byte
	events         []specEvent
	lost           map[int]bool // clean sectors that the platter does not have
	posix          bool
}

type specName struct {
	kind     Kind
	from, to string
	file     *specFile
}

// spec is the state of the rules: which names lead where, now and on the platter.
type spec struct {
	names, platter map[string]*specFile
	journal        []specName
	posix          bool
	keepsDirty     bool
}

func newSpec() *spec { return &spec{names: map[string]*specFile{}, platter: map[string]*specFile{}} }

func (s *spec) load(name string, data []byte) {
	f := &specFile{platter: data, cache: append([]byte(nil), data...), lost: map[int]bool{}}
	s.names[name], s.platter[name] = f, f
}

func resized(b []byte, size int) []byte {
	out := make([]byte, size)
	copy(out, b)
	return out
}

func overlaid(b []byte, at int, data []byte) []byte {
	out := resized(b, max(len(b), at+len(data)))
	copy(out[at:], data)
	return out
}

func (f *specFile) write(at int, data []byte) {
	f.cache = overlaid(f.cache, at, data)
	event := specEvent{at: at, data: data}
	first, last := at/2, (at+len(data)-1)/2
	for sector := first; sector <= last; sector++ {
		if f.lost[sector] { // R9: whole sectors of the page cache go to the disk
			event.at = first * 2
			event.data = append([]byte(nil), f.cache[first*2:min(last*2+2, len(f.cache))]...)
		}
	}
	for sector := first; sector <= last; sector++ {
		delete(f.lost, sector)
	}
	f.events = append(f.events, event)
}

func (f *specFile) truncate(size int) {
	f.cache = resized(f.cache, size)
	f.events = append(f.events, specEvent{truncate: true, at: size})
}

func (f *specFile) sync() {
	for _, e := range f.events {
		if e.truncate {
			f.platter = resized(f.platter, e.at)
		} else {
			f.platter = overlaid(f.platter, e.at, e.data)
		}
	}
	f.events = nil
}

func (f *specFile) failSync() {
	var kept []specEvent
	for _, e := range f.events {
		if e.truncate {
			kept = append(kept, e)
			continue
		}
		for b := e.at; b < e.at+len(e.data); b++ {
			f.lost[b/2] = true
		}
	}
	f.events = kept
}

func (s *spec) applyName(names map[string]*specFile, c specName) {
	switch c.kind {
	case OpCreate:
		names[c.from] = c.file
	case OpRename:
		delete(names, c.from)
		names[c.to] = c.file
	case OpRemove:
		delete(names, c.from)
	}
}

func (s *spec) change(c specName) {
	s.applyName(s.names, c)
	s.journal = append(s.journal, c)
}

func (s *spec) syncDir() {
	for _, c := range s.journal {
		s.applyName(s.platter, c)
	}
	s.journal = nil
}

// afterKill is the state in the page cache.
func (s *spec) afterKill() string {
	contents := map[string]string{}
	for name, f := range s.names {
		contents[name] = string(f.cache)
	}
	return render(contents)
}

// afterPowerLoss is every state that the rules allow (R3: each prefix of the journal; then each file by itself).
func (s *spec) afterPowerLoss(into map[string]bool) {
	if s.posix {
		s.afterAdversary(into)
		return
	}
	names := map[string]*specFile{}
	for n, f := range s.platter {
		names[n] = f
	}
	for i := 0; ; i++ {
		product(names, into)
		if i == len(s.journal) {
			return
		}
		s.applyName(names, s.journal[i])
	}
}

// afterAdversary takes each subset of the journal that has no change without the earlier ones of its names (P1).
func (s *spec) afterAdversary(into map[string]bool) {
	touches := func(c specName, name string) bool { return c.from == name || c.kind == OpRename && c.to == name }
	for set := range 1 << len(s.journal) {
		names, closed := map[string]*specFile{}, true
		for n, f := range s.platter {
			names[n] = f
		}
		for i, c := range s.journal {
			if set>>i&1 == 0 {
				continue
			}
			for k, earlier := range s.journal[:i] {
				if set>>k&1 == 0 && (touches(earlier, c.from) || c.kind == OpRename && touches(earlier, c.to)) {
					closed = false
				}
			}
			s.applyName(names, c)
		}
		if closed {
			for _, f := range names {
				f.posix = true
			}
			product(names, into)
		}
	}
}

func product(names map[string]*specFile, into map[string]bool) {
	var order []string
	for n := range names {
		order = append(order, n)
	}
	sort.Strings(order)
	var walk func(i int, contents map[string]string)
	walk = func(i int, contents map[string]string) {
		if i == len(order) {
			into[render(contents)] = true
			return
		}
		for content := range names[order[i]].survivors() {
			contents[order[i]] = content
			walk(i+1, contents)
		}
	}
	walk(0, map[string]string{})
}

func render(contents map[string]string) string {
	var parts []string
	for name, content := range contents {
		parts = append(parts, fmt.Sprintf("%s=%q", name, content))
	}
	sort.Strings(parts)
	return strings.Join(parts, " ")
}

// specStep is a size step (R4): event number event takes the length to size; a write brings the units [from, size).
type specStep struct{ event, from, size int }

func (f *specFile) steps() (steps []specStep, before []int) {
	size := len(f.platter)
	for i, e := range f.events {
		before = append(before, len(steps))
		if e.truncate {
			if e.at != size {
				steps = append(steps, specStep{event: i, size: e.at})
			}
			size = e.at
			continue
		}
		from := size
		for b := max(size, e.at); b < e.at+len(e.data); b++ {
			if b+1 == e.at+len(e.data) || (b+1)%2 == 0 {
				steps = append(steps, specStep{event: i, from: from, size: b + 1})
				from = b + 1
			}
		}
		size = max(size, from)
	}
	return steps, before
}

// survivors enumerates the contents: each number of surviving steps, and for each sector each instant up to which the overwrites in
// it survive (R7), unless R8 forbids it.
func (f *specFile) survivors() map[string]bool {
	steps, before := f.steps()
	out := map[string]bool{}
	for j := 0; j <= len(steps); j++ {
		length := func(i int) int {
			if i == 0 {
				return len(f.platter)
			}
			return steps[i-1].size
		}
		smallest := func(i int) int {
			m := length(i)
			for k := min(i, j); k <= max(i, j); k++ {
				m = min(m, length(k))
			}
			return m
		}
		sectors := (length(j) + 1) / 2
		choices := make([][]string, sectors)
		for sector := range sectors {
			choices[sector] = f.sectorContents(sector, j, steps, before, length(j), smallest)
		}
		var walk func(i int, prefix string)
		walk = func(i int, prefix string) {
			if i == sectors {
				out[prefix] = true
				return
			}
			for _, c := range choices[i] {
				walk(i+1, prefix+c)
			}
		}
		walk(0, "")
	}
	return out
}

func (f *specFile) sectorContents(sector, j int, steps []specStep, before []int, length int, smallest func(int) int) []string {
	earliest := 0 // R8
	for t := 1; t <= j && !f.posix; t++ {
		st := steps[t-1]
		if e := f.events[st.event]; !e.truncate {
			for b := max(st.from, e.at); b < st.size; b++ {
				if b/2 == sector && b < smallest(t) {
					earliest = max(earliest, st.event+1)
				}
			}
		}
	}
	seen := map[string]bool{}
	for instant := earliest; instant <= len(f.events); instant++ {
		var content []byte
		for b := sector * 2; b < min(sector*2+2, length); b++ {
			content = append(content, f.byteAt(b, j, instant, steps, before, smallest))
		}
		seen[string(content)] = true
	}
	var out []string
	for c := range seen {
		out = append(out, c)
	}
	return out
}

// byteAt is the history of one byte: the last thing that happened to it and survived.
func (f *specFile) byteAt(b, j, instant int, steps []specStep, before []int, smallest func(int) int) byte {
	value := byte(0)
	if b < len(f.platter) {
		value = f.platter[b]
	}
	for i, e := range f.events {
		for t := 1; t <= j; t++ {
			st := steps[t-1]
			if st.event != i {
				continue
			}
			if e.truncate && st.size <= b {
				value = 0
			}
			if !e.truncate && st.from <= b && b < st.size {
				value = 0                                                      // a hole, or
				if b >= e.at && (!f.posix || i < instant && b < smallest(t)) { // P2
					value = e.data[b-e.at]
				}
			}
		}
		if !e.truncate && e.at <= b && b < e.at+len(e.data) {
			if existed := b < lengthBefore(f, i, steps, before); existed && i < instant && b < smallest(before[i]) {
				value = e.data[b-e.at]
			}
		}
	}
	return value
}

func lengthBefore(f *specFile, event int, steps []specStep, before []int) int {
	if before[event] == 0 {
		return len(f.platter)
	}
	return steps[before[event]-1].size
}
