package sim_test

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// zeros writes 64 durable zeros to two files once, and counts at each boot and each millisecond the bits that are one.
func zeros(ones *[]int64) func() sim.Process {
	return func() sim.Process {
		count := func(env *sim.Env) error {
			n := int64(0)
			for _, path := range []string{"/d/a.log", "/d/b.txt"} {
				fd, err := env.Files().Open(path, false)
				if err != nil {
					return err
				}
				b := make([]byte, 64)
				if _, err := env.Files().ReadAt(fd, b, 0); err != nil {
					return err
				}
				for _, x := range b {
					n += int64(bits.OnesCount8(x))
				}
				if err := env.Files().Close(fd); err != nil {
					return err
				}
			}
			*ones = append(*ones, n)
			return nil
		}
		p := every(ms, func(env *sim.Env, _ int64) error { return count(env) })
		wake := p.boot
		p.boot = func(env *sim.Env) error {
			f := env.Files()
			if err := f.MkdirAll("/d"); err != nil {
				return err
			}
			for _, path := range []string{"/d/a.log", "/d/b.txt"} {
				fd, err := f.Open(path, true)
				if err != nil {
					return err
				}
				if size, err := f.Size(fd); err != nil || size > 0 {
					continue
				}
				if err := f.WriteAt(fd, make([]byte, 64), 0); err != nil {
					return err
				}
				if err := f.Sync(fd); err != nil {
					return err
				}
				if err := f.Close(fd); err != nil {
					return err
				}
			}
			if err := f.SyncDir("/d"); err != nil {
				return err
			}
			if err := f.SyncDir("/"); err != nil {
				return err
			}
			return wake(env)
		}
		return p
	}
}

// flipWatcher notes what flipped.
type flipWatcher struct{ at []vdisk.Flipped }

func (c *flipWatcher) Attach(*sim.World)                    { c.at = nil }
func (c *flipWatcher) OnFlip(_ *sim.Host, at vdisk.Flipped) { c.at = append(c.at, at) }

func flipRun(t *testing.T, do func(p *plan.Plan)) (ones []int64, at []vdisk.Flipped, v *plan.Verdict) {
	t.Helper()
	p := labPlan(1)
	p.Unrestricted = true
	do(p)
	watcher := &flipWatcher{}
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), zeros(&ones)); w.Add(watcher) })
	v = l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	return ones, watcher.at, v
}

func flippedBits(t *testing.T, on bool) int64 {
	t.Helper()
	ones, at, v := flipRun(t, func(p *plan.Plan) {
		if on {
			act(p, 20, "flip", "host", "n1", "path", "/d", "suffix", ".log", "first", "8", "length", "2", "bits", "1")
		}
	})
	require.Equal(t, v.Stats["bits-flipped"], int64(len(at)))
	for _, f := range at {
		require.Equal(t, "/d/a.log", f.Path)
		require.Contains(t, []int64{8, 9}, f.Offset)
	}
	require.Zero(t, ones[10], "before")
	return ones[len(ones)-1]
}

// What the page cache holds hides a flipped bit until a power loss; a kill does not take the cache.
func TestFlipUnderTheCache(t *testing.T) {
	for _, c := range []struct {
		kind, hosts string
		want        int64
	}{{"kill", "host", 0}, {"power", "hosts", 3}} {
		ones, at, _ := flipRun(t, func(p *plan.Plan) {
			act(p, 20, "flip", "host", "n1", "path", "/d/b.txt", "bits", "3", "cached", "yes")
			act(p, 30, c.kind, c.hosts, "n1", "down", "5ms")
		})
		require.Len(t, at, 3)
		require.Zero(t, ones[25], "the cache hides it")
		require.Equal(t, c.want, ones[len(ones)-1], c.kind)
	}
}

