// Package atomicfile replaces a small file in one durable step, as Kafka does for every file that it rewrites:
// temporary file, write, fsync, rename, fsync of the directory. A crash at any point leaves the old content or the
// new one, and at worst a temporary file that the next Replace takes over.
package atomicfile

// Files is the part of docs/seams.md section 2 that Replace needs.
type Files interface {
	Open(path string, create bool) (fd int32, err error)
	Close(fd int32) error
	Size(fd int32) (int64, error)
	WriteAt(fd int32, p []byte, offset int64) error
	Truncate(fd int32, size int64) error
	Sync(fd int32) error
	Rename(from, to string) error
	SyncDir(dir string) error
}

// Replace makes content the content of dir/name. The temporary file is dir/name.tmp. content must not change any
// more. Errors come back as Files gave them; the file then has its old or its new content.
func Replace(files Files, dir, name string, content []byte) error {
	const suffix = ".tmp"
	tmp := dir + "/" + name + suffix
	path := tmp[:len(tmp)-len(suffix)]
	fd, err := files.Open(tmp, true)
	if err != nil {
		return err
	}
	if err := fill(files, fd, content); err != nil {
		return err
	}
	if err := files.Close(fd); err != nil {
		return err
	}
	if err := files.Rename(tmp, path); err != nil {
		return err
	}
	return files.SyncDir(dir)
}

func fill(files Files, fd int32, content []byte) error {
	size, err := files.Size(fd)
	if err != nil {
		return err
	}
	if size > 0 { // left over by a crash
		if err := files.Truncate(fd, 0); err != nil {
			return err
		}
	}
	if err := files.WriteAt(fd, content, 0); err != nil {
		return err
	}
	return files.Sync(fd)
}
