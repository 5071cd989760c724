package campaign_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// emptyFolder is a campaign.Progress that looks into a folder whenever runs have ended: their workers have announced them.
type emptyFolder struct {
	t     *testing.T
	dir   string
	looks *atomic.Int64
}

func (emptyFolder) Planned(string, int64) {}
func (e emptyFolder) Ran(string, int64, int64) {
	e.looks.Add(1)
	left, err := filepath.Glob(filepath.Join(e.dir, ".simrun-*"))
	assert.NoError(e.t, err)
	assert.LessOrEqual(e.t, len(left), 1, "a worker that is just starting may have its file there")
}
func (emptyFolder) Phase(string) {}

// A campaign that is killed leaves nothing in the temporary folder: the names of its files are gone while it runs.
func TestNothingIsLeftInTheTemporaryFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ended := exec.Command("true")
	require.NoError(t, ended.Run())
	host, err := os.Hostname()
	require.NoError(t, err)
	half := filepath.Join(dir, fmt.Sprintf(".simrun-progress.unfinished-%s-%d-1", host, ended.Process.Pid))
	require.NoError(t, os.WriteFile(half, nil, 0o600), "of a campaign that was killed while a worker started")
	looks := new(atomic.Int64)
	cfg := config("toy/", 900)
	cfg.Progress = emptyFolder{t, dir, looks}
	run(t, cfg)
	require.Positive(t, looks.Load())
	cfg = config("toy/", 3)
	cfg.Command = command("dies")
	_, err = campaign.Run(context.Background(), cfg)
	require.Error(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
}
