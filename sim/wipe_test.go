package sim_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// writesOnce writes and syncs /keep/a and /data/b once, and tells at each boot which of them it finds.
func writesOnce(found *[]string) func() sim.Process {
	return func() sim.Process {
		return &program{boot: func(env *sim.Env) error {
			seen := ""
			for _, dir := range []string{"/data", "/keep"} {
				f := env.Files()
				if fd, err := f.Open(dir+"/f", false); err == nil {
					b := make([]byte, 1)
					if _, err := f.ReadAt(fd, b, 0); err != nil {
						return err
					}
					seen += string(b)
					continue
				} else if !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				if err := f.MkdirAll(dir); err != nil {
					return err
				}
				fd, err := f.Open(dir+"/f", true)
				if err != nil {
					return err
				}
				if err := errors.Join(f.WriteAt(fd, []byte(dir[1:2]), 0), f.Sync(fd), f.SyncDir(dir), f.SyncDir("/")); err != nil {
					return err
				}
			}
			*found = append(*found, seen)
			return nil
		}}
	}
}

// wipedBytes counts the files that a node had made durable and does not find at its second start.
func wipedBytes(t *testing.T, on bool) int64 {
	t.Helper()
	var found []string
	p := labPlan(1)
	p.Unrestricted = true
	if on {
		act(p, 20, "wipe", "host", "n1", "path", "/data", "down", "5ms")
	} else {
		act(p, 20, "power", "hosts", "n1", "down", "5ms")
	}
	crashes := &crashWatcher{}
	l := lab(func(w *sim.World) { w.Install(w.Host("n1"), writesOnce(&found)); w.Add(crashes) })
	l.run(t, p)
	require.Len(t, found, 2)
	require.Equal(t, "", found[0])
	if on {
		require.Equal(t, "k", found[1], "below the path all is gone, elsewhere nothing")
		require.Equal(t, []bool{true, false}, crashes.hasData, "checkers read the volume again when the power is gone, and when the files are")
	}
	return int64(len("dk") - len(found[1]))
}

// crashWatcher notes at each OnDiskCrash whether /data/f is there.
type crashWatcher struct{ hasData []bool }

func (c *crashWatcher) Attach(*sim.World)                          { c.hasData = nil }
func (c *crashWatcher) OnDisk(*sim.Host, *vdisk.Volume, *vdisk.Op) {}
func (c *crashWatcher) OnDiskCrash(_ *sim.Host, v *vdisk.Volume) {
	_, ok := v.File("/data/f")
	_, durable := v.DurableFile("/data/f")
	c.hasData = append(c.hasData, ok || durable)
}

// A whole disk, of a host that is down already; and the budget has its say.
func TestWipeAsksTheBudget(t *testing.T) {
	var found []string
	for _, unrestricted := range []bool{false, true} {
		found = nil
		p := labPlan(1)
		p.Unrestricted = unrestricted
		act(p, 10, "kill", "host", "n1")
		act(p, 20, "wipe", "host", "n1", "down", "5ms")
		l := lab(func(w *sim.World) { w.Install(w.Host("n1"), writesOnce(&found)) })
		v := l.run(t, p)
		if unrestricted {
			require.Empty(t, v.Refused)
			require.Equal(t, []string{"", ""}, found)
			continue
		}
		require.Equal(t, []plan.Refused{{Action: "wipe-1", Reason: "the budget knows no voters yet"}}, v.Refused)
		require.Equal(t, []string{"", "dk"}, found)
	}
}
