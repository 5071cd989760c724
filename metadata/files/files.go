// Package files is how the metadata layer reads and replaces whole small files: meta.properties, bootstrap.checkpoint,
// 0-0.checkpoint.
//
// The problem: such a file must be there completely or not at all after a power loss, and the steps that achieve this
// (write beside, sync, rename, sync the directory) are easy to get wrong one call site at a time. Replace is that
// sequence, once:
//
//	err := files.Replace(volume, "/data/dir0/meta.properties", content)
//
// After it returned nil the new content survives any crash; before that, a crash leaves the old file or the new
// one, and perhaps a ".tmp" file beside it, which the next Replace overwrites. Nothing here retries: an error is
// the caller's.
//
// Files is the method set of the seam "Files" (docs/seams.md 2): simulated volumes, real directories (metadata/osfiles)
// and fault injectors satisfy it without knowing each other. Refused: io/fs, which cannot write, sync or rename.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// Files is a tree of directories on one host. Paths are slash separated and absolute; errors wrap the io/fs sentinels.
type Files interface {
	MkdirAll(dir string) error
	List(dir string) (names []string, err error) // base names, ascending; fs.ErrNotExist when dir is missing
	Open(path string, create bool) (fd int32, err error)
	Close(fd int32) error
	Size(fd int32) (int64, error)
	ReadAt(fd int32, p []byte, offset int64) (n int, err error)
	WriteAt(fd int32, p []byte, offset int64) error // p is immutable from here on
	Truncate(fd int32, size int64) error
	Sync(fd int32) error
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(dir string) error
}

// Locker is a tree of directories that processes lock against each other.
type Locker interface {
	Files
	// Lock takes the exclusive lock on a file, which is made when it is missing where locks need a file. taken is false while
	// another process has it. It ends with the process, and only with it.
	Lock(path string) (taken bool, err error)
}

// TempSuffix marks a file that was not renamed yet.
const TempSuffix = ".tmp"

// Read returns the content of a file; fs.ErrNotExist when there is none.
func Read(f Files, name string) (content []byte, err error) {
	fd, err := f.Open(name, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close(fd)) }()
	size, err := f.Size(fd)
	if err != nil {
		return nil, err
	}
	content = make([]byte, size)
	n, err := f.ReadAt(fd, content, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int64(n) < size {
		return nil, fmt.Errorf("files: %s: %d of %d bytes read: %w", name, n, size, io.ErrUnexpectedEOF)
	}
	return content, nil
}

// Exists tells whether a file is there. An error other than fs.ErrNotExist is returned.
func Exists(f Files, name string) (bool, error) {
	fd, err := f.Open(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close(fd)
}

// Replace gives name the content, durably and all at once. content must not change afterwards.
func Replace(f Files, name string, content []byte) error {
	return ReplaceVia(f, name, name+TempSuffix, content)
}

// ReplaceVia is Replace with the name of the file that holds the content before the rename, in the same directory.
func ReplaceVia(f Files, name, temp string, content []byte) error {
	if err := write(f, temp, content); err != nil {
		return fmt.Errorf("files: write %s: %w", temp, err)
	}
	if err := f.Rename(temp, name); err != nil {
		return fmt.Errorf("files: rename to %s: %w", name, err)
	}
	if err := f.SyncDir(path.Dir(name)); err != nil {
		return fmt.Errorf("files: sync directory of %s: %w", name, err)
	}
	return nil
}

func write(f Files, name string, content []byte) (err error) {
	fd, err := f.Open(name, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close(fd)) }()
	if err := f.Truncate(fd, 0); err != nil { // what an earlier attempt left
		return err
	}
	if len(content) > 0 {
		if err := f.WriteAt(fd, content, 0); err != nil {
			return err
		}
	}
	return f.Sync(fd)
}

// MakeDir makes a directory and those above it that are missing, and syncs the parent of each one made. Kafka
// leaves out the syncs and relies on the file system to order them.
func MakeDir(f Files, dir string) error {
	var made []string
	for d := path.Clean(dir); ; d = path.Dir(d) {
		_, err := f.List(d)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("files: %s: %w", d, err)
		}
		made = append(made, d)
		if d == path.Dir(d) {
			break
		}
	}
	if len(made) == 0 {
		return nil
	}
	if err := f.MkdirAll(dir); err != nil {
		return fmt.Errorf("files: make %s: %w", dir, err)
	}
	for i := len(made) - 1; i >= 0; i-- {
		parent := path.Dir(made[i])
		if parent == made[i] {
			continue
		}
		if err := f.SyncDir(parent); err != nil {
			return fmt.Errorf("files: sync %s: %w", parent, err)
		}
	}
	return nil
}
