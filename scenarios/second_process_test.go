package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// unlocked is a disk whose locks keep nobody out.
type unlocked struct{ *vdisk.Handle }

func (unlocked) Lock(string) (bool, error) { return true, nil }

// TestSecondProcess: beside a living process the lock refuses, and the disk is as before; without the lock the same steps go through and
// write. A host that is down has nothing locked: the action says so, and so does one that names no node.
func TestSecondProcess(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	p := quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5")
	act(p, "one", secondProcessKind, 1_000_000, "host", "c1", "expect", saysLocked)
	act(p, "leader", secondProcessKind, 1_500_000, "host", targetLeader)
	act(p, "kill", "kill", 2_000_000, "host", "c2", "down", "500ms")
	act(p, "dead", secondProcessKind, 2_200_000, "host", "c2")
	linesReadBack(t, c.Registry, p)
	v := verdictOf(t, e, p, sim.Options{})
	require.Equal(t, []plan.Refused{{Action: "dead", Reason: "no node runs there: nothing is locked"}}, v.Refused)
	require.Equal(t, plan.OK, v.Outcome, "%v", v.Broken)
	require.EqualValues(t, 2, v.Stats["fault-"+secondProcessKind])
	require.EqualValues(t, 2, v.Evaluated[oneProcess.Name])
	answers, _ := ToolAnswers(c, p.Scenario)
	require.Len(t, answers, 2)
	for _, a := range answers {
		require.True(t, a.Refused)
		require.Contains(t, a.Lines[0], saysLocked+": stop that one, or set log.dirs to other directories: /data/dir0")
	}

	cl := clusterOf(c.Scenario(p.Scenario))
	h := cl.w.Host("c1")
	require.True(t, h.Up())
	before := h.Volume().AppendState(nil)
	handle := h.Volume().Handle(vdisk.Immediate{})
	passed, err := cl.startBeside(handle, &cl.hosts[h.Index()], 1)
	require.ErrorIs(t, err, startup.ErrLocked)
	require.False(t, passed)
	require.Equal(t, before, h.Volume().AppendState(nil))
	passed, err = cl.startBeside(unlocked{handle}, &cl.hosts[h.Index()], 1)
	require.NoError(t, err)
	require.True(t, passed)
	require.NotEqual(t, before, h.Volume().AppendState(nil))
}
