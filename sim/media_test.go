package sim_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// recorder appends a sector with its number to a log each millisecond, makes it durable, and notes at each boot what it finds: by sector
// the number, -1 for zeros.
type recorder struct {
	found   [][]int64
	written int64 // that are durable, by the fsync's word
	failed  error
}

func (r *recorder) process() sim.Process {
	var fd int32
	p := every(ms, func(env *sim.Env, _ int64) error {
		size, err := env.Files().Size(fd)
		if err != nil {
			return err
		}
		b := make([]byte, vdisk.SectorSize)
		b[0], b[511] = 1, byte(size/vdisk.SectorSize)
		if err := errors.Join(env.Files().WriteAt(fd, b, size), env.Files().Sync(fd)); err != nil {
			r.failed = err
			return err
		}
		r.written = max(r.written, size/vdisk.SectorSize+1)
		return nil
	})
	wake := p.boot
	p.boot = func(env *sim.Env) (err error) {
		f := env.Files()
		if err := f.MkdirAll("/d"); err != nil {
			return err
		}
		if fd, err = f.Open("/d/a.log", true); err != nil {
			return err
		}
		size, _ := f.Size(fd)
		b := make([]byte, size)
		if size > 0 {
			if _, err := f.ReadAt(fd, b, 0); err != nil {
				return err
			}
		}
		var sectors []int64
		for at := int64(0); at+vdisk.SectorSize <= size; at += vdisk.SectorSize {
			if b[at] == 0 {
				sectors = append(sectors, -1)
			} else {
				sectors = append(sectors, int64(b[at+511]))
			}
		}
		r.found = append(r.found, sectors)
		if err := errors.Join(f.SyncDir("/d"), f.SyncDir("/")); err != nil {
			return err
		}
		return wake(env)
	}
	return p
}

// strayWatcher notes what went astray.
type strayWatcher struct {
	at       []vdisk.Flipped
	kinds    []vdisk.StrayKind
	restored int
}

func (c *strayWatcher) Attach(*sim.World) { *c = strayWatcher{} }
func (c *strayWatcher) OnStray(_ *sim.Host, kind vdisk.StrayKind, at vdisk.Flipped) {
	c.at, c.kinds = append(c.at, at), append(c.kinds, kind)
}
func (c *strayWatcher) OnRestore(*sim.Host) { c.restored++ }

func record(t *testing.T, p *plan.Plan) (*recorder, *strayWatcher, *plan.Verdict) {
	t.Helper()
	p.Unrestricted = true
	r, c := &recorder{}, &strayWatcher{}
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), r.process); w.Add(c) })
	return r, c, l.run(t, p)
}

func lostWrites(t *testing.T, on bool) (lost int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "lost-write", "host", "n1", "path", "/d", "suffix", ".log", "sectors", "3")
	}
	act(p, 50, "kill", "host", "n1", "down", "1ms")
	act(p, 60, "power", "hosts", "n1", "down", "1ms")
	r, c, v := record(t, p)
	require.NotContains(t, r.found[1], int64(-1), "the page cache hides it from the next process")
	for i, n := range r.found[2] {
		if n < 0 {
			lost++
			require.Contains(t, c.at, vdisk.Flipped{Path: "/d/a.log", Offset: int64(i) * vdisk.SectorSize})
		}
	}
	require.Equal(t, lost, v.Stats["sectors-lost"])
	require.Zero(t, v.Stats["sectors-misdirected"])
	require.NotContains(t, c.kinds, vdisk.MisdirectedSector)
	require.LessOrEqual(t, lost, int64(3))
	return lost
}

func misdirectedWrites(t *testing.T, on bool) (wrong int64) {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "misdirected-write", "host", "n1", "suffix", ".log")
	}
	act(p, 60, "power", "hosts", "n1", "down", "1ms")
	r, c, v := record(t, p)
	for i, n := range r.found[1] {
		if n >= 0 && n != int64(i) {
			wrong++
			require.Equal(t, int64(-1), r.found[1][n], "it is not where it belongs")
			require.Contains(t, c.at, vdisk.Flipped{Path: "/d/a.log", Offset: int64(i) * vdisk.SectorSize})
		}
	}
	require.Equal(t, wrong, v.Stats["sectors-misdirected"])
	require.Zero(t, v.Stats["sectors-lost"], "each has its own name")
	require.Len(t, c.kinds, int(2*wrong), "where it belongs, and where it lands")
	require.NotContains(t, c.kinds, vdisk.LostSector)
	return wrong
}

