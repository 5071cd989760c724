package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// deployedCalls returns the calls of the program in a file of deploy/, each as one line of shell, as it is written there.
func deployedCalls(t *testing.T, file string) (calls []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../deploy", file))
	require.NoError(t, err)
	call := regexp.MustCompile(`(?:^|[\s:])(?:\./)?(simrun (?:campaign|merge|verify|mutants)\b.*)`)
	continued := regexp.MustCompile(`\\?\n +--`) // a line of shell that goes on, or one of YAML's folded ones
	for line := range strings.Lines(continued.ReplaceAllString(string(text), " --")) {
		if match := call.FindStringSubmatch(line); match != nil && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			command, _, _ := strings.Cut(match[1], " || ")
			calls = append(calls, strings.TrimSpace(command))
		}
	}
	return calls
}

// deployed runs calls as a shell does where they are deployed, in folder dir.
type deployed struct {
	t   *testing.T
	dir string
	bin string
}

func newDeployed(t *testing.T) *deployed {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	d := &deployed{t: t, dir: t.TempDir(), bin: t.TempDir()}
	require.NoError(t, os.Symlink(self, filepath.Join(d.bin, "simrun")))
	return d
}

// run runs a call with an environment. A finding may come and go with the code, any other code than 0 and 1 is a call that is wrong.
func (d *deployed) run(call string, env ...string) (code int, out string) {
	d.t.Helper()
	c := exec.Command("sh", "-c", strings.ReplaceAll(call, "/results/", d.dir+"/results/"))
	c.Dir = d.dir
	c.Env = append(os.Environ(), append(env, "PATH="+d.bin+":"+os.Getenv("PATH"))...)
	text, err := c.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		require.ErrorAs(d.t, err, &exit)
		code = exit.ExitCode()
	}
	return code, string(text)
}

// TestDeployedCommands runs the commands in deploy/ as they are written there, with fewer seeds: a flag that is renamed must not wait for a
// night to tell.
func TestDeployedCommands(t *testing.T) {
	seeds := regexp.MustCompile(`--seeds (?:\d+|"\$SEEDS")`)
	for file, want := range map[string][]string{
		"github/pull-request.yml": {"verify", "campaign"}, "github/nightly.yml": {"campaign", "mutants", "merge"},
		"kubernetes/campaign.yaml": {"campaign"}, "kubernetes/merge.yaml": {"merge"},
	} {
		var have []string
		for _, call := range deployedCalls(t, file) {
			have = append(have, strings.Fields(call)[1])
		}
		require.Equal(t, want, have, file)
	}
	short := func(call string) string {
		if !seeds.MatchString(call) {
			return call + " --seeds 8"
		}
		return seeds.ReplaceAllString(call, "--seeds 8")
	}
	good := func(d *deployed, call string, env ...string) {
		t.Helper()
		code, out := d.run(call, env...)
		require.LessOrEqual(t, code, 1, "%s\n%s", call, out)
	}
	d := newDeployed(t)
	for _, call := range deployedCalls(t, "github/pull-request.yml") {
		good(d, short(call), "GITHUB_RUN_NUMBER=17")
	}
	require.FileExists(t, filepath.Join(d.dir, "simrun-out/campaign.html"))
	require.FileExists(t, filepath.Join(d.dir, "simrun-out/junit.xml"))

	nightly := deployedCalls(t, "github/nightly.yml")
	for i := range 8 {
		good(d, short(nightly[0]), fmt.Sprintf("INDEX=%d", i+1), "FIRST=300000001")
	}
	good(d, nightly[2])
	// Outside of the module nothing is built; what is wrong with the flags is told before.
	code, out := d.run(nightly[1])
	require.Equal(t, 2, code)
	require.Contains(t, out, "mutants are built from source")

	d = newDeployed(t)
	for i := range 8 {
		good(d, short(deployedCalls(t, "kubernetes/campaign.yaml")[0]), fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i))
	}
	good(d, deployedCalls(t, "kubernetes/merge.yaml")[0])
	require.FileExists(t, filepath.Join(d.dir, "results/merged/campaign.html"))
}

// The test above can fail: a part that is missing, and flags that are none.
func TestDeployedCommandsCanBeWrong(t *testing.T) {
	d := newDeployed(t)
	for call, want := range map[string]int{
		"simrun campaign --seeds 8 --shards 1/8": 2, "simrun campaign --shard auto/8 --seeds 8": 2, "simrun merge /results/part-*.db": 2,
		"simrun mutants --corpus --minimum": 2, "simrun verify --seed 8": 2,
	} {
		code, out := d.run(call, "JOB_COMPLETION_INDEX=")
		require.Equal(t, want, code, "%s\n%s", call, out)
	}
}
