package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Row by row of metadata-bootstrap 3.3 in each variant. before is the committed log as "|"-separated batches.
func TestActivationRecords(t *testing.T) {
	begin := &records.BeginTransactionRecord{Name: &bootstrapTransaction}
	for _, c := range []struct {
		name      string
		variant   Variant
		release   string
		bootstrap []records.Record
		clusterID string
		before    []records.Record
		want      string
		fatal     string
	}{
		{name: "row 1", variant: Released, want: "begin:Bootstrap records metadata.version=33 end"},
		{
			name: "row 1, scram after features", variant: Released,
			bootstrap: []records.Record{level("metadata.version", 33), level("group.version", 1), scram()},
			want:      "begin:Bootstrap records metadata.version=33 group.version=1 scram:u end",
		},
		{
			name: "row 1, elr", variant: Released,
			bootstrap: []records.Record{level("metadata.version", 33), level("eligible.leader.replicas.version", 1)},
			want: "begin:Bootstrap records metadata.version=33 eligible.leader.replicas.version=1 " +
				"config:min.insync.replicas=1 end",
		},
		{
			name: "row 2", variant: Released, bootstrap: []records.Record{level("metadata.version", 12)},
			want: "metadata.version=12",
		},
		{
			name: "row 3", variant: Released, before: []records.Record{begin},
			want: "abort:Controller failover begin:Bootstrap records metadata.version=33 end",
		},
		{
			name: "row 3, the trap: the version belongs to the open transaction", variant: Released,
			before: []records.Record{begin, level("metadata.version", 33)},
			want:   "abort:Controller failover begin:Bootstrap records metadata.version=33 end",
		},
		{
			name: "row 4", variant: Released, bootstrap: []records.Record{level("metadata.version", 12)},
			before: []records.Record{begin}, fatal: "has no transactions",
		},
		{name: "row 5", variant: Released, before: []records.Record{level("metadata.version", 33)}, want: ""},
		{
			name: "row 6", variant: Released, before: []records.Record{level("metadata.version", 20), begin, scram()},
			want: "abort:Controller failover",
		},
		{
			name: "row 7", variant: Released, before: []records.Record{level("metadata.version", 12), begin},
			fatal: "has no transactions",
		},
		{
			name: "no version among the bootstrap records", variant: Released, bootstrap: []records.Record{scram()},
			fatal: "no metadata.version",
		},

		{
			name: "draft, formatted without a checkpoint", variant: Draft, clusterID: "X",
			want: "begin:Bootstrap records metadata.version=34 id:X end",
		},
		{
			name: "draft, id of the checkpoint", variant: Draft,
			bootstrap: []records.Record{level("metadata.version", 34), &records.ClusterIdRecord{ClusterId: "Y"}, scram()},
			want:      "begin:Bootstrap records metadata.version=34 id:Y scram:u end",
		},
		{
			name: "draft, both alike", variant: Draft, clusterID: "Y",
			bootstrap: []records.Record{level("metadata.version", 34), &records.ClusterIdRecord{ClusterId: "Y"}},
			want:      "begin:Bootstrap records metadata.version=34 id:Y end",
		},
		{
			name: "draft, both different", variant: Draft, clusterID: "X",
			bootstrap: []records.Record{level("metadata.version", 34), &records.ClusterIdRecord{ClusterId: "Y"}},
			fatal:     "meta.properties have cluster id",
		},
		{
			name: "draft, no id anywhere", variant: Draft,
			bootstrap: []records.Record{level("metadata.version", 34), level("group.version", 1), scram()},
			want:      "begin:Bootstrap records metadata.version=34 group.version=1 id:? scram:u end",
		},
		{
			name: "draft, below the level", variant: Draft, clusterID: "X",
			bootstrap: []records.Record{level("metadata.version", 33)},
			want:      "begin:Bootstrap records metadata.version=33 end",
		},
		{
			name: "draft, id below its level", variant: Draft,
			bootstrap: []records.Record{level("metadata.version", 33), &records.ClusterIdRecord{ClusterId: "Y"}},
			fatal:     "does not have",
		},
		{
			name: "draft, D4", variant: Draft, clusterID: "X", before: []records.Record{level("metadata.version", 34)},
			fatal: "the log has no cluster id",
		},
		{
			name: "draft, row 3 with an id of the aborted attempt", variant: Draft,
			before: []records.Record{begin, level("metadata.version", 34), &records.ClusterIdRecord{ClusterId: "Z"}},
			want:   "abort:Controller failover begin:Bootstrap records metadata.version=34 id:? end",
		},
		{
			name: "final-mar, formatted", variant: FinalMar, clusterID: "X",
			want: "begin:Bootstrap records metadata.version=34 id:X end",
		},
		{name: "final-mar, not formatted", variant: FinalMar, fatal: "must be formatted"},
		{
			name: "final-mar, MV known", variant: FinalMar,
			before: []records.Record{level("metadata.version", 34), &records.ClusterIdRecord{ClusterId: "X"}}, want: "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, c.variant)
			cfg.ClusterID = c.clusterID
			if c.bootstrap != nil {
				cfg.Bootstrap = c.bootstrap
			}
			g := newGroup(t, 1, cfg)
			for _, r := range c.before {
				end := g.end()
				g.uncommitted = append(g.uncommitted, raft.Batch{
					BaseOffset: end, LastOffset: end, Epoch: 1,
					Bytes: record.AppendBatch(nil, record.BatchSpec{BaseOffset: end, LeaderEpoch: 1}, records.Append(nil, r, 0)),
				})
			}
			g.epoch = 1
			err := g.elect(0, len(g.uncommitted))
			if c.fatal != "" {
				require.ErrorIs(t, err, ErrActivation)
				require.ErrorContains(t, err, c.fatal)
				require.Empty(t, g.uncommitted)
				return
			}
			require.NoError(t, err)
			got := strings.Join(spell(t, g.uncommitted), " ")
			e := g.nodes[0].event(ActivationCompleted)
			require.NotNil(t, e)
			require.Equal(t, c.clusterID != "", e.FormattedAtBoot)
			if strings.Contains(c.want, "id:?") {
				require.Len(t, e.Text, record.UUIDTextSize)
				require.NotEqual(t, byte('-'), e.Text[0])
			}
			require.Equal(t, strings.Replace(c.want, "id:?", "id:"+e.Text, 1), got)
			require.Equal(t, int32(strings.Count(got, "id:")), e.ClusterIDs)
			require.Equal(t, int32(len(strings.Fields(strings.ReplaceAll(c.want, "Bootstrap r", "r")))-
				strings.Count(c.want, "abort")), e.Count)
		})
	}
}

