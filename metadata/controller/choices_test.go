package controller

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

type offer string

func (o offer) OfferedClusterID() string { return string(o) }

// What the sources of KIP-1262 leave open about activations, both ways (T23, D4), and what final-apr's static voters do.
func TestActivationChoices(t *testing.T) {
	at34 := []records.Record{level("metadata.version", 34)}
	open := []records.Record{level("metadata.version", 34), &records.BeginTransactionRecord{}}
	for _, c := range []struct {
		name      string
		variant   Variant
		choices   Choices
		clusterID string
		empty     bool
		offer     string
		before    []records.Record
		want      string // "?" stands for a new id
		fatal     string
	}{
		{name: "final-apr makes an id up", variant: FinalApr, want: "begin:Bootstrap records metadata.version=34 id:? end"},
		{name: "final-apr, formatted", variant: FinalApr, clusterID: "X", want: "begin:Bootstrap records metadata.version=34 id:X end"},
		{name: "an offer counts only if it may", variant: Draft, offer: "X", want: "begin:Bootstrap records metadata.version=34 id:? end"},
		{name: "adopted", variant: Draft, choices: Choices{AdoptOffered: true}, offer: "X",
			want: "begin:Bootstrap records metadata.version=34 id:X end"},
		{name: "nothing offered", variant: FinalApr, choices: Choices{AdoptOffered: true},
			want: "begin:Bootstrap records metadata.version=34 id:? end"},
		{name: "final-mar adopts nothing", variant: FinalMar, choices: Choices{AdoptOffered: true}, offer: "X", fatal: "must be formatted"},
		{name: "D4 strict", variant: Draft, clusterID: "X", before: at34, fatal: "the log has no cluster id"},
		{name: "D4 tolerant", variant: FinalMar, choices: Choices{WriteMissing: true}, clusterID: "X", before: at34, want: "id:X"},
		{name: "D4 tolerant without an id", variant: Draft, choices: Choices{WriteMissing: true}, before: at34, want: "id:?"},
		{name: "D4 tolerant, final-mar has no id", variant: FinalMar, choices: Choices{WriteMissing: true}, before: at34, fatal: "no cluster id"},
		{name: "D4 tolerant, the empty id", variant: Draft, empty: true, choices: Choices{WriteMissing: true}, before: at34, fatal: "no cluster id"},
		{name: "D4 tolerant behind an abort", variant: Draft, choices: Choices{WriteMissing: true}, clusterID: "X", before: open,
			want: "abort:Controller failover id:X"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, c.variant)
			cfg.ClusterID, cfg.EmptyClusterID, cfg.Choices = c.clusterID, c.empty, c.choices
			g := newGroup(t, 1, cfg)
			g.nodes[0].ctl.deps.Offers = offer(c.offer)
			for _, r := range c.before {
				end := g.end()
				g.uncommitted = append(g.uncommitted, raft.Batch{BaseOffset: end, LastOffset: end, Epoch: 1,
					Bytes: record.AppendBatch(nil, record.BatchSpec{BaseOffset: end, LeaderEpoch: 1}, records.Append(nil, r, 0))})
			}
			g.epoch = 1
			err := g.elect(0, len(g.uncommitted))
			if c.fatal != "" {
				require.ErrorIs(t, err, ErrActivation)
				require.ErrorContains(t, err, c.fatal)
				return
			}
			require.NoError(t, err)
			id := g.nodes[0].event(ActivationCompleted).Text
			require.NotEmpty(t, id)
			require.Equal(t, strings.Replace(c.want, "?", id, 1), strings.Join(spell(t, g.uncommitted), " "))
			if strings.Contains(c.want, "?") {
				require.NotEqual(t, c.offer, id)
			}
		})
	}
}

// T25: an upgrade to the level of the record, asked of a leader that knows no id, refused or with one made up.
func TestUpgradeWithoutAnID(t *testing.T) {
	upgrade := Op{ID: 1, Kind: UpdateFeatures, Updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}}
	for _, c := range []struct {
		name    string
		choices Choices
		offer   string
		empty   bool
		refused bool
	}{
		{name: "refuse", refused: true},
		{name: "generate", choices: Choices{GenerateOnUpgrade: true}},
		{name: "generate, adopted", choices: Choices{GenerateOnUpgrade: true, AdoptOffered: true}, offer: "X"},
		{name: "generate, the empty id", choices: Choices{GenerateOnUpgrade: true}, empty: true, refused: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, Draft)
			cfg.Bootstrap = []records.Record{level("metadata.version", 33)}
			cfg.Choices, cfg.EmptyClusterID = c.choices, c.empty
			g := newGroup(t, 1, cfg)
			n := g.nodes[0]
			n.ctl.deps.Offers = offer(c.offer)
			require.NoError(t, g.elect(0, 0))
			g.commit(-1)
			require.NoError(t, n.ctl.Submit(0, &upgrade))
			if c.refused {
				require.Equal(t, InvalidUpdateVersion, n.results[1].Code)
				require.Empty(t, g.uncommitted)
				return
			}
			require.Len(t, g.uncommitted, 1, "one batch or none")
			g.commit(-1)
			require.Equal(t, None, n.results[1].Code)
			require.Equal(t, int16(34), n.ctl.Image().MetadataVersion())
			require.NotEmpty(t, n.ctl.Image().ClusterID())
			if c.offer != "" {
				require.Equal(t, c.offer, n.ctl.Image().ClusterID())
			}
		})
	}
}
