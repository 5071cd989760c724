package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// replayCheck compares a replayed run with its capsule.
type replayCheck struct {
	Type          string `json:"type"` // "check"
	SameTrace     bool   `json:"same_trace"`
	SameBehaviour bool   `json:"same_behaviour"`
	// NoHashes: the capsule has none, since its run did not end (a panic, a dead process) or since it is a bare one; the fingerprint is
	// compared.
	NoHashes        bool `json:"no_hashes,omitempty"`
	SameFingerprint bool `json:"same_fingerprint"`
	// Consistent: the verdict in the capsule shows the fingerprint that the capsule is about.
	Consistent bool       `json:"consistent"`
	Trace      plan.Hex64 `json:"capsule_trace_hash"`
	Behaviour  plan.Hex64 `json:"capsule_behaviour_hash"`
	// Engine is the version that wrote the capsule. Matched of Decisions were drawn again with the same value.
	Engine    string `json:"capsule_engine"`
	Matched   int64  `json:"matched_decisions"`
	Decisions int64  `json:"capsule_decisions"`
	// FirstUnknown is the first decision of the capsule that did not come up, by its readable name; "" when all did.
	FirstUnknown string `json:"first_unknown_decision,omitempty"`
}

func (a *App) replayCommand() *cobra.Command {
	var quiet, step bool
	var limit time.Duration
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "replay CAPSULE|TOKEN",
		Short: "Run a failure again with its full trace",
		Long: "Replay runs the plan of a capsule, or of a token (scenario:seed), and prints the full trace. For a capsule it says\n" +
			"whether the hashes are those of the capsule. A capsule of another engine version is replayed with its decisions held\n" +
			"fixed; it is told how many of them came up again, which did not, first, and whether the failure still shows. With --step it walks\n" +
			"through the run, forwards and backwards, by commands. With --json every line is a document: config, trace lines, verdict, check.",
		Example: fmt.Sprintf("  %s replay %s:17\n  %s replay %s/FILE.json --json", program, a.exampleScenario(), program, a.defaultOut()),
		Args:    oneArgument("a capsule file, or a token such as " + a.exampleScenario() + ":17"),
	}
	cmd.Flags().BoolVar(&quiet, "quiet", false, "leave the trace out")
	cmd.Flags().BoolVar(&step, "step", false, "walk through the run by commands, from a terminal or a pipe (help lists them)")
	addRunLimit(cmd, &limit)
	var files exports
	files.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkRunLimit(limit); err != nil {
			return err
		}
		src, err := a.locate(args[0])
		if err != nil {
			return err
		}
		if step {
			return a.stepThrough(cmd, args, src)
		}
		return a.replay(cmd, args, src, quiet, limit, &files)
	}
	return cmd
}

func (a *App) replay(cmd *cobra.Command, args []string, src *source, quiet bool, limit time.Duration, files *exports) error {
	w, asJSON := cmd.OutOrStdout(), JSON(cmd)
	config := Configure(cmd, args, src.plan)
	if asJSON {
		if err := printLine(w, config); err != nil {
			return err
		}
	} else if err := config.Print(w); err != nil {
		return err
	}
	o := sim.Options{RecordDecisions: true}
	if !quiet {
		o.Trace = func(l sim.TraceLine) {
			// A reader that went away is noticed at the verdict.
			if asJSON {
				_ = printLine(w, reports.NewTraceJSON(&l))
			} else {
				fmt.Fprintln(w, reports.TraceLine(&l))
			}
		}
	}
	p, stored, err := a.withStoredDecisions(src)
	if err != nil {
		return err
	}
	result, runner, err := a.runPlan("", p, o, limit)
	if err != nil {
		return err
	}
	if asJSON {
		err = printLine(w, struct {
			Type string `json:"type"`
			*plan.Verdict
		}{"verdict", result.Verdict})
	} else {
		err = reports.Verdict(w, result.Verdict)
		if runner == nil {
			fmt.Fprintf(w, "hang: the run did not end within %v of wall time (--run-limit) and was given up\n", limit)
		}
	}
	if err != nil {
		return err
	}
	if src.capsule != nil {
		if err := a.check(cmd, src.capsule, result, stored); err != nil {
			return err
		}
	}
	if files.wanted() {
		if err := a.exportReplayed(cmd, files, p, runner == nil, args[0]); err != nil {
			return err
		}
	}
	if result.Verdict.Outcome.Finding() {
		return ErrFinding
	}
	return nil
}

// exportReplayed writes the files that were asked for.
func (a *App) exportReplayed(cmd *cobra.Command, files *exports, p *plan.Plan, hung bool, of string) error {
	if hung {
		return &errUnwritten{"nothing exported: the run did not end"}
	}
	done, err := a.export(files, p, a.Catalogue.Program+" replay "+shellWord(of))
	w := cmd.OutOrStdout()
	if !JSON(cmd) {
		done.print(w)
	} else if wrong := printLine(w, struct {
		Type string `json:"type"` // "files"
		exported
	}{"files", done}); err == nil {
		err = wrong
	}
	return err
}

