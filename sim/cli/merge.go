package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/spf13/cobra"
)

func (a *App) mergeCommand() *cobra.Command {
	c := a.newCampaignCall()
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Sum up the parts of a campaign that several machines ran",
		Long: "Merge reads the last campaign of each results file, which must be parts (--shard) of one campaign, and prints the summary that\n" +
			"the whole campaign would have: totals, findings, and plans that are shrunk here once more. Seeds that no file has make exit\n" +
			"code 3, after the summary of the others; a part that is there twice is refused. The merged campaign is kept in --db, where it\n" +
			"is compared with the one before, and where campaign --resume last runs what is missing.",
		Example: fmt.Sprintf("  %s campaign --seeds 200000 --shard 1/2 --db shard1.db   # on one machine\n"+
			"  %s campaign --seeds 200000 --shard 2/2 --db shard2.db   # on another\n  %s merge shard1.db shard2.db --db nightly.db", program, program, program),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return Usagef("merge needs results files, such as shard1.db shard2.db")
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.IntVar(&c.cfg.Workers, "workers", c.cfg.Workers, "worker processes, to shrink")
	f.StringVar(&c.cfg.OutDir, "out", c.cfg.OutDir, "folder for capsules")
	c.results.flags(f, a)
	c.files.flags(f)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return c.merge(cmd, args) }
	return cmd
}

// part is what a file has of a campaign.
type part struct {
	file   string
	entry  ledger.Entry
	config storedConfig
	past   campaign.Past
}

func (c *campaignCall) merge(cmd *cobra.Command, args []string) error {
	parts, err := c.app.readParts(args)
	if err != nil {
		return err
	}
	whole, err := together(parts)
	if err != nil {
		return err
	}
	if err := c.become(cmd, whole, &parts[0].entry); err != nil {
		return err
	}
	for i := range parts {
		past := &parts[i].past
		c.cfg.Past.Batches = append(c.cfg.Past.Batches, past.Batches...)
		c.cfg.Past.Active += past.Active
		if parts[i].entry.Build != parts[0].entry.Build {
			c.cfg.Past.Notes = append(c.cfg.Past.Notes, fmt.Sprintf("%s was run by another build of %s than %s", parts[i].file,
				parts[i].entry.Program, parts[0].file))
		}
	}
	defer c.results.close()
	if err := c.enterMerged(cmd, whole); err != nil {
		return err
	}
	if !JSON(cmd) {
		if err := c.head(cmd, args); err != nil {
			return err
		}
	}
	summary, err := c.work(func(ctx context.Context, cfg campaign.Config) (*campaign.Summary, error) {
		return campaign.Merge(ctx, cfg)
	})
	if err != nil {
		return err
	}
	c.against(summary)
	if err = c.report(cmd, args, summary); summary.Missing > 0 && !summary.Interrupted {
		err = &errUnwritten{lacking(parts, summary.Missing)}
	}
	return err
}

