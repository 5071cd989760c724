package scenarios

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// releaseFlip is one entry of a release, found by reflection, with the values that it may be changed to.
type releaseFlip struct {
	path string // Features[group.version].Levels[1].Needs
	to   []func(r *features.Release)
}

// copyOf is a release that may be changed.
func copyOf(r *features.Release) *features.Release {
	c := *r
	c.Features = slices.Clone(r.Features)
	for i := range c.Features {
		c.Features[i].Levels = slices.Clone(c.Features[i].Levels)
	}
	return &c
}

// flipsOf lists every entry of a release, whatever its type; an entry of a kind that this does not know is red, so a new one needs a flip.
func flipsOf(t *testing.T, r *features.Release) (flips []releaseFlip) {
	t.Helper()
	var walk func(v reflect.Value, path string, at func(r *features.Release) reflect.Value)
	walk = func(v reflect.Value, path string, at func(r *features.Release) reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), strings.TrimPrefix(path+"."+v.Type().Field(i).Name, "."), func(r *features.Release) reflect.Value { return at(r).Field(i) })
			}
		case reflect.Slice:
			for i := range v.Len() {
				label := number(int64(i + 1))
				if f, ok := v.Index(i).Interface().(features.Feature); ok {
					label = f.Name
				}
				walk(v.Index(i), path+"["+label+"]", func(r *features.Release) reflect.Value { return at(r).Index(i) })
			}
		case reflect.Int16, reflect.Int32, reflect.Uint8:
			var to []func(r *features.Release)
			for _, by := range []int64{-1, 1, 1000} {
				to = append(to, func(r *features.Release) {
					if f := at(r); f.CanInt() {
						f.SetInt(f.Int() + by)
					} else {
						f.SetUint(1 - f.Uint()) // the layout, of which there are two
					}
				})
			}
			flips = append(flips, releaseFlip{path, to})
		case reflect.String:
			if path != "Name" { // a label
				flips = append(flips, releaseFlip{path, []func(r *features.Release){func(r *features.Release) { at(r).SetString("another.name") }}})
			}
		case reflect.Bool:
			require.Equal(t, "clusterIDRecord", path, "an unexported entry without a flip")
			flips = append(flips, releaseFlip{path, []func(r *features.Release){func(r *features.Release) { *r = *withRecord(t, r, !r.SupportsClusterID(records.ClusterIdRecordSince)) }}})
		default:
			require.Fail(t, "no flip for "+path+" of kind "+v.Kind().String())
		}
	}
	walk(reflect.ValueOf(*r), "", func(r *features.Release) reflect.Value { return reflect.ValueOf(r).Elem() })
	return flips
}

// withRecord is a release with the ClusterIdRecord, or without it, and the same in all else.
func withRecord(t *testing.T, r *features.Release, record bool) *features.Release {
	t.Helper()
	name := "upstream-4.5"
	if record {
		name = "kip1262"
	}
	other, err := features.Find(name)
	require.NoError(t, err)
	c := *other
	for i := range reflect.TypeFor[features.Release]().NumField() {
		if f := reflect.ValueOf(&c).Elem().Field(i); f.CanSet() {
			f.Set(reflect.ValueOf(r).Elem().Field(i))
		}
	}
	return &c
}

