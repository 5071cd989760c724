package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const sample = "package raft\n\n// one\nvar a = 1\n\n// two\nvar b = 2\n\n// three\nvar c = 3\n"

const header = "id: KB-01\nname: Sample\nreference: none\nrule: two is two\ninvariant: log-matching\nscenarios: raft/storm-3\n\n"

func hunk(at int, file string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d,3 +%[2]d,3 @@\n // two\n-var b = 2\n+var b = 3\n \n", file, at)
}

func tree(t *testing.T, content string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "raft"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "raft", "a.go"), []byte(content), 0o600))
	return dir
}

func TestApply(t *testing.T) {
	want := strings.Replace(sample, "b = 2", "b = 3", 1)
	for _, c := range []struct {
		name, source string
		at           int
		want, fault  string
	}{
		{"in place", sample, 6, want, ""},
		{"moved down", "// more\n" + sample, 6, "// more\n" + want, ""},
		{"moved up", sample, 60, want, ""},
		{"context is gone", strings.Replace(sample, "// two", "// 2", 1), 6, "", "hunk 1"},
		{"line is gone", strings.Replace(sample, "b = 2", "b = 4", 1), 6, "", "not in the file any more"},
		{"two places", sample + "\n// two\nvar b = 2\n\n", 60, "", "in the file 2 times"},
		{"two places, one stated", sample + "\n// two\nvar b = 2\n\n", 6, want + "\n// two\nvar b = 2\n\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePatch("KB-01-sample.patch", header+hunk(c.at, "raft/a.go"))
			require.NoError(t, err)
			out, err := p.Apply(tree(t, c.source))
			if c.fault != "" {
				require.ErrorIs(t, err, ErrPatch)
				require.ErrorContains(t, err, c.fault)
				require.ErrorContains(t, err, "KB-01-sample.patch: raft/a.go")
				return
			}
			require.NoError(t, err)
			require.Equal(t, map[string]string{"raft/a.go": c.want}, out)
		})
	}
	t.Run("file is gone", func(t *testing.T) {
		p, err := ParsePatch("x.patch", header+hunk(6, "raft/b.go"))
		require.NoError(t, err)
		_, err = p.Apply(tree(t, sample))
		require.ErrorIs(t, err, ErrPatch)
	})
}

// TestApplyAnywhere: wherever unrelated lines push a hunk, it finds its place, and the rest of the file stays.
func TestApplyAnywhere(t *testing.T) {
	p, err := ParsePatch("x.patch", header+hunk(6, "raft/a.go"))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.StringMatching(`// [a-s]{0,6}`), 0, 20)
		before, after := lines.Draw(t, "before"), lines.Draw(t, "after")
		wrap := func(middle string) string {
			return strings.Join(append(append(append([]string{}, before...), middle), after...), "\n") + "\n"
		}
		got, err := applyFile(wrap("// two\nvar b = 2\n"), p.files[0])
		if err != nil {
			t.Fatal(err)
		}
		if want := wrap("// two\nvar b = 3\n"); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestParsePatch(t *testing.T) {
	diff := hunk(6, "raft/a.go")
	p, err := ParsePatch("x.patch", header+diff)
	require.NoError(t, err)
	require.Equal(t, []string{"log-matching"}, p.Invariants)
	require.Equal(t, []string{"raft/storm-3"}, p.Scenarios)
	for name, text := range map[string]string{
		"no empty line":    strings.Replace(header, "\n\n", "\n", 1),
		"no diff":          header,
		"text before diff": header + "hello\n" + diff,
		"key twice":        "id: KB-02\n" + header + diff,
		"no value":         strings.Replace(header, "reference: none", "reference:", 1) + diff,
		"no invariant":     strings.Replace(header, "invariant: log-matching\n", "", 1) + diff,
		"unknown key":      "colour: red\n" + header + diff,
		"a test":           header + hunk(6, "raft/a_test.go"),
		"not the product":  header + hunk(6, "sim/world.go"),
		"a scenario":       header + hunk(6, "scenarios/node.go"),
		"out of the tree":  header + hunk(6, "raft/../../x.go"),
		"a new file":       header + "diff --git a/raft/a.go b/raft/a.go\nnew file mode 100644\n--- /dev/null\n+++ b/raft/a.go\n@@ -0,0 +1 @@\n+package raft\n",
	} {
		_, err := ParsePatch("x.patch", text)
		require.ErrorIs(t, err, ErrPatch, name)
	}
	_, err = ParsePatch("x.patch", "outside: start order\n"+header+hunk(6, "scenarios/node.go"))
	require.NoError(t, err)
}

func TestSelect(t *testing.T) {
	list := []*Patch{{ID: "KB-01", Name: "A", File: "KB-01-f.patch"}, {ID: "KB-02", Name: "B"}, {ID: "KB-02", Name: "C"}}
	all, _ := Select(list, nil)
	require.Len(t, all, 3)
	some, unknown := Select(list, []string{"kb-02", "c", "a"})
	require.Empty(t, unknown)
	require.Equal(t, []*Patch{list[1], list[2], list[0]}, some)
	for _, file := range []string{"KB-01-f", "kb-01-F.patch", "mutants/KB-01-f.patch"} {
		some, unknown = Select(list, []string{file})
		require.Empty(t, unknown, file)
		require.Equal(t, list[:1], some)
	}
	_, unknown = Select(list, []string{"a", "nobody"})
	require.Equal(t, "nobody", unknown)
}

func FuzzParsePatch(f *testing.F) {
	f.Add(header + hunk(6, "raft/a.go"))
	f.Add(header)
	f.Add("id: x\n\n--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePatch("x.patch", text)
		if err != nil {
			require.ErrorIs(t, err, ErrPatch)
			return
		}
		for _, file := range p.files {
			_, _ = applyFile(sample, file)
		}
	})
}
