package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestReconfigReaches: a storm that rarely gets to what its scenario is about shows nothing.
func TestReconfigReaches(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const runs = 30
	for _, x := range []struct {
		scenario string
		counts   map[string]int64 // of statistics and conditions: at least so many runs of 30 have it
	}{
		{"reconfig/churn", map[string]int64{"voter-changes-done": 28, "ambushes": 10, "fault-move": 5, "fault-misadvertise": 5, "voter-added": 18,
			"voter-removed": 20, "removed-leader-resigned": 15, "voter-change-rolled-back": 3, "voter-sets-of-2": 12, "voter-sets-of-3": 15,
			"voter-sets-of-4": 12, "voter-sets-of-5": 5}},
		{"reconfig/replaced-disk", map[string]int64{"disk-replaced": 25, "voter-changes-done": 25, "voter-added": 25, "voter-removed": 25}},
		{"reconfig/lagging-snapshot", map[string]int64{"snapshots": 28, "voter-changes-done": 25, "follower-sent-to-snapshot": 22,
			"snapshot-replaced-the-log": 22, "snapshot-during-voter-change": 7, "snapshot-download-broken-off": 4, "log-prefix-deleted": 22}},
		{"reconfig/kraft-upgrade", map[string]int64{"kraft-version-upgraded": 29, "elections-before-upgrade": 14, "ambush-kraft-version": 9,
			"upgrades-by-an-heir": 3, "upgrades-lost": 1}},
		{"reconfig/auto-join", map[string]int64{"disk-replaced": 6, "voter-changes-done": 15, "voter-joined-by-itself": 20, "voter-removed": 12}},
		{"reconfig/even-lockstep", map[string]int64{"two-candidates-in-one-epoch": 7, "voter-sets-of-2": 5, "voter-sets-of-4": 5, "voter-changes-done": 22}},
		{"reconfig/bootstrap-only", map[string]int64{"fault-resolve": 28, "fault-move": 8, "observer-found-the-leader": 30}},
		{"reconfig/discovery", map[string]int64{"fault-lose-names": 28}},
		{"reconfig/mixed-releases", map[string]int64{"fault-software": 28, "leaders-of-mixed-quorums": 20, "wire-unsupported": 14}},
		{"reconfig/power", map[string]int64{"power-losses": 28, "voter-changes-done": 25, "power-loss-took-log-bytes": 12, "voter-removed": 20}},
		{"reconfig/slow-disks", map[string]int64{"fault-disk-slow": 18, "fault-disk-stuck": 18, "voter-changes-done": 25, "leader-resigned": 15}},
	} {
		have := map[string]int64{}
		for seed := uint64(1); seed <= runs; seed++ {
			v := verdictOf(t, e, c.Scenario(x.scenario).Draw(seed), sim.Options{})
			for count := range x.counts {
				if v.Stats[count]+v.Sometimes[count] > 0 {
					have[count]++
				}
			}
		}
		for count, least := range x.counts {
			require.GreaterOrEqual(t, have[count], least, "%s: %s", x.scenario, count)
		}
	}
}

// operated is a calm plan with an operator's machine and one action.
func operated(dynamic bool, kind string, params plan.Params) *plan.Plan {
	d := dice{seed: 1}
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
