package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// TestGoldenDump runs the command as it is typed, over the files that Kafka wrote.
func TestGoldenDump(t *testing.T) {
	golden := os.Getenv("KRAFTSIM_GOLDEN")
	if golden == "" {
		golden = filepath.Join("..", "..", "testdata", "golden")
	}
	golden, err := filepath.Abs(golden)
	require.NoError(t, err)
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "dump.txt")},
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOLDEN", golden)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": exitStatus},
	})
}

// exitStatus runs `status COMMAND CODE ARGS...`: the exit code of simrun COMMAND ARGS has to be CODE.
func exitStatus(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	err = ts.Exec("simrun", append([]string{args[0]}, args[2:]...)...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit status %d, not %d", got, want)
	}
}
