package files_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/stretchr/testify/require"
)

func TestReplaceSyncsInOrder(t *testing.T) {
	disk := filestest.NewMemory()
	require.NoError(t, files.MakeDir(disk, "/data/dir0"))
	require.NoError(t, files.Replace(disk, "/data/dir0/x", []byte("abc")))
	require.Equal(t, []string{
		"syncdir ", "syncdir /data", "sync /data/dir0/x.tmp", "rename /data/dir0/x", "syncdir /data/dir0",
	}, disk.Journal)
}

// Wherever the program dies, a file is whole: the old content or the new, and the next Replace succeeds.
func TestReplaceStoppedAnywhere(t *testing.T) {
	for stop := int64(1); ; stop++ {
		disk := filestest.NewMemory()
		disk.Put("/d/x", "old")
		disk.StopAt = stop
		err := files.Replace(disk, "/d/x", []byte("new content"))
		disk.StopAt = 0
		content, readErr := files.Read(disk, "/d/x")
		require.NoError(t, readErr)
		if err == nil {
			require.Equal(t, "new content", string(content))
			require.Greater(t, stop, int64(6))
			return
		}
		require.ErrorIs(t, err, filestest.ErrStopped)
		require.Contains(t, []string{"old", "new content"}, string(content))
		require.NoError(t, files.Replace(disk, "/d/x", []byte("again")))
		require.Equal(t, []string{"/d/x"}, disk.Names())
	}
}

func TestErrorsPass(t *testing.T) {
	disk := filestest.NewMemory()
	_, err := files.Read(disk, "/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	disk.Put("/d/x", "x")
	disk.Refuse["/d/x"] = syscall.EIO
	_, err = files.Read(disk, "/d/x")
	require.ErrorIs(t, err, syscall.EIO)
	_, err = files.Exists(disk, "/d/x")
	require.ErrorIs(t, err, syscall.EIO)
	disk.Refuse["/d"] = syscall.EIO
	require.ErrorIs(t, files.MakeDir(disk, "/d/e"), syscall.EIO)
}
