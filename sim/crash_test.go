package sim_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// moment is one thing that left the handler under test, and when.
type moment struct {
	at   int64
	what string
}

// witness sees what leaves n1, as any checker does.
type witness struct {
	w    *sim.World
	seen []moment
	down bool
}

func (c *witness) note(format string, args ...any) {
	c.seen = append(c.seen, moment{c.w.NowNs(), fmt.Sprintf(format, args...)})
}

func (c *witness) Attach(w *sim.World)                       { *c = witness{w: w} }
func (c *witness) OnProtocol(_ *sim.Host, o sim.Observation) { c.note("observe %d", o.(msg).key) }
func (c *witness) OnSend(_, _ *sim.Host, m sim.Message)      { c.note("send %d", m.Key()) }
func (c *witness) OnDisk(_ *sim.Host, _ *vdisk.Volume, op *vdisk.Op) {
	if !c.down && op.Kind <= vdisk.OpSyncDir {
		c.note("%s %s", op.Kind, op.Path)
	}
}
func (c *witness) OnDiskCrash(*sim.Host, *vdisk.Volume)  {}
func (c *witness) OnBoot(*sim.Host)                      {}
func (c *witness) OnDown(*sim.Host, sim.DownKind, error) { c.down = true }

const crashAt = 1_000_000 // when the handler under test starts

// handler is one of each effect, before and after disk operations of a few hundred nanoseconds.
func handler(env *sim.Env, fd int32) error {
	files := env.Files()
	env.Observe(msg{9, 1})
	env.SendTo("n2", 1, msg{1, 1})
	if err := files.WriteAt(fd, []byte("one"), 0); err != nil {
		return err
	}
	env.SendTo("n2", 1, msg{1, 2})
	env.Post(1, msg{2, 1})
	if err := files.Sync(fd); err != nil {
		return err
	}
	env.Observe(msg{9, 2})
	env.SendTo("n2", 1, msg{1, 3})
	if err := files.WriteAt(fd, []byte("two"), 3); err != nil {
		return err
	}
	env.Spend(37)
	env.SendTo("n2", 1, msg{1, 4})
	if _, err := files.Open("/new", true); err != nil {
		return err
	}
	if err := files.SyncDir("/"); err != nil {
		return err
	}
	env.Post(1, msg{2, 2})
	env.SendTo("n2", 1, msg{1, 5})
	return nil
}

// outcome is what is left of a run with the handler.
type outcome struct {
	seen    []moment
	posts   []uint64 // that reached the other lane
	arrived []uint64 // at n2
	file    string   // after the crash
	created bool
	verdict *plan.Verdict
}

// crashed runs the handler; arrange is called with the plan before the run, and with the world in Build.
func crashed(t *testing.T, seed uint64, arrange func(w *sim.World, p *plan.Plan)) (out outcome) {
	t.Helper()
	p := labPlan(seed)
	p.Disk = plan.Disk{WriteNs: 110, SyncNs: 230, MetadataNs: 120}
	p.StormUs = 3_000
	p.Hosts[0].StartUs = 500
	c := &witness{}
	l := lab(func(w *sim.World) {
		w.Add(c)
		w.Install(w.Host("n1"), func() sim.Process {
			var fd int32
			return &program{
				boot: func(env *sim.Env) (err error) {
					env.Lanes("main", "other")
					if env.Host().Boot() > 1 {
						return nil
					}
					if fd, err = env.Files().Open("/f", true); err != nil {
						return err
					}
					return env.Files().SyncDir("/")
				},
				input: func(env *sim.Env, in *sim.Input) error {
					if env.Lane() == 1 {
						out.posts = append(out.posts, in.Msg.Key())
						return nil
					}
					return handler(env, fd)
				},
			}
		})
		w.Install(w.Host("n2"), func() sim.Process {
			return &program{
				boot:  func(env *sim.Env) error { env.Listen(1, 0); return nil },
				input: func(_ *sim.Env, in *sim.Input) error { out.arrived = append(out.arrived, in.Msg.Key()); return nil },
			}
		})
		w.At(crashAt, 1, 1, func() { w.Request(w.Host("n1"), 0, msg{1, 0}) })
		w.At(2*ms, 1, 2, func() {
			file, _ := w.Host("n1").Volume().File("/f")
			out.file = string(file)
			_, out.created = w.Host("n1").Volume().File("/new")
		})
		arrange(w, p)
	})
	arrange(nil, p)
	out.verdict = l.run(t, p)
	for _, m := range c.seen {
		if m.at >= crashAt {
			out.seen = append(out.seen, m)
		}
	}
	return out
}

