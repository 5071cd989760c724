package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/explore"
)

// A search whose program is killed again and again, while it runs and while it writes its state, ends with the counts of one that runs through.
func TestKilledSearchComesToTheSameCounts(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	link := filepath.Join(dir, "simrun")
	require.NoError(t, os.Symlink(self, link))
	search := func(args ...string) *exec.Cmd {
		c := exec.Command(link, append([]string{"explore", "raft/tiny", "--from", "64ms", "--depth", "2", "--faults", "1", "--json"}, args...)...)
		c.Dir = dir
		return c
	}
	report := func(c *exec.Cmd) (r explore.Report) {
		out, err := c.Output()
		require.NoError(t, err)
		var document struct{ Report explore.Report }
		require.NoError(t, json.Unmarshal(out, &document), "%s", out)
		return document.Report
	}
	whole := report(search())
	require.True(t, whole.Complete)
	require.Positive(t, whole.States)
	random := rand.New(rand.NewPCG(1262, 1))
	for i := range 12 {
		c := search("--state", "search.bin", "--runs", fmt.Sprint(int64(i+1)*whole.Runs/14))
		require.NoError(t, c.Start())
		time.Sleep(time.Duration(random.IntN(400)) * time.Millisecond)
		_ = c.Process.Kill() // it may have come to its end before
		_ = c.Wait()
	}
	require.Equal(t, whole, report(search("--state", "search.bin")))
}