// readParts reads the last campaign of every file.
func (a *App) readParts(files []string) (parts []part, err error) {
	for _, file := range files {
		p := part{file: file}
		l, err := openResults(file)
		if err != nil {
			return nil, err
		}
		if p.entry, err = findCampaign(l, "last"); err == nil {
			_, p.entry, p.past, err = l.Resume(p.entry.ID)
		}
		_ = l.Close() // it was only read
		if err != nil {
			return nil, resultsProblem(err)
		}
		if p.config, err = a.storedConfig(&p.entry); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// together is the configuration of the campaign that the parts are of.
func together(parts []part) (storedConfig, error) {
	whole := storedConfig{Prefix: parts[0].config.Prefix, Flags: maps.Clone(parts[0].config.Flags)}
	whole.Flags["shard"] = ""
	if whole.Flags["seeds"] == "0" {
		return whole, Usagef("%s: its campaign has no --seeds, so it is no part of one", parts[0].file)
	}
	have := make(map[string]string) // shard to file
	for i := range parts {
		p := &parts[i]
		shard := p.config.Flags["shard"]
		if name, other := p.config.differs(parts[0].config); name != "" {
			return whole, Usagef("%s: its campaign has %s %q, and that of %s %q: they are no parts of one", p.file, name, other[0],
				parts[0].file, other[1])
		}
		_, of, _ := strings.Cut(shard, "/")
		if _, first, _ := strings.Cut(parts[0].config.Flags["shard"], "/"); len(parts) > 1 && (of == "" || of != first) {
			return whole, Usagef("%s has part %q and %s part %q: they are no parts of one", parts[0].file, parts[0].config.Flags["shard"],
				p.file, shard)
		}
		if have[shard] != "" {
			return whole, Usagef("%s: has part %q, which %s has, too", p.file, shard, have[shard])
		}
		have[shard] = p.file
	}
	return whole, nil
}

// differs names what makes two campaigns no parts of one, "" for nothing.
func (s storedConfig) differs(o storedConfig) (name string, values [2]string) {
	if s.Prefix != o.Prefix {
		return "the prefix", [2]string{s.Prefix, o.Prefix}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		if name != "shard" && !slices.Contains(freeFlags, name) && s.Flags[name] != o.Flags[name] {
			return "--" + name, [2]string{s.Flags[name], o.Flags[name]}
		}
	}
	return "", values
}

// become takes the configuration of the parts; where they may differ that of the first, unless this call says otherwise.
func (c *campaignCall) become(cmd *cobra.Command, whole storedConfig, first *ledger.Entry) error {
	stand := &cobra.Command{}
	given := c.cfg
	c.flags(stand)
	if err := whole.setFlags(first.ID, stand.Flags()); err != nil {
		return err
	}
	c.prefix, c.cfg.Workers = whole.Prefix, given.Workers
	if c.cfg.OutDir = given.OutDir; given.OutDir != "" && !cmd.Flags().Changed("out") {
		c.cfg.OutDir = c.app.defaultOut()
	}
	return c.check(cmd)
}

// enterMerged enters the merged campaign into the results.
func (c *campaignCall) enterMerged(cmd *cobra.Command, whole storedConfig) error {
	r := &c.results
	if r.db == "" {
		return nil
	}
	text, err := json.Marshal(whole)
	if err != nil {
		return err
	}
	if r.ledger, err = ledger.Open(r.db); err == nil {
		r.entry = c.app.newEntry(string(text), whole, c.app.wholeCommand(whole))
		r.journal, err = r.ledger.Begin(r.entry)
	}
	if err == nil {
		err = r.journal.Done(c.cfg.Past.Batches, c.cfg.Past.Active)
	}
	switch {
	case err != nil && cmd.Flags().Changed("db"):
		return Usagef("--db %s: %w", shellWord(r.db), dropName(err, r.db))
	case err != nil:
		r.problem, r.journal = err, nil
	default:
		c.cfg.Store = r.journal
	}
	return nil
}

// wholeCommand is the command line of the campaign that was run in parts.
func (a *App) wholeCommand(s storedConfig) string {
	words := []string{a.Catalogue.Program, "campaign"}
	if s.Prefix != "" {
		words = append(words, shellWord(s.Prefix))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		switch value := s.Flags[name]; value {
		case "", "false":
		case "true":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, shellWord(value))
		}
	}
	return strings.Join(words, " ")
}

// lacking says which parts are not there, or not whole.
func lacking(parts []part, missing int64) string {
	text := reports.Plural(missing, "seed") + " of the campaign are in no file"
	have, of := make(map[int64]bool), int64(0)
	for i := range parts {
		shard, err := campaign.ParseShard(parts[i].config.Flags["shard"], os.Getenv)
		if err != nil || shard.Of == 0 {
			return text
		}
		have[shard.Index], of = true, shard.Of
	}
	var absent []string
	for i := int64(1); i <= of && len(absent) < 8; i++ {
		if !have[i] {
			absent = append(absent, fmt.Sprintf("%d/%d", i, of))
		}
	}
	if len(absent) > 0 {
		text += ": parts " + strings.Join(absent, ", ")
	}
	return text
}