// withStoredDecisions returns the plan to run and the decisions of a capsule. On another engine version those are fixed in the plan, since
// a site may have another domain there.
func (a *App) withStoredDecisions(src *source) (*plan.Plan, []plan.DrawnDecision, error) {
	if src.capsule == nil {
		return src.plan, nil, nil
	}
	stored, err := src.capsule.Stored()
	if err != nil || src.capsule.Engine == sim.EngineVersion {
		return src.plan, stored, err
	}
	return src.capsule.Fixed(stored), stored, nil
}

// check tells whether the run is the one in the capsule. Different hashes on the same engine are a finding: the capsule was
// edited, the program under test has changed, or runs do not repeat.
func (a *App) check(cmd *cobra.Command, c *plan.Capsule, result sim.Result, stored []plan.DrawnDecision) error {
	v := result.Verdict
	k := replayCheck{
		Type: "check", NoHashes: c.TraceHash == 0 && c.BehaviourHash == 0, SameFingerprint: shrink.Shows(v, c.Fingerprint),
		SameTrace: v.TraceHash == c.TraceHash, SameBehaviour: v.BehaviourHash == c.BehaviourHash, Consistent: c.Consistent(),
		Trace: c.TraceHash, Behaviour: c.BehaviourHash, Engine: c.Engine,
		Matched: plan.Matched(stored, result.Decisions), Decisions: int64(len(stored)), FirstUnknown: c.FirstUnknown(result.Decisions),
	}
	same := k.SameTrace && k.SameBehaviour
	if k.NoHashes {
		same = k.SameFingerprint
	}
	w := cmd.OutOrStdout()
	if JSON(cmd) {
		if err := printLine(w, k); err != nil {
			return err
		}
	} else {
		k.print(w, c, same)
	}
	if !k.Consistent || c.Engine == sim.EngineVersion && !(same && k.SameFingerprint) {
		return ErrFinding
	}
	return nil
}

// print says it in words.
func (k *replayCheck) print(w io.Writer, c *plan.Capsule, same bool) {
	switch {
	case k.NoHashes && same:
		fmt.Fprintln(w, "the capsule has no hashes to compare: this run shows the same fingerprint")
	case k.NoHashes:
		fmt.Fprintf(w, "the capsule has no hashes to compare, and this run does not show %s\n", c.Fingerprint)
	case same:
		fmt.Fprintln(w, "replayed to the last bit: trace and behaviour hash equal those of the capsule")
	case k.SameBehaviour:
		fmt.Fprintf(w, "behaviour hash equals that of the capsule, trace hash differs: %s in the capsule\n", c.TraceHash)
	default:
		fmt.Fprintf(w, "hashes differ from those of the capsule: trace %s, behaviour %s\n", c.TraceHash, c.BehaviourHash)
	}
	if !same && !k.NoHashes && c.Engine == sim.EngineVersion {
		fmt.Fprintln(w, "not deterministic or edited: on one engine the same plan runs alike, unless the program under test has changed")
	}
	if !k.Consistent {
		fmt.Fprintf(w, "wrong fingerprint: the capsule says %s, and its own verdict does not show that\n", quoted(c.Fingerprint))
	}
	if !k.SameFingerprint && !k.NoHashes {
		fmt.Fprintf(w, "wrong fingerprint: the capsule says %s, and this run does not show that\n", quoted(c.Fingerprint))
	}
	k.printDecisions(w, c, same)
	if r := c.Rate; r != nil {
		fmt.Fprintf(w, "where it was found it came up in %d of %d runs\n", r.Failures, r.Runs)
	}
}

// printDecisions says how far the run is that of the capsule, where it is not the same one.
func (k *replayCheck) printDecisions(w io.Writer, c *plan.Capsule, same bool) {
	switch {
	case c.Engine == sim.EngineVersion && same:
		return
	case c.Engine == sim.EngineVersion: // the engine is the one thing that did not change
		fmt.Fprintf(w, "the capsule or the program is another than in its run, on the same engine %s%s\n", sim.EngineVersion, k.matched())
	default:
		fmt.Fprintf(w, "the capsule is of engine %s, this is engine %s%s\n", c.Engine, sim.EngineVersion, k.matched())
	}
	if k.FirstUnknown != "" {
		fmt.Fprintf(w, "the first decision that did not come up: %s\n", k.FirstUnknown)
	}
	if k.SameFingerprint {
		fmt.Fprintf(w, "the failure still shows: %s\n", c.Fingerprint)
	} else {
		fmt.Fprintf(w, "the failure does not show any more: %s\n", c.Fingerprint)
	}
}

// matched says how many decisions came up again, of a capsule that has some.
func (k *replayCheck) matched() string {
	if k.Decisions == 0 {
		return ""
	}
	return fmt.Sprintf(": %d of %d decisions came up again", k.Matched, k.Decisions)
}

// quoted shows a text that may be empty.
func quoted(text string) string {
	if text == "" {
		return "nothing"
	}
	return text
}
