package scenarios

import (
	"io/fs"
	"maps"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files/filestest"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// formatFixed draws ids from their keys and has a clock that stands still.
type formatFixed struct{}

func (formatFixed) Choose(_ format.Site, key uint64, n int64) int64 {
	return int64((key*0x9e3779b97f4a7c15 ^ key>>29) >> 17 % uint64(n))
}
func (formatFixed) NowMs() int64 { return 1_700_000_000_000 }

// formatted makes a tree as the format tool leaves it: node 7 of cluster C with dirs log directories, dir0 for metadata.
func formatted(t testing.TB, release string, dirs int, edit func(o *format.Options)) fstest.MapFS {
	t.Helper()
	rel, err := features.Find(release)
	require.NoError(t, err)
	cluster := "C"
	o := format.Options{Release: rel, Roles: format.Controller, NodeID: 7, MetadataDir: "/dir0", StaticVoters: true, Listener: listenerName,
		Host: "n7", Port: raftPort, ClusterID: &cluster}
	for d := range dirs {
		o.Directories = append(o.Directories, "/dir"+number(int64(d)))
	}
	if edit != nil {
		edit(&o)
	}
	m := filestest.NewMemory()
	_, err = format.Format(m, &o, format.Deps{Chooser: formatFixed{}, Clock: formatFixed{}})
	require.NoError(t, err)
	tree := fstest.MapFS{}
	for name, data := range m.Content {
		tree[strings.TrimPrefix(name, "/")] = &fstest.MapFile{Data: data, Mode: 0o444}
	}
	return tree
}

func dynamicOf(list string) func(o *format.Options) {
	return func(o *format.Options) { o.StaticVoters, o.InitialControllers = false, &list }
}

func standalone(o *format.Options) { o.StaticVoters, o.Standalone = false, true }

// bootTree runs a tree and looks at what became of the node.
func bootTree(t testing.TB, tree fs.FS, o FromOptions) (*FromResult, *plan.Verdict) {
	t.Helper()
	p, err := PlanFrom(tree, 1, o)
	require.NoError(t, err)
	return bootPlan(t, p)
}

func bootPlan(t testing.TB, p *plan.Plan) (*FromResult, *plan.Verdict) {
	t.Helper()
	c := Catalogue()
	run, err := sim.NewEngine(c).Run(p, sim.Options{})
	require.NoError(t, err)
	r, err := ResultOfFrom(c)
	require.NoError(t, err)
	return r, run.Verdict
}

// requireUp wants everything that exit code 0 promises.
func requireUp(t testing.TB, r *FromResult, v *plan.Verdict) {
	t.Helper()
	require.Equal(t, plan.OK, v.Outcome, "%v %v", v.Broken, v.Stopped)
	require.Empty(t, r.Missing)
	require.GreaterOrEqual(t, r.Leader, int32(0))
	require.Positive(t, r.MetadataVersion)
	require.Greater(t, r.HighWatermark, int64(1))
}

// exported is the result as a tree.
func exported(r *FromResult) fstest.MapFS {
	tree := fstest.MapFS{}
	for _, f := range r.Files {
		tree[f.Path] = &fstest.MapFile{Data: f.Content}
	}
	return tree
}

// with is a copy of a tree with some files changed; nil removes one.
func with(tree fstest.MapFS, changes map[string][]byte) fstest.MapFS {
	out := maps.Clone(tree)
	for name, data := range changes {
		if data == nil {
			delete(out, name)
			continue
		}
		out[path.Clean(name)] = &fstest.MapFile{Data: data}
	}
	return out
}
