package vdisk

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSmoke(t *testing.T) {
	v := NewVolume("n1:/", Model{})
	h := v.Handle(Immediate{})
	require.NoError(t, h.MkdirAll("/a/b"))
	fd, err := h.Open("/a/b/x", true)
	require.NoError(t, err)
	require.NoError(t, h.WriteAt(fd, []byte("hello"), 0))
	require.NoError(t, h.Sync(fd))
	require.NoError(t, h.WriteAt(fd, []byte(" world"), 5))
	d, ok := v.File("/a/b/x")
	require.True(t, ok)
	require.Equal(t, "hello world", string(d))
	require.NoError(t, h.SyncDir("/a/b"))
	d, ok = v.DurableFile("/a/b/x")
	require.True(t, ok)
	require.Equal(t, "hello", string(d))
	require.NoError(t, h.Rename("/a/b/x", "/a/b/y"))
	v.Crash(PowerLoss, nil, Immediate{})
	d, ok = v.DurableFile("/a/b/y")
	require.True(t, ok)
	require.Equal(t, "hello world", string(d))
	require.Equal(t, int64(11), v.used)
}
