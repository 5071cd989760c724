package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestReconfigDosage: a storm without voter changes that come about, or ambushes that strike, shows nothing.
func TestReconfigDosage(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const runs = 30
	for _, x := range []struct {
		scenario string
		stats    map[string]int64 // at least so many runs of 30 have it
	}{
		{"reconfig/churn", map[string]int64{"voter-changes-done": 25, "ambushes": 8, "fault-move": 5}},
		{"reconfig/replaced-disk", map[string]int64{"fault-replace-disk": 25, "voter-changes-done": 20}},
		{"reconfig/lagging-snapshot", map[string]int64{"snapshots": 28, "voter-changes-done": 25}},
		{"reconfig/kraft-upgrade", map[string]int64{"fault-upgrade-kraft": 30, "ambushes": 10}},
		{"reconfig/auto-join", map[string]int64{"fault-replace-disk": 8, "voter-changes-done": 10}},
		{"reconfig/bootstrap-only", map[string]int64{"fault-resolve": 28, "fault-move": 8}},
		{"reconfig/mixed-releases", map[string]int64{"fault-software": 28}},
		{"reconfig/power", map[string]int64{"power-losses": 28, "voter-changes-done": 25}},
	} {
		have := map[string]int64{}
		for seed := uint64(1); seed <= runs; seed++ {
			v := verdictOf(t, e, c.Scenario(x.scenario).Draw(seed), sim.Options{})
			for stat := range x.stats {
				if v.Stats[stat] > 0 {
					have[stat]++
				}
			}
		}
		for stat, least := range x.stats {
			require.GreaterOrEqual(t, have[stat], least, "%s: %s", x.scenario, stat)
		}
	}
}

// operated is a calm plan with an operator's machine and one action.
func operated(dynamic bool, kind string, params plan.Params) *plan.Plan {
	d := dice{1}
	p := &plan.Plan{Format: plan.Format, Scenario: "reconfig/churn", Seed: 1, Params: plan.Params{"level": "3.9"}, StormUs: 900_000}
	controllers(p, 3, 1, 1)
	d.identify(p)
	if dynamic {
		p.Params["quorum"] = "dynamic"
		d.known(p, 100)
	}
	d.timeouts(p, &lightProfile)
	p.Hosts = append(p.Hosts, plan.Host{ID: "op1", Kind: kindOperator})
	p.Actions = []plan.Action{{ID: "a", AtUs: 500_000, Kind: kind, Params: params}}
	return p
}

// TestOperatorsSteps: each step comes about, or is refused with its reason.
func TestOperatorsSteps(t *testing.T) {
	e := sim.NewEngine(Catalogue())
	for _, x := range []struct {
		name    string
		dynamic bool
		kind    string
		params  plan.Params
		stat    string // counted
		refused string
	}{
		{"an observer becomes a voter", true, "add-voter", plan.Params{"by": "op1", "host": "o1"}, "voter-changes-done", ""},
		{"a voter is one already", true, "add-voter", plan.Params{"by": "op1", "host": "c2"}, "voter-changes-done", ""},
		{"a voter is none any more", true, "remove-voter", plan.Params{"by": "op1", "voter": "c2"}, "voter-changes-done", ""},
		{"nor is the leader", true, "remove-voter", plan.Params{"by": "op1", "voter": "leader"}, "voter-changes-done", ""},
		{"kraft.version 0 knows no changes", false, "add-voter", plan.Params{"by": "op1", "host": "o1"}, "voter-changes-given-up", ""},
		{"a broker is no controller", true, "add-voter", plan.Params{"by": "op1", "host": "b1"}, "", "host=b1 is no controller"},
		{"nobody operates from there", true, "remove-voter", plan.Params{"by": "c1", "voter": "c2"}, "", "by=c1 is no operator"},
		{"no such voter", true, "remove-voter", plan.Params{"by": "op1", "voter": "x"}, "", "voter=x is no controller"},
		{"a disk is replaced", true, "replace-disk", plan.Params{"host": "c2"}, "fault-replace-disk", ""},
		{"not at kraft.version 0", false, "replace-disk", plan.Params{"host": "c2"}, "", "at kraft.version 0 a voter keeps its identity when its disk is gone"},
		{"a voter moves", true, "move", plan.Params{"host": "c2", "port": "9200"}, "fault-move", ""},
		{"not where all are configured", false, "move", plan.Params{"host": "c2", "port": "9200"}, "", "the others are configured with its address"},
		{"older software", false, "software", plan.Params{"host": "c2", "release": "4.0"}, "fault-software", ""},
		{"kraft.version 1", false, "upgrade-kraft", nil, "fault-upgrade-kraft", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := operated(x.dynamic, x.kind, x.params)
			require.NoError(t, plan.Validate(p, Catalogue().Registry))
			v := verdictOf(t, e, p, sim.Options{})
			require.Equal(t, plan.OK, v.Outcome, "%v %v", v.Broken, v.Waiting)
			if x.refused != "" {
				require.Len(t, v.Refused, 1)
				require.Equal(t, x.refused, v.Refused[0].Reason)
				return
			}
			require.Empty(t, v.Refused)
			require.Equal(t, int64(1), v.Stats[x.stat], "%v", v.Stats)
		})
	}
}

// TestSoftware: what each release knows of raft.
func TestSoftware(t *testing.T) {
	for release, x := range map[string]struct {
		vote, add, kraft int16
	}{"3.7": {0, -1, 0}, "3.8": {0, -1, 0}, "3.9": {1, 0, 1}, "4.0": {1, 0, 1}} {
		r, err := features.Find(release)
		require.NoError(t, err)
		v, kraft := software(r)
		require.Equal(t, x.kraft, kraft, release)
		require.Contains(t, v, raft.VersionLimit{APIKey: 52, MaxVersion: x.vote}, release)
		require.Contains(t, v, raft.VersionLimit{APIKey: 80, MaxVersion: x.add}, release)
	}
	for _, release := range []string{"upstream-4.5", "kip1262"} {
		r, err := features.Find(release)
		require.NoError(t, err)
		v, kraft := software(r)
		require.Nil(t, v)
		require.Equal(t, int16(1), kraft)
	}
}
