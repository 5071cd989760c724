package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/osfiles"
	"github.com/kraftsim/kraftsim/metadata/startup"
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
controllers joins the voters of --voters, default one that the simulator makes. The release is upstream-4.5 as in format, 4.0
where there is a bootstrap.checkpoint, a newer one where the files need it; --release says otherwise. What Kafka takes without
a word is told as a warning: two voter lists, a log that the start cuts; so is a directory that a running process has locked.
  --export OUT writes the node's storage as it is after the run: one folder per log directory, under its own name, so that OUT can
be DIR again. OUT must not exist, or be an empty folder outside of DIR, and appears at once or not at all. It is written whenever
a run took place, also with exit code 1.
  Exit code 0 means: there is a leader, the bootstrap is stable, every meta.properties has its ids, and all files decode. 1: not so,
and what is missing is told; a node that Kafka would refuse to start refuses here, with its own error. 2: DIR cannot be taken for a
node's storage, or has a record that no release can replay, or OUT cannot be written.

Of a scenario, --export OUT writes the storage of every host, OUT/HOST/LOGDIR/..., with the file names and bytes of a real node:
OUT/HOST is a DIR for --from and for dump. --metrics shows what Kafka publishes as raft-metrics, for every host, at the end of the
run; in the JSON document they have Kafka's names.`

// fromCall is the state of one call of run.
type fromCall struct {
	catalogue                     *sim.Catalogue
	from, export, release, voters string
	metrics                       bool
	out                           string // absolute, links resolved
	notes                         *scenarios.FromNotes
}

// exportReport is what run --from adds to the JSON document.
type exportReport struct {
	*scenarios.FromResult
	*scenarios.FromNotes
	Export string     `json:"export,omitempty"`
	Hosts  []hostJSON `json:"hosts,omitempty"` // with --metrics
}

// hostsReport is what --export and --metrics add to the JSON document of another run.
type hostsReport struct {
	Export string     `json:"export,omitempty"`
	Hosts  []hostJSON `json:"hosts"`
}

// fromHook adds --from, --export, --release, --voters and --metrics to run.
func fromHook(catalogue *sim.Catalogue) *cli.RunHook {
	c := &fromCall{catalogue: catalogue}
	return &cli.RunHook{Flags: c.flags, Plan: c.plan, Finish: c.finish}
}

func (c *fromCall) flags(cmd *cobra.Command) {
	cmd.Long += fromHelp
	cmd.Example += "\n  simrun run --from testdata/golden/formatted/standalone --export OUT" +
		"\n  simrun run --from /var/kafka --voters 1@a:9093,2@b:9093,3@c:9093 --release 3.9"
	cmd.Flags().StringVar(&c.from, "from", "", "boot from one node's storage in this folder")
	cmd.Flags().StringVar(&c.export, "export", "", "write the storage after the run into this new folder: with --from the node's, else every host's")
	cmd.Flags().BoolVar(&c.metrics, "metrics", false, "show the raft metrics of every host at the end of the run")
	cmd.Flags().StringVar(&c.release, "release", "", "with --from: release of the software; default follows the files")
	cmd.Flags().StringVar(&c.voters, "voters", "", "with --from: static quorum as id@host:port,...; default is the node alone")
}

// plan makes the plan of a storage. Nothing is written yet.
func (c *fromCall) plan(cmd *cobra.Command, args []string) (*plan.Plan, error) {
	if !cmd.Flags().Changed("from") {
		for _, name := range []string{"release", "voters"} {
			if cmd.Flags().Changed(name) {
				return nil, cli.Usagef("--%s needs --from DIR", name)
			}
		}
		return nil, c.checkExport(cmd)
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
	p, notes, err := scenarios.ExaminedPlanFrom(os.DirFS(c.from), seed, scenarios.FromOptions{
		Release: c.release, Voters: c.voters, Where: filepath.ToSlash(c.from), Single: single})
	if c.notes = notes; notes != nil {
		notes.Warnings = append(notes.Warnings, inUse(c.from)...)
	}
	return p, err
}

// inUse warns of log directories that a running process has locked: what is read of them is no state of one moment.
func inUse(from string) (warnings []string) {
	disk := osfiles.New()
	dirs := []string{from}
	entries, _ := os.ReadDir(from) // that it cannot be read was told before
	for _, e := range entries {
		dirs = append(dirs, filepath.Join(from, e.Name()))
	}
	for _, dir := range dirs {
		if held, _ := disk.LockedElsewhere(filepath.Join(dir, startup.LockFile)); held {
			warnings = append(warnings, "another process has locked "+dir+" and may write to it: copy it when that process has stopped")
		}
	}
	return warnings
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
	if c.from != "" {
		from, err := resolve(c.from)
		if err != nil {
			return cli.Usagef("--from %s: %w", c.from, cause(err))
		}
		if rel, err := filepath.Rel(from, out); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return cli.Usagef("--export %s: lies in --from %s, which is never written", c.export, c.from)
		}
	}
	c.out = out
	entries, err := os.ReadDir(out)
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return cli.Usagef("--export %s: %w", c.export, cause(err))
	case len(entries) > 0:
		return cli.Usagef("--export %s: not empty, it holds %s: name a new folder", c.export, entries[0].Name())
	}
	return cli.CheckFolder("--export", c.export) // before the run, which may take minutes
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

