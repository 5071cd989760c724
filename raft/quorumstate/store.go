package quorumstate

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/raft/internal/atomicfile"
	"github.com/kraftsim/kraftsim/raft/record"
)

// FileName is the name of the file in the partition directory.
const FileName = "quorum-state"

// ErrInvalid marks a file that exists and cannot be understood; fatal for a replica. Match with errors.Is.
var ErrInvalid = errors.New("quorumstate: invalid quorum-state")

// Files is how the store reaches its directory, part of the method set of docs/seams.md section 2. Bytes given to
// WriteAt are immutable from then on.
type Files interface {
	Open(path string, create bool) (fd int32, err error)
	Close(fd int32) error
	Size(fd int32) (int64, error)
	ReadAt(fd int32, p []byte, offset int64) (n int, err error)
	WriteAt(fd int32, p []byte, offset int64) error
	Truncate(fd int32, size int64) error
	Sync(fd int32) error
	Rename(from, to string) error
	SyncDir(dir string) error
}

// State is what the file holds.
type State struct {
	LeaderID         int32       // -1: none known
	LeaderEpoch      int32       // the current epoch, also without a leader
	VotedID          int32       // -1: no vote in this epoch
	VotedDirectoryID record.UUID // zero: none or unknown; version 0 does not keep it
	Voters           []int32     // written by version 0 only, for information; Read leaves it nil
}

// Store reads and writes the file of one partition directory, which must exist (raftlog.Open makes it).
type Store struct {
	files Files
	dir   string
}

// NewStore returns a Store; it touches no file.
func NewStore(files Files, dir string) *Store { return &Store{files: files, dir: dir} }

// Read returns the state in the file. found is false when there is no file, the one case in which a node starts
// without a vote. What cannot be understood gives ErrInvalid; errors of Files come back wrapped.
func (s *Store) Read() (state State, found bool, err error) {
	content, err := s.content()
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, false, nil
	}
	if err != nil {
		return State{}, false, fmt.Errorf("quorumstate: read %s/%s: %w", s.dir, FileName, err)
	}
	state, err = Parse(content)
	if err != nil {
		return State{}, false, fmt.Errorf("%s/%s: %w", s.dir, FileName, err)
	}
	return state, true, nil
}

func (s *Store) content() ([]byte, error) {
	fd, err := s.files.Open(s.dir+"/"+FileName, false)
	if err != nil {
		return nil, err
	}
	content, err := s.readAll(fd)
	return content, errors.Join(err, s.files.Close(fd))
}

func (s *Store) readAll(fd int32) ([]byte, error) {
	size, err := s.files.Size(fd)
	if err != nil || size == 0 {
		return nil, err
	}
	content := make([]byte, size)
	if n, err := s.files.ReadAt(fd, content, 0); n < len(content) {
		return nil, fmt.Errorf("%d of %d bytes: %w", n, len(content), err)
	}
	return content, nil
}

// usualBytes is more than the file takes with the voters of most quorums.
const usualBytes = 256

// Write replaces the file by this state in the given data_version: 0 goes with kraft.version 0 and drops the
// directory id, 1 with kraft.version 1 and drops the voters. It is durable when it returns. Another version is a
// programmer error and gives ErrInvalid.
func (s *Store) Write(state State, version int16) error {
	content, err := Append(make([]byte, 0, usualBytes), &state, version)
	if err != nil {
		return err
	}
	if err := atomicfile.Replace(s.files, s.dir, FileName, content); err != nil {
		return fmt.Errorf("quorumstate: write %s/%s: %w", s.dir, FileName, err)
	}
	return nil
}
