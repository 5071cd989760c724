package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// aimPlan is a cluster of three in which nothing goes wrong but what a test adds. Records are many to a batch.
func aimPlan(seed uint64) *plan.Plan {
	d := dice{seed: seed}
	p := &plan.Plan{Format: plan.Format, Scenario: "raft/storm-3", Seed: plan.Uint64(seed), Params: plan.Params{}}
	controllers(p, 3, 0, 1)
	d.identify(p)
	p.StormUs = 900_000
	p.Network.LatencyUs, p.Network.JitterUs = 300, 200
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs = 10_000, 200_000, 20_000
	p.Params["election_timeout_ms"], p.Params["fetch_timeout_ms"], p.Params["request_timeout_ms"] = "50", "50", "50"
	p.Params["append_linger_ms"], p.Params["fetch_max_wait_ms"], p.Params["retry_backoff_ms"] = "2", "20", "5"
	p.Workload = append(p.Workload, plan.Workload{ID: "writes", Kind: "config-writes", Params: plan.Params{"period": "5ms"}})
	return p
}

func aimAt(p *plan.Plan, atUs int64, line string) {
	a, err := Catalogue().Registry.ParseAction(micros(atUs) + " " + line)
	if err != nil {
		panic(err)
	}
	a.ID = "aim-" + number(int64(len(p.Actions)))
	p.Actions = append(p.Actions, a)
}

// aimRun runs a plan and returns its verdict and trace.
func aimRun(t *testing.T, p *plan.Plan) (v *plan.Verdict, lines []sim.TraceLine) {
	t.Helper()
	r, err := sim.NewEngine(Catalogue()).Run(p, sim.Options{Trace: func(l sim.TraceLine) {
		l.Disk, l.Seen, l.Message = nil, nil, nil
		lines = append(lines, l)
	}})
	require.NoError(t, err)
	require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
	return r.Verdict, lines
}

// leaderAt is who leads at a time, by the protocol events.
func leaderAt(lines []sim.TraceLine, atUs int64) (host string) {
	for _, l := range lines {
		if l.AtUs > atUs {
			break
		}
		if l.What == "protocol" && strings.HasPrefix(l.Text, raft.RoleChanged.String()+": leader,") {
			host = l.Host
		}
	}
	return host
}

func TestTargetsAreResolvedWhenTheirTimeComes(t *testing.T) {
	for seed := uint64(1); seed <= 5; seed++ {
		p := aimPlan(seed)
		aimAt(p, 1, "isolate host=leader for=1ms") // nobody leads yet
		aimAt(p, 300_000, "isolate host=leader for=200ms")
		aimAt(p, 600_000, "split hosts=quorum-minus-one for=50ms")
		aimAt(p, 800_000, "kill host=next-leader down=5ms")
		v, lines := aimRun(t, p)
		require.Equal(t, []plan.Refused{{Action: "aim-0", Reason: "nobody leads"}}, v.Refused)
		require.Len(t, v.Resolved, 3)
		first, last := leaderAt(lines, 300_000), leaderAt(lines, 800_000)
		require.Equal(t, first, v.Resolved[0].As[0].Params["host"])
		require.NotEqual(t, first, leaderAt(lines, 599_999), "who is cut off for four timeouts leads no more")
		require.Equal(t, leaderAt(lines, 600_000), v.Resolved[1].As[0].Params["hosts"], "one of three may be gone: the leader")
		next := v.Resolved[2].As[0].Params["host"]
		require.NotEqual(t, last, next)
		require.Contains(t, []string{"c1", "c2", "c3"}, next, "a voter")
		require.Empty(t, reSolve(t, p, v), "resolved, the plan is the same run")
	}
}

// reSolve puts into a plan what its actions came to, runs that, and returns how it differs.
func reSolve(t *testing.T, p *plan.Plan, v *plan.Verdict) string {
	t.Helper()
	q := *p
	q.Actions = nil
	for _, a := range p.Actions {
		keep := true
		for _, x := range v.Resolved {
			if x.Action == a.ID {
				keep = false
				q.Actions = append(q.Actions, x.As...)
			}
		}
		if keep {
			q.Actions = append(q.Actions, a)
		}
	}
	w, _ := aimRun(t, &q)
	require.Equal(t, v.Refused, w.Refused)
	if w.BehaviourHash != v.BehaviourHash {
		return "another behaviour"
	}
	return ""
}

