package dump

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options say how to dump. The zero value prints text.
type Options struct {
	JSON bool // one JSON object a line; 64-bit numbers are exact
	Hex  bool // with the value of each record in hexadecimal, not only of those that cannot be decoded
	// As is the kind of a single file whose name does not tell it: one of the names of Kinds. Empty: by name.
	As string
	_  struct{}
}

// Summary counts what a dump met.
type Summary struct {
	Files      int64 `json:"files"`
	Damaged    int64 `json:"damaged"` // files with damage
	Unknown    int64 `json:"unknown"` // files of no known kind
	Unreadable int64 `json:"unreadable"`
	Batches    int64 `json:"batches"`
	Records    int64 `json:"records"`
	Warnings   int64 `json:"warnings"`
}

// What Dump wraps when the path cannot be dumped at all.
var (
	// ErrPath: the path is missing, or neither a directory nor a regular file.
	ErrPath = errors.New("dump: cannot be read")
	// ErrKind: nothing tells what kind of file it is.
	ErrKind = errors.New("dump: unknown kind of file")
	// ErrNothing: the directory was listed, and no file in it is of a kind that Kafka writes.
	ErrNothing = errors.New("dump: nothing of Kafka's")
	// ErrUnreadable: the dump is complete but for files or directories that could not be read.
	ErrUnreadable = errors.New("dump: not everything could be read")
)

// Dump decodes a file, or all files below a directory in the order of their names, and writes what it finds to w. The
// summary is valid with ErrUnreadable and ErrNothing too; any other error than the four of this package is one of writing to w.
func Dump(w io.Writer, path string, options Options) (Summary, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Summary{}, fmt.Errorf("%w: %s: %w", ErrPath, path, cause(err))
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return Summary{}, fmt.Errorf("%w: %s is neither a directory nor a regular file", ErrPath, path)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	d := &dumper{out: out, options: options, root: path}
	if info.IsDir() {
		if options.As != "" {
			return Summary{}, fmt.Errorf("%w: %s is a directory: its files are told by their names", ErrKind, path)
		}
		d.directory(path, true)
	} else {
		parent, err := filepath.Abs(path)
		if err != nil {
			return Summary{}, fmt.Errorf("%w: %s: %w", ErrPath, path, err)
		}
		k, leftover := classify(filepath.Base(path))
		if options.As != "" {
			if k = kindNamed(options.As); k == nil {
				return Summary{}, fmt.Errorf("%w: %q is none of %s", ErrKind, options.As, strings.Join(Kinds(), ", "))
			}
		}
		if k == nil {
			return Summary{}, fmt.Errorf("%w: the name of %s does not tell what it is: say so with --as", ErrKind, path)
		}
		d.file(path, k, leftover, &directory{partition: isPartition(filepath.Dir(parent))})
	}
	d.emit(&summaryLine{Type: "summary", Summary: &d.summary})
	if d.err == nil {
		d.err = out.Flush()
	}
	if d.err == nil && d.unreadable != nil {
		d.err = fmt.Errorf("%w: %w", ErrUnreadable, d.unreadable)
	}
	if d.err == nil && info.IsDir() && d.summary.Files == d.summary.Unknown {
		d.err = fmt.Errorf("%w in %s: name a log directory of a node, or a folder of such", ErrNothing, path)
	}
	return d.summary, d.err
}

// dumper is one call of Dump.
type dumper struct {
	out        *bufio.Writer
	options    Options
	root       string
	summary    Summary
	err        error // of writing; the first one ends the dump
	unreadable error // the first one
	text       []byte
	seen       []os.FileInfo // directories
	source     source        // its buffer is used again by each file
}

// cause strips the path from an error of package os: the message has it already.
func cause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
