package quorumstate

import "github.com/kraftsim/kraftsim/raft/record"

// Files is the method set of docs/seams.md section 2.
type Files interface {
	MkdirAll(dir string) error
	List(dir string) (names []string, err error)
	Open(path string, create bool) (fd int32, err error)
	Close(fd int32) error
	Size(fd int32) (int64, error)
	ReadAt(fd int32, p []byte, offset int64) (n int, err error)
	WriteAt(fd int32, p []byte, offset int64) error
	Truncate(fd int32, size int64) error
	Sync(fd int32) error
	Rename(from, to string) error
	Remove(path string) error
	SyncDir(dir string) error
}

// State is what the file quorum-state holds.
type State struct {
	LeaderID         int32       // -1: none known
	LeaderEpoch      int32       // the current epoch
	VotedID          int32       // -1: no vote in this epoch
	VotedDirectoryID record.UUID // zero: none or unknown; version 1 only
	Voters           []int32     // version 0 only, informational, ignored on read
}

// Store reads and writes the file.
type Store struct{}

func NewStore(files Files, dir string) *Store               { panic("quorumstate: soon") }
func (s *Store) Read() (state State, found bool, err error) { panic("quorumstate: soon") }
func (s *Store) Write(state State, version int16) error     { panic("quorumstate: soon") }
