package mutants

import (
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tokens lists what the compiler reads of a source.
func tokens(t *testing.T, text string) (list []string) {
	t.Helper()
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile("", -1, len(text)), []byte(text), func(_ token.Position, problem string) { t.Fatal(problem) }, 0)
	for {
		_, kind, literal := s.Scan()
		if kind == token.EOF {
			return list
		}
		if !kind.IsLiteral() {
			literal = kind.String()
		}
		list = append(list, literal)
	}
}

// A patch in place is the same program as the patch, on the lines of the source.
func TestPatchesInPlaceAreTheSameProgram(t *testing.T) {
	root, err := FindRoot(".")
	require.NoError(t, err)
	patches, err := ReadPatches(root)
	require.NoError(t, err)
	level := 0
	for _, p := range patches {
		want, err := p.Apply(root)
		require.NoError(t, err)
		got, err := p.applyInPlace(root)
		if err != nil {
			require.ErrorIs(t, err, errWhole, p.File)
			continue
		}
		level++
		require.Len(t, got, len(want))
		for name, text := range want {
			require.Equal(t, tokens(t, text), tokens(t, got[name]), "%s: %s", p.File, name)
			source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
			require.NoError(t, err)
			require.Equal(t, strings.Count(string(source), "\n"), strings.Count(got[name], "\n"), "%s: %s", p.File, name)
		}
	}
	require.Greater(t, level, len(patches)*9/10)
}

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"\tif a {\n\t\tb() // why\n\t}\n": "if a { b ( ) ; } ;\n",
		"x := \"a b\" +\n\t'c'\n":         "x := \"a b\" + 'c' ;\n",
		"return\n":                        "return ;\n",
	} {
		got, ok := oneLine(text)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"x := `a\n", "/* a\n", "//go:noinline\n", "x := \"a\n"} {
		_, ok := oneLine(text)
		require.False(t, ok, text)
	}
}
