package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// fromHelp tells what run --from does with a directory.
const fromHelp = `

With --from DIR it boots a cluster from one node's storage, without faults, on Kafka's default timers. DIR is a folder of log
directories, or a single log directory; links to directories on other disks are followed. The metadata directory is the one that
holds __cluster_metadata-0, else the first by name. DIR is read and never written; of each log directory the files in its root
and the metadata log count, snapshots among it, partitions of other topics are left out.
  Voters that the newest voter set in DIR names and that are absent are formatted by the simulator with the listed directory ids
and the same cluster id; when DIR has a log, they begin with a copy of it. Without a voter set the quorum is static: --voters
lists it, default is the node alone; a node that is not listed joins as an observer. A directory formatted for no initial
controllers joins the voters of --voters, default one that the simulator makes. The release follows the files, 4.0 where there
is a bootstrap.checkpoint, else the newest; --release says otherwise.
  --export OUT writes the node's storage as it is after the run: one folder per log directory, under its own name, so that OUT can
be DIR again. OUT must not exist, or be an empty folder outside of DIR, and appears at once or not at all. It is written whenever
a run took place, also with exit code 1.
  Exit code 0 means: there is a leader, the bootstrap is stable, every meta.properties has its ids, and all files decode. 1: not so,
and what is missing is told; a node that Kafka would refuse to start refuses here, with its own error. 2: DIR cannot be taken for a
node's storage, or OUT cannot be written.`

// fromCall is the state of one call of run.
type fromCall struct {
	catalogue                     *sim.Catalogue
	from, export, release, voters string
	out                           string // absolute, links resolved
}

// exportReport is what run --from adds to the JSON document.
type exportReport struct {
	*scenarios.FromResult
	Export string `json:"export,omitempty"`
}

// fromHook adds --from, --export, --release and --voters to run.
func fromHook(catalogue *sim.Catalogue) *cli.RunHook {
	c := &fromCall{catalogue: catalogue}
	return &cli.RunHook{Flags: c.flags, Plan: c.plan, Finish: c.finish}
}

func (c *fromCall) flags(cmd *cobra.Command) {
	cmd.Long += fromHelp
	cmd.Example += "\n  simrun run --from testdata/golden/formatted/standalone --export OUT" +
		"\n  simrun run --from /var/kafka --voters 1@a:9093,2@b:9093,3@c:9093 --release 3.9"
	cmd.Flags().StringVar(&c.from, "from", "", "boot from one node's storage in this folder")
	cmd.Flags().StringVar(&c.export, "export", "", "with --from: write the node's storage after the run into this new folder")
	cmd.Flags().StringVar(&c.release, "release", "", "with --from: release of the software; default follows the files")
	cmd.Flags().StringVar(&c.voters, "voters", "", "with --from: static quorum as id@host:port,...; default is the node alone")
}

// plan makes the plan of a storage. Nothing is written yet.
func (c *fromCall) plan(cmd *cobra.Command, args []string) (*plan.Plan, error) {
	if !cmd.Flags().Changed("from") {
		for _, name := range []string{"export", "release", "voters"} {
			if cmd.Flags().Changed(name) {
				return nil, cli.Usagef("--%s needs --from DIR", name)
			}
		}
		return nil, nil
	}
	if len(args) > 0 || cmd.Flags().Changed("plan") {
		return nil, cli.Usagef("--from makes the plan: give it without a scenario and without --plan")
	}
	info, err := os.Stat(c.from)
	switch {
	case err != nil:
		return nil, cli.Usagef("--from %s: %w", c.from, cause(err))
	case !info.IsDir():
		return nil, cli.Usagef("--from %s: a file, name the folder of one node's log directories", c.from)
	}
	if err := c.checkExport(cmd); err != nil {
		return nil, err
	}
	var seed uint64
	if _, err := fmt.Sscan(cmd.Flags().Lookup("seed").Value.String(), &seed); err != nil {
		return nil, cli.Usagef("--seed: %w", err)
	}
	single := "dir0"
	if abs, err := filepath.Abs(c.from); err == nil && abs != filepath.Dir(abs) && !strings.HasPrefix(filepath.Base(abs), ".") {
		single = filepath.Base(abs)
	}
	return scenarios.PlanFrom(os.DirFS(c.from), seed, scenarios.FromOptions{
		Release: c.release, Voters: c.voters, Where: filepath.ToSlash(c.from), Single: single})
}

