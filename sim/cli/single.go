package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// defaultOut is the folder for capsules: simrun-out for simrun.
func (a *App) defaultOut() string { return a.Catalogue.Program + "-out" }

// drawn draws the plan of a scenario's seed.
func (a *App) drawn(scenario string, seed uint64) (*plan.Plan, error) {
	s := a.Catalogue.Scenario(scenario)
	if s == nil {
		return nil, Usagef("%s", a.noScenario(scenario))
	}
	return s.Draw(seed), nil
}

// noScenario is what to say about a name that is none.
func (a *App) noScenario(name string) string {
	return fmt.Sprintf("no scenario is called %q; the nearest are %s; see %s list scenarios", name,
		strings.Join(campaign.Nearest(a.Catalogue, name), ", "), a.Catalogue.Program)
}

// readPlan reads a plan file whose scenario must be in the catalogue.
func (a *App) readPlan(file string) (*plan.Plan, error) {
	if documentOf(file) == capsuleDocument {
		return nil, Usagef("%s is a capsule, not a plan: `%s replay %s` runs it", file, a.Catalogue.Program, shellWord(file))
	}
	p, err := plan.ReadFile(file, a.Catalogue.Registry)
	if err != nil {
		return nil, a.foreign(file, err)
	}
	return p, a.knows(file, p)
}

// foreign returns what is wrong with a document that could not be read: when its scenario is none of this program, everything else that
// this program does not know in it follows from that.
func (a *App) foreign(file string, err error) error {
	type scenario struct {
		Scenario string `json:"scenario"`
	}
	var d struct {
		scenario
		Plan *scenario `json:"plan"`
	}
	if data, readErr := plan.Input(file); readErr != nil || json.Unmarshal(data, &d) != nil {
		return err
	}
	name, field := d.Scenario, "scenario"
	if d.Plan != nil {
		name, field = d.Plan.Scenario, "plan.scenario"
	}
	canary := a.Catalogue.Canary != nil && a.Catalogue.Canary.Scenario == name
	if name == "" || !canary && a.Catalogue.Scenario(name) != nil {
		return err
	}
	problem := fmt.Sprintf("%s has no scenario %q", a.Catalogue.Program, name)
	if canary {
		problem = fmt.Sprintf("%q is the planted bug of campaigns, and no scenario of %s", name, a.Catalogue.Program)
	}
	return &plan.FieldError{File: file, Field: field, Problem: problem + ": it is run by the program that wrote the file"}
}

func (a *App) knows(file string, p *plan.Plan) error {
	if a.Catalogue.Scenario(p.Scenario) == nil {
		return &plan.FieldError{File: file, Field: "scenario", Problem: a.noScenario(p.Scenario)}
	}
	return nil
}

// document is what a file holds, by the names in it.
type document int

const (
	otherDocument document = iota // or no file at all: the strict reader says what is wrong
	planDocument
	capsuleDocument
)

func documentOf(file string) document {
	var names map[string]json.RawMessage
	data, err := plan.Input(file)
	if err != nil || json.Unmarshal(data, &names) != nil {
		return otherDocument
	}
	switch _, inside := names["plan"]; {
	case inside:
		return capsuleDocument
	case names["scenario"] != nil && names["hosts"] != nil:
		return planDocument
	}
	return otherDocument
}

// source is what replay and shrink work on: a capsule, or a token that names scenario and seed.
type source struct {
	plan    *plan.Plan
	capsule *plan.Capsule // nil for a token
}

