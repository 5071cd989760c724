package scenarios

import (
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// quietPlan is three static voters on a quiet network; edit changes it.
func quietPlan(releases ...string) *plan.Plan {
	p := &plan.Plan{Format: plan.Format, Scenario: "raft/quiet", Seed: 1, StormUs: 4_000_000, Params: plan.Params{"level": "3.7"}}
	p.Network.LatencyUs, p.Network.JitterUs = 300, 400
	for i, r := range releases {
		p.Hosts = append(p.Hosts, plan.Host{ID: "c" + number(int64(i+1)), Kind: kindController, Release: r, Params: plan.Params{}})
	}
	return p
}

// traced runs a plan and returns its verdict and the lines of its trace.
func traced(t *testing.T, p *plan.Plan) (v *plan.Verdict, lines []sim.TraceLine) {
	t.Helper()
	v = verdictOf(t, sim.NewEngine(Catalogue()), p, sim.Options{Trace: func(l sim.TraceLine) { lines = append(lines, l) }})
	return v, lines
}

// sent splits "to c2: Fetch epoch=1" into whom and what.
func sent(l *sim.TraceLine) (to, what string) {
	to, what, _ = strings.Cut(strings.TrimPrefix(l.Text, "to "), ": ")
	return to, what
}

// TestGreetingComesFirst: no request leaves for a peer before that peer has told its versions; in Kafka's own simulation nobody asks.
func TestGreetingComesFirst(t *testing.T) {
	for _, wire := range []string{"structs", "bytes"} {
		p := quietPlan("upstream-4.5", "4.0", "3.8")
		p.Params["wire"] = wire
		v, lines := traced(t, p)
		require.Equal(t, plan.OK, v.Outcome, v.Broken)
		greeted, requests := map[string]bool{}, 0
		for i := range lines {
			l := &lines[i]
			if from, ok := strings.CutPrefix(l.Text, "message from "); ok && l.What == "input" {
				if peer, what, _ := strings.Cut(from, ": "); strings.HasPrefix(what, "ApiVersionsResponse NONE") {
					greeted[l.Host+" "+peer] = true
				}
				continue
			}
			if to, what := sent(l); l.What == "send" && !strings.Contains(strings.Split(what, " ")[0], "Response") && !strings.HasPrefix(what, "ApiVersions") {
				require.True(t, greeted[l.Host+" "+to], "%s %s", l.Host, l.Text)
				requests++
			}
		}
		require.Greater(t, requests, 100)
	}
	_, lines := traced(t, Catalogue().Scenario("kafka/s1").Draw(1))
	for i := range lines {
		require.NotContains(t, lines[i].Text, "ApiVersions")
	}
}

// TestGreetingOfAnOlderPeer: software that is older than the question says so in version 0 and is asked again; every other pair
// needs one question.
func TestGreetingOfAnOlderPeer(t *testing.T) {
	newest := map[string]int16{"3.8": 3, "4.0": 4, "upstream-4.5": 5} // ApiVersions
	for one := range newest {
		for two := range newest {
			p := quietPlan(one, one, two)
			v, lines := traced(t, p)
			require.Equal(t, plan.OK, v.Outcome, "%s %s: %v", one, two, v.Broken)
			refusals := map[string]bool{}
			for i := range lines {
				if _, what := sent(&lines[i]); lines[i].What == "send" && strings.HasPrefix(what, "ApiVersionsResponse UNSUPPORTED_VERSION") {
					refusals[lines[i].Host] = true
				}
			}
			require.Equal(t, newest[two] < newest[one], refusals["c3"], "%s asks %s", one, two)
			require.Equal(t, newest[one] < newest[two], refusals["c1"] || refusals["c2"], "%s asks %s", two, one)
			require.Equal(t, v.Stats["greetings-repeated"] > 0, newest[one] != newest[two])
			require.Zero(t, v.Stats["greetings-failed"])
		}
	}
}

// TestGreetingNoticesNewSoftware: a peer that comes back with other software is spoken to in its versions. Fetch tells the high
// watermark from version 18 on only, so that is how one sees it.
func TestGreetingNoticesNewSoftware(t *testing.T) {
	for _, c := range []struct{ before, after string }{{"4.0", "upstream-4.5"}, {"upstream-4.5", "4.0"}} {
		p := quietPlan("upstream-4.5", "upstream-4.5", c.before)
		p.StormUs = 12_000_000
		p.Actions = []plan.Action{{ID: "s", Kind: "software", AtUs: 6_000_000, Params: plan.Params{"host": "c3", "release": c.after}}}
		v, lines := traced(t, p)
		require.Equal(t, plan.OK, v.Outcome, v.Broken)
		refused := map[int32]int{}
		answers := map[int32]int{}
		for i := range lines {
			l := &lines[i]
			if _, what := sent(l); l.Host == "c3" && l.What == "send" && strings.HasPrefix(what, "ApiVersionsResponse") {
				answers[l.Boot]++
				if strings.Contains(what, "UNSUPPORTED_VERSION") {
					refused[l.Boot]++
				}
			}
		}
		first, last := int32(1<<30), int32(0)
		for boot := range answers {
			first, last = min(first, boot), max(last, boot)
		}
		require.Less(t, first, last)
		require.Equal(t, c.before == "4.0", refused[first] > 0, c.before)
		require.Equal(t, c.after == "4.0", refused[last] > 0, c.after)
	}
}

// TestLearnedVersions: the answer of a generation gives the table of that generation, any other a table of its own.
func TestLearnedVersions(t *testing.T) {
	for _, own := range []string{"3.6", "4.0", "upstream-4.5"} {
		r, err := features.Find(own)
		require.NoError(t, err)
		n := &node{h: &hostSettings{release: r}}
		for g := range generations {
			require.Same(t, &negotiated[generationOf(r)][g], n.learned(spoken(g)))
		}
		table := n.learned([]raft.APIVersionRange{{APIKey: wire.Fetch, MinVersion: 0, MaxVersion: 13}, {APIKey: wire.Vote, MinVersion: 7, MaxVersion: 9}})
		require.EqualValues(t, 13, table[wire.Fetch])
		require.EqualValues(t, -1, table[wire.Vote])
		require.EqualValues(t, -1, table[wire.AddRaftVoter])
	}
}

// TestGreetingInAnyCase: an answer that is none, or that leaves no common version, ends the connection; the node dials again.
func TestGreetingInAnyCase(t *testing.T) {
	p := quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5")
	p.Hosts[2].Params["limits"] = "ApiVersions:-1"
	v, _ := traced(t, p)
	require.Positive(t, v.Stats["greetings-failed"])
	require.Zero(t, v.Stats["greetings-repeated"])
}
