package scenarios

import (
	"fmt"
	"math"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestBoundIsTheOneOfThePage reproduces the table of docs/liveness.md.
func TestBoundIsTheOneOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/liveness.md")
	require.NoError(t, err)
	for _, c := range []struct {
		voters, brokers                       int
		election, fetch, request, storm, idle int64
		period                                string
	}{
		{3, 2, 1000, 2000, 2000, 30_000, 500, "1s"}, {5, 0, 1000, 2000, 2000, 30_000, 500, "1s"},
		{3, 2, 30, 30, 30, 1_200, 20, "9ms"}, {3, 2, 60, 120, 60, 1_200, 60, "9ms"}, {3, 2, 90, 270, 180, 1_200, 500, "9ms"},
		{2, 0, 30, 60, 30, 1_200, 60, "20ms"}, {4, 0, 60, 120, 60, 1_200, 60, "20ms"}, {5, 1, 60, 120, 60, 1_200, 60, "9ms"},
		{1, 1, 60, 120, 60, 1_200, 60, "9ms"},
	} {
		p := &plan.Plan{StormUs: plan.Int64(c.storm * 1000), Params: plan.Params{
			"election_timeout_ms": number(c.election), "fetch_timeout_ms": number(c.fetch), "request_timeout_ms": number(c.request),
			"election_backoff_max_ms": number(c.election), "fetch_max_wait_ms": number(c.election / 2), "max_idle_interval_ms": number(c.idle)}}
		p.Workload = []plan.Workload{{ID: "w", Kind: "config-writes", Params: plan.Params{"period": c.period}}}
		p.Network.LatencyUs, p.Network.JitterUs = 300, 700
		controllers(p, c.voters, 0, c.brokers)
		s, err := readSettings(p)
		require.NoError(t, err)
		b := s.calmBound(p)
		row := fmt.Sprintf("| %d | %d | %d | %d | %.1f | %.0f%% | %d | %.2f | %.2f | %.2f | %.2f | %.1f |",
			c.voters, c.election, c.fetch, c.request, float64(b.window)/1e6, float64(share(b.window, c.election*million))/1e4, b.rounds,
			float64(b.rounds*b.round)/1e9, float64(b.left+2*b.repair+b.discovery)/1e9, float64(b.batches*b.batch)/1e9,
			float64(b.finish)/1e9, float64(b.total)/1e9)
		require.True(t, strings.Contains(string(page), row), "the page should have the row %s", row)
		require.Greater(t, b.total, b.rounds*b.round)
	}
}

// TestBoundGrows: no term is forgotten, and each fault of the plan that delays progress into the calm makes the bound longer.
func TestBoundGrows(t *testing.T) {
	bound := func(change func(p *plan.Plan)) int64 {
		p := &plan.Plan{StormUs: 1_000_000, Params: plan.Params{}}
		controllers(p, 3, 0, 1)
		p.Workload = []plan.Workload{{ID: "w", Kind: "config-writes", Params: plan.Params{"period": "20ms"}}}
		change(p)
		s, err := readSettings(p)
		require.NoError(t, err)
		return s.calmBoundNs(p)
	}
	base := bound(func(*plan.Plan) {})
	param := func(name, value string) func(p *plan.Plan) { return func(p *plan.Plan) { p.Params[name] = value } }
	action := func(kind string, params plan.Params) func(p *plan.Plan) {
		return func(p *plan.Plan) { p.Actions = append(p.Actions, plan.Action{ID: "a", Kind: kind, Params: params}) }
	}
	for name, change := range map[string]func(p *plan.Plan){
		"election":        param("election_timeout_ms", "1500"),
		"fetch":           param("fetch_timeout_ms", "3000"),
		"request":         param("request_timeout_ms", "3000"),
		"backoff":         param("retry_backoff_ms", "100"),
		"end of epoch":    param("election_backoff_max_ms", "5000"),
		"linger":          param("append_linger_ms", "100"),
		"wait":            param("fetch_max_wait_ms", "900"),
		"small pieces":    param("fetch_snapshot_max_bytes", "100"),
		"small records":   param("records_per_batch", "1"),
		"idle":            param("max_idle_interval_ms", "5000"),
		"two directories": func(p *plan.Plan) { p.Hosts[3].Params["dirs"] = "2" },
		"another voter": func(p *plan.Plan) {
			p.Hosts = append(p.Hosts, plan.Host{ID: "c4", Kind: kindController, Params: plan.Params{"node_id": "4"}})
		},
		"back":         action("jump", plan.Params{"host": "c1", "by": "-50ms"}),
		"stop":         action("stop", plan.Params{"host": "c1"}),
		"clog":         action("clog", plan.Params{"add": "80ms"}),
		"tail":         func(p *plan.Plan) { p.Network.TailPpm, p.Network.TailUs = 10, 30_000 },
		"drift":        func(p *plan.Plan) { p.Hosts[0].DriftPpm = -300 },
		"slow client":  func(p *plan.Plan) { p.Workload[0].Params["period"] = "60s" },
		"longer storm": func(p *plan.Plan) { p.StormUs = 3_000_000 },
	} {
		require.Greater(t, bound(change), base, name)
	}
	require.Equal(t, base, bound(action("jump", plan.Params{"host": "c1", "by": "50ms"})), "a forward step makes timers early, not late")
	jumps := func(p *plan.Plan) {
		action("jump", plan.Params{"host": "c1", "by": "-50ms"})(p)
		action("jump", plan.Params{"host": "c2", "by": "-20ms"})(p)
	}
	require.Equal(t, base+50*million, bound(jumps), "the largest backward step is added, once")
}

