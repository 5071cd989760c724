package scenarios

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestNamelessMembersAreOwedNothing: below the level of the ClusterIdRecord a node that nobody formatted never registers; at the level it
// does, and so it does when it is formatted, and then members-stand asks for it.
func TestNamelessMembersAreOwedNothing(t *testing.T) {
	c := Catalogue()
	e := sim.NewEngine(c)
	const o1 = 1
	for _, x := range []struct {
		level, format string
		hazards       []string
	}{{"3.9", "none", []string{"hazard/X01-never-registers"}}, {"4.4-IV2", "none", []string{"hazard/X01-never-registers"}}, {"3.9", "", nil}, {"", "none", nil}} {
		p, err := plan.ReadFile(filepath.Join("testdata", "findings", "x01-never-registers.json"), c.Registry)
		require.NoError(t, err)
		if p.Params["level"] = x.level; x.level == "" {
			delete(p.Params, "level")
		}
		if p.Hosts[o1].Params["format"] = x.format; x.format == "" {
			delete(p.Hosts[o1].Params, "format")
		}
		r, err := e.Run(p, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, plan.OK, r.Verdict.Outcome, "%+v: %v", x, r.Verdict.Waiting)
		require.Equal(t, x.hazards, r.Verdict.HazardFingerprints(), "%+v", x)
		cl := &c.Scenario(p.Scenario).(*scenario).cluster
		require.Equal(t, x.hazards != nil, cl.membersOf.exempt(o1), "%+v", x)
		require.False(t, cl.membersOf.exempt(0))
		img := nodeOf(cl.work.active(0)).control.Image()
		require.NotNil(t, img.Controller(cl.hosts[0].nodeID))
		require.Equal(t, x.hazards == nil, img.Controller(cl.hosts[o1].nodeID) != nil, "%+v", x)
	}
}

// TestRefusedMembersAreOwedNothing: the leader made up an id before it heard of the one that two nodes were formatted with. They are refused
// for ever (T23), and nobody waits for them; of the others registrations are wanted.
func TestRefusedMembersAreOwedNothing(t *testing.T) {
	c := Catalogue()
	r, err := sim.NewEngine(c).Run(c.Scenario("kip1262/draft").Draw(494), sim.Options{})
	require.NoError(t, err)
	require.Equal(t, plan.OK, r.Verdict.Outcome, "%v", r.Verdict.Waiting)
	cl := &c.Scenario("kip1262/draft").(*scenario).cluster
	img := nodeOf(cl.work.active(0)).control.Image()
	refused := 0
	for i := range cl.hosts {
		e := &cl.hosts[i]
		if e.kind != kindController {
			continue
		}
		if cl.membersOf.exempt(i) {
			refused++
			require.Nil(t, img.Controller(e.nodeID), e.id)
			require.NotEqual(t, "none", e.format, e.id)
			continue
		}
		require.NotNil(t, img.Controller(e.nodeID), e.id)
	}
	require.Equal(t, 1, refused)
}

// TestUpgradeWaitsForItself: a static voter that nobody formatted registers when it knows the cluster id, the id comes with the level, and the
// level is refused while a voter has not registered.
func TestUpgradeWaitsForItself(t *testing.T) {
	c := Catalogue()
	p, err := plan.ReadFile(filepath.Join("testdata", "findings", "x01-upgrade-waits-for-itself.json"), c.Registry)
	require.NoError(t, err)
	refused := func() (times int, level int16) {
		e := sim.NewEngine(c)
		r, err := e.Run(p, sim.Options{Trace: func(l sim.TraceLine) {
			if strings.HasPrefix(l.Text, "op-done") && strings.Contains(l.Text, "INVALID_UPDATE_VERSION") {
				times++
			}
		}})
		require.NoError(t, err)
		require.Equal(t, plan.OK, r.Verdict.Outcome)
		cl := &c.Scenario(p.Scenario).(*scenario).cluster
		return times, nodeOf(cl.work.active(0)).control.Image().MetadataVersion()
	}
	times, level := refused()
	require.Greater(t, times, 5)
	require.EqualValues(t, 33, level)
	delete(p.Hosts[1].Params, "format")
	times, level = refused()
	require.Zero(t, times)
	require.EqualValues(t, 34, level)
}
