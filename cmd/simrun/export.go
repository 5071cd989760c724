package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/outfile"
)

// write makes a folder with the files of a storage. It is written beside and renamed: a reader sees all of it or nothing,
// and an error leaves nothing behind but parent folders; what a killed process left is removed. An empty folder of the name is replaced.
func write(out string, files []scenarios.ExportedFile) (err error) {
	parent := filepath.Dir(out)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	outfile.RemoveLeftovers(parent, filepath.Base(out))
	temp, err := os.MkdirTemp(parent, outfile.Unfinished(filepath.Base(out)))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(temp))
		}
	}()
	if err := os.Chmod(temp, 0o755); err != nil {
		return err
	}
	for i := range files {
		name := filepath.Join(temp, filepath.FromSlash(files[i].Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := writeFile(name, files[i].Content); err != nil {
			return err
		}
	}
	if err := os.Remove(out); err != nil && !errors.Is(err, os.ErrNotExist) { // succeeds on an empty folder only
		return err
	}
	return os.Rename(temp, out)
}

// writeFile writes a new file durably.
func writeFile(name string, content []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
