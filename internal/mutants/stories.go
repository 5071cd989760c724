package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// storyLimit is the wall time for the shrinking and telling of one kill.
const storyLimit = 3 * time.Minute

// explanation is what `explain --json` says, as far as it is looked at.
type explanation struct {
	Target string `json:"target"`
	Lines  []struct {
		Text      string `json:"text"`
		Fault     bool   `json:"fault"`
		Necessary bool   `json:"necessary"`
	} `json:"lines"`
	Faults []struct {
		Text      string `json:"text"`
		Necessary bool   `json:"necessary"`
	} `json:"faults"`
	Stats struct {
		Runs          int64 `json:"runs"`
		ActionsBefore int64 `json:"actions_before"`
		ActionsAfter  int64 `json:"actions_after"`
		HostsBefore   int64 `json:"hosts_before"`
		HostsAfter    int64 `json:"hosts_after"`
	} `json:"stats"`
}

// storyLines is how long a story may be.
const storyLines = 12

// tell has the mutant's own program explain its kill, and writes story and capsule into a directory. The text names the file, "" when
// there is none to write; an error says what is wrong with the story, too.
func tell(ctx context.Context, dir, binary, of string, p *Patch, k *Kill, catalogue *sim.Catalogue) (file string, err error) {
	base := strings.TrimSuffix(p.File, ".patch")
	ctx, cancel := context.WithTimeout(ctx, storyLimit)
	defer cancel()
	args := []string{"explain", of, "--json", "--out", filepath.Join(dir, base+".json")}
	c, err := capsuleAt(of, catalogue)
	if err != nil {
		return "", err
	}
	if c != nil { // a capsule is short already
		args = []string{"explain", of, "--json", "--as-is", "--target", c.Fingerprint}
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", fmt.Errorf("mutants: explain: did not end within %v: its runs are too long to be told", storyLimit)
		}
		return "", fmt.Errorf("mutants: explain: %w: %s", err, firstLines(complaint.String(), 2))
	}
	x := &explanation{}
	if err := json.Unmarshal(out.Bytes(), x); err != nil {
		return "", fmt.Errorf("mutants: explain: %w", err)
	}
	kept := base + ".json"
	if c != nil {
		kept = path.Join(corpus.Dir, corpus.Mutants, base+".json")
		x.Stats.HostsAfter, x.Stats.ActionsAfter = int64(len(c.Plan.Hosts)), int64(len(c.Plan.Actions))
	}
	file = filepath.Join(dir, base+".md")
	if err := outfile.Write(file, x.markdown(p, k, kept)); err != nil {
		return "", fmt.Errorf("mutants: %w", err)
	}
	return file, x.check()
}

// capsuleAt reads a capsule; nil for a token of a seed.
func capsuleAt(of string, catalogue *sim.Catalogue) (*plan.Capsule, error) {
	if filepath.Ext(of) != ".json" {
		return nil, nil
	}
	return plan.ReadCapsuleFile(of, catalogue.Registry)
}

// check is what every story must keep.
func (x *explanation) check() error {
	if n := len(x.Lines); n == 0 || n > storyLines {
		return fmt.Errorf("mutants: a story of %d lines", n)
	}
	for _, l := range x.Lines {
		if l.Fault && !l.Necessary {
			return fmt.Errorf("mutants: the story names a fault that is not necessary: %s", l.Text)
		}
	}
	return nil
}

// markdown is the page of a story.
func (x *explanation) markdown(p *Patch, k *Kill, capsule string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s %s\n\n%s (%s).\n\n", p.ID, p.Name, sentence(p.Rule), p.Reference)
	found := fmt.Sprintf("Found at `%s:%d`", k.Scenario, k.Seed)
	if k.Capsule {
		found = fmt.Sprintf("Found in `%s`, seed %d", k.Scenario, k.Seed)
	}
	fmt.Fprintf(&b, "%s, told from a plan of %s and %s", found, counted(x.Stats.HostsAfter, "host"), counted(x.Stats.ActionsAfter, "action"))
	if x.Stats.HostsBefore > 0 {
		fmt.Fprintf(&b, " (%d and %d before shrinking)", x.Stats.HostsBefore, x.Stats.ActionsBefore)
	}
	b.WriteString(":\n\n")
	for i, l := range x.Lines {
		fmt.Fprintf(&b, "%d. %s\n", i+1, l.Text)
	}
	b.WriteString("\n")
	any := false
	for _, f := range x.Faults {
		if f.Necessary {
			any = true
			fmt.Fprintf(&b, "- necessary: `%s`\n", f.Text)
		}
	}
	if !any {
		b.WriteString("No fault is necessary: it happens without any.\n")
	}
	fmt.Fprintf(&b, "\nCapsule: `%s`, for the program with this patch.\n", capsule)
	return b.Bytes()
}

// sentence is a rule with a capital letter.
func sentence(rule string) string {
	if rule == "" {
		return rule
	}
	return strings.ToUpper(rule[:1]) + rule[1:]
}

func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