// TestElectionRounds compares the integer arithmetic with the formula.
func TestElectionRounds(t *testing.T) {
	for voters := int64(1); voters <= 7; voters++ {
		for window := int64(10_000); window <= largestShare; window += 10_000 {
			got := electionRounds(voters, window)
			fail := 1 - math.Pow(1-float64(window)/1e6, float64(voters/2*2))
			require.LessOrEqual(t, math.Pow(fail, float64(got)), 1.0001e-12, "voters %d window %d", voters, window)
			if fail > 0 {
				exact := math.Log(1e-12) / math.Log(fail)
				require.LessOrEqual(t, float64(got), exact*1.01+3, "voters %d window %d", voters, window)
			}
		}
	}
	require.EqualValues(t, 2, electionRounds(1, 300_000))
}

// TestSplitVotes plays elections against an adversary and counts how long they take. The adversary orders all messages of
// a collision, chooses how far logs are apart and when timers began. Its chances must not exceed what the bound assumes:
// that m rounds in a row fail with a probability of at most 1-(1-w)^k to the power of m.
func TestSplitVotes(t *testing.T) {
	const trials = 20_000
	rng := rand.New(rand.NewSource(20260801))
	for _, voters := range []int{1, 2, 3, 4, 5} {
		for _, window := range []float64{0.05, 0.2, 0.4} {
			for _, logs := range []int{1, 2, 3} {
				exceeded := [8]int{}
				for range trials {
					rounds := newPoll(rng, voters, logs, window).play() / (2 + window)
					for m := 1; m < len(exceeded) && rounds > float64(m); m++ {
						exceeded[m]++
					}
				}
				fail := 1 - math.Pow(1-window, float64(voters/2*2))
				for m := 1; m < len(exceeded); m++ {
					limit := math.Pow(fail, float64(m))
					noise := 4*math.Sqrt(limit*(1-limit)/trials) + 1e-9
					require.LessOrEqual(t, float64(exceeded[m])/trials, limit+noise, "%d voters, window %.2f, %d logs, %d rounds", voters, window, logs, m)
				}
				if voters == 2 && window == 0.4 {
					require.Positive(t, exceeded[1], "the adversary does nothing at all")
				}
			}
		}
	}
}

// poll is a quorum without a leader. Times are in election timeouts.
type poll struct {
	rng      *rand.Rand
	window   float64
	log      []int     // rank of each voter's log
	deadline []float64 // of each voter's election timer
}