// checkExport refuses a folder that could not be written as promised.
func (c *fromCall) checkExport(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("export") {
		return nil
	}
	if c.export == "" {
		return cli.Usagef("--export: the name of the folder is empty")
	}
	out, err := resolve(c.export)
	if err != nil {
		return cli.Usagef("--export %s: %w", c.export, cause(err))
	}
	from, err := resolve(c.from)
	if err != nil {
		return cli.Usagef("--from %s: %w", c.from, cause(err))
	}
	if rel, err := filepath.Rel(from, out); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return cli.Usagef("--export %s: lies in --from %s, which is never written", c.export, c.from)
	}
	c.out = out
	entries, err := os.ReadDir(out)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return cli.Usagef("--export %s: %w", c.export, cause(err))
	case len(entries) > 0:
		return cli.Usagef("--export %s: not empty, it holds %s: name a new folder", c.export, entries[0].Name())
	}
	return nil
}

// resolve makes a path absolute and follows the links of the part that exists.
func resolve(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(abs)
	if err == nil || !errors.Is(err, os.ErrNotExist) || abs == filepath.Dir(abs) {
		return real, err
	}
	if _, err := os.Lstat(abs); err == nil {
		return "", fmt.Errorf("a link to nowhere")
	}
	parent, err := resolve(filepath.Dir(abs))
	return filepath.Join(parent, filepath.Base(abs)), err
}

// cause drops operation and path, which the message names already.
func cause(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	var l *os.LinkError
	if errors.As(err, &l) {
		return l.Err
	}
	return err
}

// finish reports on the node, and exports its storage.
func (c *fromCall) finish(cmd *cobra.Command, _ *plan.Plan, _ campaign.Runner, result sim.Result) (any, error) {
	if c.from == "" {
		return nil, nil
	}
	r, err := scenarios.ResultOfFrom(c.catalogue)
	if err != nil {
		return nil, err
	}
	reason := "it was not up when the run ended"
	for _, stop := range result.Verdict.Stopped {
		if stop.Host == r.Host {
			reason = stop.Error
			r.Missing = append([]string{fmt.Sprintf("node %d stopped: %s", r.NodeID, stop.Error)}, r.Missing...)
			break
		}
	}
	// Why the rest is as it is stands last, where one looks first.
	down := fmt.Sprintf("node %d does not run", r.NodeID)
	if i := slices.Index(r.Missing, down); i >= 0 {
		r.Missing = append(slices.Delete(r.Missing, i, i+1), down+": "+reason)
	}
	report := &exportReport{FromResult: r}
	if c.out != "" {
		if err := write(c.out, r.Files); err != nil {
			return nil, cli.Usagef("--export %s: %w", c.export, cause(err))
		}
		report.Export = c.export
	}
	if !cli.JSON(cmd) {
		c.print(cmd, report)
	}
	if len(r.Missing) > 0 {
		return report, cli.ErrFinding
	}
	return report, nil
}

func (c *fromCall) print(cmd *cobra.Command, r *exportReport) {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "node %d, release %s, voters %s\n", r.NodeID, r.Release, r.Quorum)
	fmt.Fprintf(w, "leader %d in epoch %d, high watermark %d, log end %d, metadata.version %d, cluster id %s\n", r.Leader, r.Epoch,
		r.HighWatermark, r.LogEndOffset, r.MetadataVersion, r.ClusterID)
	if r.Export != "" {
		fmt.Fprintf(w, "exported %s to %s\n", reports.Plural(int64(len(r.Files)), "file"), r.Export)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "missing: %s\n", m)
	}
}