// locate reads a capsule file, or draws the plan of a token such as kip1262/draft:17.
func (a *App) locate(arg string) (*source, error) {
	if _, err := os.Stat(arg); err == nil {
		if documentOf(arg) == planDocument {
			return nil, Usagef("%s is a plan, not a capsule: `%s run --plan %s --trace` runs it", arg, a.Catalogue.Program, shellWord(arg))
		}
		c, err := plan.ReadCapsuleFile(arg, a.Catalogue.Registry)
		if err != nil {
			return nil, a.foreign(arg, err)
		}
		return &source{plan: c.Plan, capsule: c}, a.knows(arg, c.Plan)
	} else if reason := cause(err); errors.Is(reason, syscall.EACCES) || errors.Is(reason, syscall.ELOOP) { // there is something, and no token
		return nil, Usagef("%s: cannot be read: %w", shellWord(arg), reason)
	}
	p, err := a.token(arg)
	if err != nil {
		return nil, err
	}
	return &source{plan: p}, nil
}

// token draws the plan of a token such as kip1262/draft:17.
func (a *App) token(arg string) (*plan.Plan, error) {
	scenario, seed, ok := cutLast(arg, ":")
	if !ok {
		if strings.HasSuffix(arg, ".json") || strings.ContainsRune(arg, filepath.Separator) && a.Catalogue.Scenario(arg) == nil {
			return nil, Usagef("%s: no such file", shellWord(arg))
		}
		return nil, Usagef("%q is neither a capsule file nor a token such as %s:17", arg, a.exampleScenario())
	}
	n, err := strconv.ParseUint(seed, 10, 64)
	if err != nil {
		return nil, Usagef("token %q: %q is not a seed, which is a whole number from 0 to 18446744073709551615", arg, seed)
	}
	return a.drawn(scenario, n)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// runPlan runs one plan in this process and returns what ran it, too: nil when it still does, since the plan did not end within the
// limit. What the scenario refuses is bad input.
func (a *App) runPlan(file string, p *plan.Plan, o sim.Options, limit time.Duration) (sim.Result, campaign.Runner, error) {
	var last campaign.Runner
	dog := &watchdog{limit: limit}
	if o.Trace != nil {
		o.Trace = dog.trace(o.Trace)
	}
	guarded := campaign.Guard(func() campaign.Runner {
		last = a.NewRunner()
		return last
	})
	result, hung, err := dog.run(func() (sim.Result, error) { return guarded.Run(p, o) })
	if hung {
		return result, nil, nil
	}
	if err == nil {
		return result, last, nil
	}
	var field *plan.FieldError
	if errors.As(err, &field) {
		return result, nil, plan.InFile(file, err)
	}
	if file == "" {
		file = p.Scenario
	}
	return result, nil, Usagef("%s: %w", file, err)
}

// writeCapsule writes the capsule of a run into a folder and returns its name, which ends with the suffix. Scenario and seed name
// the plan of the run that they draw; another one, from a file or a node's storage, has a hash in the name, so that no capsule of a
// different plan is written over. origin is that plan: the capsule's, or what the capsule's was shortened from.
func (a *App) writeCapsule(dir string, c *plan.Capsule, origin *plan.Plan, suffix string) (string, error) {
	data, err := plan.EncodeCapsule(c)
	if err != nil {
		return "", err
	}
	hash, err := a.nameHash(origin)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, fmt.Sprintf("%s-%s-%d%s%s.json", campaign.FileName(c.Fingerprint),
		campaign.FileName(c.Plan.Scenario), c.Plan.Seed, hash, suffix))
	return file, outfile.Write(file, data)
}

// nameHash is what the name of a plan's capsule needs beside scenario and seed: nothing when they draw the plan.
func (a *App) nameHash(p *plan.Plan) (string, error) {
	text, err := plan.Encode(p)
	if err != nil {
		return "", err
	}
	if drawn, err := a.drawn(p.Scenario, uint64(p.Seed)); err == nil {
		if other, err := plan.Encode(drawn); err == nil && bytes.Equal(text, other) {
			return "", nil
		}
	}
	sum := sha256.Sum256(text)
	return fmt.Sprintf("-%x", sum[:4]), nil
}

// target is what a verdict is about: its fingerprint, else the first hazard met, else "".
func target(v *plan.Verdict) string {
	if f := v.Fingerprint(); f != "" {
		return f
	}
	for _, h := range v.HazardFingerprints() {
		return h
	}
	return ""
}
