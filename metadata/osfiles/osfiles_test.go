package osfiles

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/stretchr/testify/require"
)

var _ files.Files = (*Disk)(nil)

func TestReplaceAndRead(t *testing.T) {
	disk, dir := New(), filepath.ToSlash(t.TempDir())+"/a/b"
	require.NoError(t, files.MakeDir(disk, dir))
	require.NoError(t, files.MakeDir(disk, dir))
	name := dir + "/x"
	_, err := files.Read(disk, name)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, content := range []string{"a long first content", "short", ""} {
		require.NoError(t, os.WriteFile(name+files.TempSuffix, []byte("left over from an earlier attempt"), 0o644))
		require.NoError(t, files.Replace(disk, name, []byte(content)))
		got, err := files.Read(disk, name)
		require.NoError(t, err)
		require.Equal(t, content, string(got))
	}
	names, err := disk.List(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"x"}, names)
	require.Empty(t, disk.open)
	there, err := files.Exists(disk, name)
	require.NoError(t, err)
	require.True(t, there)
	require.NoError(t, disk.Remove(name))
	there, err = files.Exists(disk, name)
	require.NoError(t, err)
	require.False(t, there)
}

func TestDescriptors(t *testing.T) {
	disk, name := New(), filepath.ToSlash(t.TempDir())+"/x"
	fd, err := disk.Open(name, true)
	require.NoError(t, err)
	require.NoError(t, disk.WriteAt(fd, []byte("abcdef"), 2))
	require.NoError(t, disk.Truncate(fd, 5))
	require.NoError(t, disk.Sync(fd))
	size, err := disk.Size(fd)
	require.NoError(t, err)
	require.Equal(t, int64(5), size)
	p := make([]byte, 9)
	n, err := disk.ReadAt(fd, p, 0)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "\x00\x00abc", string(p[:n]))
	require.NoError(t, disk.Close(fd))
	require.ErrorIs(t, disk.Close(fd), fs.ErrClosed)
	require.ErrorIs(t, disk.Sync(fd), fs.ErrClosed)
	require.ErrorIs(t, disk.Truncate(fd, 0), fs.ErrClosed)
	require.ErrorIs(t, disk.WriteAt(fd, p, 0), fs.ErrClosed)
	_, err = disk.Size(fd)
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = disk.ReadAt(fd, p, 0)
	require.ErrorIs(t, err, fs.ErrClosed)
}

func TestErrorsOfTheTree(t *testing.T) {
	disk, dir := New(), filepath.ToSlash(t.TempDir())
	_, err := disk.List(dir + "/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, disk.SyncDir(dir+"/none"), fs.ErrNotExist)
	require.ErrorIs(t, disk.Rename(dir+"/none", dir+"/x"), fs.ErrNotExist)
	require.ErrorIs(t, files.Replace(disk, dir+"/none/x", nil), fs.ErrNotExist)
	require.NoError(t, os.WriteFile(dir+"/file", nil, 0o644))
	require.Error(t, files.MakeDir(disk, dir+"/file/below"))
}
