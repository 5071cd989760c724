package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/internal/fakesim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func app() *cli.App {
	return &cli.App{Catalogue: fakesim.Catalogue(), NewRunner: func() campaign.Runner { return new(fakesim.Runner) }}
}

// TestMain lets the test binary be the program simrun over the fake catalogue; its workers are the same binary again.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"simrun": func() {
		if len(os.Args) > 1 && os.Args[1] == "worker" && os.Getenv("KRAFTSIM_TEST_ABORT") != "" {
			os.Exit(2) // as the Go runtime does after a fatal error
		}
		os.Exit(app().Main(os.Args[1:]))
	}})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// Example: exits 2 simrun run
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				err := ts.Exec(args[1], args[2:]...)
				got := "0"
				if err != nil {
					got = strings.TrimPrefix(err.Error(), "exit status ")
				}
				if got != args[0] {
					ts.Fatalf("exit code %s, not %s; stderr: %s", got, args[0], ts.ReadFile("stderr"))
				}
			},
			// Example: lines 1 stderr
			"lines": func(ts *testscript.TestScript, _ bool, args []string) {
				if got := strings.Count(ts.ReadFile(args[1]), "\n"); args[0] != string(rune('0'+got)) {
					ts.Fatalf("%s has %d lines, not %s", args[1], got, args[0])
				}
			},
			// Example: edit plan.json "from": "form":
			"edit": func(ts *testscript.TestScript, _ bool, args []string) {
				file := ts.MkAbs(args[0])
				text := ts.ReadFile(args[0])
				if !strings.Contains(text, args[1]) {
					ts.Fatalf("%s does not contain %s", args[0], args[1])
				}
				ts.Check(os.WriteFile(file, []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
			},
		},
	})
}

func call(t *testing.T, a *cli.App, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	a.Stdout, a.Stderr = &out, &errs
	code = a.Main(args)
	return code, out.String(), errs.String()
}

func TestExtraCommands(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		code int
		line string
	}{
		{"fine", nil, cli.ExitOK, ""},
		{"finding", cli.ErrFinding, cli.ExitFinding, ""},
		{"usage", cli.Usagef("no file %q", "x"), cli.ExitUsage, "simrun: no file \"x\"\n"},
		{"internal", os.ErrClosed, cli.ExitInternal, "simrun: internal error: file already closed\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := app()
			a.Extra = []*cobra.Command{{Use: "more", RunE: func(*cobra.Command, []string) error { return c.err }}}
			code, _, stderr := call(t, a, "more")
			require.Equal(t, c.code, code)
			require.Equal(t, c.line, stderr)
		})
	}
	a := app()
	a.Extra = []*cobra.Command{{Use: "boom", RunE: func(*cobra.Command, []string) error { panic("no way") }}}
	code, _, stderr := call(t, a, "boom")
	require.Equal(t, cli.ExitInternal, code)
	require.Contains(t, stderr, "simrun: internal error: no way\n")
}

func TestRunHook(t *testing.T) {
	var from string
	a := app()
	a.RunHook = &cli.RunHook{
		Flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&from, "from", "", "folder") },
		Run: func(cmd *cobra.Command, args []string) (bool, error) {
			if from == "" {
				return false, nil
			}
			return true, cli.Usagef("--from %s: no such folder", from)
		},
	}
	code, _, stderr := call(t, a, "run", "--from", "here")
	require.Equal(t, cli.ExitUsage, code)
	require.Equal(t, "simrun: --from here: no such folder\n", stderr)
	code, stdout, _ := call(t, a, "run", "toy/clean", "--seed", "1")
	require.Equal(t, cli.ExitOK, code)
	require.Contains(t, stdout, "$ simrun run toy/clean --out simrun-out --run-limit 1m0s --seed 1\n")
}

