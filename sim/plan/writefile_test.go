package plan_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// goneProcess is the number of a process that has ended.
func goneProcess(t *testing.T) int {
	c := exec.Command("true")
	require.NoError(t, c.Run())
	return c.Process.Pid
}

func TestWriteFileRemovesWhatAKilledProcessLeft(t *testing.T) {
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
	require.NoError(t, plan.WriteFile(filepath.Join(dir, "a.json"), []byte("whole")))
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
