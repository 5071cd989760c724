package mutants

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/cli"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// TestOrders: the orders of a hunt cover every seed of every scenario once, up to the limit, whoever takes them.
func TestOrders(t *testing.T) {
	for _, limit := range []int64{3, 10, 999, 1000} {
		h := &hunt{patch: &Patch{}, scenarios: []string{"a", "b", "c"}, limit: limit, next: 1}
		seen := map[string]map[uint64]bool{"a": {}, "b": {}, "c": {}}
		next := uint64(1)
		for o, ok := h.take(); ok; o, ok = h.take() {
			require.Equal(t, next, o.First)
			for run := range o.runs() {
				scenario, seed := o.at(run)
				require.False(t, seen[scenario][seed])
				seen[scenario][seed] = true
			}
			next += uint64(o.Count)
		}
		for name, seeds := range seen {
			require.Len(t, seeds, int(limit/3), name)
			require.True(t, seeds[1] && seeds[uint64(limit/3)], name)
		}
	}
}

func finding(run int64, outcome plan.Outcome, invariants ...string) *result {
	return &result{Run: run, Outcome: outcome, Invariants: invariants}
}

// TestFirstKillWins: results come in any order, and the kill is the first one in the order of the hunt.
func TestFirstKillWins(t *testing.T) {
	h := &hunt{patch: &Patch{Invariants: []string{"one-vote", "leader-exists"}}, scenarios: []string{"a", "b"}}
	late, early := order{Scenarios: h.scenarios, First: 5, Count: 4}, order{Scenarios: h.scenarios, First: 1, Count: 4}
	h.note(&late, finding(1, plan.Violation, "one-vote"))
	h.note(&early, finding(3, plan.Stuck, "nodes-catch-up", "leader-exists"))
	h.note(&early, finding(2, plan.Violation, "log-matching"))
	h.note(&early, finding(1, plan.Panic, campaign.NoPanic))
	h.note(&early, finding(0, plan.LegitimatelyStuck))
	row := Row{Patch: h.patch}
	row.judge(h)
	require.Equal(t, Killed, row.Status)
	require.Equal(t, &Kill{Invariant: "leader-exists", Scenario: "b", Seed: 2, Runs: 4}, row.Kill)
	require.Equal(t, &Kill{Invariant: "log-matching", Scenario: "a", Seed: 2, Runs: 3}, row.Other)
	require.Equal(t, &Kill{Invariant: campaign.NoPanic, Scenario: "b", Seed: 1, Runs: 2}, row.Bad)
	require.EqualValues(t, 5, row.Runs)
}

// TestNoKill: what is no kill, and what the row says then.
func TestNoKill(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *result
		want Status
	}{
		{"ok", finding(0, plan.OK), Survived},
		{"unknown", finding(0, plan.Unknown), Survived},
		{"panic", finding(0, plan.Panic, campaign.NoPanic), PanicOnly},
		{"dead process", finding(0, plan.Spin, campaign.ProcessLives), PanicOnly},
		{"another invariant", finding(0, plan.Violation, "log-matching"), OtherOnly},
		{"a missed bound that is not named", finding(0, plan.Stuck, "nodes-catch-up"), OtherOnly},
		{"spin", finding(0, plan.Spin, "spin"), Killed},
	} {
		h := &hunt{patch: &Patch{Invariants: []string{"one-vote", "spin"}}, scenarios: []string{"a"}}
		h.note(&order{Scenarios: h.scenarios, First: 1, Count: 1}, c.r)
		row := Row{Patch: h.patch}
		row.judge(h)
		require.Equal(t, c.want, row.Status, c.name)
	}
}

func TestResultOfVerdict(t *testing.T) {
	var r result
	r.fill(&plan.Verdict{Outcome: plan.Violation, Broken: []plan.Broken{{Invariant: "x", Hazard: "h"}, {Invariant: "y", Evidence: "e"}}})
	require.Equal(t, result{Outcome: plan.Violation, Invariants: []string{"y"}, Evidence: "e"}, r)
	r = result{}
	r.fill(&plan.Verdict{Outcome: plan.Stuck, Waiting: []string{"leader-exists: nobody leads", "id-discovered: c1 waits"}})
	require.Equal(t, result{Outcome: plan.Stuck, Invariants: []string{"leader-exists", "id-discovered"}, Detail: "nobody leads"}, r)
	r = result{}
	r.fill(&plan.Verdict{Outcome: plan.OK, Broken: []plan.Broken{{Invariant: "x", Hazard: "h"}}})
	require.Equal(t, result{Outcome: plan.OK}, r)
}

// TestServe runs the child's side in this process.
func TestServe(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader(`{"scenarios":["raft/lockstep","kip1262/released"],"first":1,"count":2,"skip":1}` + "\n")
	require.NoError(t, serve(scenarios.Catalogue(), in, &out))
	decoder := json.NewDecoder(&out)
	var runs []int64
	for {
		var r result
		if err := decoder.Decode(&r); err == io.EOF {
			break
		} else {
			require.NoError(t, err)
		}
		if r.Done {
			require.EqualValues(t, 4, r.Run)
			continue
		}
		require.NotEmpty(t, r.Outcome)
		runs = append(runs, r.Run)
	}
	require.Equal(t, []int64{1, 2, 3}, runs)
	require.ErrorContains(t, serve(scenarios.Catalogue(), strings.NewReader(`{"scenarios":["nowhere"],"first":1,"count":1}`), io.Discard),
		"nowhere")
}

func TestPrint(t *testing.T) {
	p := &Patch{ID: "KB-01", Name: "A", Rule: "a rule", Invariants: []string{"one-vote"}}
	r := Report{
		Rows: []*Row{
			{Patch: p, Status: Killed, Runs: 9, Kill: &Kill{Invariant: "one-vote", Scenario: "raft/disk", Seed: 4, Runs: 7}},
			{Patch: p, Status: OtherOnly, Runs: 9, Other: &Kill{Invariant: "spin", Scenario: "raft/disk", Seed: 5, Runs: 8, Detail: "lane"}},
			{Patch: p, Status: NoBuild, Error: "go build: exit status 1"},
		},
		Clean: []*Clean{{Scenario: "raft/disk", Seeds: 200, Findings: 1, First: &Kill{Invariant: "spin", Seed: 3, Detail: "lane"}}},
	}
	var out bytes.Buffer
	require.NoError(t, r.Print(&out))
	for _, want := range []string{
		"one-vote   raft/disk:4  7", "killed by another invariant only", "A: expected one-vote, got spin: lane", "go build: exit status 1",
		"1 of 3 mutants killed", "raft/disk 200 seeds with 1 FINDINGS (spin at seed 3: lane)", "RED",
	} {
		require.Contains(t, out.String(), want)
	}
}

func TestFindRoot(t *testing.T) {
	found, err := FindRoot(".")
	require.NoError(t, err)
	require.FileExists(t, found+"/go.mod")
	_, err = FindRoot(t.TempDir())
	require.ErrorIs(t, err, cli.ErrUsage)
}
