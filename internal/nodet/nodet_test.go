package nodet

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/nodet/driver"
)

// testRooms makes rooms of the packages under testdata/src that the cases treat as such.
const testRooms = "room,mainpkg/..."

// casePackages are the packages under testdata/src whose "// want" comments the analyzer has to meet exactly.
var casePackages = []string{"room", "partly", "excluded", "mainpkg"}

// useTestRooms sets the analyzer's flag for one test.
func useTestRooms(t *testing.T) {
	t.Helper()
	require.NoError(t, Analyzer.Flags.Set("rooms", testRooms))
	t.Cleanup(func() { _ = Analyzer.Flags.Set("rooms", "") })
}

// TestCases runs the analyzer over the cases of analysistest with the driver of this module. TestAnalysis, behind a
// build tag, does the same with analysistest itself.
func TestCases(t *testing.T) {
	useTestRooms(t)
	imports := &caseImporter{fset: token.NewFileSet(), std: importer.ForCompiler(token.NewFileSet(), "source", nil)}
	for _, path := range casePackages {
		t.Run(path, func(t *testing.T) {
			files := imports.parse(t, path)
			findings, err := driver.Analyze(Analyzer, imports.fset, imports, path, files)
			require.NoError(t, err)
			want := expectations(t, imports.fset, files)
			for _, finding := range findings {
				at := line{finding.Position.Filename, finding.Position.Line}
				if !take(want, at, finding.Message) {
					t.Errorf("unexpected finding: %s", finding)
				}
			}
			for at, patterns := range want {
				for _, pattern := range patterns {
					t.Errorf("%s:%d: no finding matches %q", at.file, at.number, pattern)
				}
			}
		})
	}
}

// TestEveryRuleHasCases sees to it that no rule is without a refused case in the test data.
func TestEveryRuleHasCases(t *testing.T) {
	var all strings.Builder
	paths, err := filepath.Glob("testdata/src/room/*.go")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, rule := range append([]string{ruleDirective}, liftable...) {
		require.Contains(t, all.String(), "want `\\["+rule+`\]`, "no refused case for rule %s", rule)
	}
}

func TestIsRoom(t *testing.T) {
	for path, want := range map[string]bool{
		Module + "/sim":                             true,
		Module + "/sim/vnet":                        true,
		Module + "/sim/cli":                         false,
		Module + "/sim/vnet/deeper":                 false,
		Module + "/raft":                            true,
		Module + "/raft/record":                     true,
		Module + "/raftlike":                        false,
		Module + "/metadata/records":                true,
		Module + "/metadata/osfiles":                false,
		Module + "/metadata/files/filestest":        false,
		Module + "/scenarios":                       false,
		Module + "/raft [" + Module + "/raft.test]": false,
		Module + "/raft_test":                       false,
		"example.com/raft":                          false,
	} {
		require.Equal(t, want, IsRoom(path), path)
	}
}

func TestVerbsOf(t *testing.T) {
	for format, want := range map[string]string{
		"":                 "",
		"%d %s":            "ds",
		"100%% of %+v":     "v",
		"%-5.2f|%#x|% d":   "fxd",
		"%*d%v":            "*dv",
		"%[2]d %[1]d":      "",
		"trailing %":       "",
		"%q of %08b%%%05s": "qbs",
	} {
		require.Equal(t, want, string(verbsOf(format)), format)
	}
}

// caseImporter finds packages under testdata/src first and in the standard library else.
type caseImporter struct {
	fset *token.FileSet
	std  types.Importer
}

func (i *caseImporter) Import(path string) (*types.Package, error) {
	directory := filepath.Join("testdata", "src", filepath.FromSlash(path))
	if _, err := os.Stat(directory); err != nil {
		return i.std.Import(path)
	}
	files, err := i.files(path)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: i}
	return config.Check(path, i.fset, files, nil)
}

func (i *caseImporter) files(path string) ([]*ast.File, error) {
	names, err := filepath.Glob(filepath.Join("testdata", "src", filepath.FromSlash(path), "*.go"))
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	for _, name := range names {
		file, err := parser.ParseFile(i.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

func (i *caseImporter) parse(t *testing.T, path string) []*ast.File {
	t.Helper()
	files, err := i.files(path)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

type line struct {
	file   string
	number int
}

var backquoted = regexp.MustCompile("`[^`]*`")

// expectations collects the patterns of the "// want" comments by line.
func expectations(t *testing.T, fset *token.FileSet, files []*ast.File) map[line][]string {
	t.Helper()
	want := map[line][]string{}
	for _, file := range files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				_, text, found := strings.Cut(comment.Text, "// want ")
				if !found {
					continue
				}
				position := fset.Position(comment.Pos())
				at := line{position.Filename, position.Line}
				for _, quoted := range backquoted.FindAllString(text, -1) {
					pattern, err := strconv.Unquote(quoted)
					require.NoError(t, err)
					want[at] = append(want[at], pattern)
				}
			}
		}
	}
	return want
}

// take removes the first pattern at the line that matches the message, and reports whether there was one.
func take(want map[line][]string, at line, message string) bool {
	for i, pattern := range want[at] {
		if regexp.MustCompile(pattern).MatchString(message) {
			want[at] = append(want[at][:i:i], want[at][i+1:]...)
			return true
		}
	}
	return false
}
