package cli_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/stretchr/testify/require"
)

// program makes a command of the test binary as simrun.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	link := filepath.Join(dir, "simrun")
	if _, err := os.Lstat(link); err != nil {
		require.NoError(t, os.Symlink(self, link))
	}
	c := exec.Command(link, args...)
	c.Dir = dir
	return c
}

// summaryOf reads the summary of a campaign and takes out what depends on the machine: times, and where it was kept.
func summaryOf(t *testing.T, document []byte) string {
	t.Helper()
	var d struct {
		Summary *campaign.Summary `json:"summary"`
	}
	require.NoError(t, json.Unmarshal(document, &d), "%s", document)
	s := d.Summary
	require.NotNil(t, s.Canary)
	s.ElapsedMs, s.RunMs, s.ShrinkMs, s.RunsPerSecond, s.EventsPerSecond, s.Canary.ElapsedMs = 0, 0, 0, 0, 0, 0
	s.Workers, s.Against = 0, nil
	for i := range s.Scenarios {
		s.Scenarios[i].MeanRunUs = 0
	}
	text, err := json.MarshalIndent(s, "", " ")
	require.NoError(t, err)
	return string(text)
}

// finished runs the program to its end and returns what it printed. It must end with the code.
func finished(t *testing.T, code int, c *exec.Cmd) []byte {
	t.Helper()
	out, err := c.Output()
	var exit *exec.ExitError
	if err != nil {
		require.ErrorAs(t, err, &exit)
		require.Equal(t, code, exit.ExitCode(), "%s", exit.Stderr)
		return out
	}
	require.Zero(t, code)
	return out
}

// begun reports whether the results in a folder have a campaign.
func begun(t *testing.T, dir string) bool {
	t.Helper()
	l, err := ledger.OpenExisting(filepath.Join(dir, "simrun-out/campaigns.db"))
	if err != nil {
		return false // killed before there was a whole file
	}
	defer func() { require.NoError(t, l.Close()) }()
	list, err := l.List()
	require.NoError(t, err)
	return len(list) > 0
}

// killedOnTheWay starts a campaign, kills it at random moments, goes on with it until it ends, and returns its document.
func killedOnTheWay(t *testing.T, random *rand.Rand, dir string, kills int, args ...string) []byte {
	t.Helper()
	onward := []string{"campaign", "--resume", "last", "--json"}
	for range kills {
		call := args
		if begun(t, dir) {
			call = onward
		}
		c := program(t, dir, call...)
		require.NoError(t, c.Start())
		time.Sleep(time.Duration(30+random.IntN(250)) * time.Millisecond)
		_ = c.Process.Kill() // it may have come to its end before
		_ = c.Wait()
	}
	if begun(t, dir) {
		return finished(t, 1, program(t, dir, onward...))
	}
	return finished(t, 1, program(t, dir, args...))
}

// A campaign that is killed again and again comes to the same summary as one that runs through, byte for byte.
func TestKilledCampaignComesToTheSameTotals(t *testing.T) {
	const seeds = "60000"
	whole := t.TempDir()
	want := summaryOf(t, finished(t, 1, program(t, whole, "campaign", "toy/", "--seeds", seeds, "--json")))
	random := rand.New(rand.NewPCG(20, 26))
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		dir := t.TempDir()
		out := killedOnTheWay(t, random, dir, 4, "campaign", "toy/", "--seeds", seeds, "--json")
		require.Equal(t, want, summaryOf(t, out))
		again := finished(t, 1, program(t, dir, "campaign", "--resume", "last", "--json"))
		require.Equal(t, want, summaryOf(t, again), "one that has ended has its summary")
	}
}

// Killed before anything was written, there is a file and no campaign in it.
func TestResumeOfAFileWithoutCampaigns(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(filepath.Join(dir, "new.db"))
	require.NoError(t, err)
	require.NoError(t, l.Close())
	out, err := program(t, dir, "campaign", "--resume", "last", "--db", "new.db").CombinedOutput()
	require.ErrorContains(t, err, "exit status 2")
	require.Equal(t, "simrun: new.db has no campaign yet: begin one, or name another file\n", string(out))
}

// The default campaign decides by measured costs what it runs. Killed and resumed, it has run exactly that, each seed once.
func TestKilledDefaultCampaignRunsWhatItDecided(t *testing.T) {
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(26, 20))
	out := killedOnTheWay(t, random, dir, 4, "campaign", "toy/", "--min-runs", "40000", "--time", "100ms", "--json")
	var d struct {
		Summary *campaign.Summary `json:"summary"`
	}
	require.NoError(t, json.Unmarshal(out, &d))
	l, err := ledger.OpenExisting(filepath.Join(dir, "simrun-out/campaigns.db"))
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	last, err := l.Last()
	require.NoError(t, err)
	_, _, past, err := l.Resume(last.ID)
	require.NoError(t, err)
	require.Len(t, past.Stages, 3)
	decided, ran := make(map[string]int64), make(map[string]int64)
	for _, stage := range past.Stages {
		for _, r := range stage {
			require.Equal(t, decided[r.Scenario], r.At, "the stages leave nothing out")
			decided[r.Scenario] += r.Count
		}
	}
	for i := range past.Batches {
		ran[past.Batches[i].Scenario] += past.Batches[i].Tally.Runs
	}
	require.Equal(t, decided, ran)
	for _, line := range d.Summary.Scenarios {
		require.Equal(t, decided[line.Name], line.Runs)
		require.Equal(t, line.Runs, line.Outcomes["ok"]+line.Outcomes["violation"])
	}
	require.GreaterOrEqual(t, d.Summary.Runs, int64(40_000))
}
