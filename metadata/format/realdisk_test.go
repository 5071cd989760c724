package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/stretchr/testify/require"
)

// dying is a real disk on which nothing happens any more from an operation on, as when the program is killed there.
type dying struct {
	*osfiles.Disk
	left int
}

var errDead = errors.New("test: killed")

func (d *dying) step() error {
	if d.left--; d.left < 0 {
		return errDead
	}
	return nil
}

func (d *dying) MkdirAll(dir string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.Disk.MkdirAll(dir)
}

func (d *dying) Open(name string, create bool) (int32, error) {
	if create {
		if err := d.step(); err != nil {
			return 0, err
		}
	}
	return d.Disk.Open(name, create)
}

func (d *dying) WriteAt(fd int32, p []byte, offset int64) error {
	if err := d.step(); err != nil {
		return errors.Join(err, d.Disk.WriteAt(fd, p[:len(p)/2], offset)) // torn
	}
	return d.Disk.WriteAt(fd, p, offset)
}

func (d *dying) Rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.Disk.Rename(from, to)
}

func (d *dying) Remove(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	return d.Disk.Remove(name)
}

// Killed at any operation that changes something, on real directories: what has meta.properties is complete, and a second run makes
// a whole of the rest, with no file more or less than a run that nobody killed.
func TestKilledOnRealDirectories(t *testing.T) {
	for _, release := range []string{"4.0", "kip1262"} {
		for operations, done := 0, false; !done; operations++ {
			require.Less(t, operations, 200)
			root := t.TempDir()
			o := base(t, release, func(o *Options) {
				o.Directories, o.MetadataDir = []string{root + "/a", root + "/b", root + "/c"}, root+"/b"
			})
			_, err := run(&dying{Disk: osfiles.New(), left: operations}, o)
			done = err == nil
			for _, dir := range o.Directories {
				if _, err := os.Stat(metaprops.Path(dir)); err == nil && dir == o.MetadataDir {
					_, err := bootstrap.ReadCheckpoint(osfiles.New(), dir)
					require.NoError(t, err, "killed at %d", operations)
				}
			}
			again := *o
			again.IgnoreFormatted = true
			_, err = run(osfiles.New(), &again)
			require.NoError(t, err, "killed at %d", operations)
			want := []string{"/a/meta.properties", "/b/__cluster_metadata-0/" + bootstrap.CheckpointName, "/b/meta.properties", "/c/meta.properties"}
			if release == "4.0" {
				want = append(want, "/a/bootstrap.checkpoint", "/b/bootstrap.checkpoint", "/c/bootstrap.checkpoint")
			}
			require.ElementsMatch(t, want, namesBelow(t, root), "killed at %d", operations)
			require.Empty(t, Inspect(osfiles.New(), o.Directories, Controller, 2).Problems)
		}
	}
}

func namesBelow(t *testing.T, root string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(name[len(root):]))
		}
		return err
	}))
	return names
}
