package sim_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// dialled runs n1, which dials a port of a host at 1 ms and sends on the connection each millisecond, against n2, which
// listens on port 1. It returns what n1 was told about connections, and when, in milliseconds.
type told struct {
	atMs    int64
	kind    sim.InputKind
	refused bool
}

func dialled(t *testing.T, p *plan.Plan, host string, port int32, sends bool) (log []told, received int) {
	t.Helper()
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			var c sim.Conn
			d := every(ms, func(env *sim.Env, n int64) error {
				if n == 1 {
					c = env.Dial(host, port)
				} else if sends {
					env.Send(c, msg{1, uint64(n)})
				}
				return nil
			})
			wake := d.input
			d.input = func(env *sim.Env, in *sim.Input) error {
				if in.Kind == sim.InConnected || in.Kind == sim.InDisconnected {
					require.Equal(t, c, in.Conn)
					log = append(log, told{w.NowNs() / ms, in.Kind, in.Refused})
				}
				return wake(env, in)
			}
			return d
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{
				boot: func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(_ *sim.Env, in *sim.Input) error {
					if in.Kind == sim.InMessage {
						received++
					}
					return nil
				},
			}
		})
	})
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	return log, received
}

func TestConnectionOpens(t *testing.T) {
	log, received := dialled(t, labPlan(1), "n2", 1, true)
	require.Equal(t, []told{{1, sim.InConnected, false}}, log)
	require.Greater(t, received, 90)
}

func TestConnectionIsRefusedWhereNothingListens(t *testing.T) {
	log, _ := dialled(t, labPlan(1), "n2", 2, false)
	require.Equal(t, []told{{1, sim.InDisconnected, true}}, log)
	log, _ = dialled(t, labPlan(1), "nowhere", 1, false)
	require.Equal(t, []told{{1, sim.InDisconnected, true}}, log, "a name that does not resolve")
	p := labPlan(1)
	p.StormUs = 5_000
	p.Hosts[1].StartUs = 1_000_000 // powered, but not booted yet
	log, _ = dialled(t, p, "n2", 1, false)
	require.Equal(t, []told{{1, sim.InDisconnected, true}}, log)
}

func TestKillResetsConnections(t *testing.T) {
	p := labPlan(1)
	act(p, 10, "kill", "host", "n2", "down", "5ms")
	log, received := dialled(t, p, "n2", 1, true)
	require.Equal(t, []told{{1, sim.InConnected, false}, {10, sim.InDisconnected, false}}, log)
	require.Less(t, received, 12, "a connection joins incarnations: the next one gets nothing on it")
}

func TestPowerLossLeavesConnectionsHalfOpen(t *testing.T) {
	p := labPlan(1)
	act(p, 10, "power", "hosts", "n2", "down", "20ms")
	log, received := dialled(t, p, "n2", 1, true)
	require.Equal(t, []told{{1, sim.InConnected, false}, {30, sim.InDisconnected, false}}, log,
		"nobody learns before the host has power again and answers with a reset")
	require.Less(t, received, 12)
	log, _ = dialled(t, p, "n2", 1, false)
	require.Len(t, log, 1, "who sends nothing never learns")
}

func TestDialTowardsNoPowerIsSilent(t *testing.T) {
	p := labPlan(1)
	p.StormUs = 20_000
	act(p, 0, "power", "hosts", "n2")
	log, _ := dialled(t, p, "n2", 1, false)
	require.Empty(t, log)
}

func TestPartitionLeavesConnectionsHalfOpen(t *testing.T) {
	p := labPlan(1)
	act(p, 5, "isolate", "host", "n2", "for", "30ms")
	act(p, 10, "kill", "host", "n2")
	log, _ := dialled(t, p, "n2", 1, true)
	require.Equal(t, []told{{1, sim.InConnected, false}, {35, sim.InDisconnected, false}}, log, "the reset is behind the cut")
}

func TestPauseLeavesConnectionsOpen(t *testing.T) {
	p := labPlan(1)
	act(p, 10, "pause", "host", "n2", "for", "30ms")
	log, received := dialled(t, p, "n2", 1, true)
	require.Len(t, log, 1)
	require.Greater(t, received, 90, "what arrived in the pause waits")
}

// A dial behind the cut of a crash never leaves the host.
func TestDialIsAnEffect(t *testing.T) {
	for _, crash := range []bool{false, true} {
		opened := false
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), func() sim.Process {
				return &program{boot: func(env *sim.Env) error {
					env.Spend(5 * ms)
					env.Dial("n2", 1)
					return nil
				}, input: func(_ *sim.Env, in *sim.Input) error { opened = in.Kind == sim.InConnected; return nil }}
			})
			w.Install(w.Host("n2"), func() sim.Process {
				return &program{boot: func(env *sim.Env) error { env.Listen(1, 0); return nil }}
			})
		})
		p := labPlan(1)
		p.StormUs = 20_000
		p.Network.TailPpm, p.Network.TailUs = 1_000_000, 1 // one decision for each packet
		if crash {
			act(p, 4, "kill", "host", "n1")
		}
		r, err := l.engine().Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, !crash, opened)
		require.Equal(t, !crash, r.Verdict.Stats["net-tails"] > 0, "%v", r.Verdict.Stats)
	}
}
