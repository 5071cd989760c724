package scenarios

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
)

// errNotRegular marks what is neither a file nor a directory.
var errNotRegular = errors.New("neither a file nor a directory")

// read finds the log directories and reads what a KRaft node has in them: the files in their roots and __cluster_metadata-0.
// Partitions of other topics are left out, the metadata layer never looks at them.
func (t *storage) read(tree fs.FS, single string) error {
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return t.unreadable(".", err)
	}
	left := int64(maxTreeBytes)
	for _, e := range entries {
		if e.Name() == metaprops.FileName || e.Name() == bootstrap.FileName || e.Name() == bootstrap.PartitionDir {
			t.dirs = []string{single}
			return t.readLogDir(tree, ".", single, &left)
		}
	}
	for _, e := range entries {
		info, err := fs.Stat(tree, e.Name()) // a link to a log directory on another disk is followed, as Kafka does
		if err != nil {
			return t.unreadable(e.Name(), err)
		}
		if !info.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "lost+found" {
			continue
		}
		t.dirs = append(t.dirs, e.Name())
		if err := t.readLogDir(tree, e.Name(), e.Name(), &left); err != nil {
			return err
		}
	}
	if len(t.dirs) == 0 && slices.ContainsFunc(entries, ofPartition) {
		return t.refuse("", "log directories", "these are the files of a %s: name the log directory above it", bootstrap.PartitionDir)
	}
	if len(t.dirs) == 0 {
		return t.refuse("", "log directories", "there are none, neither %s nor a folder: name one node's storage", metaprops.FileName)
	}
	return nil
}

// ofPartition tells whether a file has its place in a metadata log rather than in a log directory.
func ofPartition(e fs.DirEntry) bool {
	return e.Name() == quorumstate.FileName || strings.HasSuffix(e.Name(), ".log") || strings.HasSuffix(e.Name(), ".checkpoint")
}

// unreadable reports a file that can't be read in one line.
func (t *storage) unreadable(name string, err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return t.refuse(name, "content", "cannot be read: %v", err)
}

func (t *storage) readLogDir(tree fs.FS, at, dir string, left *int64) error {
	entries, err := fs.ReadDir(tree, at)
	if err != nil {
		return t.unreadable(at, err)
	}
	if len(entries) == 0 {
		t.empty = append(t.empty, [2]string{dir, ""})
	}
	for _, e := range entries {
		if e.Name() == bootstrap.PartitionDir && e.IsDir() {
			if err := t.readPartition(tree, path.Join(at, e.Name()), dir, left); err != nil {
				return err
			}
			continue
		}
		if e.IsDir() {
			continue
		}
		if err := t.readFile(tree, path.Join(at, e.Name()), dir, e.Name(), left); err != nil {
			return err
		}
	}
	return nil
}

func (t *storage) readPartition(tree fs.FS, at, dir string, left *int64) error {
	entries, err := fs.ReadDir(tree, at)
	if err != nil {
		return t.unreadable(at, err)
	}
	if len(entries) == 0 {
		t.empty = append(t.empty, [2]string{dir, bootstrap.PartitionDir})
	}
	for _, e := range entries {
		if e.IsDir() {
			return t.refuse(path.Join(at, e.Name()), "type", "a directory, where Kafka has only files")
		}
		if err := t.readFile(tree, path.Join(at, e.Name()), dir, bootstrap.PartitionDir+"/"+e.Name(), left); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file, through a link if it is one.
func (t *storage) readFile(tree fs.FS, at, dir, name string, left *int64) error {
	info, err := fs.Stat(tree, at)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
		if info.IsDir() {
			return t.refuse(at, "type", "a link to a directory, where Kafka has a file or a directory of its own")
		}
	}
	if err != nil {
		return t.unreadable(at, err)
	}
	f, err := tree.Open(at)
	if err != nil {
		return t.unreadable(at, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, *left+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return t.unreadable(at, err)
	}
	if *left -= int64(len(data)); *left < 0 {
		return t.refuse(at, "size", "the storage has more than %d bytes: too much for a plan", maxTreeBytes)
	}
	t.files = append(t.files, treeFile{dir: dir, name: name, data: data})
	return nil
}
