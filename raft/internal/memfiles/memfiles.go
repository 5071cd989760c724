// Package memfiles is a file system in memory for the tests of the raft layer. It keeps what was written apart from
// what was synced: Crash is a power loss that drops everything unsynced, file contents and directory entries each on
// its own, and Kill is the end of a process, which drops nothing but open descriptors. It has no faults beyond that;
// sim/vdisk has them. Only tests import it.
package memfiles

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"sort"
)

// Files implements the method set of docs/seams.md section 2. The zero value is not usable; see New.
type Files struct {
	entries map[string]*node // by path
	durable map[string]*node // entries as a power loss would leave them
	fds     map[int32]*node
	nextFD  int32
	// Hook, when set, is called before every operation with its name ("write", "sync", ...) and path (of descriptors:
	// the path it was opened with); an error it returns becomes the operation's.
	Hook func(op, path string) error
	// Syncs and Writes count calls, for tests that bound them.
	Syncs, Writes int64
}

type node struct {
	path   string // as last opened or made, for Hook
	dir    bool
	data   []byte
	synced []byte
}

// New returns an empty file system with a root directory.
func New() *Files {
	f := &Files{entries: map[string]*node{}, durable: map[string]*node{}, fds: map[int32]*node{}}
	root := &node{path: "/", dir: true}
	f.entries["/"], f.durable["/"] = root, root
	return f
}

// Crash is a power loss: descriptors die, unsynced contents and directory entries are gone.
func (f *Files) Crash() {
	f.Kill()
	f.entries = map[string]*node{}
	paths := sortedKeys(f.durable)
	for _, p := range paths { // ascending: a parent comes before its children
		n := f.durable[p]
		if _, ok := f.entries[path.Dir(p)]; !ok && p != "/" {
			delete(f.durable, p) // its directory never became durable
			continue
		}
		n.data = append([]byte(nil), n.synced...)
		f.entries[p] = n
	}
}

// Kill is the end of a process: its descriptors die, files stay as they are.
func (f *Files) Kill() { f.fds = map[int32]*node{} }

// MkdirAll implements Files.
func (f *Files) MkdirAll(dir string) error {
	if err := f.hook("mkdir", dir); err != nil {
		return err
	}
	dir = path.Clean(dir)
	for d := dir; ; d = path.Dir(d) {
		if n := f.entries[d]; n != nil {
			if !n.dir {
				return &fs.PathError{Op: "mkdir", Path: d, Err: fs.ErrExist}
			}
			if d == dir {
				return nil
			}
			break
		}
	}
	for d := dir; f.entries[d] == nil; d = path.Dir(d) {
		f.entries[d] = &node{path: d, dir: true}
	}
	return nil
}