func TestFlipRefusals(t *testing.T) {
	_, _, v := flipRun(t, func(p *plan.Plan) {
		act(p, 20, "flip", "host", "n1", "path", "/nowhere")
		act(p, 22, "flip", "host", "n1", "path", "/d", "first", "64")
	})
	require.Equal(t, []plan.Refused{{Action: "flip-0", Reason: "nothing durable lies there"},
		{Action: "flip-1", Reason: "nothing durable lies there"}}, v.Refused)
	for _, bits := range []string{"0", "1001", "-1"} {
		p := labPlan(1)
		act(p, 20, "flip", "host", "n1", "bits", bits)
		require.ErrorContains(t, plan.Validate(p, sim.NewRegistry()), "actions[0].params.bits: "+bits+" is not in the range from 1 to 1000")
	}
	_, _, v = flipRun(t, func(p *plan.Plan) {
		p.Unrestricted = false
		act(p, 20, "flip", "host", "n1")
	})
	require.Equal(t, []plan.Refused{{Action: "flip-0", Reason: "the budget knows no voters yet"}}, v.Refused)
}

// swappedDisks counts the boots at which a host found the name of the other.
func swappedDisks(t *testing.T, on bool) (wrong int64) {
	t.Helper()
	p := labPlan(1)
	p.Unrestricted = true
	if on {
		act(p, 20, "swap", "host", "n1", "with", "n2", "for", "30ms", "down", "5ms")
		act(p, 30, "swap", "host", "n2", "with", "n1")
		act(p, 31, "disk-full", "host", "n2", "free", "0")
	}
	boots := map[string][]string{}
	l := lab(func(w *sim.World) {
		clear(boots)
		for _, h := range w.Hosts() {
			w.Install(h, func() sim.Process {
				return &program{boot: func(env *sim.Env) error {
					f := env.Files()
					fd, err := f.Open("/who", true)
					if err != nil {
						return err
					}
					b := make([]byte, 2)
					if n, _ := f.ReadAt(fd, b, 0); n == 0 {
						b = []byte(env.HostID())
						if err := f.WriteAt(fd, b, 0); err != nil {
							return err
						}
					}
					if err := f.Sync(fd); err != nil {
						return err
					}
					boots[env.HostID()] = append(boots[env.HostID()], string(b))
					return f.SyncDir("/")
				}}
			})
		}
	})
	v := l.run(t, p)
	for id, found := range boots {
		require.Equal(t, id, found[len(found)-1], "the calm has the disks where they belong")
		for _, who := range found {
			if who != id {
				wrong++
			}
		}
	}
	if on {
		require.Equal(t, []plan.Refused{{Action: "swap-1", Reason: "swapped already"},
			{Action: "disk-full-2", Reason: "its disk is in another host"}}, v.Refused)
		require.Equal(t, []string{"n1", "n2", "n1"}, boots["n1"])
	}
	return wrong
}

func diskStuck(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "disk-stuck", "host", "n1", "on", "sync", "for", "30ms")
	}
	took := longestSync(t, p)
	require.Less(t, took, 31*ms)
	return took/us - 11
}

// A disk that is stuck to the end of the storm lets go in the calm.
func TestStuckDiskInTheCalm(t *testing.T) {
	p := labPlan(1)
	act(p, 20, "disk-stuck", "host", "n1", "on", "all")
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), writer(new([]int64))) })
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	require.Positive(t, v.Stats["disk-stalls"])
}

// wrongNames counts connections that were refused, late or led to somebody else, while a resolver is wrong.
func wrongNames(t *testing.T, on bool) (wrong int64) {
	t.Helper()
	for _, how := range []string{"never", "other", "late"} {
		n := dialed(t, how, on)
		if on {
			require.Positive(t, n, how)
		}
		wrong += n
	}
	return wrong
}