// The budget is asked when a sector is about to go astray, and the calm ends what has not happened by then.
func TestStraysAskTheBudget(t *testing.T) {
	for _, voters := range [][]string{nil, {"n1", "n2", "n3"}} {
		p := labPlan(1)
		act(p, 20, "lost-write", "host", "n1")
		r := &recorder{}
		l := lab(func(w *sim.World) {
			w.Install(w.Host("n1"), r.process)
			if voters != nil {
				w.Budget().SetVoters(voters)
			}
		})
		v := l.run(t, p)
		require.Equal(t, len(voters) > 0, v.Stats["sectors-lost"] == 1)
	}
}

func readOnly(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "read-only", "host", "n1", "for", "30ms")
		act(p, 60, "start", "host", "n1")
	}
	r, _, v := record(t, p)
	if !on {
		require.NoError(t, r.failed)
		return v.Stats["read-only-refusals"]
	}
	require.ErrorIs(t, r.failed, syscall.EROFS)
	require.Equal(t, int64(1), v.Stats["fatal-stops"])
	require.Len(t, r.found, 2)
	require.Greater(t, len(r.found[1]), 15, "what was there still is")
	return v.Stats["read-only-refusals"]
}

func restored(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 60, "restore", "host", "n1", "copied", "20ms", "down", "5ms")
		act(p, 10, "restore", "host", "n1", "copied", "20ms")
	} else {
		act(p, 60, "power", "hosts", "n1", "down", "5ms")
	}
	r, c, v := record(t, p)
	require.Len(t, r.found, 2)
	if !on {
		require.Zero(t, c.restored)
		return max(0, 58-int64(len(r.found[1])))
	}
	require.Equal(t, 1, c.restored)
	require.Equal(t, []plan.Refused{{Action: "restore-1", Reason: "no copy was taken before"}}, v.Refused)
	require.InDelta(t, 19, len(r.found[1]), 1, "what it had 20 ms after the start")
	return max(0, 58-int64(len(r.found[1])))
}

// cloned counts the boots of a host on the disk of another.
func cloned(t *testing.T, on bool) (wrong int64) {
	t.Helper()
	p := labPlan(1)
	p.Unrestricted = true
	if on {
		act(p, 20, "clone", "host", "n1", "of", "n2", "for", "30ms", "down", "5ms")
		act(p, 30, "clone", "host", "n2", "of", "n1")
		act(p, 31, "swap", "host", "n2", "with", "n1")
		act(p, 32, "restore", "host", "n1", "copied", "1ms")
	}
	boots := map[string][]string{}
	l := lab(func(w *sim.World) {
		clear(boots)
		for _, h := range w.Hosts() {
			w.Install(h, func() sim.Process { return identified(boots) })
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
		require.Equal(t, map[string][]string{"n1": {"n1", "n2", "n1"}, "n2": {"n2"}}, boots)
		require.Equal(t, []plan.Refused{{Action: "clone-1", Reason: "one of the disks is not its host's own"},
			{Action: "swap-2", Reason: "one of the disks is a clone"}, {Action: "restore-3", Reason: "its disk is not its own"}}, v.Refused)
	}
	return wrong
}

// identified writes the id of its host to an empty disk, and notes whose it finds.
func identified(boots map[string][]string) sim.Process {
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
		boots[env.HostID()] = append(boots[env.HostID()], string(b))
		return errors.Join(f.Sync(fd), f.SyncDir("/"))
	}}
}

// lateness counts receipts that took longer than two milliseconds.
func lateness(got []receipt) (late int64) {
	for _, r := range got {
		if r.took > 2*ms {
			late++
		}
	}
	return late
}

// throttled: 24 messages of 78 bytes in a second's hundredth are more than the link carries, in one direction.
func throttled(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		act(p, 20, "throttle", "from", "n1", "to", "n2", "bytes_per_second", "80000", "for", "15ms")
	}
	got, v := traffic(t, p)
	for _, r := range got {
		require.True(t, r.took < 2*ms || r.to == "n2" && r.at > 20*ms, "%+v", r)
	}
	require.Equal(t, on, v.Stats["net-queued"] > 0)
	require.Zero(t, v.Stats["net-overflows"])
	require.Equal(t, count(got, "n1", 2, 0, 1000), count(got, "n2", 2, 0, 1000), "a connection loses nothing")
	return lateness(got)
}

