package cli

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/campaign/ledger"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// results is where a campaign keeps what it does.
type results struct {
	db      string
	resume  string
	ledger  *ledger.Ledger
	journal *ledger.Journal
	entry   ledger.Entry
	// problem is why the default file could not be opened.
	problem error
}

func (a *App) defaultResults() string { return a.defaultOut() + "/campaigns.db" }

func (r *results) flags(f *pflag.FlagSet, a *App) {
	f.StringVar(&r.db, "db", a.defaultResults(), "SQLite file of results (empty: keep none)")
}

func (r *results) close() {
	if r.ledger != nil {
		_ = r.ledger.Close() // every transaction is on disk
	}
}

// freeFlags do not say which seeds run, so they may differ when a campaign goes on, and between campaigns that are compared.
var freeFlags = []string{"db", "github", "help", "html", "json", "junit", "memory", "out", "resume", "run-limit", "shrink-runs", "workers"}

// storedConfig is a configuration as it is kept: all flags as text, so that one that is new tomorrow is kept, too.
type storedConfig struct {
	Prefix string            `json:"prefix"`
	Flags  map[string]string `json:"flags"`
}

func storeConfig(prefix string, f *pflag.FlagSet) storedConfig {
	s := storedConfig{Prefix: prefix, Flags: make(map[string]string)}
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Name != "db" && flag.Name != "resume" && flag.Name != "json" && flag.Name != "help" {
			s.Flags[flag.Name] = flag.Value.String()
		}
	})
	return s
}

// likeness is equal in campaigns that are worth comparing: the same scenarios, as many runs, other seeds.
func (s storedConfig) likeness() string {
	words := []string{"prefix=" + s.Prefix}
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		if name != "first" && !slices.Contains(freeFlags, name) {
			words = append(words, name+"="+s.Flags[name])
		}
	}
	return strings.Join(words, " ")
}

// begin opens the results and enters the campaign, unless it goes on.
func (c *campaignCall) begin(cmd *cobra.Command, args []string) (err error) {
	r := &c.results
	if r.journal == nil && r.db != "" {
		if r.ledger, err = ledger.Open(r.db); err == nil {
			err = c.enter(cmd, args)
		}
		if err != nil && cmd.Flags().Changed("db") {
			return Usagef("--db %s: %w", shellWord(r.db), dropName(err, r.db))
		}
		r.problem = err // the runs are worth more than their file
	}
	if r.journal != nil {
		c.cfg.Store = r.journal
	}
	return nil
}

func (c *campaignCall) enter(cmd *cobra.Command, args []string) (err error) {
	stored := storeConfig(c.prefix, cmd.Flags())
	stored.Flags["shard"] = c.cfg.Shard.String() // the environment may have named it
	text, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	r := &c.results
	r.entry = c.app.newEntry(string(text), stored, Configure(cmd, args, nil).Command)
	r.journal, err = r.ledger.Begin(r.entry)
	return err
}

func (a *App) newEntry(config string, stored storedConfig, command string) ledger.Entry {
	return ledger.Entry{
		Program: a.Catalogue.Program, Engine: sim.EngineVersion, Build: build(), Command: command, Config: config, Likeness: stored.likeness(),
	}
}

// autoResume asks for the campaign of the configuration of the call, if there is one.
const autoResume = "auto"

// findOwn looks for the last campaign of exactly this configuration, to go on with. Where there is none, a new one starts.
func (c *campaignCall) findOwn(cmd *cobra.Command) error {
	r := &c.results
	r.resume = ""
	if r.db == "" {
		return Usagef("--resume needs --db: the file that has the campaign")
	}
	if err := c.check(cmd); err != nil {
		return err
	}
	c.shard = c.cfg.Shard.String() // the environment may have named it
	if info, err := os.Stat(r.db); err != nil || info.Size() == 0 {
		return nil // no campaign, or one that was killed before its first entry
	}
	l, err := openResults(r.db)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }() // it was only read
	entries, err := l.List()
	if err != nil {
		return resultsProblem(err)
	}
	own := storeConfig(c.prefix, cmd.Flags())
	for i := range entries {
		stored, err := c.app.storedConfig(&entries[i])
		if name, _ := stored.differs(own); err == nil && name == "" && stored.Flags["shard"] == c.shard {
			r.resume = strconv.FormatInt(entries[i].ID, 10)
		}
	}
	return nil
}

// restore takes the configuration and what is done from the results. A campaign that has come to its end has its summary.
func (c *campaignCall) restore(cmd *cobra.Command, args []string) (ended *campaign.Summary, err error) {
	r := &c.results
	if r.db == "" {
		return nil, Usagef("--resume needs --db: the file that has the campaign")
	}
	if r.ledger, err = openResults(r.db); err != nil {
		return nil, err
	}
	entry, err := findCampaign(r.ledger, r.resume)
	if err != nil {
		return nil, err
	}
	if r.journal, r.entry, c.cfg.Past, err = r.ledger.Resume(entry.ID); err != nil {
		return nil, resultsProblem(err)
	}
	if err := c.adopt(cmd, args); err != nil {
		return nil, err
	}
	if entry.State == ledger.Done || entry.State == ledger.Stopped {
		fmt.Fprintf(cmd.ErrOrStderr(), "campaign %d has come to its end: this is its summary\n", entry.ID)
		c.cfg.Past = campaign.Past{}
		return entry.Summary, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "campaign %d goes on: %s done in %s\n", entry.ID, reports.Plural(entry.Runs, "run"), since(entry.Active))
	if entry.Build != build() {
		c.cfg.Past.Notes = append(c.cfg.Past.Notes, fmt.Sprintf(
			"%s are of another build of %s than the rest, on the same engine %s", reports.Plural(entry.Runs, "run"), entry.Program, entry.Engine))
	}
	return nil, nil
}

