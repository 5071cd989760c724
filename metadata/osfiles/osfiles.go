// Package osfiles is a real directory tree behind the Files interface of docs/seams.md 2, so that the formatter and the
// importer that run on simulated volumes also run on the disk of the machine.
//
//	disk := osfiles.New()
//	err := files.Replace(disk, "/var/kafka/meta.properties", content)
//
// Descriptors are small integers that are valid for one Disk and never reused. Errors are those of package os,
// which wrap the io/fs sentinels. SyncDir opens the directory and syncs it, which file systems that order directory
// entries by themselves may refuse; such an error is returned. A Disk is for one goroutine.
//
// This package is outside of the deterministic rooms: nothing in a simulation imports it.
package osfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Disk is the file system of this machine.
type Disk struct {
	open  map[int32]*os.File
	next  int32
	locks map[string]*os.File // by path: files that are open for their locks
}

// New returns a Disk with no open file.
func New() *Disk { return &Disk{open: map[int32]*os.File{}, locks: map[string]*os.File{}} }

// MkdirAll makes a directory and its parents.
func (d *Disk) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o755) }

// List returns the names in a directory, ascending.
func (d *Disk) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = entry.Name()
	}
	return names, nil
}

// Open opens a file for reading and writing; a file that may only be read opens for reading.
func (d *Disk) Open(path string, create bool) (int32, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	file, err := os.OpenFile(path, flags, 0o644)
	if err != nil && !create && os.IsPermission(err) {
		file, err = os.Open(path)
	}
	if err != nil {
		return 0, err
	}
	d.next++
	d.open[d.next] = file
	return d.next, nil
}

func (d *Disk) file(fd int32) (*os.File, error) {
	if file := d.open[fd]; file != nil {
		return file, nil
	}
	return nil, fmt.Errorf("osfiles: descriptor %d: %w", fd, fs.ErrClosed)
}

// Close closes a file.
func (d *Disk) Close(fd int32) error {
	file, err := d.file(fd)
	if err != nil {
		return err
	}
	delete(d.open, fd)
	return file.Close()
}

// Size returns the length in bytes.
func (d *Disk) Size(fd int32) (int64, error) {
	file, err := d.file(fd)
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// ReadAt reads as os.File does.
func (d *Disk) ReadAt(fd int32, p []byte, offset int64) (int, error) {
	file, err := d.file(fd)
	if err != nil {
		return 0, err
	}
	return file.ReadAt(p, offset)
}

// WriteAt writes all of p.
func (d *Disk) WriteAt(fd int32, p []byte, offset int64) error {
	file, err := d.file(fd)
	if err != nil {
		return err
	}
	_, err = file.WriteAt(p, offset)
	return err
}

// Truncate cuts or extends a file.
func (d *Disk) Truncate(fd int32, size int64) error {
	file, err := d.file(fd)
	if err != nil {
		return err
	}
	return file.Truncate(size)
}

// Sync makes content and length durable.
func (d *Disk) Sync(fd int32) error {
	file, err := d.file(fd)
	if err != nil {
		return err
	}
	return file.Sync()
}

// Rename replaces to by from.
func (d *Disk) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file or an empty directory.
func (d *Disk) Remove(path string) error { return os.Remove(path) }

// SyncDir makes the entries of a directory durable.
func (d *Disk) SyncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