// newPoll begins with timers of any age, or all of one moment, as after a power loss.
func newPoll(rng *rand.Rand, voters, logs int, window float64) *poll {
	p := &poll{rng: rng, window: window}
	together := rng.Intn(2) == 0
	for range voters {
		p.log = append(p.log, rng.Intn(logs))
		age := 0.0
		if !together {
			age = rng.Float64()
		}
		p.deadline = append(p.deadline, 1+rng.Float64()-age)
	}
	return p
}

func (p *poll) fresh(now float64) float64 { return now + 1 + p.rng.Float64() }

// electable reports whether a majority would grant v a pre-vote.
func (p *poll) electable(v int) bool {
	n := 0
	for _, log := range p.log {
		if log <= p.log[v] {
			n++
		}
	}
	return n > len(p.log)/2
}

// play returns when a leader is elected.
func (p *poll) play() float64 {
	for {
		first := 0
		for v := range p.deadline {
			if p.deadline[v] < p.deadline[first] {
				first = v
			}
		}
		now := p.deadline[first]
		if !p.electable(first) { // the pre-vote is lost: a new timer, and nobody else notices
			p.deadline[first] = p.fresh(now)
			continue
		}
		var candidates []int
		for v := range p.deadline {
			if p.deadline[v] < now+p.window && p.electable(v) {
				candidates = append(candidates, v)
			}
		}
		votes, split := p.split(candidates)
		if !split {
			return now
		}
		for v := range p.deadline {
			switch {
			case votes[v] == v: // waits for the rest of its candidate's timer
				p.deadline[v] = p.fresh(p.deadline[v])
			case votes[v] >= 0: // granted: a new timer
				p.deadline[v] = p.fresh(now)
			}
		}
	}
}

// split looks for an order of arrival in which nobody gets a majority: votes[v] is whom v votes for, -1 for nobody.
func (p *poll) split(candidates []int) (votes []int, found bool) {
	votes = make([]int, len(p.log))
	for v := range votes {
		votes[v] = -1
	}
	for _, c := range candidates {
		votes[c] = c
	}
	return votes, p.assign(votes, candidates, 0)
}

func (p *poll) assign(votes, candidates []int, v int) bool {
	if v == len(votes) {
		for _, c := range candidates {
			n := 0
			for _, vote := range votes {
				if vote == c {
					n++
				}
			}
			if n > len(votes)/2 {
				return false
			}
		}
		return true
	}
	if votes[v] == v {
		return p.assign(votes, candidates, v+1)
	}
	able := false
	for _, c := range candidates {
		if p.log[c] >= p.log[v] {
			able = true
			votes[v] = c
			if p.assign(votes, candidates, v+1) {
				return true
			}
			votes[v] = -1
		}
	}
	return !able && p.assign(votes, candidates, v+1) // who rejects all of them keeps its timer
}

// TestCalmEndsBeforeItsBound runs real schedules. The bound is for one case in 1e12: the usual calm is far shorter.
func TestCalmEndsBeforeItsBound(t *testing.T) {
	const seeds = 8
	e := sim.NewEngine(Catalogue())
	for _, s := range all() {
		if strings.HasPrefix(s.Name(), "kafka/") {
			continue // a script ends before the calm
		}
		var worst, ended int64
		for seed := uint64(1); seed <= seeds; seed++ {
			p := s.Draw(seed)
			settings, err := readSettings(p)
			require.NoError(t, err)
			v := seedVerdict(t, e, s, seed)
			require.NotEqual(t, plan.Stuck, v.Outcome, "%s:%d", s.Name(), seed)
			if v.Outcome == plan.LegitimatelyStuck {
				continue // waits the bound out, since nobody is left that could end the calm: kip1262/t34
			}
			ended++
			calm := int64(v.VirtualUs-p.StormUs) * 1000
			worst = max(worst, calm/(settings.calmBoundNs(p)/million))
		}
		if s.Name() != kipFamily+"t22" { // whose expected outcome is that nobody can ever be elected
			require.Positive(t, ended, "%s: no calm ended, so nothing is known of their length", s.Name())
		}
		require.Less(t, worst, million/10, "%s: millionths of the bound; the page says that calms take a few hundredths", s.Name())
		t.Logf("%-22s longest calm: %d millionths of its bound", s.Name(), worst)
	}
}
