package startup

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
)

// LockFile is the name of the file in a directory whose lock says that a process is at work there (formats 9).
const LockFile = ".lock"

// lock is step 4: two processes on one directory would have one identity and two opinions. Kafka locks every usable directory of a
// broker, and the metadata directory of any node (KAFKA-14557). The locks last as long as the process: nothing releases them.
//
// Kafka's brokers open raft's log before they lock the directory that it lies in when that is one of log.dirs; here every lock comes first.
func (c *Config) lock(f files.Locker, e *metaprops.Ensemble) error {
	for i := range e.Directories {
		d := &e.Directories[i]
		if d.State == metaprops.Failed || c.Controller && d.Path != c.MetadataDir {
			continue
		}
		taken, err := f.Lock(d.Path + "/" + LockFile)
		switch {
		case err != nil && d.Path == c.MetadataDir:
			return fmt.Errorf("startup: lock %s: %w", d.Path, err)
		case err != nil:
			d.State, d.Err = metaprops.Failed, err
		case !taken:
			return fmt.Errorf("%w: %s", ErrLocked, d.Path)
		}
	}
	return nil
}