// However the bootstrap transaction is cut into batches, and wherever the leader dies, the next one brings exactly one
// bootstrap to a stable end; until then the stable state is empty.
func TestBootstrapOverFailover(t *testing.T) {
	for perBatch := int32(1); perBatch <= 3; perBatch++ {
		for committed := 0; committed <= 5; committed++ {
			for kept := 0; kept <= 5; kept++ {
				t.Run(fmt.Sprintf("%d per batch, %d committed, %d kept", perBatch, committed, kept), func(t *testing.T) {
					cfg := config(t, Draft)
					cfg.MaxRecordsPerBatch = perBatch
					cfg.Bootstrap = []records.Record{level("metadata.version", 34), scram()}
					g := newGroup(t, 3, cfg)
					require.NoError(t, g.elect(0, 0))
					total := len(g.uncommitted)
					require.Equal(t, int((5+perBatch-1)/perBatch), total)
					g.commit(committed)
					inside := len(g.uncommitted) > 0
					if inside {
						want := int64(0) // the offset before Begin
						if committed == 0 {
							want = -1
						}
						require.Equal(t, want, g.nodes[0].ctl.LastStableOffset())
						require.Zero(t, g.nodes[1].ctl.StableDigest())
					}
					firstID := g.nodes[0].event(ActivationCompleted).Text
					require.NoError(t, g.elect(1, kept))
					require.Equal(t, 1, len(g.nodes[0].resigned))
					g.commit(-1)
					for _, n := range g.nodes {
						img := n.ctl.Image()
						require.Equal(t, int16(34), img.MetadataVersion(), "node %d", n.id)
						require.Equal(t, n.ctl.LastCommittedOffset(), n.ctl.LastStableOffset())
						want := g.nodes[1].event(ActivationCompleted).Text
						if want == "" {
							want = firstID
						}
						require.Equal(t, want, img.ClusterID())
						require.Equal(t, g.nodes[1].ctl.StableDigest(), n.ctl.StableDigest())
					}
					require.Equal(t, 1, strings.Count(strings.Join(spell(t, g.committed), " "), "end"))

					g.nodes[2].boot()
					require.NoError(t, g.nodes[2].deliver())
					require.Equal(t, g.nodes[1].ctl.StableDigest(), g.nodes[2].ctl.StableDigest())
				})
			}
		}
	}
}

