package history

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// name is a change of the names of a disk that no fsync of a directory has made durable yet.
type name struct {
	kind     vdisk.Kind
	path, to string // to is that of a rename
}

// dirOf is the directory that a path is in.
func dirOf(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}

// in reports whether a change is one of the names in a directory.
func (n *name) in(dir string) bool {
	return dirOf(n.path) == dir || n.kind == vdisk.OpRename && dirOf(n.to) == dir
}

// gives reports whether a change gave a path its name.
func (n *name) gives(path string) bool {
	switch n.kind {
	case vdisk.OpCreate, vdisk.OpMkdir:
		return n.path == path
	case vdisk.OpRename:
		return n.to == path
	}
	return false
}

// changeName notes a change of names.
func (d *disk) changeName(op *vdisk.Op) {
	d.names = append(d.names, name{kind: op.Kind, path: strings.Clone(op.Path), to: strings.Clone(op.To)})
}

// syncNames is an fsync of a directory: it makes durable what package vdisk says (R3, P1), and reports the files that got a durable name.
func (d *disk) syncNames(dir string, posix bool) (named []string) {
	last := -1
	for i := range d.names {
		if d.names[i].in(dir) {
			last = i
		}
	}
	var rest []name
	for i := range d.names {
		n := &d.names[i]
		if i > last || posix && !n.in(dir) {
			rest = append(rest, *n)
			continue
		}
		for _, path := range []string{n.path, n.to} {
			if n.gives(path) && d.files[path] != nil && !slices.Contains(named, path) {
				named = append(named, path)
			}
		}
	}
	d.names = rest
	slices.Sort(named)
	return slices.DeleteFunc(named, func(path string) bool { return d.nameless(path) != nil })
}

// nameless returns the change by which a path, or a directory above it, got a name that is not durable; nil when its name is.
func (d *disk) nameless(path string) *name {
	for at := path; at != ""; at = dirOf(at) {
		for i := len(d.names) - 1; i >= 0; i-- {
			if d.names[i].gives(at) {
				return &d.names[i]
			}
		}
	}
	return nil
}

// why says which flush was missing when a file lost its name, or its content for that of the file that had the name before.
func (n *name) why(path string) string {
	switch {
	case n.kind == vdisk.OpRename:
		return "since no fsync of the directory came behind the rename of " + short(n.path) + " to " + short(n.to)
	case n.gives(path):
		return "since no fsync of the directory came behind its creation"
	}
	return "since no fsync of the directory came behind the creation of " + short(n.path)
}
