package main

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// ownTest lists the scripts that need commands or files of their own, and have a test for it.
var ownTest = []string{"dump.txt", "explain.txt", "format.txt", "hostile.txt", "operator.txt", "search.txt", "step.txt"}

// TestScripts runs every other script of testdata/script, so that none lies there unrun.
func TestScripts(t *testing.T) {
	all, err := filepath.Glob(filepath.Join("testdata", "script", "*.txt"))
	require.NoError(t, err)
	files := slices.DeleteFunc(all, func(file string) bool { return slices.Contains(ownTest, filepath.Base(file)) })
	require.NotEmpty(t, files)
	testscript.Run(t, testscript.Params{Files: files})
}
