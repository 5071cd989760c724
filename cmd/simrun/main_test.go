package main

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary be simrun; its worker processes are the same binary again.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"simrun": main, "hold-lock": holdLock})
}

// holdLock runs `hold-lock FILE COMMAND ARGS...`: the command, while another process, this one, has the lock on a file.
func holdLock() {
	disk := osfiles.New()
	taken, err := disk.Lock(os.Args[1])
	if err != nil || !taken {
		os.Exit(9)
	}
	c := exec.Command(os.Args[2], os.Args[3:]...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	_ = c.Run()
	runtime.KeepAlive(disk)
	os.Exit(c.ProcessState.ExitCode())
}

// readmeCommands returns the simrun commands in the README's sh blocks.
func readmeCommands(t *testing.T) (commands [][]string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(block[1]) {
			if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "go run ./cmd/simrun "); ok {
				commands = append(commands, strings.Fields(rest))
			}
		}
	}
	return commands
}

// TestReadmeCommands runs every simrun command of the README, campaigns and verifications with fewer seeds. Findings may come
// and go with the code; what must not happen is a command that is not understood or that breaks.
func TestReadmeCommands(t *testing.T) {
	commands := readmeCommands(t)
	require.Greater(t, len(commands), 5)
	golden, err := os.Getwd()
	require.NoError(t, err)
	for i, command := range commands {
		for j, word := range command {
			command[j] = strings.Replace(word, "testdata/", golden+"/../../testdata/", 1)
		}
		switch command[0] {
		case "campaign":
			commands[i] = append(command, "--seeds", "24", "--shrink-runs", "0")
		case "verify":
			commands[i] = append(command, "--seeds", "24")
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/readme.txt", []byte("readme\n"), 0o600))
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"readme": func(ts *testscript.TestScript, _ bool, _ []string) {
				for _, command := range commands {
					err := ts.Exec("simrun", command...)
					if err != nil && err.Error() != "exit status 1" {
						ts.Fatalf("simrun %s: %v: %s", strings.Join(command, " "), err, ts.ReadFile("stderr"))
					}
					if out := ts.ReadFile("stdout"); !strings.Contains(out, "engine "+sim.EngineVersion) && command[0] != "plan" {
						ts.Fatalf("simrun %s does not print its configuration:\n%s", strings.Join(command, " "), out)
					}
				}
			},
		},
	})
}
