package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeployedCommands holds the commands in deploy/ against the program: a flag that is renamed must not wait for a night to tell.
func TestDeployedCommands(t *testing.T) {
	var files []string
	for _, pattern := range []string{"github/*.yml", "kubernetes/*.yaml"} {
		found, err := filepath.Glob("../../deploy/" + pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.Len(t, files, 4)
	call := regexp.MustCompile(`(?:^|[\s/])simrun (campaign|merge|verify)\b(.*)`)
	flag := regexp.MustCompile(`(?:^|\s)(--[a-z-]+)`)
	calls := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(strings.NewReplacer("\\\n", " ", "\n          --", " --").Replace(string(text))) {
			match := call.FindStringSubmatch(line)
			if match == nil || strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			calls++
			var help bytes.Buffer
			a := app()
			a.Stdout, a.Stderr = &help, &help
			require.Zero(t, a.Main([]string{match[1], "--help"}))
			for _, name := range flag.FindAllStringSubmatch(match[2], -1) {
				require.Contains(t, help.String(), " "+name[1], "%s: %s", file, strings.TrimSpace(line))
			}
		}
	}
	require.GreaterOrEqual(t, calls, 6)
}
