package dump

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// partitionName is the directory of the metadata log.
const partitionName = "__cluster_metadata-0"

func isPartition(dir string) bool { return filepath.Base(dir) == partitionName }

// directory is what the files of one directory have to know of each other.
type directory struct {
	partition bool // names have to be what Kafka expects
	names     map[string]bool
	nextBase  int64 // where the next segment should begin; -1: not known
	recovery  *recoveryLine
}

// directory dumps what lies in path. Links are followed to files, and to directories from the root: a node's log
// directories may be links to several disks. So no loop is possible.
func (d *dumper) directory(path string, root bool) {
	entries, err := os.ReadDir(path)
	if err != nil {
		d.cannotRead(path, err)
		return
	}
	if info, err := os.Stat(path); err == nil {
		d.seen = append(d.seen, info)
	}
	dir := &directory{partition: isPartition(path), names: map[string]bool{}, nextBase: -1}
	for _, entry := range entries {
		dir.names[entry.Name()] = true
	}
	for _, entry := range entries {
		if d.err != nil {
			return
		}
		name := filepath.Join(path, entry.Name())
		info, err := os.Stat(name)
		switch linked := entry.Type()&os.ModeSymlink != 0; {
		case err != nil && linked:
			d.other(name, "dangling link")
		case err != nil:
			d.cannotRead(name, err)
		case info.IsDir() && linked && d.isSeen(info):
			d.other(name, "link to a directory that is dumped already")
		case info.IsDir() && (root || !linked):
			d.directory(name, false)
		case info.IsDir():
			d.other(name, "link to a directory")
		case !info.Mode().IsRegular():
			d.other(name, "special file")
		default:
			d.regular(name, dir)
		}
	}
	if dir.recovery != nil {
		d.emit(dir.recovery)
	}
}

// isSeen tells whether a directory was dumped, or is being dumped, under another name.
func (d *dumper) isSeen(info os.FileInfo) bool {
	return slices.ContainsFunc(d.seen, func(seen os.FileInfo) bool { return os.SameFile(seen, info) })
}

func (d *dumper) regular(path string, dir *directory) {
	k, leftover := classify(filepath.Base(path))
	if k == nil {
		k = unknownKind
		d.summary.Unknown++
	}
	d.file(path, k, leftover, dir)
}

// other lists what is not opened.
func (d *dumper) other(path, what string) {
	d.summary.Files++
	d.summary.Unknown++
	d.emit(&fileLine{Type: "file", File: d.shown(path), Kind: what})
}

func (d *dumper) cannotRead(path string, err error) {
	d.summary.Unreadable++
	err = fmt.Errorf("%s: %w", path, cause(err))
	if d.unreadable == nil {
		d.unreadable = err
	}
	d.emit(&problemLine{Type: "problem", File: d.shown(path), Severity: "unreadable", Reason: cause(err).Error()})
}

// shown is a path as it is printed.
func (d *dumper) shown(path string) string { return filepath.ToSlash(path) }

// file is one file that is being dumped.
type file struct {
	*dumper
	path, name string // name without the suffix of a leftover
	shown      string
	kind       *kind
	leftover   string
	dir        *directory
	in         *source
	damaged    bool
	warned     bool
}

// file dumps one regular file.
func (d *dumper) file(path string, k *kind, leftover string, dir *directory) {
	d.summary.Files++
	in := &d.source
	if err := in.open(path); err != nil {
		d.cannotRead(path, err)
		return
	}
	defer in.close()
	f := &file{dumper: d, path: path, name: strings.TrimSuffix(filepath.Base(path), leftover), shown: d.shown(path), kind: k,
		leftover: leftover, dir: dir, in: in}
	d.emit(&fileLine{Type: "file", File: f.shown, Kind: k.name, SizeInBytes: &in.size, Leftover: leftover})
	if k.dump != nil {
		if err := k.dump(f); err != nil {
			d.cannotRead(path, err)
		}
	}
	if f.damaged {
		d.summary.Damaged++
	}
}

// damage reports damage at a position of the file, -1 for all of it. In what is left over from an interrupted
// operation it is a warning: Kafka removes such files unseen.
func (f *file) damage(position int64, format string, args ...any) {
	if f.leftover != "" {
		f.warn(position, format, args...)
		return
	}
	f.damaged = true
	f.problem("damage", position, fmt.Sprintf(format, args...))
}

// warn reports what Kafka's readers take without a word.
func (f *file) warn(position int64, format string, args ...any) {
	f.summary.Warnings++
	f.warned = true
	f.problem("warning", position, fmt.Sprintf(format, args...))
}

// maxReason bounds a reason, in bytes: it may quote a file that is one long line of anything.
const maxReason = 400

func (f *file) problem(severity string, position int64, reason string) {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "") + "..."
	}
	line := &problemLine{Type: "problem", File: f.shown, Severity: severity, Reason: reason}
	if position >= 0 {
		line.Position = &position
	}
	f.emit(line)
}

// digits reads a decimal number that consists of digits only, as file names have them.
func digits(s string) (int64, bool) {
	var v int64
	for i := 0; i < len(s); i++ {
		c := int64(s[i]) - '0'
		if c < 0 || c > 9 || v > (math.MaxInt64-c)/10 {
			return 0, false
		}
		v = v*10 + c
	}
	return v, s != ""
}