func TestRunHookProvidesThePlanAndSeesTheEnd(t *testing.T) {
	var from string
	ended := plan.Outcome("")
	a := app()
	a.RunHook = &cli.RunHook{
		Flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&from, "from", "", "folder") },
		Plan: func(*cobra.Command, []string) (*plan.Plan, error) {
			if from == "" {
				return nil, nil
			}
			return a.Catalogue.Scenario("toy/buggy").Draw(7), nil
		},
		Finish: func(_ *cobra.Command, p *plan.Plan, runner campaign.Runner, result sim.Result) (any, error) {
			require.IsType(t, new(fakesim.Runner), runner)
			require.Equal(t, plan.Uint64(7), p.Seed)
			ended = result.Verdict.Outcome
			return map[string]int{"seen": 1}, nil
		},
	}
	code, stdout, _ := call(t, a, "run", "--from", "here")
	require.Equal(t, cli.ExitFinding, code)
	require.Contains(t, stdout, "plan toy/buggy, seed 7")
	require.Equal(t, plan.Violation, ended)
	code, stdout, _ = call(t, a, "run", "--from", "here", "--json")
	require.Equal(t, cli.ExitFinding, code)
	require.Contains(t, stdout, "\"more\": {\n    \"seen\": 1")
}

func TestEveryCommandHasExamples(t *testing.T) {
	for _, name := range []string{"run", "replay", "shrink", "campaign", "verify", "plan", "list"} {
		code, stdout, _ := call(t, app(), name, "--help")
		require.Equal(t, cli.ExitOK, code)
		require.Contains(t, stdout, "Examples:\n  simrun "+name)
		require.Contains(t, stdout, "--json")
	}
}

func TestNothingIsWrittenByACleanRun(t *testing.T) {
	code, _, _ := call(t, app(), "run", "toy/clean", "--seed", "7")
	require.Equal(t, cli.ExitOK, code)
	left, err := filepath.Glob("*")
	require.NoError(t, err)
	require.Empty(t, left)
}

// A catalogue without registry is a mistake in main that a newcomer makes first.
func TestACatalogueWithoutRegistry(t *testing.T) {
	a := app()
	a.Catalogue.Registry = nil
	code, _, stderr := call(t, a, "list")
	require.Equal(t, cli.ExitInternal, code)
	require.Contains(t, stderr, ": internal error: sim: Catalogue.Registry is required: sim.NewRegistry()\n")
}

// Nothing that is printed names another program than the one that people have called.
func TestMessagesNameTheProgram(t *testing.T) {
	a := app()
	a.Catalogue.Program = "toyrun"
	code, stdout, _ := call(t, a, "run", "toy/buggy", "--seed", "7", "--shrink")
	require.Equal(t, cli.ExitFinding, code)
	require.Contains(t, stdout, "replay with: toyrun replay toyrun-out/")
	require.NotContains(t, stdout, "simrun")
	for _, args := range [][]string{{"run"}, {"plan"}, {"replay"}, {"run", "toy"}, {"--json"}, {"run", "--help"}, {"campaign", "--help"}, {"shrink", "--help"}} {
		_, stdout, stderr := call(t, a, args...)
		require.NotContains(t, stdout+stderr, "simrun", "%v", args)
	}
}

// A condition or hazard without a family may be met in any scenario.
func TestListOfWhatMayBeMetAnywhere(t *testing.T) {
	a := app()
	a.Catalogue.Sometimes = []sim.SometimesDoc{{Name: "rain", Doc: "it rains", DuePerMillion: 1234}}
	a.Catalogue.Hazards = []sim.HazardDoc{{ID: "flood", Invariant: "dry", Doc: "wet feet"},
		{ID: "ebb", Invariant: "dry", Scenario: "toy/clean,toy/h,toy", DueIn: "toy/hazard", Doc: "mud"}}
	code, stdout, _ := call(t, a, "list")
	require.Equal(t, cli.ExitOK, code)
	require.Regexp(t, "rain +any scenario, due in 1,234 of a million runs +it rains\n", stdout)
	require.Regexp(t, "flood +dry in any scenario +wet feet\n", stdout)
	require.Regexp(t, `ebb +dry in toy/clean, toy/h\*, toy/ \(due: toy/hazard\) +mud\n`, stdout)
}