// List implements Files.
func (f *Files) List(dir string) ([]string, error) {
	if err := f.hook("list", dir); err != nil {
		return nil, err
	}
	dir = path.Clean(dir)
	if n := f.entries[dir]; n == nil || !n.dir {
		return nil, &fs.PathError{Op: "list", Path: dir, Err: fs.ErrNotExist}
	}
	var names []string
	for _, p := range sortedKeys(f.entries) {
		if p != "/" && path.Dir(p) == dir {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
}

// Open implements Files.
func (f *Files) Open(name string, create bool) (int32, error) {
	if err := f.hook("open", name); err != nil {
		return 0, err
	}
	name = path.Clean(name)
	n := f.entries[name]
	if n != nil && n.dir {
		return 0, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	if n == nil {
		if parent := f.entries[path.Dir(name)]; !create || parent == nil {
			return 0, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		n = &node{path: name}
		f.entries[name] = n
	}
	f.nextFD++
	f.fds[f.nextFD] = n
	return f.nextFD, nil
}

// Close implements Files.
func (f *Files) Close(fd int32) error {
	if _, err := f.node("close", fd); err != nil {
		return err
	}
	delete(f.fds, fd)
	return nil
}

// Size implements Files.
func (f *Files) Size(fd int32) (int64, error) {
	n, err := f.node("size", fd)
	if err != nil {
		return 0, err
	}
	return int64(len(n.data)), nil
}

// ReadAt implements Files.
func (f *Files) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	n, err := f.node("read", fd)
	if err != nil {
		return 0, err
	}
	if offset < 0 || offset > int64(len(n.data)) {
		return 0, io.EOF
	}
	c := copy(p, n.data[offset:])
	if c < len(p) {
		return c, io.EOF
	}
	return c, nil
}

// WriteAt implements Files.
func (f *Files) WriteAt(fd int32, p []byte, offset int64) error {
	n, err := f.node("write", fd)
	if err != nil {
		return err
	}
	f.Writes++
	if need := offset + int64(len(p)) - int64(len(n.data)); need > 0 {
		n.data = append(n.data, make([]byte, need)...)
	}
	copy(n.data[offset:], p)
	return nil
}

// Truncate implements Files.
func (f *Files) Truncate(fd int32, size int64) error {
	n, err := f.node("truncate", fd)
	if err != nil {
		return err
	}
	if more := size - int64(len(n.data)); more > 0 {
		n.data = append(n.data, make([]byte, more)...)
	}
	n.data = n.data[:size:size]
	return nil
}

// Sync implements Files.
func (f *Files) Sync(fd int32) error {
	n, err := f.node("sync", fd)
	if err != nil {
		return err
	}
	f.Syncs++
	n.synced = append([]byte(nil), n.data...)
	return nil
}

// Rename implements Files.
func (f *Files) Rename(from, to string) error {
	if err := f.hook("rename", from); err != nil {
		return err
	}
	from, to = path.Clean(from), path.Clean(to)
	n := f.entries[from]
	if n == nil || n.dir {
		return &fs.PathError{Op: "rename", Path: from, Err: fs.ErrNotExist}
	}
	delete(f.entries, from)
	f.entries[to] = n
	n.path = to
	return nil
}

// Remove implements Files.
func (f *Files) Remove(name string) error {
	if err := f.hook("remove", name); err != nil {
		return err
	}
	name = path.Clean(name)
	if f.entries[name] == nil {
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	delete(f.entries, name)
	return nil
}

// SyncDir implements Files.
func (f *Files) SyncDir(dir string) error {
	if err := f.hook("syncdir", dir); err != nil {
		return err
	}
	dir = path.Clean(dir)
	if n := f.entries[dir]; n == nil || !n.dir {
		return &fs.PathError{Op: "syncdir", Path: dir, Err: fs.ErrNotExist}
	}
	for _, p := range sortedKeys(f.durable) {
		if p != "/" && path.Dir(p) == dir && f.entries[p] == nil {
			delete(f.durable, p)
		}
	}
	for _, p := range sortedKeys(f.entries) {
		if p != "/" && path.Dir(p) == dir {
			f.durable[p] = f.entries[p]
		}
	}
	return nil
}

// ReadFile returns the content of a file as the process sees it; nil when there is none.
func (f *Files) ReadFile(name string) []byte {
	if n := f.entries[path.Clean(name)]; n != nil && !n.dir {
		return append([]byte{}, n.data...)
	}
	return nil
}

// WriteFile makes a file with this content, durable at once with its directories.
func (f *Files) WriteFile(name string, content []byte) {
	name = path.Clean(name)
	for d := path.Dir(name); d != "/"; d = path.Dir(d) {
		if f.entries[d] == nil {
			f.entries[d] = &node{path: d, dir: true}
		}
		f.durable[d] = f.entries[d]
	}
	n := &node{path: name, data: append([]byte{}, content...), synced: append([]byte{}, content...)}
	f.entries[name], f.durable[name] = n, n
}

func (f *Files) node(op string, fd int32) (*node, error) {
	n := f.fds[fd]
	if n == nil {
		return nil, fmt.Errorf("memfiles: %s: descriptor %d: %w", op, fd, fs.ErrClosed)
	}
	return n, f.hook(op, n.path)
}

func (f *Files) hook(op, name string) error {
	if f.Hook == nil {
		return nil
	}
	return f.Hook(op, name)
}

func sortedKeys(m map[string]*node) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