func TestCrashAfterAnEvent(t *testing.T) {
	for _, on := range []string{"vote-persisted", "log-appended", "log-flushed", "role-changed"} {
		for _, how := range []string{"kill", "power"} {
			p := aimPlan(3)
			aimAt(p, 0, "crash-after on="+on+" n=2 op=2 how="+how+" down=30ms")
			v, lines := aimRun(t, p)
			require.Equal(t, int64(1), v.Stats["crash-after-"+on])
			require.Equal(t, int64(1), v.Stats["crashes-at-operation"])
			heard, downs := 0, 0
			for _, l := range lines {
				switch {
				case l.What == "protocol" && strings.HasPrefix(l.Text, on+":") && heard < 2:
					heard++
				case l.What == "down" && l.Host != "" && strings.Contains(l.Text, map[string]string{"kill": "killed", "power": "power lost"}[how]):
					downs++
					require.Equal(t, 2, heard, "%s: not before the second", on)
				}
			}
			require.Equal(t, 1, downs)
			require.Len(t, v.Resolved, 1)
			require.Equal(t, "crash-op", v.Resolved[0].As[0].Kind)
			require.Empty(t, reSolve(t, p, v))
		}
	}
	quiet, _ := aimRun(t, aimPlan(3))
	require.Zero(t, quiet.Stats["crashes-at-operation"], "without the action there is no crash")
}

// TestCrashAfterOnAHost: another host's events do not count.
func TestCrashAfterOnAHost(t *testing.T) {
	p := aimPlan(3)
	aimAt(p, 0, "crash-after on=log-appended host=b1")
	v, _ := aimRun(t, p)
	require.Equal(t, int64(1), v.Stats["crash-after"])
	require.Equal(t, "b1", v.Resolved[0].As[0].Params["host"])
}

// A torn batch leaves a file that ends inside a batch, behind whole records of it.
func TestTearCutsBetweenRecords(t *testing.T) {
	torn := 0
	for seed := uint64(1); seed <= 20; seed++ {
		p := aimPlan(seed)
		p.Params["append_linger_ms"], p.Workload[0].Params["period"] = "30", "1ms" // batches of many records
		aimAt(p, 0, "tear n=1 down=30ms")
		var kept []byte
		e := sim.NewEngine(Catalogue())
		r, err := e.Run(p, sim.Options{Trace: func(l sim.TraceLine) {
			if l.What == "disk" && l.Disk.Kind == vdisk.OpWrite && strings.HasSuffix(l.Disk.Path, ".log") {
				kept = append(kept[:0], l.Disk.Data...)
			}
			if l.What == "boot" && l.Boot > 2 && torn < int(seed) {
				torn = int(seed)
			}
		}})
		require.NoError(t, err)
		require.False(t, r.Verdict.Outcome.Finding(), "%v", r.Verdict.Broken)
		require.Equal(t, int64(1), r.Verdict.Stats["torn-batches"], "seed %d", seed)
		require.Equal(t, int64(1), r.Verdict.Stats["crashes-at-operation"])
		require.Positive(t, r.Verdict.Sometimes["recovery-cut-a-torn-tail"], "seed %d: %v", seed, r.Verdict.Sometimes)
	}
	quiet, _ := aimRun(t, aimPlan(1))
	require.Zero(t, quiet.Sometimes["recovery-cut-a-torn-tail"])
}

// Ways to tear are found by the records, wherever in the file the batch lies.
func TestTearing(t *testing.T) {
	batch := func(records, size int) []byte {
		var b record.Builder
		b.Reset(nil, record.BatchSpec{BaseOffset: 5, LeaderEpoch: 3, TimestampMs: 1_700_000_000_000})
		for range records {
			b.Add(nil, make([]byte, size))
		}
		return b.Finish()
	}
	_, ok := tearing(batch(1, 5_000), 0, 1)
	require.False(t, ok, "one record")
	_, ok = tearing(batch(3, 50), 0, 1)
	require.False(t, ok, "smaller than a sector")
	lost, ok := tearing(batch(3, 50), 512-150, 1)
	require.True(t, ok, "a sector ends in it")
	require.Equal(t, int64(1), lost)
	_, ok = tearing(batch(2, 600), 0, 1)
	require.True(t, ok, "the second record is torn")
	_, ok = tearing(batch(2, 600)[:61], 0, 1)
	require.False(t, ok, "a disk that was full")
	lost, ok = tearing(append(batch(1, 2_000), batch(9, 100)...), 0, 0)
	require.True(t, ok)
	require.LessOrEqual(t, lost, int64(2), "never in the first batch, of one record")
}

func TestFlapWithTheFetchTimeout(t *testing.T) {
	p := aimPlan(2)
	aimAt(p, 300_000, "flap from=leader to=c1,c2,c3,b1 of=fetch down=60 for=400ms")
	v, _ := aimRun(t, p)
	require.GreaterOrEqual(t, v.Stats["flaps"], int64(8))
	require.Equal(t, "50ms", v.Resolved[0].As[0].Params["period"])
	require.Empty(t, reSolve(t, p, v))
}

// Profiles draw all of them.
func TestProfilesDrawAims(t *testing.T) {
	seen := map[string]int{}
	for seed := uint64(1); seed <= 300; seed++ {
		for _, a := range Catalogue().Scenario("raft/storm-3").Draw(seed).Actions {
			seen[a.Kind]++
			for _, field := range []string{"host", "hosts", "from"} {
				seen[a.Params[field]]++
			}
		}
	}
	for _, want := range []string{crashAfterKind, tearKind, "flap", "split", targetLeader, targetNext, targetQuorum} {
		require.Greater(t, seen[want], 10, want)
	}
}
