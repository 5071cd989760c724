package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestHostileCalls: whatever is wrong with a call, one line says so with the flag, and the exit code with it.
func TestHostileCalls(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "hostile.txt")},
		Cmds:  map[string]func(ts *testscript.TestScript, neg bool, args []string){"status": exitStatus},
	})
}
