//go:build linux || darwin

package osfiles

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// Lock takes the exclusive lock on a file, which is made with its directory when it is missing: a POSIX lock (fcntl) on all of it, of the kind
// that Java's FileLock takes, so that Kafka and this program see each other. taken is false while another process has it. The Disk keeps
// the file open; the lock ends with the process. Processes have such locks, not Disks: a second Disk of this process gets it as well.
func (d *Disk) Lock(path string) (taken bool, err error) {
	if d.locks[path] != nil {
		return true, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return false, err
	}
	err = syscall.FcntlFlock(file.Fd(), syscall.F_SETLK, wholeFile())
	if err == nil {
		d.locks[path] = file
		return true, nil
	}
	file.Close()
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) {
		return false, nil
	}
	return false, &os.PathError{Op: "lock", Path: path, Err: err}
}

// LockedElsewhere reports whether another process has the lock on a file, without taking or making anything. A file that is not there is not
// locked.
func (d *Disk) LockedElsewhere(path string) (bool, error) {
	if d.locks[path] != nil {
		return false, nil
	}
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lock := wholeFile()
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, lock); err != nil {
		return false, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return lock.Type != syscall.F_UNLCK, nil
}

// wholeFile is an exclusive lock from the first byte to wherever the file ends.
func wholeFile() *syscall.Flock_t {
	return &syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
}