// dialed dials n2 each millisecond, from n1, and counts what is not an answer of n2 within a millisecond.
func dialed(t *testing.T, how string, on bool) (wrong int64) {
	t.Helper()
	p := labPlan(1)
	p.Hosts = append(p.Hosts, plan.Host{ID: "n3", Kind: "node"})
	if on {
		params := []string{"host", "n2", "how", how, "for", "20ms", "seen", "n1"}
		if how == "other" {
			params = append(params, "to", "n3")
		}
		if how == "late" {
			params = append(params, "add", "5ms")
		}
		act(p, 20, "names", params...)
	}
	at := map[sim.Conn]int64{}
	broken := int64(0)
	l := lab(func(w *sim.World) {
		clear(at)
		for _, h := range w.Hosts() {
			if h.ID() != "n1" {
				w.Install(h, func() sim.Process {
					return &program{boot: func(env *sim.Env) error { env.Listen(1, 0); return nil }}
				})
				continue
			}
			w.Install(h, func() sim.Process {
				p := every(ms, func(env *sim.Env, _ int64) error { at[env.Dial("n2", 1)] = w.NowNs(); return nil })
				wake := p.input
				p.input = func(env *sim.Env, in *sim.Input) error {
					switch in.Kind {
					case sim.InDisconnected:
						if in.Refused {
							wrong++
						} else {
							broken++
						}
					case sim.InConnected:
						if in.From != "n2" || w.NowNs()-at[in.Conn] > ms {
							wrong++
						}
					}
					return wake(env, in)
				}
				return p
			})
		}
	})
	v := l.run(t, p)
	require.Equal(t, plan.OK, v.Outcome)
	require.Equal(t, on, v.Stats["names-wrong"] > 0)
	require.Equal(t, on && how == "other", broken > 0, "what led astray breaks when the fault is over")
	return wrong
}

// letter is a message of bytes, in the form in which it travels.
type letter struct{ bytes [4]byte }

func (*letter) Kind() uint32               { return 5 }
func (*letter) Key() uint64                { return 0 }
func (l *letter) AppendTo(b []byte) []byte { return append(b, l.bytes[:]...) }
func (l *letter) Carried() sim.Message     { return msg{5, uint64(l.bytes[0])} }
func (l *letter) Bits() int64              { return 32 }
func (l *letter) Flip(bit int64) vnet.Payload {
	c := *l
	c.bytes[bit/8] ^= 1 << (bit % 8)
	return &c
}

// corrupted counts letters that arrive with one bit that is one, by connection and as datagrams.
func corrupted(t *testing.T, on bool) (damaged int64) {
	t.Helper()
	for _, poison := range []bool{false, true} {
		n := int64(0)
		p := labPlan(1)
		if on {
			p.Network.CorruptPpm = 200_000
		}
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n2"), func() sim.Process {
				return &program{
					boot: func(env *sim.Env) error { env.Listen(1, 0); return nil },
					input: func(_ *sim.Env, in *sim.Input) error {
						ones := 0
						if in.Kind != sim.InMessage {
							return nil
						}
						for _, b := range in.Msg.(*letter).bytes {
							ones += bits.OnesCount8(b)
						}
						require.LessOrEqual(t, ones, 1)
						n += int64(ones)
						return nil
					}}
			})
			w.Install(w.Host("n1"), func() sim.Process {
				var conn sim.Conn
				return every(ms, func(env *sim.Env, i int64) error {
					if i == 1 {
						conn = env.Dial("n2", 1)
						require.Equal(t, "n2", env.Peer(conn).ID())
						require.Nil(t, env.Peer(conn+1))
					}
					env.Send(conn, &letter{})
					env.SendTo("n2", 1, &letter{})
					return nil
				})
			})
			w.Add(sendWatcher{t})
		})
		r, err := l.engine().Run(p, sim.Options{Poison: poison})
		require.NoError(t, err)
		require.InDelta(t, r.Verdict.Stats["net-corrupted"], n, 1, "one may be under way at the end")
		if on {
			require.Positive(t, n)
		}
		damaged += n
	}
	return damaged
}

// sendWatcher is shown what letters carry.
type sendWatcher struct{ t *testing.T }

func (sendWatcher) Attach(*sim.World)                      {}
func (c sendWatcher) OnSend(_, _ *sim.Host, m sim.Message) { require.IsType(c.t, msg{}, m) }
