package metaprops

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/raft/record"
)

// State is what became of one directory.
type State uint8

const (
	// Empty: no file, perhaps no directory.
	Empty State = iota
	// Failed: the file is there and cannot be read, or what it says makes no sense to this software.
	Failed
	// Loaded: Properties holds.
	Loaded
)

// String returns empty, failed or loaded.
func (s State) String() string {
	switch s {
	case Empty:
		return "empty"
	case Failed:
		return "failed"
	}
	return "loaded"
}

// Directory is one log directory of a node.
type Directory struct {
	Path       string
	State      State
	Err        error      // why it failed
	Properties Properties // when loaded
}

// Ensemble is all directories of a node together.
type Ensemble struct {
	Directories []Directory // ascending by path, no path twice
	MetadataDir string      // "" when none is configured
}

// Load reads the file of every directory; metadataDir is one of them or is added. Nothing fails: what cannot be read is
// the state of its directory (metadata-bootstrap 2.2). highest is the newest version that the software knows.
func Load(f files.Files, dirs []string, metadataDir string, highest int32) *Ensemble {
	paths := slices.Clone(dirs)
	if metadataDir != "" {
		paths = append(paths, metadataDir)
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	e := &Ensemble{MetadataDir: metadataDir, Directories: make([]Directory, len(paths))}
	for i, dir := range paths {
		e.Directories[i] = load(f, dir, highest)
	}
	return e
}

func load(f files.Files, dir string, highest int32) Directory {
	content, err := files.Read(f, Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return Directory{Path: dir}
	}
	if err != nil {
		if of := (*fs.PathError)(nil); errors.As(err, &of) {
			err = of.Err // the path stands there once
		}
		return Directory{Path: dir, State: Failed, Err: fmt.Errorf("metaprops: read %s: %w", Path(dir), err)}
	}
	p, err := Parse(content, highest)
	if err != nil {
		return Directory{Path: dir, State: Failed, Err: fmt.Errorf("metaprops: %s: %w", Path(dir), err)}
	}
	return Directory{Path: dir, State: Loaded, Properties: p}
}

// Paths returns the directories in a state, ascending.
func (e *Ensemble) Paths(state State) []string {
	var out []string
	for i := range e.Directories {
		if e.Directories[i].State == state {
			out = append(out, e.Directories[i].Path)
		}
	}
	return out
}

// Directory returns the directory of that path, nil when it is not in the ensemble.
func (e *Ensemble) Directory(path string) *Directory {
	i, found := slices.BinarySearchFunc(e.Directories, path, func(d Directory, path string) int {
		return strings.Compare(d.Path, path)
	})
	if !found {
		return nil
	}
	return &e.Directories[i]
}

// ClusterID is the first cluster id found, in the order of paths.
func (e *Ensemble) ClusterID() (id string, ok bool) {
	for i := range e.Directories {
		if d := &e.Directories[i]; d.State == Loaded && d.Properties.HasClusterID {
			return d.Properties.ClusterID, true
		}
	}
	return "", false
}

// NodeID is the first node id found, in the order of paths.
func (e *Ensemble) NodeID() (id int32, ok bool) {
	for i := range e.Directories {
		if d := &e.Directories[i]; d.State == Loaded && d.Properties.HasNodeID {
			return d.Properties.NodeID, true
		}
	}
	return 0, false
}

// DirectoryID is the id of the directory at path; ok is false when it has none.
func (e *Ensemble) DirectoryID(path string) (id record.UUID, ok bool) {
	if d := e.Directory(path); d != nil && d.State == Loaded && d.Properties.HasDirectoryID {
		return d.Properties.DirectoryID, true
	}
	return record.UUID{}, false
}
