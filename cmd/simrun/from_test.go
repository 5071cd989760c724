package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/stretchr/testify/require"
)

// goldenDir is the folder of directories that Kafka formatted.
func goldenDir(t *testing.T) string {
	t.Helper()
	root := os.Getenv("KRAFTSIM_GOLDEN")
	if root == "" {
		root = filepath.Join("..", "..", "testdata", "golden")
	}
	abs, err := filepath.Abs(filepath.Join(root, "formatted"))
	require.NoError(t, err)
	return abs
}

func goldenCases(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(goldenDir(t))
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	require.NotEmpty(t, names)
	return names
}

// simrun calls the program in an empty folder.
func simrun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	a := app()
	var out, errs bytes.Buffer
	a.Stdout, a.Stderr = &out, &errs
	code = a.Main(args)
	return code, out.String(), errs.String()
}

// fingerprint has a line for everything in a folder: name, mode, time of change, content.
func fingerprint(t *testing.T, dir string) (lines []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		line := fmt.Sprintf("%s %s %d", name, info.Mode(), info.ModTime().UnixNano())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			line += fmt.Sprintf(" %x", sha256.Sum256(data))
		}
		lines = append(lines, line)
		return nil
	})
	require.NoError(t, err)
	return lines
}

// copyTree copies a folder, into one that may be written.
func copyTree(t *testing.T, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	require.NoError(t, os.CopyFS(to, os.DirFS(from)))
	return to
}

// TestGoldenExport runs every case as the issue does, twice over: the second time on what the first one exported.
func TestGoldenExport(t *testing.T) {
	for _, name := range goldenCases(t) {
		t.Run(name, func(t *testing.T) {
			from := copyTree(t, filepath.Join(goldenDir(t), name))
			old := time.Now().Add(-time.Hour)
			require.NoError(t, filepath.WalkDir(from, func(name string, d os.DirEntry, err error) error {
				require.NoError(t, err)
				require.NoError(t, os.Chtimes(name, old, old))
				return os.Chmod(name, map[bool]os.FileMode{true: 0o555, false: 0o444}[d.IsDir()])
			}))
			t.Cleanup(func() {
				_ = filepath.WalkDir(from, func(name string, _ os.DirEntry, _ error) error { return os.Chmod(name, 0o755) })
			})
			before := fingerprint(t, from)
			base := t.TempDir()
			out, again := filepath.Join(base, "out"), filepath.Join(base, "again")
			code, stdout, stderr := simrun(t, "run", "--from", from, "--export", out)
			require.Zero(t, code, "%s%s", stdout, stderr)
			require.Equal(t, before, fingerprint(t, from), "the input was touched")
			require.True(t, strings.HasPrefix(stdout, "$ simrun run --export "+out+" --from "+from), stdout)
			require.NoDirExists(t, "simrun-out")
			requireNames(t, from, out)
			requireIndexes(t, out)
			code, stdout, stderr = simrun(t, "run", "--from", out, "--export", again, "--seed", "2")
			require.Zero(t, code, "%s%s", stdout, stderr)
			requireIndexes(t, again)
			entries, err := os.ReadDir(base)
			require.NoError(t, err)
			require.Len(t, entries, 2, "nothing is left beside the folders")
		})
	}
}

// requireNames wants the log directories under their own names, and the files of the input among those of the output.
func requireNames(t *testing.T, from, out string) {
	t.Helper()
	want, err := os.ReadDir(from)
	require.NoError(t, err)
	got, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Len(t, got, len(want))
	logs := 0
	for i := range want {
		require.Equal(t, want[i].Name(), got[i].Name())
		require.FileExists(t, filepath.Join(out, got[i].Name(), "meta.properties"))
		segments, err := filepath.Glob(filepath.Join(out, got[i].Name(), "__cluster_metadata-0", "*.log"))
		require.NoError(t, err)
		logs += len(segments)
	}
	require.Positive(t, logs)
}