// adopt sets the flags to what they were. Somebody who gives one that would change what runs wants another campaign.
func (c *campaignCall) adopt(cmd *cobra.Command, args []string) error {
	e := &c.results.entry
	stored, err := c.app.storedConfig(e)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] != stored.Prefix {
		return Usagef("campaign %d has the prefix %q: leave %q away, or start another one", e.ID, stored.Prefix, args[0])
	}
	c.prefix = stored.Prefix
	return stored.setFlags(e.ID, cmd.Flags())
}

// storedConfig reads the configuration of an entry that this program can go on with.
func (a *App) storedConfig(e *ledger.Entry) (s storedConfig, err error) {
	switch {
	case e.Program != a.Catalogue.Program:
		return s, Usagef("campaign %d is one of %s, and this is %s", e.ID, e.Program, a.Catalogue.Program)
	case e.Engine != sim.EngineVersion:
		return s, Usagef("campaign %d is of engine %s, and this is engine %s, under which seeds run differently: start another one",
			e.ID, e.Engine, sim.EngineVersion)
	}
	if err := json.Unmarshal([]byte(e.Config), &s); err != nil {
		return s, Usagef("campaign %d has a configuration that cannot be read: %w", e.ID, err)
	}
	return s, nil
}

// setFlags sets the flags of a call to what is stored.
func (s storedConfig) setFlags(id int64, f *pflag.FlagSet) error {
	for _, name := range slices.Sorted(maps.Keys(s.Flags)) {
		flag, value := f.Lookup(name), s.Flags[name]
		switch {
		case name == "github" || flag == nil && slices.Contains(freeFlags, name): // where the program runs now, or where something went
		case flag == nil:
			return Usagef("campaign %d was run with --%s, which this program has not: start another one", id, name)
		case flag.Value.String() == value:
		case !flag.Changed:
			if err := flag.Value.Set(value); err != nil { // not f.Set: nobody asked for it in this call
				return Usagef("campaign %d was run with --%s %s: %w", id, name, value, err)
			}
		case !slices.Contains(freeFlags, name):
			return Usagef("campaign %d has --%s %s: leave --%s away, or start another one", id, name, value, name)
		}
	}
	return nil
}

// against compares with the last campaign like this one.
func (c *campaignCall) against(s *campaign.Summary) {
	r := &c.results
	if r.problem != nil {
		s.Unwritten = append(s.Unwritten, "results: "+plain(r.problem.Error()))
	}
	if r.journal == nil || s.Interrupted {
		return
	}
	before, err := r.ledger.Before(r.journal.ID(), r.entry.Likeness)
	if err != nil || before == nil {
		return // a comparison that is not there is no reason to lose the summary
	}
	s.Against = compareEntries(before, &ledger.Entry{ID: r.journal.ID(), Summary: s})
}

// compareEntries compares two campaigns that have a summary.
func compareEntries(before, after *ledger.Entry) *campaign.Comparison {
	c := campaign.Compare(before.Summary, after.Summary)
	c.Before.ID, c.After.ID = before.ID, after.ID
	for _, side := range []struct {
		to *campaign.Compared
		e  *ledger.Entry
	}{{&c.Before, before}, {&c.After, after}} {
		if !side.e.Started.IsZero() {
			side.to.When = side.e.Started.Format("2006-01-02 15:04")
		}
	}
	return c
}

// openResults opens a file of results that must be there.
func openResults(file string) (*ledger.Ledger, error) {
	if file == "" {
		return nil, Usagef("--db is empty: name the file that has the campaigns")
	}
	l, err := ledger.OpenExisting(file)
	return l, resultsProblem(err)
}

// resultsProblem makes a mistake of the call of what is wrong with a file of results.
func resultsProblem(err error) error {
	if errors.Is(err, ledger.ErrInput) {
		return Usagef("%s", strings.TrimPrefix(err.Error(), ledger.ErrInput.Error()+": "))
	}
	return err
}

// dropName takes the file's name out of the front of a message that names it already.
func dropName(err error, file string) error {
	text := strings.TrimPrefix(err.Error(), ledger.ErrInput.Error()+": ")
	return errors.New(strings.TrimPrefix(text, file+": "))
}

// findCampaign finds a campaign by its number, or the last one.
func findCampaign(l *ledger.Ledger, which string) (e ledger.Entry, err error) {
	if which == "last" {
		e, err = l.Last()
	} else {
		id, bad := strconv.ParseInt(which, 10, 64)
		if bad != nil {
			return e, Usagef("%q is neither the number of a campaign nor last", which)
		}
		e, err = l.Find(id)
	}
	if errors.Is(err, ledger.ErrUnknown) && which == "last" {
		return e, Usagef("%s has no campaign yet: begin one, or name another file", l.File())
	}
	if errors.Is(err, ledger.ErrUnknown) {
		return e, Usagef("%s has no campaign %s: see campaigns --db %s", l.File(), which, shellWord(l.File()))
	}
	return e, resultsProblem(err)
}

// build identifies the binary: the first digits of its hash, or nothing where it cannot be read.
func build() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}
