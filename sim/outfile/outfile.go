// Package outfile writes the files that a program leaves for people and for later programs: capsules, pages, results.
//
// # The problem
//
// A campaign is killed, a disk is full, a path is a link, a pipe or a folder. Whoever reads the file next must find the old one
// or the whole new one, and whoever gave the name must be told of that name, not of a temporary one.
//
// # Guarantees
//
// [Write] makes the file beside its name, syncs it and renames it: all or nothing. A file that a killed process of this machine
// left half made is removed by the next one that writes the same name ([RemoveLeftovers]); the names of such files come from
// [Unfinished], which programs also use for folders and scratch files of their own. Errors begin with "outfile: write" and the
// caller's name.
//
//	err := outfile.Write("out/page.html", page)
//
// # Refused
//
// A lock file: it outlives its process as well. os.WriteFile: what it leaves after a crash is a part.
package outfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Write writes data under the name in one step: a reader sees the old file or the whole new one, never a part, also when the
// process is killed or the machine fails. Missing folders are made. An error wraps a *fs.PathError of that name. A link to a file
// stays one, and the file that it leads to is written; a device or a pipe is written directly. What a process left that was
// killed while it wrote the same file is removed.
func Write(file string, data []byte) (err error) {
	named := file
	defer func() {
		if err != nil { // by the name of the caller, not that of the file which would have become it
			err = fmt.Errorf("outfile: %w", &fs.PathError{Op: "write", Path: named, Err: cause(err)})
		}
	}()
	if file, err = destination(file); err != nil {
		return err
	}
	if info, err := os.Stat(file); err == nil && info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket) != 0 {
		return writeTo(file, data)
	}
	dir, base := filepath.Dir(file), filepath.Base(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	RemoveLeftovers(dir, base)
	f, err := os.CreateTemp(dir, Unfinished(base))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return err
	}
	if err = f.Chmod(0o644); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// destination is where a link leads, else the file itself. A link to nothing is a name like any other; one that leads to itself is an error.
func destination(file string) (string, error) {
	info, err := os.Lstat(file)
	if err == nil && info.IsDir() {
		return "", syscall.EISDIR
	}
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return file, nil
	}
	to, err := filepath.EvalSymlinks(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return file, nil
	case err != nil:
		if _, err := os.Stat(file); err != nil { // says it better
			return "", err
		}
		return "", err
	}
	return to, nil
}

var errNobodyReads = errors.New("is a pipe that nobody reads: name a file, or start the reader first")

// writeTo hands data to a device or a pipe, which a file in its place would take away from everybody. A pipe that nobody reads is an
// error: to open it would take until somebody does.
func writeTo(file string, data []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|nonblock, 0)
	if nobodyReads(err) {
		return errNobodyReads
	}
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	return err
}

// cause is what went wrong, without the names of operations and files.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// unfinishedPrefix begins the names of files and folders that become base when they are whole, on this machine.
func unfinishedPrefix(base string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return "." + base + ".unfinished-" + host + "-"
}

// Unfinished is the pattern, for os.CreateTemp and os.MkdirTemp, of what this process makes before it gets the name base. It tells machine and
// process, so that RemoveLeftovers knows what nobody will finish.
func Unfinished(base string) string { return unfinishedPrefix(base) + strconv.Itoa(os.Getpid()) + "-*" }

// RemoveLeftovers removes from a folder what processes of this machine that are gone left unfinished for a name. What cannot be read or
// removed stays.
func RemoveLeftovers(dir, base string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	prefix := unfinishedPrefix(base)
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), prefix)
		digits, _, whole := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(digits)
		if ours && whole && err == nil && pid > 0 && gone(pid) {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}

// gone reports whether there is no process of that number.
func gone(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	err = p.Signal(syscall.Signal(0))
	return errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH)
}