func TestLoadBootstrapCheckpoint(t *testing.T) {
	cfg := config(t, FinalMar)
	g := newGroup(t, 1, cfg)
	n := g.nodes[0]
	control := func(dst []byte, base int64, kind record.ControlType) []byte {
		var b record.Builder
		b.Reset(dst, record.BatchSpec{BaseOffset: base, Control: true})
		b.AddControl(kind, (&record.SnapshotHeaderRecord{}).AppendTo(nil))
		return b.Finish()
	}
	empty := control(nil, 0, record.SnapshotHeader)
	require.NoError(t, n.ctl.HandleLoadBootstrap(0, empty))
	require.Nil(t, n.event(BootstrapLoaded), "no data records: the candidates stay")

	file := record.AppendBatch(empty, record.BatchSpec{BaseOffset: 1},
		records.Append(nil, level("metadata.version", 34), 0),
		records.Append(nil, &records.ClusterIdRecord{ClusterId: "from checkpoint"}, 0))
	require.NoError(t, n.ctl.HandleLoadBootstrap(0, control(file, 3, record.SnapshotFooter)))
	require.Equal(t, int32(2), n.event(BootstrapLoaded).Count)
	require.NoError(t, g.elect(0, 0))
	require.Equal(t, "begin:Bootstrap records metadata.version=34 id:from checkpoint end",
		strings.Join(spell(t, g.uncommitted), " "))

	require.ErrorIs(t, n.ctl.HandleLoadBootstrap(0, file), ErrLoadBootstrap, "active controller")

	other := newGroup(t, 1, cfg).nodes[0]
	noVersion := record.AppendBatch(nil, record.BatchSpec{}, records.Append(nil, scram(), 0))
	require.ErrorIs(t, other.ctl.HandleLoadBootstrap(0, noVersion), ErrLoadBootstrap)
	broken := append([]byte{}, file...)
	broken[16] = 1
	require.ErrorIs(t, other.ctl.HandleLoadBootstrap(0, broken), ErrLoadBootstrap)
}

func TestConfigIsChecked(t *testing.T) {
	good := config(t, Draft)
	for name, change := range map[string]func(c *Config){
		"node id":          func(c *Config) { c.NodeID = -1 },
		"release":          func(c *Config) { c.Release = nil },
		"records":          func(c *Config) { c.MaxRecordsPerBatch = 0 },
		"atomic records":   func(c *Config) { c.MaxAtomicRecords = 0 },
		"idle interval":    func(c *Config) { c.MaxIdleIntervalNs = -1 },
		"variant":          func(c *Config) { c.Variant = Draft + 1 },
		"released with id": func(c *Config) { c.Variant = Released },
	} {
		cfg := good
		change(&cfg)
		_, err := New(cfg, Deps{})
		require.ErrorIs(t, err, ErrConfig, name)
	}
	for v, name := range map[Variant]string{Released: "released", FinalMar: "final-mar", FinalApr: "final-apr", Draft: "draft"} {
		require.Equal(t, name, v.String())
	}
	require.True(t, good.Release.SupportsClusterID(records.ClusterIdRecordSince))
	require.Equal(t, features.MetadataVersion, "metadata.version")
}

// TestLastVersionCounts: of several metadata.version records of a bootstrap the last one is in force (BootstrapMetadata).
func TestLastVersionCounts(t *testing.T) {
	level, err := bootstrapLevel([]records.Record{
		&records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 20}, &records.FeatureLevelRecord{Name: "metadata.version", FeatureLevel: 22},
		&records.FeatureLevelRecord{Name: "group.version", FeatureLevel: 1},
	})
	require.NoError(t, err)
	require.Equal(t, int16(22), level)
}
