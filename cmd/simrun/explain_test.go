package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestExplainScripts runs explain and replay --step as they are typed.
func TestExplainScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "explain.txt"), filepath.Join("testdata", "script", "step.txt")},
	})
}