// releasePlans are what a release is tried with: fresh clusters at its newest level, and, with unstable features, at the oldest that it may be
// formatted with and at the newest of all; a dynamic quorum where it knows them; an operator asks for every level of every feature, validated only, and for every version at which
// a default begins. For software that may start unformatted there is one that nobody formats.
func releasePlans(t *testing.T, r *features.Release) (plans []*plan.Plan) {
	t.Helper()
	oldest := max(r.Minimum, r.MinimumBootstrap)
	for i, level := range []string{"", features.VersionName(oldest), features.VersionName(r.LatestTesting), ""} {
		p := quietPlan(r.Name)
		if delete(p.Params, "level"); level != "" {
			p.Params["level"] = level
		}
		switch i {
		case 0:
			p.Hosts = append(p.Hosts, plan.Host{ID: "b1", Kind: kindBroker, Release: r.Name, Params: plan.Params{}})
		case 1, 2:
			p.Hosts[0].Params["unstable"] = "true"
		case 3: // the only one in which kraft.version counts when the formatter looks at it
			if r.Feature(features.KRaftVersion) == nil {
				continue
			}
			p.Params["quorum"] = "dynamic"
		}
		if r.SupportsClusterID(records.ClusterIdRecordSince) {
			p.Params["variant"] = "final-mar"
		}
		d := dice{seed: 1}
		d.identify(p)
		p.StormUs = 4_000_000
		ask := func(params plan.Params) {
			params["do"], params["dry_run"] = "upgrade", "true"
			n := len(p.Actions)
			p.Actions = append(p.Actions, plan.Action{ID: "ask-" + number(int64(n)), Kind: "features", AtUs: plan.Int64(1_500_000 + 10_000*n), Params: params})
		}
		for _, name := range []int16{r.LatestProduction, r.LatestTesting} {
			ask(plan.Params{"feature": fmt.Sprintf("metadata.version=%d", name)})
		}
		for k := range r.Features {
			f := &r.Features[k]
			for level := range f.LatestTesting() + 1 {
				ask(plan.Params{"feature": fmt.Sprintf("%s=%d", f.Name, level)})
			}
			for i, level := range f.Levels {
				ask(plan.Params{"release_version": features.VersionName(level.DefaultFrom - 1)})
				ask(plan.Params{"release_version": features.VersionName(level.DefaultFrom)})
				if level.Needs > 0 {
					ask(plan.Params{"feature": fmt.Sprintf("%s=%d,metadata.version=%d", f.Name, i+1, level.Needs-1)})
				}
			}
		}
		require.NoError(t, plan.Validate(p, Catalogue().Registry))
		plans = append(plans, p)
	}
	if r.MetaProperties > 1 {
		p := Catalogue().Scenario("kip1262/draft").Draw(1)
		p.Actions, p.Network, p.Disk = nil, plan.Network{}, plan.Disk{}
		plans = append(plans, p)
	}
	return plans
}

// fateOf is what a run of a plan on a changed release comes to: how its processes ended, or the metadata and the files of the first host and
// the answers of the operator's tool.
func fateOf(t *testing.T, p *plan.Plan, edit func(r *features.Release)) string {
	t.Helper()
	c := Catalogue()
	s := &altered{scenario: scenario{name: p.Scenario}, edit: edit}
	c.Scenarios = []sim.Scenario{s}
	v := verdictOf(t, sim.NewEngine(c), p, sim.Options{})
	var b strings.Builder
	for i := range v.Stopped {
		fmt.Fprintf(&b, "%s stopped: %s\n", v.Stopped[i].Host, v.Stopped[i].Error)
	}
	if n, ok := s.cluster.w.Hosts()[0].Process().(*node); ok && n.loader != nil {
		image := n.loader.Image()
		fmt.Fprintf(&b, "metadata.version %d, cluster id %q\n", image.MetadataVersion(), image.ClusterID())
		for _, f := range newestRelease(t).Features {
			fmt.Fprintf(&b, "%s %d\n", f.Name, image.FeatureLevel(f.Name))
		}
	}
	for _, f := range filesOf(s.cluster.w.Hosts()[0]) {
		fmt.Fprintln(&b, f.Path)
	}
	for _, a := range s.cluster.tools.answers {
		fmt.Fprintf(&b, "%s: %s\n", a.Action, strings.Join(a.Lines, "; "))
	}
	return b.String()
}

// TestEveryEntryOfEveryRelease flips each entry of each release, as reflection finds them, alone: some plan ends otherwise. The one entry that
// nothing can show is the record of a level that the release does not know.
func TestEveryEntryOfEveryRelease(t *testing.T) {
	for _, name := range features.Names() {
		r, err := features.Find(name)
		require.NoError(t, err)
		plans := releasePlans(t, r)
		base := make([]string, len(plans))
		for i, p := range plans {
			base[i] = fateOf(t, p, nil)
		}
		differs := func(edit func(r *features.Release)) bool {
			for i, p := range plans {
				if fateOf(t, p, edit) != base[i] {
					return true
				}
			}
			return false
		}
		for _, flip := range flipsOf(t, r) {
			shown := slices.ContainsFunc(flip.to, func(to func(r *features.Release)) bool {
				changed := copyOf(r)
				to(changed)
				return differs(func(r *features.Release) { *r = *copyOf(changed) })
			})
			idle := flip.path == "clusterIDRecord" && r.LatestTesting < records.ClusterIdRecordSince
			assert.Equal(t, !idle, shown, "%s of release %s", flip.path, name)
		}
	}
}
