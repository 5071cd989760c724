package outfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/outfile"
)

// goneProcess is the number of a process that has ended.
func goneProcess(t *testing.T) int {
	t.Helper()
	c := exec.Command("true")
	require.NoError(t, c.Run())
	return c.Process.Pid
}

func TestWriteRemovesWhatAKilledProcessLeft(t *testing.T) {
	dir := t.TempDir()
	host, err := os.Hostname()
	require.NoError(t, err)
	left := func(base, host string, pid int) string {
		name := filepath.Join(dir, fmt.Sprintf(".%s.unfinished-%s-%d-1234", base, host, pid))
		require.NoError(t, os.WriteFile(name, []byte("half"), 0o600))
		return name
	}
	dead := goneProcess(t)
	removed := left("a.json", host, dead)
	kept := []string{left("a.json", host, os.Getpid()), left("b.json", host, dead), left("a.json", "another-machine", dead)}
	require.NoError(t, outfile.Write(filepath.Join(dir, "a.json"), []byte("whole")))
	require.NoFileExists(t, removed)
	for _, name := range kept {
		require.FileExists(t, name)
	}
	data, err := os.ReadFile(filepath.Join(dir, "a.json"))
	require.NoError(t, err)
	require.Equal(t, "whole", string(data))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, len(kept)+1, "nothing of its own is left")
}

// What a link names is written, and the link stays; one that leads nowhere is a name, one that leads to itself an error.
func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("elsewhere"), 0o755))
	require.NoError(t, os.WriteFile(at("elsewhere/page"), []byte("before"), 0o600))
	require.NoError(t, os.Symlink("elsewhere/page", at("link")))
	require.NoError(t, os.Symlink("nothing", at("dangling")))
	require.NoError(t, os.Symlink("loop", at("loop")))
	require.NoError(t, outfile.Write(at("link"), []byte("whole")))
	to, err := os.Readlink(at("link"))
	require.NoError(t, err)
	require.Equal(t, "elsewhere/page", to)
	data, err := os.ReadFile(at("elsewhere/page"))
	require.NoError(t, err)
	require.Equal(t, "whole", string(data))
	require.NoError(t, outfile.Write(at("dangling"), []byte("whole")))
	require.FileExists(t, at("dangling"))
	require.ErrorContains(t, outfile.Write(at("loop"), []byte("x")), "outfile: write "+at("loop")+": too many")
	require.EqualError(t, outfile.Write(at("elsewhere/page/x"), nil), "outfile: write "+at("elsewhere/page/x")+": not a directory")
	require.EqualError(t, outfile.Write(at("elsewhere"), nil), "outfile: write "+at("elsewhere")+": is a directory")
	long := at(strings.Repeat("n", 300))
	require.EqualError(t, outfile.Write(long, nil), "outfile: write "+long+": file name too long")
	entries, err := os.ReadDir(at("elsewhere"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
