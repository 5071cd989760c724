package cli

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
	"github.com/spf13/cobra"
)

// addProfile declares the flag that draws storms from another profile than the scenario's own.
func (a *App) addProfile(cmd *cobra.Command, profile *string) {
	if len(a.Catalogue.Profiles) == 0 {
		return
	}
	cmd.Flags().StringVar(profile, "profile", "", "draw storms from this profile in place of the scenario's own, see list profiles")
}

// under puts a profile into a scenario's name, a prefix of such names, or a token. Without a profile the name stays as it is.
func (a *App) under(name, profile string) (string, error) {
	if profile == "" {
		return name, nil
	}
	if swarm.Find(a.Catalogue.Profiles, profile) == nil {
		names := make([]string, len(a.Catalogue.Profiles))
		for i, f := range a.Catalogue.Profiles {
			names[i] = f.Name
		}
		return "", Usagef("--profile: no profile is called %q; the nearest are %s; see %s list profiles", profile,
			strings.Join(plan.Nearest(profile, names, 3), ", "), a.Catalogue.Program)
	}
	if _, other, found := sim.CutProfile(name); found {
		return "", Usagef("--profile and the profile %q in the name exclude each other", other)
	}
	if a.Catalogue.Scenario(name) == nil { // a token, unless it is a prefix
		if scenario, seed, ok := cutLast(name, ":"); ok {
			return sim.WithProfile(scenario, profile) + ":" + seed, nil
		}
	}
	if s := a.Catalogue.Scenario(name); s != nil && a.Catalogue.Under(s, profile) == nil {
		return "", Usagef("--profile: scenario %s draws its storm from no profile: what it checks depends on its own", name)
	}
	return sim.WithProfile(name, profile), nil
}

// firstUnder is under for the first of a command's arguments, if there is one. The arguments stay as they are.
func (a *App) firstUnder(args []string, profile string) ([]string, error) {
	if profile == "" {
		return args, nil
	}
	if len(args) == 0 {
		return nil, Usagef("--profile needs a scenario or a token")
	}
	name, err := a.under(args[0], profile)
	return []string{name}, err
}

// profileEntries describe the profiles of the catalogue.
func (a *App) profileEntries() (list []entry) {
	for _, f := range a.Catalogue.Profiles {
		span := func(r swarm.Range, unit string) string {
			return reports.Count(r[0]) + ".." + reports.Count(r[1]) + " " + unit
		}
		faults := make([]string, len(f.Faults))
		for i, x := range f.Faults {
			faults[i] = fmt.Sprintf("%s:%d", x.Kind, x.Weight)
		}
		of := fmt.Sprintf("storm %s, %s, timeout %s, latency %s, fsync %s", span(f.StormUs, "us"), span(f.Actions, "faults"),
			span(f.TimeoutMs, "ms"), span(f.LatencyUs, "us"), span(f.SyncNs, "ns"))
		list = append(list, entry{Name: f.Name, Of: of, Doc: f.Doc + ": " + strings.Join(faults, " ")})
	}
	return list
}
