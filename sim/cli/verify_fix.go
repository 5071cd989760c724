package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// unratedSeeds is how many seeds are run where nobody knows how often the failure showed.
const unratedSeeds = 1000

// fixCall is one call of verify-fix.
type fixCall struct {
	app        *App
	cmd        *cobra.Command
	confidence float64
	rate       string
	seeds      int64
	first      seedFlag
	workers    int
	memoryMB   int64
	limit      time.Duration
	after      time.Duration
	results    results
}

func (a *App) verifyFixCommand() *cobra.Command {
	defaults := a.newCampaignCall()
	c := &fixCall{app: a, confidence: 0.95, first: 1, workers: defaults.cfg.Workers, memoryMB: defaults.memoryMB}
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "verify-fix CAPSULE",
		Short: "Say how many seeds it takes to believe a fix, and run them",
		Long: "Verify-fix runs the plan of a capsule, which must not show its failure any more, and then so many seeds of its scenario that\n" +
			"the failure, at the rate at which it was seen before, would have shown itself with the given confidence. The rate is that of\n" +
			"the last campaign in --db that saw the failure, or --rate, or else the one in the capsule; the lower limit of its interval\n" +
			"counts. Where there is no rate it runs 1000 seeds, or --seeds, and says which rates those rule out.\n" +
			"Exit code 1 when the failure, or any other finding, shows; 0 else, also where --seeds is less than the confidence needs.",
		Example: fmt.Sprintf("  %s verify-fix %s/FILE.json\n  %s verify-fix %s/FILE.json --confidence 0.99 --rate 5/3000\n  %s verify-fix %s/FILE.json --seeds 20000",
			program, a.defaultOut(), program, a.defaultOut(), program, a.defaultOut()),
		Args: oneArgument("a capsule file"),
	}
	f := cmd.Flags()
	f.Float64Var(&c.confidence, "confidence", c.confidence, "how sure to be, between 0.5 and 1")
	f.StringVar(&c.rate, "rate", "", "how often the failure was seen, as 5/3000 (default: what --db says, or the capsule)")
	f.Int64Var(&c.seeds, "seeds", 0, "seeds to run (0: as many as the confidence needs)")
	f.Var(&c.first, "first", "first seed")
	f.IntVar(&c.workers, "workers", c.workers, "worker processes")
	f.Int64Var(&c.memoryMB, "memory", c.memoryMB, "heap bound of a worker in MiB")
	f.DurationVar(&c.after, "stop-after", 0, "end after so much time of runs (0: never)")
	f.StringVar(&c.results.db, "db", a.defaultResults(), "SQLite file of results that may have the rate")
	addRunLimit(cmd, &c.limit)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.cmd = cmd
		return c.run(args)
	}
	return cmd
}

func (c *fixCall) check() error {
	switch {
	case !(c.confidence >= 0.5 && c.confidence < 1):
		return Usagef("--confidence must lie between 0.5 and 1, as 0.95")
	case c.seeds < 0 || c.seeds > mostRuns:
		return Usagef("--seeds must lie between 0 and %d", int64(mostRuns))
	}
	return checkCampaign(&campaign.Config{
		Workers: c.workers, MinRuns: 1, RunLimit: c.limit, Stop: campaign.Stop{After: c.after},
	}, c.memoryMB)
}

func (c *fixCall) run(args []string) error {
	if err := c.check(); err != nil {
		return err
	}
	src, err := c.app.locate(args[0])
	if err == nil && src.capsule == nil {
		err = Usagef("%s is no capsule: a token does not say which failure was fixed", args[0])
	}
	if err != nil {
		return err
	}
	name, target := src.plan.Scenario, src.capsule.Fingerprint
	r := &reports.Fix{
		Capsule: args[0], Scenario: name, Fingerprint: target, Engine: src.capsule.Engine, Confidence: c.confidence,
	}
	if err := c.plan(r, src.capsule.Rate); err != nil {
		return err
	}
	config := Configure(c.cmd, args, src.plan)
	if !JSON(c.cmd) {
		if err := config.Print(c.cmd.OutOrStdout()); err != nil {
			return err
		}
	}
	if err := c.replay(src, r); err != nil {
		return err
	}
	if !r.Shows {
		if err := c.seek(r); err != nil {
			return err
		}
	}
	return c.report(config, r)
}

// plan finds the rate, and how many seeds it asks for. Where nobody else knows one it is that of the runs in which the capsule was found.
func (c *fixCall) plan(r *reports.Fix, found *plan.FailureRate) error {
	rate, source, err := c.before(r)
	if err != nil {
		return err
	}
	if rate == nil && found != nil && found.Failures > 0 && found.Failures <= found.Runs {
		of := campaign.NewRate(int64(found.Failures), int64(found.Runs))
		rate, source = &of, "where the capsule was found"
	}
	r.Seeds = c.seeds
	if rate != nil {
		r.Before, r.Source = rate, source
		r.NeededObserved = campaign.SeedsToBelieve(rate.Observed(), c.confidence)
		r.NeededLow = campaign.SeedsToBelieve(rate.Low, c.confidence)
		if r.Seeds == 0 {
			r.Seeds = r.NeededLow
		}
	}
	if r.Seeds == 0 {
		r.Seeds = unratedSeeds
	}
	if r.Seeds > mostRuns {
		return Usagef("a failure of %s takes %d seeds at %s confidence: say how many to run with --seeds", reports.Share(rate.Low), r.Seeds,
			reports.Share(c.confidence))
	}
	return nil
}

