package outfile_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/outfile"
)

// A pipe gets what is written while somebody reads it; without a reader it is an error at once, and stays a pipe.
func TestWriteToPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	done := make(chan error, 1)
	go func() { done <- outfile.Write(pipe, []byte("lost")) }()
	select {
	case err := <-done:
		require.ErrorContains(t, err, "is a pipe that nobody reads")
	case <-time.After(time.Minute):
		t.Fatal("waits for a reader")
	}
	f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	require.NoError(t, outfile.Write(pipe, []byte("whole")))
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	require.Equal(t, "whole", string(data))
	info, err := os.Stat(pipe)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeNamedPipe)
}
