package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// race is a protocol with a bug of depth 1 or 2. n1 and n2 each take ten steps by posts to themselves, and share a cell as two threads would.
// Depth 1: n2's first step must not come before n1's first. Depth 2: n1 writes 1 in its fourth step and takes it back in its fifth, and
// n2 must not read the cell in between, which needs a change of turns at one place.
type race struct {
	depth int
	cell  *int64
	began *bool
	found *bool
}

const raceSteps = 10

func (r race) process(first bool) sim.Process {
	n := 0
	p := &program{}
	p.boot = func(env *sim.Env) error {
		if first {
			env.Post(0, msg{1, 0})
		} else { // in order of time n1 is through by then
			env.WakeAt(env.MonotonicNs() + 100*us)
		}
		return nil
	}
	p.input = func(env *sim.Env, in *sim.Input) error {
		if in.Kind != sim.InPost && in.Kind != sim.InWake {
			return nil
		}
		n++
		switch {
		case first && n == 1:
			*r.began = true
		case !first && n == 1 && r.depth == 1:
			*r.found = *r.found || !*r.began
		case first && n == 4:
			*r.cell = 1
		case first && n == 5:
			*r.cell = 0
		case !first && r.depth == 2 && *r.cell == 1:
			*r.found = true
		}
		if n < raceSteps {
			env.Post(0, msg{1, uint64(n)})
		}
		return nil
	}
	return p
}

// findings runs the race under a scheduler and counts the seeds that find the bug.
func findings(t *testing.T, depth int, s plan.Scheduler, seeds uint64) (found int) {
	t.Helper()
	var cell int64
	var began, hit bool
	r := race{depth: depth, cell: &cell, began: &began, found: &hit}
	e := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process { return r.process(true) })
		w.Install(w.Host("n2"), func() sim.Process { return r.process(false) })
	}).engine()
	for seed := uint64(1); seed <= seeds; seed++ {
		cell, began, hit = 0, false, false
		p := labPlan(seed)
		p.Scheduler = s
		_, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		if hit {
			found++
		}
	}
	return found
}

// What theory promises: at least 1/(n k^(d-1)) for n lanes and k choices. Order of time finds neither bug.
func TestPCTFindsBugsOfADepthWithTheKnownProbability(t *testing.T) {
	const seeds, lanes, choices = 2_000, 2, 2 * raceSteps
	window := int64(5_000)
	require.Zero(t, findings(t, 1, plan.Scheduler{}, 200))
	require.Zero(t, findings(t, 2, plan.Scheduler{}, 200))
	one := findings(t, 1, plan.Scheduler{Policy: "pct", Depth: 1, WindowUs: window}, seeds)
	require.InDelta(t, seeds/lanes, one, 120, "half of the seeds let n2 go first")
	require.Zero(t, findings(t, 2, plan.Scheduler{Policy: "pct", Depth: 1, WindowUs: window}, 500), "no change point, no bug of depth 2")
	two := findings(t, 2, plan.Scheduler{Policy: "pct", Depth: 2, Steps: choices, WindowUs: window}, seeds)
	require.GreaterOrEqual(t, two, seeds/(lanes*choices)*9/10, "theory: at least %d", seeds/(lanes*choices))
	require.Less(t, two, 4*seeds/(lanes*choices), "and not by accident")
	uniform := findings(t, 2, plan.Scheduler{Policy: "uniform", WindowUs: window}, 500)
	require.Positive(t, uniform)
}

// Nothing comes early, and nothing later than the window. Messages of a link keep their order; actions, boots and the calm keep their times.
func TestSchedulersKeepTheRulesOfTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]string{"pct", "uniform"}).Draw(t, "policy")
		window := rapid.Int64Range(0, 3_000).Draw(t, "window")
		p := labPlan(rapid.Uint64Range(1, 1<<20).Draw(t, "seed"))
		p.Network.JitterUs, p.Network.Transport = 0, "datagram"
		p.StormUs = 20_000
		p.Scheduler = plan.Scheduler{Policy: policy, WindowUs: window}
		if policy == "pct" {
			p.Scheduler.Depth, p.Scheduler.Steps = 3, 100
		}
		act(p, 7, "jump", "host", "n1", "by", "1ms")
		sent := map[uint64]int64{}
		last := uint64(0)
		var w0 *sim.World
		e := lab(func(w *sim.World) {
			w0 = w
			for _, h := range w.Hosts() {
				other := w.Hosts()[1-h.Index()].ID()
				w.Install(h, func() sim.Process {
					p := every(700*us, func(env *sim.Env, n int64) error {
						key := uint64(n)<<8 | uint64(h.Index())
						sent[key] = w.NowNs()
						env.SendTo(other, 1, msg{1, key})
						return nil
					})
					wake, boot := p.input, p.boot
					due := int64(0)
					p.boot = func(env *sim.Env) error { env.Listen(1, 0); due = w.NowNs() + 700*us; return boot(env) }
					p.input = func(env *sim.Env, in *sim.Input) error {
						if in.Kind == sim.InMessage {
							took := w.NowNs() - sent[in.Msg.Key()]
							if took < 100*us || took > 100*us+window*us+10*us {
								t.Fatalf("a message of 100us took %d ns under a window of %d us", took, window)
							}
							if h.Index() == 0 {
								if in.Msg.Key() < last {
									t.Fatalf("message %d after %d", in.Msg.Key(), last)
								}
								last = in.Msg.Key()
							}
						}
						if in.Kind == sim.InWake {
							if early := due - w.NowNs(); early > 0 {
								t.Fatalf("a wake-up came %d ns early", early)
							}
							due = w.NowNs() + 700*us
						}
						return wake(env, in)
					}
					return p
				})
			}
		}).engine()
		r, err := e.Run(p, sim.Options{Trace: func(l sim.TraceLine) {
			if l.What == "action" && l.AtUs != 7_000 || l.What == "calm" && l.AtUs != 20_000 {
				t.Fatalf("%s at %d us", l.What, l.AtUs)
			}
		}})
		if err != nil || r.Verdict.Outcome != plan.OK || w0 == nil {
			t.Fatalf("%v %v", err, r.Verdict)
		}
		sent, last = map[uint64]int64{}, 0
		again, _ := e.Run(p, sim.Options{})
		if again.Verdict.TraceHash != r.Verdict.TraceHash {
			t.Fatalf("another run")
		}
	})
}

// With a window of zero every policy is the order of time, as far as that says anything.
func TestNoWindowIsOrderOfTime(t *testing.T) {
	p := labPlan(3)
	plain, _ := pinged(t, p, nil)
	q := labPlan(3)
	q.Scheduler = plan.Scheduler{Policy: "pct"}
	pct, v := pinged(t, q, nil)
	require.Equal(t, plain, pct)
	require.Equal(t, plan.OK, v.Outcome)
}

func TestSchedulersInPlans(t *testing.T) {
	for text, s := range map[string]plan.Scheduler{
		"scheduler.policy":    {Policy: "fair"},
		"scheduler.window_us": {Policy: "pct", WindowUs: -1},
		"belong to uniform":   {Policy: "pct", Faults: 1},
		"belong to pct":       {Policy: "uniform", Depth: 2},
	} {
		p := labPlan(1)
		p.Scheduler = s
		_, err := lab(func(*sim.World) {}).engine().Run(p, sim.Options{})
		require.ErrorContains(t, err, text)
	}
}
