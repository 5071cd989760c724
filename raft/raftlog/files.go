package raftlog

// Files is how the log reaches its directory: the method set of docs/seams.md section 2. Paths are slash separated.
// Errors wrap fs.ErrNotExist and fs.ErrExist; ReadAt ends with io.EOF. Bytes given to WriteAt are immutable from then
// on.
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