// finish reports on the node, and exports its storage; of another run it does so for every host, where asked to.
func (c *fromCall) finish(cmd *cobra.Command, p *plan.Plan, _ campaign.Runner, result sim.Result) (any, error) {
	if c.from == "" && scenarios.IsOperatorQuestion(p.Scenario) && !c.metrics && c.out == "" {
		return operatorTable(cmd, p)
	}
	if c.from == "" {
		return c.finishHosts(cmd, p.Scenario)
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
	report := &exportReport{FromResult: r, FromNotes: c.notes}
	if c.out != "" {
		if err := write(c.out, r.Files); err != nil {
			return nil, cli.Unwritten("--export "+c.export, err)
		}
		report.Export = c.export
	}
	if c.metrics {
		hosts, err := scenarios.HostsOf(c.catalogue, p.Scenario)
		if err != nil {
			return nil, err
		}
		report.Hosts = hostsJSON(hosts)
	}
	if !cli.JSON(cmd) {
		if err := c.print(cmd, report); err != nil {
			return nil, err
		}
	}
	if len(r.Missing) > 0 {
		return report, cli.ErrFinding
	}
	return report, nil
}

// finishHosts reports on every host of a run that was not one of --from.
func (c *fromCall) finishHosts(cmd *cobra.Command, scenario string) (any, error) {
	if !c.metrics && c.out == "" {
		return nil, nil
	}
	hosts, err := scenarios.HostsOf(c.catalogue, scenario)
	if err != nil {
		return nil, err
	}
	report, n := &hostsReport{Hosts: hostsJSON(hosts)}, 0
	if c.out != "" {
		var files []scenarios.ExportedFile
		for i := range hosts {
			for _, f := range hosts[i].Files {
				f.Path = hosts[i].Host + "/" + f.Path
				files = append(files, f)
			}
		}
		if err := write(c.out, files); err != nil {
			return nil, cli.Unwritten("--export "+c.export, err)
		}
		report.Export, n = c.export, len(files)
	}
	if cli.JSON(cmd) {
		return report, nil
	}
	w := cmd.OutOrStdout()
	if c.out != "" {
		fmt.Fprintf(w, "exported %s of %s to %s\n", reports.Plural(int64(n), "file"), reports.Plural(int64(len(hosts)), "host"), c.export)
	}
	if c.metrics {
		return report, printMetrics(w, report.Hosts)
	}
	return report, nil
}

func (c *fromCall) print(cmd *cobra.Command, r *exportReport) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "node %d, release %s, voters %s\n", r.NodeID, r.Release, r.Quorum)
	fmt.Fprintf(w, "leader %d in epoch %d, high watermark %d, log end %d, metadata.version %d, cluster id %s\n", r.Leader, r.Epoch,
		r.HighWatermark, r.LogEndOffset, r.MetadataVersion, r.ClusterID)
	if r.Export != "" {
		fmt.Fprintf(w, "exported %s to %s\n", reports.Plural(int64(len(r.Files)), "file"), r.Export)
	}
	for _, m := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", m)
	}
	for _, m := range r.Missing {
		fmt.Fprintf(w, "missing: %s\n", m)
	}
	if c.metrics {
		return printMetrics(w, r.Hosts)
	}
	return nil
}