func bandwidth(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	if on {
		p.Network.BytesPerSecond = 100_000
	}
	got, _ := traffic(t, p)
	return lateness(got)
}

// queues: what finds one full is lost as a datagram, and late on a connection.
func queues(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	p.Network.BytesPerSecond = 100_000
	if on {
		p.Network.QueueBytes = 200
	}
	got, v := traffic(t, p)
	require.Equal(t, on, lateness(got) < 50, "who waits at all waits at the sender")
	return v.Stats["net-overflows"]
}

func crossRack(t *testing.T, on bool) (far int64) {
	t.Helper()
	p := labPlan(1)
	p.Hosts = append(p.Hosts[:1:1], plan.Host{ID: "n2", Kind: "node", Rack: "b"})
	p.Hosts[0].Rack = "a"
	if on {
		p.Network.CrossRackUs = 700
	}
	got, v := traffic(t, p)
	for _, r := range got {
		if r.took >= 800*us {
			far++
		}
	}
	p.Hosts[0].Rack = "b"
	near, _ := traffic(t, p)
	for _, r := range near {
		require.Less(t, r.took, 200*us)
	}
	require.Equal(t, on, v.Stats["net-cross-rack"] > 0)
	return far
}

// rackPower counts the hosts that a rack takes with it.
func rackPower(t *testing.T, on bool) int64 {
	t.Helper()
	p := labPlan(1)
	for i := range 3 {
		p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("m%d", i), Kind: "node"})
	}
	if on {
		p.Hosts[2].Rack, p.Hosts[3].Rack, p.Hosts[4].Rack = "r", "r", "q"
	}
	act(p, 20, "power", "rack", "r", "down", "5ms")
	act(p, 30, "power", "down", "5ms")
	act(p, 31, "power", "rack", "r", "hosts", "n1")
	l := lab(func(w *sim.World) {
		for _, h := range w.Hosts() {
			w.Install(h, func() sim.Process { return &program{} })
		}
	})
	v := l.run(t, p)
	refusals := []plan.Refused{{Action: "power-1", Reason: "name hosts or a rack, one of the two"},
		{Action: "power-2", Reason: "name hosts or a rack, one of the two"}}
	if !on {
		refusals = append([]plan.Refused{{Action: "power-0", Reason: "no host stands in rack r"}}, refusals...)
	}
	require.Equal(t, refusals, v.Refused)
	require.Equal(t, v.Stats["racks-without-power"]*2, v.Stats["power-losses"])
	return v.Stats["power-losses"]
}

// profile: what only the adversary does, zeros where data were never synced.
func profile(t *testing.T, on bool) (holes int64) {
	t.Helper()
	for seed := range uint64(20) {
		p := labPlan(seed)
		p.Disk.Profile = "ordered"
		if on {
			p.Disk.Profile = "posix"
		}
		act(p, 20, "power", "hosts", "n1", "down", "5ms")
		_, v := found(t, p)
		holes += v.Stats["sectors-with-holes"]
	}
	return holes
}

// failedSync writes once, fails its first fsync, syncs again, and counts the bytes that a power loss then leaves.
func failedSync(t *testing.T, on bool) (left int64) {
	t.Helper()
	p := labPlan(1)
	p.Disk.FailedSync = "drop"
	if on {
		p.Disk.FailedSync = "keep"
	}
	act(p, 5, "disk-error", "host", "n1", "on", "sync", "for", "10ms")
	act(p, 40, "power", "hosts", "n1", "down", "5ms")
	failures := int64(0)
	l := lab(func(w *sim.World) {
		w.Install(w.Host("n1"), func() sim.Process {
			var fd int32
			p := every(8*ms, func(env *sim.Env, n int64) error {
				if n == 1 {
					if err := env.Files().WriteAt(fd, []byte("12345678"), 0); err != nil {
						return err
					}
				}
				if env.Files().Sync(fd) != nil {
					failures++
				}
				return nil
			})
			wake := p.boot
			p.boot = func(env *sim.Env) (err error) {
				if fd, err = env.Files().Open("/f", true); err != nil {
					return err
				}
				left, _ = env.Files().Size(fd)
				if err := env.Files().SyncDir("/"); err != nil {
					return err
				}
				return wake(env)
			}
			return p
		})
	})
	v := l.run(t, p)
	require.Equal(t, int64(1), failures)
	require.Equal(t, on, v.Stats["fsyncs-kept-dirty"] == 1)
	return left
}
