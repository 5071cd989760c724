// Package filestest is a disk in memory for the tests of the metadata layer. It can stop at the k-th operation, which is
// how the tests visit every point at which a program may die between two steps. What survives a power loss is not
// modelled here; sim/vdisk does that.
package filestest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// ErrStopped is what every operation returns from the one given by StopAt on.
var ErrStopped = errors.New("filestest: stopped")

// Memory is an empty root directory at first.
type Memory struct {
	Content map[string][]byte // path to content; only for looking at
	Refuse  map[string]error  // path to the error that opening, listing or locking it gives
	Held    map[string]bool   // paths that another process has locked
	StopAt  int64             // operation that fails with ErrStopped, counted from 1; 0: none
	Count   int64             // operations so far
	Journal []string          // what was made durable or renamed, in order
	Locks   []string          // what was locked, in order

	dirs map[string]bool
	open map[int32]string
	next int32
}

// NewMemory returns an empty disk.
func NewMemory() *Memory {
	return &Memory{
		Content: map[string][]byte{}, Refuse: map[string]error{},
		dirs: map[string]bool{"/": true}, open: map[int32]string{},
	}
}

// Put stores a file and makes its directory, without counting.
func (m *Memory) Put(name, content string) {
	m.makeDirs(path.Dir(name))
	m.Content[name] = []byte(content)
}

// Names lists all files, ascending.
func (m *Memory) Names() []string {
	var names []string
	for name := range m.Content {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (m *Memory) makeDirs(dir string) {
	for ; !m.dirs[dir]; dir = path.Dir(dir) {
		m.dirs[dir] = true
	}
}

func (m *Memory) step(name string) error {
	m.Count++
	if m.StopAt > 0 && m.Count >= m.StopAt {
		return ErrStopped
	}
	if err := m.Refuse[name]; err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// MkdirAll implements files.Files.
func (m *Memory) MkdirAll(dir string) error {
	if err := m.step(dir); err != nil {
		return err
	}
	m.makeDirs(dir)
	return nil
}

// List implements files.Files.
func (m *Memory) List(dir string) ([]string, error) {
	if err := m.step(dir); err != nil {
		return nil, err
	}
	if !m.dirs[dir] {
		return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
	}
	var names []string
	for name := range m.Content {
		if path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	for name := range m.dirs {
		if name != dir && path.Dir(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Open implements files.Files.
func (m *Memory) Open(name string, create bool) (int32, error) {
	if err := m.step(name); err != nil {
		return 0, err
	}
	_, there := m.Content[name]
	if !there && (!create || !m.dirs[path.Dir(name)]) {
		return 0, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	if !there {
		m.Content[name] = nil
	}
	m.next++
	m.open[m.next] = name
	return m.next, nil
}

// Close implements files.Files.
func (m *Memory) Close(fd int32) error {
	if m.open[fd] == "" {
		return fs.ErrClosed
	}
	delete(m.open, fd)
	return nil
}

// Size implements files.Files.
func (m *Memory) Size(fd int32) (int64, error) {
	return int64(len(m.Content[m.open[fd]])), m.step(m.open[fd])
}

// ReadAt implements files.Files.
func (m *Memory) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	if err := m.step(m.open[fd]); err != nil {
		return 0, err
	}
	content := m.Content[m.open[fd]]
	if offset >= int64(len(content)) {
		return 0, io.EOF
	}
	n := copy(p, content[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements files.Files.
func (m *Memory) WriteAt(fd int32, p []byte, offset int64) error {
	name := m.open[fd]
	if err := m.step(name); err != nil {
		return err
	}
	content := m.Content[name]
	if grow := offset + int64(len(p)) - int64(len(content)); grow > 0 {
		content = append(content, make([]byte, grow)...)
	}
	copy(content[offset:], p)
	m.Content[name] = content
	return nil
}

// Truncate implements files.Files.
func (m *Memory) Truncate(fd int32, size int64) error {
	name := m.open[fd]
	if err := m.step(name); err != nil {
		return err
	}
	m.Content[name] = append(make([]byte, 0, size), m.Content[name][:min(size, int64(len(m.Content[name])))]...)
	return nil
}

// Sync implements files.Files.
func (m *Memory) Sync(fd int32) error {
	m.Journal = append(m.Journal, "sync "+m.open[fd])
	return m.step(m.open[fd])
}

// Rename implements files.Files.
func (m *Memory) Rename(from, to string) error {
	if err := m.step(from); err != nil {
		return err
	}
	content, there := m.Content[from]
	if !there {
		return fmt.Errorf("%s: %w", from, fs.ErrNotExist)
	}
	delete(m.Content, from)
	m.Content[to] = content
	m.Journal = append(m.Journal, "rename "+to)
	return nil
}

// Remove implements files.Files.
func (m *Memory) Remove(name string) error {
	if err := m.step(name); err != nil {
		return err
	}
	if _, there := m.Content[name]; !there {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	delete(m.Content, name)
	return nil
}

// SyncDir implements files.Files.
func (m *Memory) SyncDir(dir string) error {
	m.Journal = append(m.Journal, "syncdir "+strings.TrimSuffix(dir, "/"))
	return m.step(dir)
}

// Lock implements files.Locker. It counts as no operation, and whoever uses the disk is one process.
func (m *Memory) Lock(name string) (bool, error) {
	if err := m.Refuse[name]; err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	if m.Held[name] {
		return false, nil
	}
	m.Locks = append(m.Locks, name)
	return true, nil
}
