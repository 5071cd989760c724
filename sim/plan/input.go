package plan

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os" //nodet:allow os plans are read here, and only here; a run is given the plan
)

// MaxFileBytes is the largest plan or capsule that is read. The longest decision block of a run and its plan stay far below.
const MaxFileBytes = 64 << 20

// Input reads a plan or capsule file whole. Only regular files of at most MaxFileBytes are read, standard input among them when it
// is such a file: a device or a pipe may never end, and the readers look at a document twice. Errors wrap ErrInput.
func Input(file string) ([]byte, error) {
	info, err := os.Stat(file) // before it is opened: that of a pipe waits for a writer
	if err != nil {
		return nil, unread(file, err)
	}
	if info.IsDir() {
		return nil, &FieldError{File: file, Problem: "is a directory: name a file"}
	}
	if !info.Mode().IsRegular() {
		return nil, &FieldError{File: file, Problem: "is not a regular file: save the document in one"}
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, unread(file, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	_ = f.Close() // it was only read
	if err != nil {
		return nil, unread(file, err)
	}
	if len(data) > MaxFileBytes {
		return nil, &FieldError{File: file, Problem: fmt.Sprintf("is larger than %d MiB, which no plan and no capsule is", MaxFileBytes>>20)}
	}
	return data, nil
}

// unread says that a file could not be read, and why.
func unread(file string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("%w: %s: %w", ErrInput, file, err)
}