// aCase is one of the cases, and its log directory.
func aCase(t *testing.T) (dir, logDir string) {
	t.Helper()
	dir = filepath.Join(goldenDir(t), goldenCases(t)[0])
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	return dir, filepath.Join(dir, entries[0].Name())
}

func TestGoldenExportOfOneLogDirectory(t *testing.T) {
	_, logDir := aCase(t)
	out := t.TempDir() // an empty folder may be there
	code, stdout, stderr := simrun(t, "run", "--from", logDir, "--export", out)
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.FileExists(t, filepath.Join(out, filepath.Base(logDir), "meta.properties"))
}

// TestGoldenExportThroughLinks: log directories on other disks, linked into one folder.
func TestGoldenExportThroughLinks(t *testing.T) {
	_, logDir := aCase(t)
	from, out := t.TempDir(), filepath.Join(t.TempDir(), "deep", "out")
	require.NoError(t, os.Symlink(logDir, filepath.Join(from, "disk1")))
	code, stdout, stderr := simrun(t, "run", "--from", from, "--export", out)
	require.Zero(t, code, "%s%s", stdout, stderr)
	require.FileExists(t, filepath.Join(out, "disk1", "meta.properties"))
}

func TestGoldenExportAsJSON(t *testing.T) {
	dir, _ := aCase(t)
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := simrun(t, "run", "--from", dir, "--export", out, "--json")
	require.Zero(t, code, "%s%s", stdout, stderr)
	var document struct {
		Config  struct{ Command string }
		Verdict struct{ Outcome string }
		More    struct {
			scenarios.FromResult
			Export string
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &document))
	require.Equal(t, "ok", document.Verdict.Outcome)
	require.Equal(t, out, document.More.Export)
	require.Empty(t, document.More.Missing)
	for _, f := range document.More.Files {
		info, err := os.Stat(filepath.Join(out, f.Path))
		require.NoError(t, err)
		require.Equal(t, f.Size, info.Size())
	}
	require.Contains(t, document.Config.Command, "--export "+out)
}

// TestFromWithoutExport runs, and writes nothing.
func TestFromWithoutExport(t *testing.T) {
	dir, _ := aCase(t)
	code, stdout, stderr := simrun(t, "run", "--from", dir, "--seed", "9")
	require.Zero(t, code, "%s%s", stdout, stderr)
	left, err := os.ReadDir(".")
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestRefusalIsTheNodesOwn: the node refuses to start, that is a finding, and the storage is exported as it is.
func TestRefusalIsTheNodesOwn(t *testing.T) {
	dir, logDir := aCase(t)
	from := copyTree(t, dir)
	broken := filepath.Join(from, filepath.Base(logDir), "meta.properties")
	require.NoError(t, os.WriteFile(broken, []byte("version=1\n"), 0o600))
	out := filepath.Join(t.TempDir(), "out")
	code, stdout, _ := simrun(t, "run", "--from", from, "--export", out)
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "missing: node ")
	require.Contains(t, stdout, "meta.properties")
	require.DirExists(t, out)
	code, stdout, _ = simrun(t, "run", "--from", from, "--json")
	require.Equal(t, 1, code)
	require.True(t, json.Valid([]byte(stdout)), stdout)
}

