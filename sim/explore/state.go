package explore

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// ErrState is wrapped by errors about a file that holds no search of this plan and these bounds.
var ErrState = errors.New("explore: not a saved search")

// stateFormat is the version of the file.
const stateFormat = 1

// head is the first line of a saved search; what follows is the table of states.
type head struct {
	Format  int        `json:"format"`
	Engine  string     `json:"engine"`
	Plan    *plan.Plan `json:"plan"`
	Started bool       `json:"started"`
	Stack   []frame    `json:"stack"`
	Report  Report     `json:"report"`
	Table   int        `json:"table_bytes"`
	CRC     uint32     `json:"table_crc"`
}

// Save writes the search to a file, which is there whole or not at all, whatever ends the program.
func (s *Search) Save(file string) error {
	table := s.table()
	h := head{Format: stateFormat, Engine: sim.EngineVersion, Plan: s.plan, Started: s.started, Stack: s.stack, Report: s.report,
		Table: len(table), CRC: crc32.ChecksumIEEE(table)}
	line, err := json.Marshal(&h)
	if err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	if _, err := os.Stat(filepath.Dir(file)); err != nil { // a folder that vanished is not made again in silence
		return fmt.Errorf("explore: %w", err)
	}
	if err := outfile.Write(file, append(append(line, '\n'), table...)); err != nil {
		return fmt.Errorf("explore: %w", err)
	}
	return nil
}

// table is the states that were visited, in order of their hashes.
func (s *Search) table() (b []byte) {
	hashes := make([]uint64, 0, len(s.visited))
	for h := range s.visited {
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	for _, h := range hashes {
		b = binary.BigEndian.AppendUint64(b, h)
		b = binary.AppendUvarint(b, uint64(len(s.visited[h])))
		for _, v := range s.visited[h] {
			b = binary.AppendVarint(binary.AppendVarint(b, v.left), v.deviations)
			b = binary.AppendUvarint(b, uint64(len(v.sleep)))
			for _, name := range v.sleep {
				b = append(binary.AppendUvarint(b, uint64(len(name))), name...)
			}
		}
	}
	return b
}

// Load reads a saved search of the same plan, bounds and engine.
func Load(file string, r Runner, p *plan.Plan, b Bounds) (*Search, error) {
	data, err := readState(file)
	if err != nil {
		return nil, err
	}
	line, table, found := bytes.Cut(data, []byte{'\n'})
	var h head
	if err := json.Unmarshal(line, &h); err != nil || !found || h.Plan == nil {
		return nil, fmt.Errorf("%w: %s", ErrState, file)
	}
	s := New(r, p, b)
	mine, _ := json.Marshal(s.plan)
	theirs, _ := json.Marshal(h.Plan)
	switch {
	case h.Format != stateFormat || h.Engine != sim.EngineVersion:
		return nil, fmt.Errorf("%w: %s is of format %d and engine %s, this is format %d and engine %s", ErrState, file, h.Format, h.Engine, stateFormat,
			sim.EngineVersion)
	case !bytes.Equal(mine, theirs) || h.Report.Bounds != b:
		return nil, fmt.Errorf("%w: %s is about another plan or other bounds", ErrState, file)
	case h.Table != len(table) || h.CRC != crc32.ChecksumIEEE(table):
		return nil, fmt.Errorf("%w: %s is damaged", ErrState, file)
	}
	s.started, s.stack, s.report = h.Started, h.Stack, h.Report
	if !s.fill(table) || !s.sound() {
		return nil, fmt.Errorf("%w: %s is damaged", ErrState, file)
	}
	return s, nil
}

// readState reads a regular file: a device or a pipe may never end.
func readState(file string) ([]byte, error) {
	info, err := os.Stat(file) // before it is opened: that of a pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no regular file", ErrState, file)
	}
	return os.ReadFile(file)
}

// sound reports whether the stack can be what a search left.
func (s *Search) sound() bool {
	for i := range s.stack {
		if f := &s.stack[i]; f.Taken < 0 || f.Taken >= int64(len(f.Options)) {
			return false
		}
	}
	return true
}

// fill reads the table; false when it is cut short or malformed.
func (s *Search) fill(b []byte) bool {
	bad := false
	number := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	signed := func() int64 {
		v, n := binary.Varint(b)
		if n <= 0 {
			bad = true
			return 0
		}
		b = b[n:]
		return v
	}
	for len(b) > 0 && !bad {
		if len(b) < 8 {
			return false
		}
		hash := binary.BigEndian.Uint64(b)
		b = b[8:]
		for n := number(); n > 0 && !bad; n-- {
			v := visit{left: signed(), deviations: signed()}
			for m := number(); m > 0 && !bad; m-- {
				size := number()
				if size > uint64(len(b)) {
					return false
				}
				v.sleep = append(v.sleep, string(b[:size]))
				b = b[size:]
			}
			s.visited[hash] = append(s.visited[hash], v)
		}
	}
	return !bad
}
