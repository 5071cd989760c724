package mutants

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// quake is what the refactoring adds to the simulator: a kind of fault, and a site that draws at each action, boot and end of a storm.
const quake = `package sim

import (
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

var siteQuake = decide.NewSite("sim/quake", "how strong an earthquake is", 0)

// Faults lists the kinds of action that the core itself offers.
func Faults() []plan.Kind {
	return append([]plan.Kind{{Name: "quake", Doc: "all hosts shake", Fields: []plan.Field{fieldFor}}}, olderFaults()...)
}

func (w *World) installQuake() {
	w.fault("quake", ActionHandler{Do: func(*World, *Act) string { return "" }})
}

func (w *World) shake() { w.source.Choose(siteQuake, 1, 2, 3, 10) }
`

// refactored returns changed files of the module, by their paths: a new fault kind and a new site (sim), functions moved to another file
// (raft), another version of the engine.
func refactored(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{"sim/quake.go": quake}
	change := func(name, old, now string) {
		text, ok := files[name]
		if !ok {
			source, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			text = string(source)
		}
		require.Equal(t, 1, strings.Count(text, old), "%s has %q once", name, old)
		files[name] = strings.Replace(text, old, now, 1)
	}
	change("sim/engine.go", `const EngineVersion = "`+sim.EngineVersion+`"`, `const EngineVersion = "after the refactoring"`)
	change("sim/faults.go", "func Faults() []plan.Kind {", "func olderFaults() []plan.Kind {")
	begin := func(name, function, statement string) {
		source, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		head := regexp.MustCompile(`(?m)^func \(w \*World\) ` + function + `\(.*\{$`).FindString(string(source))
		require.NotEmpty(t, head, "%s has a method %s", name, function)
		change(name, head, head+"\n\t"+statement)
	}
	begin("sim/faults.go", "installFaults", "w.installQuake()")
	begin("sim/actions.go", "runAction", "w.shake()")
	begin("sim/life.go", "bootHost", "w.shake()")
	begin("sim/phases.go", "startCalm", "w.shake()")
	moved := moveFunctions(t, root, "raft/leader.go", files)
	require.GreaterOrEqual(t, moved, 3, "functions that can move")
	return files
}

// moveFunctions moves every function of a file that uses no import into a file of its own. It returns how many there were.
func moveFunctions(t *testing.T, root, name string, files map[string]string) (moved int) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, source, parser.ParseComments)
	require.NoError(t, err)
	imported := map[string]bool{}
	for _, i := range file.Imports {
		path := strings.Trim(i.Path.Value, `"`)
		imported[path[strings.LastIndex(path, "/")+1:]] = true
		if i.Name != nil {
			imported[i.Name.Name] = true
		}
	}
	left, right := string(source), "package "+file.Name.Name+"\n"
	for _, d := range slices.Backward(file.Decls) {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		alone := true
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && imported[x.Name] {
					alone = false
				}
			}
			return alone
		})
		if alone {
			from, to := set.Position(f.Doc.Pos()).Offset, set.Position(f.End()).Offset
			right += "\n" + left[from:to] + "\n"
			left = left[:from] + left[to:]
			moved++
		}
	}
	files[name], files[strings.TrimSuffix(name, ".go")+"_moved.go"] = left, right
	return moved
}

// replayer is the program that the refactored module is built into: it runs each capsule that it is given as replay does on another engine,
// and says what came of it, a line each.
const replayer = `package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

func main() {
	catalogue := scenarios.Catalogue()
	engine := sim.NewEngine(catalogue)
	for _, file := range os.Args[1:] {
		c, err := plan.ReadCapsuleFile(file, catalogue.Registry)
		check(err)
		stored, err := c.Stored()
		check(err)
		result, err := engine.Run(c.Fixed(stored), sim.Options{RecordDecisions: true})
		check(err)
		v := result.Verdict
		check(json.NewEncoder(os.Stdout).Encode(map[string]any{"file": file, "shows": shrink.Shows(v, c.Fingerprint), "finding": v.Fingerprint(),
			"matched": plan.Matched(stored, result.Decisions), "decisions": len(stored), "unknown": c.FirstUnknown(result.Decisions),
			"drawn": len(result.Decisions), "other_engine": c.Engine != sim.EngineVersion}))
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`

// replayedCapsule is a line of it.
type replayedCapsule struct {
	File        string `json:"file"`
	Shows       bool   `json:"shows"`
	Finding     string `json:"finding"`
	Matched     int64  `json:"matched"`
	Decisions   int64  `json:"decisions"`
	Drawn       int64  `json:"drawn"`
	Unknown     string `json:"unknown"`
	OtherEngine bool   `json:"other_engine"`
}

// Capsules recorded before a refactoring that moves code, adds a fault kind and a decision, and changes the version of the engine still
// reproduce after it: the bare ones of the corpus, and one with all decisions of a run.
func TestCapsulesSurviveARefactoring(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the scenarios")
	}
	root, err := FindRoot(".")
	require.NoError(t, err)
	c := scenarios.Catalogue()
	entries, err := corpus.Read(filepath.Join(root, corpus.Dir), c.Registry)
	require.NoError(t, err)
	dir := t.TempDir()
	full := filepath.Join(dir, "full.json")
	files, folders := []string{full}, map[string]string{}
	recorded := false
	for _, e := range entries {
		if e.Folder == corpus.Hazards && !recorded {
			recorded = true
			record(t, sim.NewEngine(c), e.Capsule.Plan, e.Capsule.Fingerprint, full)
		}
		files, folders[e.File] = append(files, e.File), e.Folder
	}

	changed := refactored(t, root)
	changed["internal/replayer/main.go"] = replayer
	overlay, err := writeOverlay(changed, root, dir)
	require.NoError(t, err)
	binary := filepath.Join(dir, "replayer.exe")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay, "-o", binary, "./internal/replayer")
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	cmd = exec.Command(binary, files...)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err = cmd.Output()
	require.NoError(t, err, "%s", &complaints)

	var complete, hazards, mutants int
	for line := range bytes.Lines(out) {
		var k replayedCapsule
		require.NoError(t, json.Unmarshal(line, &k))
		require.True(t, k.OtherEngine)
		switch {
		case k.File == full:
			complete++
			require.Greater(t, k.Decisions, int64(100))
			require.Greater(t, k.Drawn, k.Decisions, "the new site draws")
			fallthrough
		case folders[k.File] == corpus.Hazards:
			hazards++
			require.True(t, k.Shows, "%s still shows", k.File)
			require.Empty(t, k.Finding, k.File)
			require.Equal(t, k.Decisions, k.Matched, k.File)
			require.Empty(t, k.Unknown, k.File)
		default: // the bug is not in this build; its plan still runs
			mutants++
			require.Empty(t, k.Finding, k.File)
		}
	}
	require.Equal(t, 1, complete)
	require.Greater(t, hazards, 5)
	require.Greater(t, mutants, 5)
}

// record writes the capsule of a run with all of its decisions.
func record(t *testing.T, r shrink.Runner, p *plan.Plan, target, file string) {
	t.Helper()
	result, err := r.Run(p, sim.Options{RecordDecisions: true})
	require.NoError(t, err)
	data, err := plan.EncodeCapsule(plan.NewCapsule(sim.EngineVersion, p, result.Verdict, result.Decisions, target))
	require.NoError(t, err)
	require.NoError(t, outfile.Write(file, data))
}
