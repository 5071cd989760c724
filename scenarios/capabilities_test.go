package scenarios

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// dynamicPlan is voters c1 to c3, a controller o1 that is none, and an operator's machine.
func dynamicPlan() *plan.Plan {
	p := quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5")
	p.Params["level"], p.Params["quorum"] = "3.9", "dynamic"
	p.Hosts = append(p.Hosts, plan.Host{ID: "o1", Kind: kindObserver, Release: "upstream-4.5", Params: plan.Params{"node_id": "100"}},
		plan.Host{ID: "op1", Kind: kindOperator, Params: plan.Params{}})
	d := dice{seed: 1}
	d.identify(p)
	d.known(p, 100)
	return p
}

// acted is a plan with one action.
func acted(p *plan.Plan, kind string, params plan.Params) *plan.Plan {
	p.StormUs = 8_000_000
	p.Actions = []plan.Action{{ID: "a", Kind: kind, AtUs: 3_000_000, Params: params}}
	return p
}

// versionRow is an entry of the table of RPC versions at another value, and what a trace shows of it.
type versionRow struct {
	limit string
	only  string // host that has the limit, "" for all
	plan  func() *plan.Plan
	with  string // some line of the trace is like that without the limit, and none with it
	under string // the other way round
}

// versionRows flips single entries of the table of RPC versions: a run in which everybody lacks one version shows what
// the release with it does not, or the other way round.
func versionRows() []versionRow {
	static := func() *plan.Plan { return quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5") }
	adds := func() *plan.Plan { return acted(dynamicPlan(), "add-voter", plan.Params{"by": "op1", "host": "o1"}) }
	removes := func() *plan.Plan {
		return acted(dynamicPlan(), "remove-voter", plan.Params{"by": "op1", "voter": "c3"})
	}
	moves := func() *plan.Plan { return acted(dynamicPlan(), "move", plan.Params{"host": "c3", "port": "9999"}) }
	joins := func() *plan.Plan {
		p := dynamicPlan()
		p.Hosts[3].Params["auto_join"] = "true"
		p.StormUs = 8_000_000
		return p
	}
	return []versionRow{
		{limit: "Vote:1", plan: static, with: `: PreVote `},
		{limit: "Vote:0", plan: static, with: `: PreVote `, under: `: Vote epoch=\d+ from=\d+ last=`}, // no voter's key
		{limit: "Fetch:17", plan: static, with: `: Fetch .* hw=\d`},
		{limit: "Fetch:16", plan: dynamicPlan, with: `high watermark .*|: FetchResponse NONE .* hw=[1-9]`},
		{limit: "ApiVersions:3", plan: adds, with: `AddRaftVoterResponse NONE`, under: `AddRaftVoterResponse INVALID_REQUEST`},
		{limit: "ApiVersions:4", only: "c1", plan: static, under: `ApiVersionsResponse UNSUPPORTED_VERSION`}, // the others greet in version 5 first
		{limit: "DescribeQuorum:1", plan: removes, with: `RemoveRaftVoterResponse NONE`, under: `RemoveRaftVoterResponse INVALID_REQUEST`},
		{limit: "DescribeQuorum:-1", plan: removes, with: `RemoveRaftVoterResponse NONE`},
		{limit: "BeginQuorumEpoch:0", plan: static, with: `: BeginQuorumEpoch .* to=\d`, under: `: BeginQuorumEpoch leader=\d+ epoch=\d+$`},
		{limit: "AddRaftVoter:0", plan: joins, with: `to c\d: AddRaftVoter `, under: `cannot be sent: UNSUPPORTED_VERSION`},
		{limit: "AddRaftVoter:-1", plan: adds, with: `AddRaftVoterResponse NONE`, under: `AddRaftVoterResponse UNSUPPORTED_VERSION`},
		{limit: "RemoveRaftVoter:-1", plan: removes, with: `RemoveRaftVoterResponse NONE`, under: `RemoveRaftVoterResponse UNSUPPORTED_VERSION`},
		{limit: "UpdateRaftVoter:-1", plan: moves, with: `UpdateRaftVoterResponse NONE`},
		{limit: "kraft.version:0", plan: adds, with: `AddRaftVoterResponse NONE`, under: `AddRaftVoterResponse INVALID_REQUEST`},
	}
}

// TestEachVersionMatters runs the rows.
func TestEachVersionMatters(t *testing.T) {
	for _, c := range versionRows() {
		t.Run(c.limit, func(t *testing.T) {
			seen := func(limit string) (with, under bool) {
				p := c.plan()
				for i := range p.Hosts {
					if h := &p.Hosts[i]; h.Kind != kindOperator && limit != "" && (c.only == "" || c.only == h.ID) {
						p.Hosts[i].Params["limits"] = limit
					}
				}
				_, lines := traced(t, p)
				a, b := regexp.MustCompile(c.with), regexp.MustCompile(c.under)
				for i := range lines {
					with = with || c.with != "" && a.MatchString(lines[i].Text)
					under = under || c.under != "" && b.MatchString(lines[i].Text)
				}
				return with, under
			}
			with, under := seen("")
			require.Equal(t, c.with != "", with, "without the limit: %s", c.with)
			require.False(t, under, "without the limit: %s", c.under)
			with, under = seen(c.limit)
			require.False(t, with, "under the limit: %s", c.with)
			require.Equal(t, c.under != "", under, "under the limit: %s", c.under)
		})
	}
}

// fieldRow is an entry whose fields no line of a trace shows, and the message that carries them.
type fieldRow struct {
	limit, sent string
	plan        *plan.Plan
}

// fieldRows are about versions whose fields no line of a trace shows: what crosses the wire is another message.
func fieldRows() []fieldRow {
	stops := dynamicPlan()
	stops.StormUs = 9_000_000
	for i, host := range []string{"c1", "c2", "c3"} {
		stops.Actions = append(stops.Actions, plan.Action{ID: host, Kind: "stop", AtUs: plan.Int64(3_000_000 + 2_000_000*i), Params: plan.Params{"host": host}})
	}
	lags := Catalogue().Scenario("reconfig/lagging-snapshot").Draw(1)
	return []fieldRow{
		{"EndQuorumEpoch:0", ": EndQuorumEpoch leader=", stops}, {"FetchSnapshot:0", ": FetchSnapshot epoch=", lags},
	}
}

// TestEachFieldMatters runs the rows.
func TestEachFieldMatters(t *testing.T) {
	for _, c := range fieldRows() {
		t.Run(c.limit, func(t *testing.T) {
			digests := map[bool]uint64{} // of the traces up to the first message of the kind
			for _, limited := range []bool{false, true} {
				for i := range c.plan.Hosts {
					if h := &c.plan.Hosts[i]; h.Kind != kindOperator && limited {
						h.Params["limits"] = c.limit
					}
				}
				_, lines := traced(t, c.plan)
				for i := range lines {
					if lines[i].What == "send" && strings.Contains(lines[i].Text, c.sent) {
						digests[limited] = lines[i].Digest
						break
					}
				}
			}
			require.Len(t, digests, 2)
			require.NotEqual(t, digests[false], digests[true])
		})
	}
}

// TestKRaftVersionMatters: a static quorum goes to kraft.version 1 when all its voters know it, and its quorum-state to version 1
// with it; one voter that does not keeps both at 0 (kraft-protocol 1.3, 5.7).
func TestKRaftVersionMatters(t *testing.T) {
	for _, limit := range []string{"", "kraft.version:0"} {
		p := acted(quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5"), "upgrade-kraft", nil)
		p.Params["level"], p.StormUs = "3.9", 20_000_000
		for i, host := range []string{"c1", "c2", "c3"} { // whose quorum-state is written anew then
			p.Actions = append(p.Actions, plan.Action{ID: host, Kind: "kill", AtUs: plan.Int64(14_000_000 + 2_000_000*i), Params: plan.Params{"host": host}})
		}
		if limit != "" {
			p.Hosts[2].Params["limits"] = limit
		}
		c := Catalogue()
		verdictOf(t, sim.NewEngine(c), p, sim.Options{})
		hosts, err := HostsOf(c, p.Scenario)
		require.NoError(t, err)
		for i := range hosts {
			version := int16(1)
			if limit != "" {
				version = 0
			}
			require.Equal(t, version, hosts[i].Metrics.KRaftVersion)
			stored := exported(&FromResult{Files: hosts[i].Files})["dir0/"+partition+"quorum-state"].Data
			require.Contains(t, string(stored), fmt.Sprintf(`"data_version":%d`, version))
		}
	}
}

// altered is a scenario whose hosts run a release that is changed in one entry.
type altered struct {
	scenario
	edit func(r *features.Release)
}

func (s *altered) Build(w *sim.World, p *plan.Plan) error {
	if err := s.cluster.build(w, p); err != nil {
		return err
	}
	for i := range s.cluster.hosts {
		if s.edit != nil {
			r := *s.cluster.hosts[i].release
			s.edit(&r)
			s.cluster.hosts[i].release = &r
		}
	}
	return nil
}

// releaseEntry is one entry of what a release knows, and a scenario whose outcome changes when that alone is changed.
type releaseEntry struct {
	field string // of features.Release
	entry string
	plan  func() *plan.Plan
	edit  func(r *features.Release)
	want  string // in the outcome with the change, and not without it
}

// TestEachEntryOfAReleaseMatters changes single entries of what a release knows of metadata; the outcome is the first error that stops
// a process, or the metadata.version, the features and the files that the first host ends with. A new field of a release, or a new feature of the
// newest, without a row is red.
func TestEachEntryOfAReleaseMatters(t *testing.T) {
	feature := func(name string) func(r *features.Release) {
		return func(r *features.Release) {
			r.Features = slices.DeleteFunc(slices.Clone(r.Features), func(f features.Feature) bool { return f.Name == name })
		}
	}
	latest := func() *plan.Plan { p := dynamicPlan(); delete(p.Params, "level"); return p }
	unformatted := func() *plan.Plan {
		p := Catalogue().Scenario("kip1262/draft").Draw(1)
		p.Actions, p.Network, p.Disk = nil, plan.Network{}, plan.Disk{}
		return p
	}
	rows := []releaseEntry{
		{"Minimum", "minimum", dynamicPlan, func(r *features.Release) { r.Minimum = 25 }, "stopped: "},
		{"MinimumBootstrap", "minimum of a bootstrap", dynamicPlan, func(r *features.Release) { r.MinimumBootstrap = 25 }, "stopped: "},
		{"LatestProduction", "latest production", latest, func(r *features.Release) { r.LatestProduction = 30 }, "metadata.version 30"},
		{"LatestTesting", "latest testing", dynamicPlan, func(r *features.Release) { r.LatestTesting = 20 }, "stopped: "},
		{"Layout", "layout", dynamicPlan, func(r *features.Release) { r.Layout = features.Oct24 }, "dir0/bootstrap.checkpoint"},
		{"Features", "kraft.version", dynamicPlan, feature(features.KRaftVersion), "stopped: "},
		{"MetaProperties", "meta.properties", unformatted, func(r *features.Release) { r.MetaProperties = 1 }, "stopped: "},
	}
	known := map[string]bool{"Name": true, "clusterIDRecord": true} // a label; TestTheRecordMatters
	for _, c := range rows {
		known[c.field] = true
	}
	of := reflect.TypeFor[features.Release]()
	for i := range of.NumField() {
		require.True(t, known[of.Field(i).Name], "no scenario for the entry %s of a release", of.Field(i).Name)
	}
	for _, f := range newestRelease(t).Features {
		if f.Name != features.KRaftVersion {
			rows = append(rows, releaseEntry{"Features", f.Name, latest, feature(f.Name), "no " + f.Name})
		}
	}
	for _, c := range rows {
		t.Run(c.entry, func(t *testing.T) {
			require.NotContains(t, outcomeOf(t, c.plan(), nil), c.want)
			require.Contains(t, outcomeOf(t, c.plan(), c.edit), c.want)
		})
	}
}

// TestTheRecordMatters: two releases that differ in the ClusterIdRecord alone, each under a variant that goes with it, leave another log.
func TestTheRecordMatters(t *testing.T) {
	ours, err := features.Find("kip1262")
	require.NoError(t, err)
	for variant, record := range map[string]bool{"final-mar": true, "released": false} {
		p := dynamicPlan()
		delete(p.Params, "level")
		p.Params["variant"] = variant
		for i := range p.Hosts {
			if p.Hosts[i].Release != "" {
				p.Hosts[i].Release = ours.Name
			}
		}
		out := outcomeOf(t, p, func(r *features.Release) { *r = *withRecord(t, ours, record) })
		require.Contains(t, out, "metadata.version 34")
		require.Equal(t, !record, strings.Contains(out, "no cluster id in the log"), variant)
	}
}

// outcomeOf runs a plan on a changed release.
func outcomeOf(t *testing.T, p *plan.Plan, edit func(r *features.Release)) string {
	t.Helper()
	c := Catalogue()
	s := &altered{scenario: scenario{name: p.Scenario}, edit: edit}
	c.Scenarios = []sim.Scenario{s}
	v := verdictOf(t, sim.NewEngine(c), p, sim.Options{})
	if len(v.Stopped) > 0 {
		return "stopped: " + v.Stopped[0].Error
	}
	n, ok := s.cluster.w.Hosts()[0].Process().(*node)
	require.True(t, ok)
	image := n.loader.Image()
	out := fmt.Sprintf("metadata.version %d\n", n.loader.Image().MetadataVersion())
	for _, f := range newestRelease(t).Features {
		if image.FeatureLevel(f.Name) == 0 {
			out += "no " + f.Name + "\n"
		}
	}
	if image.ClusterID() == "" {
		out += "no cluster id in the log\n"
	}
	for _, f := range filesOf(s.cluster.w.Hosts()[0]) {
		out += f.Path + "\n"
	}
	return out
}

func newestRelease(t *testing.T) *features.Release {
	t.Helper()
	r, err := features.Find("kip1262")
	require.NoError(t, err)
	return r
}
