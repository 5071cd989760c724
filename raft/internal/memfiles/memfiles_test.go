package memfiles_test

import (
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
)

func TestDurability(t *testing.T) {
	f := memfiles.New()
	require.NoError(t, f.MkdirAll("/a/b"))
	require.NoError(t, f.SyncDir("/"))
	require.NoError(t, f.SyncDir("/a"))
	fd, err := f.Open("/a/b/x", true)
	require.NoError(t, err)
	require.NoError(t, f.WriteAt(fd, []byte("one"), 0))
	require.NoError(t, f.Sync(fd))
	require.NoError(t, f.WriteAt(fd, []byte("two"), 3))
	f.Kill()
	require.Equal(t, "onetwo", string(f.ReadFile("/a/b/x")), "a kill loses nothing")
	_, err = f.Size(fd)
	require.ErrorIs(t, err, fs.ErrClosed)

	require.NoError(t, f.SyncDir("/a/b"))
	require.NoError(t, f.Rename("/a/b/x", "/a/b/y"))
	f.Crash()
	require.Equal(t, "one", string(f.ReadFile("/a/b/x")), "synced bytes under the synced name")
	require.Nil(t, f.ReadFile("/a/b/y"))

	require.NoError(t, f.Rename("/a/b/x", "/a/b/y"))
	require.NoError(t, f.SyncDir("/a/b"))
	_, err = f.Open("/a/b/new", true)
	require.NoError(t, err)
	f.Crash()
	names, err := f.List("/a/b")
	require.NoError(t, err)
	require.Equal(t, []string{"y"}, names)
}

func TestUnsyncedDirectoryIsLost(t *testing.T) {
	f := memfiles.New()
	require.NoError(t, f.MkdirAll("/a/b"))
	fd, err := f.Open("/a/b/x", true)
	require.NoError(t, err)
	require.NoError(t, f.Sync(fd))
	require.NoError(t, f.SyncDir("/a/b"))
	f.Crash()
	_, err = f.List("/a/b")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestReadAndTruncate(t *testing.T) {
	f := memfiles.New()
	fd, err := f.Open("/x", true)
	require.NoError(t, err)
	require.NoError(t, f.WriteAt(fd, []byte("abc"), 2))
	p := make([]byte, 4)
	n, err := f.ReadAt(fd, p, 1)
	require.NoError(t, err)
	require.Equal(t, "\x00abc", string(p[:n]))
	n, err = f.ReadAt(fd, p, 3)
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, "bc", string(p[:n]))
	require.NoError(t, f.Truncate(fd, 1))
	require.NoError(t, f.Truncate(fd, 3))
	require.Equal(t, "\x00\x00\x00", string(f.ReadFile("/x")))
	_, err = f.Open("/nowhere/x", true)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, f.Remove("/y"), fs.ErrNotExist)
	require.NoError(t, f.Close(fd))
	require.ErrorIs(t, f.Close(fd), fs.ErrClosed)
}
