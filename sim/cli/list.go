package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/reports/schema"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/spf13/cobra"
)

// listing is everything that a catalogue documents, as JSON. The parts that were not asked for are absent.
type listing struct {
	Config     Configuration `json:"config"`
	Scenarios  []entry       `json:"scenarios,omitempty"`
	Invariants []entry       `json:"invariants,omitempty"`
	Faults     []entry       `json:"faults,omitempty"`
	Sometimes  []entry       `json:"sometimes,omitempty"`
	Hazards    []entry       `json:"hazards,omitempty"`
	Params     []entry       `json:"params,omitempty"`
	Profiles   []entry       `json:"profiles,omitempty"`
	Schemas    []entry       `json:"schemas,omitempty"`
}

// entry is one documented thing.
type entry struct {
	Name   string   `json:"name"`
	Of     string   `json:"of,omitempty"` // where it comes from or where it applies
	Doc    string   `json:"doc"`
	Due    int64    `json:"due_per_million,omitempty"`
	Params []string `json:"params,omitempty"` // of a fault
	// Schema is the text of a JSON Schema, only where schemas are asked for.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// sections are the things that can be listed, in order.
func sections() []string {
	return []string{"scenarios", "invariants", "faults", "sometimes", "hazards", "params", "profiles", "schemas"}
}

// oneSection asks for at most one argument, a section.
func oneSection(_ *cobra.Command, args []string) error {
	words := strings.Join(sections(), ", ")
	switch {
	case len(args) > 1:
		return Usagef("list takes one argument at most, of %s, not %d", words, len(args))
	case len(args) == 1 && !slices.Contains(sections(), args[0]):
		return Usagef("list knows no %q: use one of %s, or nothing for all", args[0], words)
	}
	return nil
}

func (a *App) listCommand() *cobra.Command {
	program := a.Catalogue.Program
	cmd := &cobra.Command{
		Use:       "list [" + strings.Join(sections(), "|") + "]",
		Short:     "List scenarios, invariants, faults, conditions, declared hazards, parameters, swarm profiles and JSON Schemas",
		Example:   fmt.Sprintf("  %s list scenarios\n  %s list faults --json\n  %s list schemas --json   # with their text", program, program, program),
		Args:      oneSection,
		ValidArgs: sections(),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l := listing{Config: Configure(cmd, args, nil)}
		for _, what := range sections() {
			if len(args) == 0 || args[0] == what {
				a.fill(&l, what)
			}
		}
		if JSON(cmd) {
			return PrintJSON(cmd.OutOrStdout(), &l)
		}
		w := cmd.OutOrStdout()
		if err := l.Config.Print(w); err != nil {
			return err
		}
		for _, part := range []struct {
			title   string
			entries []entry
		}{
			{"scenarios", l.Scenarios}, {"invariants", l.Invariants}, {"faults and other actions", l.Faults},
			{"sometimes", l.Sometimes}, {"declared hazards", l.Hazards}, {"parameters of plans and hosts", l.Params},
			{"swarm profiles", l.Profiles}, {"schemas of --json", l.Schemas},
		} {
			if err := printEntries(w, part.title, part.entries); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// fill lists one section.
func (a *App) fill(l *listing, what string) {
	c := a.Catalogue
	switch what {
	case "scenarios":
		for _, s := range c.Scenarios {
			l.Scenarios = append(l.Scenarios, entry{Name: s.Name(), Doc: s.Doc()})
		}
		for _, s := range c.Large {
			l.Scenarios = append(l.Scenarios, entry{Name: s.Name(), Doc: s.Doc() + "; only with campaign --all, or by its name"})
		}
	case "invariants":
		for _, d := range c.Invariants {
			l.Invariants = append(l.Invariants, entry{Name: d.Name, Of: d.Source, Doc: d.Doc})
		}
	case "faults":
		for _, k := range c.Registry.Actions() {
			e := entry{Name: k.Name, Doc: k.Doc}
			for i := range k.Fields {
				e.Params = append(e.Params, parameter(&k.Fields[i]))
			}
			l.Faults = append(l.Faults, e)
		}
	case "params":
		l.Params = a.params()
	case "schemas":
		l.Schemas = schemas()
	case "profiles":
		l.Profiles = a.profileEntries()
	case "sometimes":
		for _, d := range c.Sometimes {
			l.Sometimes = append(l.Sometimes, entry{Name: d.Name, Of: a.family(d.Scenario), Doc: d.Doc, Due: d.DuePerMillion})
		}
	case "hazards":
		for _, d := range c.Hazards {
			where := a.family(d.Scenario)
			if d.DueIn != "" {
				where += " (due: " + a.family(d.DueIn) + ")"
			}
			l.Hazards = append(l.Hazards, entry{Name: d.ID, Of: d.Invariant + " in " + where, Doc: d.Doc, Due: d.DuePerMillion})
		}
	}
}

// params lists what plans and hosts take, a parameter once for all families whose names begin alike.
func (a *App) params() (list []entry) {
	families := a.Catalogue.Registry.Parameters()
	known := func(at *plan.Parameters, host bool, name string) bool {
		for i := range families {
			f := &families[i]
			if len(f.Scenario) >= len(at.Scenario) || !strings.HasPrefix(at.Scenario, f.Scenario) {
				continue
			}
			fields := f.Plan
			if host {
				fields = f.Host
			}
			if slices.ContainsFunc(fields, func(have plan.Field) bool { return have.Name == name }) {
				return true
			}
		}
		return false
	}
	for i := range families {
		f := &families[i]
		for j := range f.Plan {
			if p := &f.Plan[j]; !known(f, false, p.Name) {
				list = append(list, entry{Name: p.Name, Of: "plan of " + a.family(f.Scenario) + ": " + valueOf(p), Doc: p.Doc})
			}
		}
		for j := range f.Host {
			if p := &f.Host[j]; !known(f, true, p.Name) {
				list = append(list, entry{Name: p.Name, Of: "host of " + a.family(f.Scenario) + ": " + valueOf(p), Doc: p.Doc})
			}
		}
	}
	return list
}

// schemas lists the JSON Schemas of what the commands print.
func schemas() (list []entry) {
	for _, name := range schema.Names() {
		text, _ := schema.Find(name)
		var head struct{ Title, Description string }
		if err := json.Unmarshal(text, &head); err != nil {
			panic("cli: schema " + name + ": " + err.Error())
		}
		list = append(list, entry{Name: name, Of: head.Title, Doc: head.Description, Schema: text})
	}
	return list
}

// family names the scenarios of a family, see sim.InFamily.
func (a *App) family(family string) string {
	if family == "" {
		return "any scenario"
	}
	names := strings.Split(family, ",")
	for i, prefix := range names {
		names[i] = a.names(prefix)
	}
	return strings.Join(names, ", ")
}

// names shows a prefix of names. One that is neither a name nor a folder of names has a star behind it.
func (a *App) names(prefix string) string {
	switch {
	case a.Catalogue.Scenario(prefix) != nil || strings.HasSuffix(prefix, "/"):
		return prefix
	case slices.ContainsFunc(a.Catalogue.Scenarios, func(s sim.Scenario) bool { return strings.HasPrefix(s.Name(), prefix+"/") }):
		return prefix + "/"
	}
	return prefix + "*"
}

// due says how often something must be met.
func due(perMillion int64) string {
	if perMillion == 0 {
		return ""
	}
	return ", due in " + reports.Count(perMillion) + " of a million runs"
}

// parameter describes a parameter of an action: name=type, optional ones in brackets.
func parameter(f *plan.Field) string {
	text := f.Name + "=" + valueOf(f)
	if !f.Required {
		return "[" + text + "]"
	}
	return text
}

// valueOf describes what a parameter may be.
func valueOf(f *plan.Field) string {
	value := map[plan.FieldType]string{
		plan.HostField: "HOST", plan.HostsField: "HOST,...", plan.NumberField: "NUMBER", plan.DurationField: "DURATION",
		plan.WordField: "WORD", plan.TextField: "TEXT",
	}[f.Type]
	switch {
	case len(f.Words) > 0 && (f.Type == plan.HostField || f.Type == plan.HostsField):
		value += "|" + strings.Join(f.Words, "|")
	case len(f.Words) > 0:
		value = strings.Join(f.Words, "|")
	}
	if f.Type == plan.NumberField && f.Max != 0 {
		value = fmt.Sprintf("%d..%d", f.Min, f.Max)
	}
	return value
}

// printEntries prints a section as a table. Parameters, where there are any, stand below their entry: some are longer than any screen.
func printEntries(w io.Writer, title string, entries []entry) error {
	if len(entries) == 0 {
		return nil
	}
	rows := [][]string{{title, "", ""}}
	for _, e := range entries {
		rows = append(rows, []string{"  " + e.Name, e.Of + due(e.Due), e.Doc})
	}
	var table strings.Builder
	if err := reports.Table(&table, rows); err != nil {
		return err
	}
	lines := strings.SplitAfter(table.String(), "\n")
	text := "\n" + lines[0]
	for i := range entries {
		text += lines[i+1]
		if params := entries[i].Params; len(params) > 0 {
			text += "      " + strings.Join(params, " ") + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