// A power loss or a kill at every single nanosecond of a handler leaves exactly the prefix of its effects that was committed.
func TestCrashAtAnyInstant(t *testing.T) {
	free := crashed(t, 1, func(*sim.World, *plan.Plan) {})
	require.Len(t, free.seen, 13-1, "%v", free.seen)
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, free.arrived)
	end := free.seen[len(free.seen)-1].at
	for _, power := range []bool{true, false} {
		for at := int64(crashAt - 1); at <= end+1; at++ {
			got := crashed(t, uint64(at), func(w *sim.World, _ *plan.Plan) {
				if w != nil {
					w.At(at, 1, 3, func() { w.Crash(w.Host("n1"), power) })
				}
			})
			checkPrefix(t, free.seen, got, at, power)
		}
	}
}

func checkPrefix(t *testing.T, free []moment, got outcome, at int64, power bool) {
	t.Helper()
	least, most := 0, 0
	for _, m := range free {
		if m.at < at {
			least++
		}
		if m.at <= at {
			most++
		}
	}
	n := len(got.seen)
	if n > most && !power { // the operation in progress at a kill took effect: the volume tells so at the time of the crash
		require.Equal(t, moment{at, free[n-1].what}, got.seen[n-1])
		require.NotContains(t, got.seen[n-1].what, "send")
		require.LessOrEqual(t, free[n-1].at-230, at)
		got.seen = got.seen[:n-1]
		n--
	}
	require.GreaterOrEqual(t, n, least, "crash at %d: %v", at, got.seen)
	require.LessOrEqual(t, n, most, "crash at %d: %v", at, got.seen)
	if n > 0 {
		require.Equal(t, free[:n], got.seen, "crash at %d", at)
	}
	has := map[string]bool{}
	sent := []uint64(nil)
	for _, m := range got.seen {
		has[m.what] = true
		var key uint64
		if k, _ := fmt.Sscanf(m.what, "send %d", &key); k == 1 {
			sent = append(sent, key)
		}
	}
	require.Equal(t, sent, got.arrived, "what left arrives, what did not leave does not")
	checkVolume(t, has, got, free, at, power)
}

func checkVolume(t *testing.T, has map[string]bool, got outcome, free []moment, at int64, power bool) {
	t.Helper()
	begun := func(what string) bool { // the last operation of that kind was in progress at least
		last := int64(0)
		for _, m := range free {
			if m.what == what {
				last = m.at
			}
		}
		return at >= last-230
	}
	switch writes := countWrites(got.seen); {
	case has["sync /f"]:
		require.Contains(t, []string{"one", "onetwo"}, got.file, "crash at %d", at)
		if writes == 2 && !power {
			require.Equal(t, "onetwo", got.file)
		}
		if !begun("write /f") {
			require.Equal(t, "one", got.file)
		}
	case writes == 1 && !power:
		require.Equal(t, "one", got.file)
	default:
		require.Contains(t, []string{"", "one"}, got.file, "crash at %d", at)
	}
	if has["sync-dir /"] || has["create /new"] && !power {
		require.True(t, got.created, "crash at %d", at)
	}
	if !begun("create /new") {
		require.False(t, got.created, "crash at %d: a file from the future", at)
	}
}

func countWrites(seen []moment) (n int) {
	for _, m := range seen {
		if m.what == "write /f" {
			n++
		}
	}
	return n
}

// A crash at the k-th disk operation leaves the k-1 before it, the k-th in progress, and nothing behind it.
func TestCrashAtEachOperation(t *testing.T) {
	ops := []string{"write /f", "sync /f", "write /f", "create /new", "sync-dir /"}
	for _, how := range []string{"kill", "power"} {
		happened := map[int]map[bool]bool{}
		for k := 1; k <= len(ops)+1; k++ {
			happened[k] = map[bool]bool{}
			for seed := range uint64(30) {
				got := crashed(t, seed, func(w *sim.World, p *plan.Plan) {
					if w == nil {
						p.Actions = []plan.Action{{ID: "c", AtUs: 900, Kind: "crash-op",
							Params: plan.Params{"host": "n1", "n": fmt.Sprint(k), "how": how}}}
					}
				})
				require.Equal(t, k <= len(ops), got.verdict.Stats["crashes-at-operation"] == 1)
				disk := []string{}
				sends := 0
				for _, m := range got.seen {
					switch m.what[:4] {
					case "send":
						sends++
					case "obse":
					default:
						disk = append(disk, m.what)
					}
				}
				if k > len(ops) {
					require.Equal(t, ops, disk)
					continue
				}
				require.GreaterOrEqual(t, len(disk), k-1)
				require.Equal(t, ops[:k-1], disk[:k-1])
				require.Equal(t, []int{1, 2, 3, 4, 4}[k-1], sends, "operation %d", k)
				if k == 4 {
					happened[k][got.created] = true
				}
			}
		}
		require.Len(t, happened[4], 2, "%s: an operation in progress may happen, or not: %v", how, happened)
	}
}
