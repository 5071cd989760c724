package scenarios

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

func TestSites(t *testing.T) {
	const dir = "/data/dir0/__cluster_metadata-0"
	for _, c := range []struct {
		kind vdisk.Kind
		path string
		want string
	}{
		{vdisk.OpWrite, dir + "/00000000000000000007.log", "segment write"},
		{vdisk.OpSyncFailed, dir + "/00000000000000000007.log", "segment fsync"},
		{vdisk.OpTruncate, dir + "/00000000000000000007.log", "segment truncate"},
		{vdisk.OpRemove, dir + "/00000000000000000007.log.deleted", "segment remove"},
		{vdisk.OpRename, dir + "/quorum-state.tmp", "quorum-state rename"},
		{vdisk.OpTruncate, dir + "/quorum-state.tmp", "quorum-state write"},
		{vdisk.OpCreate, dir + "/00000000000000000007-0000000002-81.checkpoint.part", "snapshot create"},
		{vdisk.OpRemove, dir + "/00000000000000000000-0000000000.checkpoint.deleted", "snapshot remove"},
		{vdisk.OpCreate, dir + "/00000000000000000000-0000000000-0.checkpoint.part", "bootstrap.checkpoint create"},
		{vdisk.OpRename, "/data/dir0/bootstrap.checkpoint.tmp", "bootstrap.checkpoint rename"},
		{vdisk.OpSyncDir, dir, "partition directory fsync"},
		{vdisk.OpMkdir, "/data/dir0", "log directory mkdir"},
		{vdisk.OpSync, "/data/dir0/meta.properties.tmp", "meta.properties fsync"},
		{vdisk.OpReset, dir + "/quorum-state", ""},
		{vdisk.OpWrite, "/elsewhere", ""},
	} {
		require.Equal(t, c.want, siteOf(c.kind, c.path), "%s %s", c.kind, c.path)
	}
}

// everySite notes where operations are made that no site has.
type everySite struct {
	known  []string
	struck map[string]bool
	strays []string
}

func (e *everySite) Attach(*sim.World) {}
func (e *everySite) OnDisk(_ *sim.Host, _ *vdisk.Volume, op *vdisk.Op) {
	if op.Kind == vdisk.OpReset || op.Kind == vdisk.OpVanish {
		return
	}
	if site := siteOf(op.Kind, op.Path); slices.Contains(e.known, site) {
		e.struck[site] = true
	} else {
		e.strays = append(e.strays, op.Kind.String()+" "+op.Path)
	}
}
func (e *everySite) OnDiskCrash(*sim.Host, *vdisk.Volume) {}

// Each change of a disk that raft and metadata make belongs to a site, and each site is one at which some run changes a disk.
func TestEveryDiskCallHasASite(t *testing.T) {
	e := &everySite{struck: map[string]bool{}}
	for _, s := range diskSites() {
		e.known = append(e.known, s.Name)
	}
	for _, name := range []string{"raft/snapshots", "raft/dynamic-3", "kip1262/final-mar", "bootstrap/golden", "kip1262/released"} {
		for seed := uint64(1); seed <= 4; seed++ {
			c := Catalogue()
			c.Scenarios = []sim.Scenario{&watched{scenario: *c.Scenario(name).(*scenario), checker: e}}
			verdictOf(t, sim.NewEngine(c), c.Scenarios[0].Draw(seed), sim.Options{})
		}
	}
	require.Empty(t, e.strays)
	for _, site := range e.known {
		require.True(t, e.struck[site], "nothing is ever done at %s", site)
	}
}

// watched is a scenario with a checker more.
type watched struct {
	scenario
	checker sim.Checker
}

func (s *watched) Build(w *sim.World, p *plan.Plan) error {
	w.Add(s.checker)
	return s.cluster.build(w, p)
}

// Crashes are counted at the operation that they are inside of, the one before and the one behind.
func TestCrashesAreCountedBySite(t *testing.T) {
	p := quietPlan("upstream-4.5", "upstream-4.5", "upstream-4.5")
	p.StormUs = 3_000_000
	p.Disk.SyncNs = 2_000_000
	for i := range 12 {
		p.Actions = append(p.Actions, plan.Action{ID: fmt.Sprintf("c%d", i), Kind: "crash-op", AtUs: plan.Int64(200_000 * (i + 1)),
			Params: plan.Params{"host": "c1", "n": "2", "down": "10ms"}})
	}
	v := verdictOf(t, sim.NewEngine(Catalogue()), p, sim.Options{})
	sums := map[string]int64{}
	for _, site := range diskSites() {
		for _, when := range []string{sim.SiteBefore, sim.SiteDuring, sim.SiteAfter} {
			sums[when] += v.Stats[sim.SiteStat(site.Name, when)]
		}
	}
	require.GreaterOrEqual(t, sums[sim.SiteDuring], v.Stats["crashes-at-operation"])
	require.Positive(t, sums[sim.SiteBefore])
	require.LessOrEqual(t, sums[sim.SiteAfter], v.Stats["crashes"])
	require.Positive(t, sums[sim.SiteAfter])
}

// Only writes that may reach beyond a sector leave parts, and the files of one sector are not among them.
func TestSitesThatMayLeaveAPart(t *testing.T) {
	var parts []string
	for _, s := range diskSites() {
		if s.Parts {
			parts = append(parts, s.Name)
		}
	}
	require.Equal(t, []string{"segment write", "snapshot write", "bootstrap.checkpoint write"}, parts)
}
