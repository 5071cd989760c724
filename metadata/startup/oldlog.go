package startup

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
)

// oldLog decides about a log in the metadata directory that nothing vouches for: no meta.properties beside it (T29), or, for a
// broker, none with a cluster id (T6).
func (c *Config) oldLog(f files.Files, e *metaprops.Ensemble) error {
	if c.SelfFormat == Never {
		return nil // requireAll has seen to it that every file is there, with its cluster id
	}
	d := e.Directory(c.MetadataDir)
	policy, refusal := KeepLog, error(nil)
	_, known := e.ClusterID()
	switch {
	case d.State == metaprops.Empty:
		policy, refusal = c.OrphanLog, ErrOrphanLog
	case d.State == metaprops.Loaded && !c.Controller && !known:
		policy, refusal = c.UnidentifiedLog, ErrUnidentifiedLog
	}
	if policy == KeepLog {
		return nil
	}
	dir := bootstrap.PartitionPath(c.MetadataDir)
	names, err := f.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("startup: %w", err)
	}
	if !holdsLog(names) {
		return nil // a format tool that was killed may leave its checkpoint
	}
	if policy == RefuseLog {
		return fmt.Errorf("%w: %s", refusal, dir)
	}
	return removeAll(f, dir, names)
}

// holdsLog reports whether a replica has lived in a partition directory.
func holdsLog(names []string) bool {
	for _, name := range names {
		if name == quorumstate.FileName || strings.HasSuffix(name, ".log") {
			return true
		}
	}
	return false
}

// removeAll empties a directory, the election state last: what a crash leaves is a log that is removed at the next start.
func removeAll(f files.Files, dir string, names []string) error {
	for pass := range 2 {
		for _, name := range names {
			if (name == quorumstate.FileName) != (pass == 1) {
				continue
			}
			if err := f.Remove(dir + "/" + name); err != nil {
				return fmt.Errorf("startup: %w", err)
			}
		}
		if err := f.SyncDir(dir); err != nil {
			return fmt.Errorf("startup: %w", err)
		}
	}
	return nil
}