// before is how often the failure was seen.
func (c *fixCall) before(r *reports.Fix) (*campaign.Rate, string, error) {
	if c.rate != "" {
		runs, outOf, ok := strings.Cut(c.rate, "/")
		k, err := strconv.ParseInt(runs, 10, 64)
		n, bad := strconv.ParseInt(outOf, 10, 64)
		if !ok || err != nil || bad != nil || k < 1 || n < k {
			return nil, "", Usagef("--rate %q: write 5/3000 for 5 of 3000 runs", c.rate)
		}
		rate := campaign.NewRate(k, n)
		return &rate, "as given", nil
	}
	if c.results.db == "" {
		return nil, "", nil
	}
	if _, err := os.Stat(c.results.db); err != nil && !c.cmd.Flags().Changed("db") {
		return nil, "", nil // nobody has run a campaign here
	}
	l, err := ledger.OpenExisting(c.results.db)
	if err != nil {
		return nil, "", resultsProblem(err)
	}
	defer func() { _ = l.Close() }() // it was only read
	seen, err := l.LastSeen(r.Fingerprint, r.Scenario)
	if err != nil || seen == nil {
		return nil, "", err
	}
	r.Scenario = seen.Scenario // with the profile under which it was seen
	return &seen.Rate, fmt.Sprintf("campaign %d in %s", seen.Campaign, c.results.db), nil
}

// replay runs the plan of the capsule. One that took its process along would take this one: its seeds are left to the workers.
func (c *fixCall) replay(src *source, r *reports.Fix) error {
	if strings.Contains(r.Fingerprint, "/"+campaign.ProcessLives+"/") {
		return nil
	}
	p, stored, err := c.app.withStoredDecisions(src)
	if err != nil {
		return err
	}
	result, _, err := c.app.runPlan("", p, sim.Options{RecordDecisions: true}, c.limit)
	if err != nil {
		return err
	}
	r.Replayed, r.Outcome = true, string(result.Verdict.Outcome)
	r.Shows = shrink.Shows(result.Verdict, r.Fingerprint)
	if other := result.Verdict.Fingerprint(); other != r.Fingerprint {
		r.Instead = other
	}
	r.Matched, r.Decisions = plan.Matched(stored, result.Decisions), int64(len(stored))
	return nil
}

// seek runs the seeds, until one shows the failure.
func (c *fixCall) seek(r *reports.Fix) error {
	call := c.app.newCampaignCall()
	call.memoryMB = c.memoryMB
	call.cfg.Prefix, call.cfg.Exact, call.cfg.Seeds, call.cfg.First = r.Scenario, true, r.Seeds, uint64(c.first)
	call.cfg.Workers, call.cfg.RunLimit, call.cfg.ShrinkRuns, call.cfg.OutDir = c.workers, c.limit, 0, ""
	call.cfg.Stop.Fingerprint, call.cfg.Stop.After = r.Fingerprint, c.after
	summary, err := call.work(campaign.Run)
	if err != nil {
		return err
	}
	r.Runs, r.Interrupted = summary.Runs, summary.Interrupted
	shown := int64(0)
	for i := range summary.Findings {
		if b := &summary.Findings[i]; b.Fingerprint == r.Fingerprint {
			shown, r.Token = b.Runs, b.Example.Token()
		} else {
			r.Others = append(r.Others, *b)
		}
	}
	for i := range summary.Hazards {
		if b := summary.Hazards[i].Bucket; b != nil && b.Fingerprint == r.Fingerprint {
			shown, r.Token = b.Runs, b.Example.Token()
		}
	}
	r.Shows = shown > 0
	r.After = campaign.NewRate(shown, r.Runs)
	_, r.RuledOut = campaign.Interval(shown, r.Runs, c.confidence)
	if r.Before != nil && shown == 0 {
		r.BelievedObserved = campaign.Believed(r.Before.Observed(), r.Runs)
		r.BelievedLow = campaign.Believed(r.Before.Low, r.Runs)
		r.Believed = r.BelievedLow >= c.confidence
	}
	return nil
}

func (c *fixCall) report(config Configuration, r *reports.Fix) error {
	var err error
	if JSON(c.cmd) {
		err = PrintJSON(c.cmd.OutOrStdout(), struct {
			Config Configuration `json:"config"`
			Fix    *reports.Fix  `json:"fix"`
		}{config, r})
	} else {
		err = reports.WriteFix(c.cmd.OutOrStdout(), r)
	}
	switch {
	case err != nil:
	case r.Shows || r.Instead != "" || len(r.Others) > 0:
		err = ErrFinding
	case r.Interrupted:
		err = ErrInterrupted
	}
	return err
}
