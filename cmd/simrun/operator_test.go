package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestOperatorCommand: a question of operators prints its table, and the rolling upgrade is one plan.
func TestOperatorCommand(t *testing.T) {
	testscript.Run(t, testscript.Params{Files: []string{filepath.Join("testdata", "script", "operator.txt")}})
}