// TestBadCalls: one clear line, exit code 2, and nothing is written.
func TestBadCalls(t *testing.T) {
	dir, logDir := aCase(t)
	base := t.TempDir()
	file, full, empty := filepath.Join(base, "file"), filepath.Join(base, "full"), filepath.Join(base, "empty")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	for _, d := range []string{full, empty} {
		require.NoError(t, os.Mkdir(d, 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(full, "x"), nil, 0o600))
	dangling, links := filepath.Join(base, "dangling"), filepath.Join(base, "links")
	require.NoError(t, os.Symlink(filepath.Join(base, "nowhere"), dangling))
	require.NoError(t, os.CopyFS(links, os.DirFS(dir)))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(links, filepath.Base(logDir), "server.log")))
	pipe := filepath.Join(base, "pipe", "dir0")
	require.NoError(t, os.MkdirAll(pipe, 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(pipe, "meta.properties"), 0o600))
	own := copyTree(t, dir)
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no such folder", []string{"--from", filepath.Join(base, "none")}, "none: no such file or directory"},
		{"a file", []string{"--from", file}, "--from " + file + ": a file"},
		{"empty folder", []string{"--from", empty}, empty + ": log directories: there are none"},
		{"empty name", []string{"--from", ""}, "--from : no such file or directory"},
		{"dangling link", []string{"--from", dangling}, dangling + ": no such file or directory"},
		{"dangling link inside", []string{"--from", links}, filepath.Join(links, filepath.Base(logDir), "server.log") + ": content: cannot be read: no such file"},
		{"a pipe", []string{"--from", filepath.Dir(pipe)}, "meta.properties: content: cannot be read: neither a file nor a directory"},
		{"folder of cases", []string{"--from", filepath.Dir(dir)}, filepath.Dir(dir) + ": meta.properties: no log directory has one"},
		{"output not empty", []string{"--from", dir, "--export", full}, "--export " + full + ": not empty, it holds x"},
		{"output is a file", []string{"--from", dir, "--export", file}, "--export " + file + ": not a directory"},
		{"output below a file", []string{"--from", dir, "--export", filepath.Join(file, "x")}, "not a directory"},
		{"output in the input", []string{"--from", own, "--export", filepath.Join(own, "out")}, "lies in --from " + own},
		{"output is the input", []string{"--from", empty, "--export", empty}, "lies in --from"},
		{"output is a link to nowhere", []string{"--from", dir, "--export", dangling}, "a link to nowhere"},
		{"output where nobody can write", []string{"--from", dir, "--export", "/proc/x"}, "--export /proc/x: cannot be written: no such file or directory"},
		{"output of a scenario where nobody can write", []string{"raft/quiet", "--export", "/proc/x/y"}, "--export /proc/x/y: cannot be written"},
		{"no name for the output", []string{"--from", dir, "--export", ""}, "--export: the name of the folder is empty"},
		{"output of a scenario not empty", []string{"raft/quiet", "--export", full}, "--export " + full + ": not empty, it holds x"},
		{"release alone", []string{"raft/quiet", "--release", "4.0"}, "--release needs --from DIR"},
		{"a scenario, too", []string{"raft/quiet", "--from", dir}, "without a scenario"},
		{"a plan, too", []string{"--plan", "x", "--from", dir}, "without a scenario and without --plan"},
		{"release", []string{"--from", dir, "--release", "5"}, `unknown release "5"`},
		{"seed", []string{"--from", dir, "--seed", "x"}, `"x" is not a whole number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fingerprint(t, base)
			code, stdout, stderr := simrun(t, append([]string{"run"}, c.args...)...)
			require.Equal(t, 2, code, "%s%s", stdout, stderr)
			require.Contains(t, stderr, c.want)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.Empty(t, stdout)
			require.Equal(t, before, fingerprint(t, base))
			left, err := os.ReadDir(".")
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// TestFullDisk: a write that fails leaves nothing behind.
func TestFullDisk(t *testing.T) {
	base := t.TempDir()
	out := filepath.Join(base, "out")
	files := []scenarios.ExportedFile{{Path: "dir0/a", Content: []byte("x")}, {Path: "dir0/a/b", Content: []byte("y")}} // a is no folder
	require.Error(t, write(out, files))
	entries, err := os.ReadDir(base)
	require.NoError(t, err)
	require.Empty(t, entries)
	require.NoError(t, os.Mkdir(out, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(out, "late"), nil, 0o600)) // somebody was faster
	require.Error(t, write(out, files[:1]))
	entries, err = os.ReadDir(base)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.FileExists(t, filepath.Join(out, "late"))
}
