package controller

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// active returns a group of three whose node 0 is active with a stable bootstrap.
func active(t *testing.T, cfg Config) (*group, *node) {
	t.Helper()
	g := newGroup(t, 3, cfg)
	require.NoError(t, g.elect(0, 0))
	g.commit(-1)
	return g, g.nodes[0]
}

func TestAnswersWaitForStable(t *testing.T) {
	cfg := config(t, Draft)
	g, n := active(t, cfg)
	require.NoError(t, n.ctl.Submit(0, &Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"}))
	require.NoError(t, n.ctl.Submit(0, &Op{ID: 2, Kind: AppendConfig, Name: "k", Value: "w"}))
	validate := Op{ID: 3, Kind: UpdateFeatures, ValidateOnly: true, Updates: []FeatureUpdate{{"group.version", 1, Upgrade}}}
	require.NoError(t, n.ctl.Submit(0, &validate))
	require.Empty(t, n.results, "nothing is stable, and an answer without records waits for the highest pending offset")

	old := submit(t, n, Op{ID: 4, Kind: ReadConfig, Name: "k"})
	require.False(t, old.Found, "a read sees the stable state")
	g.commit(1)
	require.Contains(t, n.results, int64(1))
	require.NotContains(t, n.results, int64(2))
	require.Equal(t, "v", submit(t, n, Op{ID: 5, Kind: ReadConfig, Name: "k"}).Value)
	g.commit(1)
	require.Equal(t, n.results[1].Offset+1, n.results[2].Offset)
	require.Equal(t, int64(-1), n.results[3].Offset)
	require.Equal(t, "w", submit(t, g.nodes[2], Op{ID: 6, Kind: ReadConfig, Name: "k"}).Value, "a standby reads too")
	validate.ID = 7
	require.Equal(t, None, submit(t, n, validate).Code, "nothing pending: at once")
}

func TestRefusals(t *testing.T) {
	g, n := active(t, config(t, Draft))
	r := submit(t, g.nodes[1], Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"})
	require.Equal(t, NotController, r.Code)
	require.Equal(t, int32(7), r.LeaderID)
	require.NoError(t, n.ctl.Submit(5, &Op{ID: 2, Kind: AppendConfig, Name: "k", Value: "v", DeadlineNs: 5}))
	require.Equal(t, RequestTimedOut, n.results[2].Code)
	r = submit(t, n, Op{ID: 3, Kind: AppendConfig, Name: strings.Repeat("k", 40000)})
	require.Equal(t, InvalidConfig, r.Code)
	require.Panics(t, func() { _ = n.ctl.Submit(0, &Op{ID: 4, Kind: noOp}) })
}

func TestRenounceRevertsAndRefuses(t *testing.T) {
	g, n := active(t, config(t, Draft))
	before := n.ctl.Image().AppendTo(nil)
	for id := int64(1); id <= 3; id++ {
		require.NoError(t, n.ctl.Submit(0, &Op{ID: id, Kind: AppendConfig, Name: "k", Value: fmt.Sprint(id)}))
	}
	g.commit(1)
	require.NoError(t, g.elect(1, 0))
	require.Equal(t, None, n.results[1].Code)
	require.Equal(t, NotController, n.results[2].Code)
	require.Equal(t, NotController, n.results[3].Code)
	require.False(t, n.ctl.Active())
	value, _ := n.ctl.Image().Config(image.ConfigKey{Type: 4, Name: "k"})
	require.Equal(t, "1", value)
	require.NotEqual(t, before, n.ctl.Image().AppendTo(nil))
	require.Equal(t, g.nodes[1].ctl.Image().AppendTo(nil), n.ctl.Image().AppendTo(nil))
	require.Equal(t, g.nodes[2].ctl.AppendState(nil, false), n.ctl.AppendState(nil, false), "a standby like any other")
}

func TestFailedAppends(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		code  ErrorCode
		fatal bool
	}{
		{name: "deposed", err: raft.ErrNotLeader, code: NotController},
		{name: "too large", err: raft.ErrRecordBatchTooLarge, code: UnknownServerError},
		{name: "stuck accumulator", err: raft.ErrTooManyBatches, fatal: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, n := active(t, config(t, Draft))
			n.appendErr = fmt.Errorf("test: %w", c.err)
			err := n.ctl.Submit(0, &Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"})
			if c.fatal {
				require.ErrorIs(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.code, n.results[1].Code)
			require.False(t, n.ctl.Active())
			require.Equal(t, []int32{1}, n.resigned)
			require.Equal(t, n.ctl.StableDigest(), n.ctl.Image().Digest())
		})
	}
	t.Run("too many records for one batch", func(t *testing.T) {
		cfg := config(t, Draft)
		cfg.MaxAtomicRecords = 1
		_, n := active(t, cfg)
		r := submit(t, n, Op{ID: 1, Kind: UpdateFeatures, Updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}})
		require.Equal(t, UnknownServerError, r.Code)
		require.False(t, n.ctl.Active())
	})
}

// A leader whose check-quorum expired has resigned without a word; the controller learns it at its next append.
func TestRenounceAfterSilentResignation(t *testing.T) {
	_, n := active(t, config(t, Draft))
	n.epoch, n.resignErr = 0, raft.ErrNotLeader
	r := submit(t, n, Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"})
	require.Equal(t, NotController, r.Code)
	require.False(t, n.ctl.Active())

	_, n = active(t, config(t, Draft))
	n.epoch, n.resignErr = 0, raft.ErrFutureEpoch
	err := n.ctl.Submit(0, &Op{ID: 1, Kind: AppendConfig, Name: "k", Value: "v"})
	require.ErrorIs(t, err, raft.ErrFutureEpoch, "raft is behind the epoch that it announced: a defect")
}

func TestReplayFailureIsFatal(t *testing.T) {
	for _, c := range []struct {
		name    string
		variant Variant
		records []records.Record
		want    error
	}{
		{name: "end without begin", variant: Draft, records: []records.Record{&records.EndTransactionRecord{}}},
		{name: "abort without begin", variant: Draft, records: []records.Record{&records.AbortTransactionRecord{}}},
		{
			name: "nested begin", variant: Draft,
			records: []records.Record{&records.BeginTransactionRecord{}, &records.BeginTransactionRecord{}},
		},
		{name: "level out of range", variant: Released, records: []records.Record{level("metadata.version", 34)}},
		{name: "unknown feature", variant: Released, records: []records.Record{level("some.version", 1)}},
		{
			name: "cluster id in released", variant: Released, records: []records.Record{&records.ClusterIdRecord{ClusterId: "X"}},
			want: records.ErrUnknownKey,
		},
		{name: "second cluster id", variant: Draft, records: []records.Record{&records.ClusterIdRecord{ClusterId: "other"}}},
		{name: "empty cluster id", variant: Draft, records: []records.Record{&records.ClusterIdRecord{}}},
		{
			name: "unknown topic", variant: Draft, records: []records.Record{records.NewPartitionRecord()},
			want: image.ErrImpossible,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := active(t, config(t, c.variant))
			n.ctl.outcome = outcome{records: c.records, atomic: true}
			require.ErrorIs(t, n.ctl.write(&deferredOp{kind: noOp}), ErrReplay, "active")

			n.epoch, n.prepare = g.epoch, nil
			n.ctl.frame(c.records)
			_, err := n.PrepareAppend(n.epoch, n.ctl.frames)
			require.NoError(t, err)
			err = g.nodes[1].ctl.HandleCommit(0, n.prepare)
			require.ErrorIs(t, err, ErrReplay, "standby")
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
		})
	}
	_, n := active(t, config(t, Draft))
	require.NoError(t, n.ctl.HandleCommit(0, nil))
	standby := n.group.nodes[1].ctl
	err := standby.HandleCommit(0, []raft.Batch{{Bytes: make([]byte, 61)}})
	require.ErrorIs(t, err, ErrReplay, "unreadable batch")
}

func TestLeadershipWithoutPause(t *testing.T) {
	_, n := active(t, config(t, Draft))
	require.NoError(t, n.ctl.HandleLeaderChange(0, raft.LeaderAndEpoch{LeaderID: 0, Epoch: 9}))
	require.Equal(t, int32(9), n.ctl.ClaimedEpoch(), "still leader in a new epoch: adopt it")
	require.Equal(t, []string{"controller-claimed", "activation-completed", "activation-stable"}, n.kinds())
}

func TestNoOpRecords(t *testing.T) {
	cfg := config(t, Draft)
	cfg.MaxIdleIntervalNs = 500
	g := newGroup(t, 1, cfg)
	n := g.nodes[0]
	require.Equal(t, int64(-1), n.ctl.DeadlineNs(), "standby")
	require.NoError(t, g.elect(0, 0))
	g.commit(-1)
	require.Equal(t, int64(500), n.ctl.DeadlineNs())
	require.NoError(t, n.ctl.Poll(499))
	require.Empty(t, g.uncommitted)
	require.NoError(t, n.ctl.Poll(510))
	require.Equal(t, []string{"noop"}, spell(t, g.uncommitted))
	require.Equal(t, int64(1010), n.ctl.DeadlineNs())
	require.NoError(t, n.ctl.HandleLeaderChange(0, raft.LeaderAndEpoch{LeaderID: -1, Epoch: 2}))
	require.Equal(t, int64(-1), n.ctl.DeadlineNs())

	cfg.Release, cfg.Variant = release(t, "4.0"), Released
	cfg.Bootstrap = []records.Record{level("metadata.version", 4)}
	g = newGroup(t, 1, cfg)
	require.NoError(t, g.elect(0, 0))
	g.commit(-1)
	require.NoError(t, g.nodes[0].ctl.Poll(500))
	require.Empty(t, g.uncommitted, "no such record below 3.3-IV1")
}

func TestUpdateFeatures(t *testing.T) {
	for _, c := range []struct {
		name     string
		variant  Variant
		from     int16 // metadata.version of the bootstrap
		extra    []records.Record
		id       string
		updates  []FeatureUpdate
		validate bool
		want     string // records
		refused  string
	}{
		{name: "upgrade", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}},
			want: "metadata.version=34 id:X"},
		{name: "same level again", from: 34, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 34, SafeDowngrade}}, want: "metadata.version=34 id:X"},
		{name: "T14 validate only", from: 33, id: "X", variant: Draft, validate: true,
			updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}},
		{name: "T25 no id", from: 33, variant: Draft, updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}},
			refused: "needs a cluster id"},
		{name: "T25 validate only", from: 33, variant: Draft, validate: true,
			updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}, refused: "needs a cluster id"},
		{name: "upgrade below the id", from: 30, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 33, Upgrade}}, want: "metadata.version=33"},
		{name: "released has no 34", from: 30, id: "X", variant: Released,
			updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}, refused: "outside of 7 to 33"},
		{name: "released, upgrade", from: 30, id: "X", variant: Released,
			updates: []FeatureUpdate{{"metadata.version", 33, Upgrade}}, want: "metadata.version=33"},
		{name: "unknown type", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", 33, 4}},
			refused: "unknown upgrade type"},
		{name: "negative", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", -1, Upgrade}},
			refused: "negative"},
		{name: "unknown feature", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"no.version", 1, Upgrade}},
			refused: "does not know"},
		{name: "above range", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", 35, Upgrade}},
			refused: "outside"},
		{name: "below range", from: 7, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", 6, SafeDowngrade}},
			refused: "outside of 7 to 34"},
		{name: "unsafe downgrade, metadata changed", from: 33, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 31, UnsafeDowngrade}}, refused: "metadata changed at 33"},
		{name: "lower as upgrade", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"metadata.version", 32, Upgrade}},
			refused: "this is an upgrade"},
		{name: "higher as safe downgrade", from: 32, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 33, SafeDowngrade}}, refused: "this is a downgrade"},
		{name: "higher as unsafe downgrade", from: 32, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 33, UnsafeDowngrade}}, refused: "this is a downgrade"},
		{name: "safe downgrade, nothing changed", from: 31, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 30, SafeDowngrade}}, want: "metadata.version=30"},
		{name: "safe downgrade, metadata changed", from: 33, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 31, SafeDowngrade}}, refused: "metadata changed at 33"},
		{name: "T15 from the id's level", from: 34, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"metadata.version", 33, UnsafeDowngrade}}, refused: "metadata changed at 34"},
		{name: "other feature", from: 33, id: "X", variant: Draft, updates: []FeatureUpdate{{"group.version", 1, Upgrade}},
			want: "group.version=1"},
		{name: "remove a feature", from: 33, id: "X", variant: Draft, extra: []records.Record{level("group.version", 1)},
			updates: []FeatureUpdate{{"group.version", 0, SafeDowngrade}}, want: "group.version=0"},
		{name: "dependency", from: 22, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"eligible.leader.replicas.version", 1, Upgrade}}, refused: "dependency"},
		{name: "dependency met by the same request, whatever the order", from: 22, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"eligible.leader.replicas.version", 1, Upgrade}, {"metadata.version", 34, Upgrade}},
			want:    "config:min.insync.replicas=1 eligible.leader.replicas.version=1 metadata.version=34 id:X"},
		{name: "elr moves the configuration", from: 33, id: "X", variant: Draft, extra: []records.Record{
			&records.ConfigRecord{ResourceType: 4, ResourceName: "1", Name: "min.insync.replicas", Value: &controllerFailover},
			&records.ConfigRecord{ResourceType: 4, ResourceName: "", Name: "min.insync.replicas", Value: &controllerFailover},
		}, updates: []FeatureUpdate{{"eligible.leader.replicas.version", 1, Upgrade}},
			want: "unset:1/min.insync.replicas eligible.leader.replicas.version=1"},
		{name: "all or nothing", from: 33, id: "X", variant: Draft,
			updates: []FeatureUpdate{{"group.version", 1, Upgrade}, {"share.version", 9, Upgrade}}, refused: "share.version"},
		{name: "kraft.version equal, upgrade", from: 33, variant: Draft,
			updates: []FeatureUpdate{{"kraft.version", 1, Upgrade}}, want: "noop"},
		{name: "kraft.version equal, downgrade", from: 33, variant: Draft,
			updates: []FeatureUpdate{{"kraft.version", 1, SafeDowngrade}}},
		{name: "kraft.version down", from: 33, variant: Draft,
			updates: []FeatureUpdate{{"kraft.version", 0, UnsafeDowngrade}}, refused: "downgrade from 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config(t, c.variant)
			cfg.ClusterID, cfg.MaxRecordsPerBatch = c.id, 1
			cfg.Bootstrap = append([]records.Record{level("metadata.version", c.from)}, c.extra...)
			g, n := active(t, cfg)
			op := Op{ID: 1, Kind: UpdateFeatures, Updates: c.updates, ValidateOnly: c.validate}
			require.NoError(t, n.ctl.Submit(0, &op))
			require.LessOrEqual(t, len(g.uncommitted), 1, "one atomic batch whatever the limit for others")
			require.Equal(t, c.want, strings.Join(spell(t, g.uncommitted), " "))
			g.commit(-1)
			r := n.results[1]
			if c.refused != "" {
				require.Equal(t, InvalidUpdateVersion, r.Code)
				require.Contains(t, r.Message, allFailed)
				require.Contains(t, r.Message, c.refused)
				return
			}
			require.Equal(t, None, r.Code, r.Message)
			require.Equal(t, g.nodes[1].ctl.Image().Digest(), n.ctl.Image().Digest())
		})
	}
}

// T10: an upgrade is in the log with its cluster id or not at all, and the second of two writes the same value again.
func TestUpgradeOverFailover(t *testing.T) {
	cfg := config(t, Draft)
	cfg.ClusterID, cfg.Bootstrap = "X", []records.Record{level("metadata.version", 33)}
	g, n := active(t, cfg)
	up := Op{ID: 1, Kind: UpdateFeatures, Updates: []FeatureUpdate{{"metadata.version", 34, Upgrade}}}
	require.NoError(t, n.ctl.Submit(0, &up))
	require.NoError(t, g.elect(1, 0))
	require.Equal(t, NotController, n.results[1].Code)
	require.Equal(t, int16(33), n.ctl.Image().MetadataVersion())
	require.Empty(t, n.ctl.Image().ClusterID())
	for id := int64(2); id <= 3; id++ {
		up.ID = id
		require.NoError(t, g.nodes[1].ctl.Submit(0, &up))
	}
	g.commit(-1)
	require.Equal(t, None, g.nodes[1].results[3].Code)
	require.Equal(t, "X", n.ctl.Image().ClusterID())
}

// A node that learned its id after boot writes it with the upgrade.
func TestSetClusterID(t *testing.T) {
	cfg := config(t, Draft)
	cfg.Bootstrap = []records.Record{level("metadata.version", 33)}
	g, n := active(t, cfg)
	n.ctl.SetClusterID("late")
	require.Equal(t, "late", n.ctl.ClusterID())
	require.Equal(t, "late", n.event(ClusterIDLearned).Text)
	require.NoError(t, n.ctl.Submit(0, &Op{
		ID: 1, Kind: UpdateFeatures, Updates: []FeatureUpdate{{features.MetadataVersion, 34, Upgrade}},
	}))
	require.Equal(t, []string{"metadata.version=34", "id:late"}, spell(t, g.uncommitted))
}

// Random elections, commits, crashes and writes: at every stable offset all controllers agree, and a controller that
// starts from nothing agrees too. The harness compares digests at each event.
func TestFailoverProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{
			Variant: Draft, Release: release(t, "kip1262"), MaxAtomicRecords: 100, MinInSyncReplicas: "1",
			MaxRecordsPerBatch: rapid.Int32Range(1, 4).Draw(t, "records per batch"),
			Bootstrap:          []records.Record{level("metadata.version", 34), level("group.version", 1), scram()},
		}
		g := newGroup(t, 3, cfg)
		var op int64
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			n := g.nodes[rapid.IntRange(0, 2).Draw(t, "node")]
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				require.NoError(t, g.elect(n.id, rapid.IntRange(0, 6).Draw(t, "kept")))
			case 1, 2:
				g.commit(rapid.IntRange(1, 3).Draw(t, "batches"))
			case 3:
				op++
				value := fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "value"))
				require.NoError(t, n.ctl.Submit(0, &Op{ID: op, Kind: AppendConfig, Name: value, Value: fmt.Sprint(op)}))
			case 4:
				n.boot()
				require.NoError(t, n.deliver())
			}
		}
		require.NoError(t, g.elect(0, 0))
		g.commit(-1)
		fresh := g.nodes[2]
		fresh.boot()
		require.NoError(t, fresh.deliver())
		for _, n := range g.nodes {
			require.Equal(t, fresh.ctl.Image().AppendTo(nil), n.ctl.Image().AppendTo(nil))
			require.Equal(t, n.ctl.LastCommittedOffset(), n.ctl.LastStableOffset())
		}
		require.Equal(t, 1, strings.Count(strings.Join(spell(t, g.committed), " "), "end"), "one bootstrap")
		require.NotEmpty(t, fresh.ctl.Image().ClusterID())
	})
}

// TestUpgradeQuorum: a higher kraft.version goes through raft, checked before anything is written, and waits for the no-op behind
// its records (5.4). What raft refuses is the answer; only a voter set that does not fit is fatal.
func TestUpgradeQuorum(t *testing.T) {
	for _, c := range []struct {
		name     string
		err      error
		atCheck  bool
		validate bool
		code     ErrorCode
		want     string // records
		asked    int
	}{
		{name: "upgrade", want: "noop", asked: 2},
		{name: "validate only", validate: true, asked: 1},
		{name: "refused", err: raft.ErrInvalidUpdateVersion, atCheck: true, code: InvalidUpdateVersion, asked: 1},
		{name: "an epoch to come", err: raft.ErrFutureEpoch, atCheck: true, code: InvalidUpdateVersion, asked: 1},
		{name: "no leader any more", err: raft.ErrNotLeader, code: NotController, asked: 2},
		{name: "fatal", err: raft.ErrVoterSet, atCheck: true, code: -2, asked: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := active(t, config(t, Draft))
			n.kraftBehind, n.upgradeErr, n.upgradeErrAtCheck = 1, c.err, c.atCheck
			err := n.ctl.Submit(0, &Op{ID: 1, Kind: UpdateFeatures, ValidateOnly: c.validate, Updates: []FeatureUpdate{{"kraft.version", 1, Upgrade}}})
			require.Len(t, n.upgrades, c.asked)
			require.Equal(t, fmt.Sprintf("%d to 1 true", n.ctl.ClaimedEpoch()), n.upgrades[0])
			if c.code == -2 {
				require.ErrorIs(t, err, raft.ErrVoterSet)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(spell(t, g.uncommitted), " "))
			g.commit(-1)
			require.Equal(t, c.code, n.results[1].Code, n.results[1].Message)
		})
	}
}

func TestNames(t *testing.T) {
	for k := BootstrapLoaded; k <= ClusterIDLearned; k++ {
		require.NotEmpty(t, k.String())
	}
	require.Panics(t, func() { _ = EventKind(0).String() })
	for _, c := range []ErrorCode{
		None, UnknownServerError, RequestTimedOut, UnsupportedVersion, InvalidConfig, NotController, InvalidRequest,
		InvalidUpdateVersion, StaleBrokerEpoch, DuplicateBrokerRegistration, BrokerIDNotRegistered, InconsistentClusterID,
		InvalidRegistration, ControllerIDNotRegistered,
	} {
		require.NotContains(t, c.String(), "error ")
	}
	require.False(t, errors.Is(ErrReplay, ErrActivation))
}

func BenchmarkAppendConfig(b *testing.B) {
	cfg := config(b, Draft)
	g := newGroup(b, 1, cfg)
	n := g.nodes[0]
	require.NoError(b, g.elect(0, 0))
	g.commit(-1)
	quiet := &quietRaft{next: g.end()}
	n.ctl.deps = Deps{Raft: quiet, Responder: quiet, Observer: quiet}
	op := Op{Kind: AppendConfig, Name: "k", Value: "v"}
	batch := []raft.Batch{{}}
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		op.ID = int64(i)
		_ = n.ctl.Submit(0, &op)
		batch[0].LastOffset, batch[0].Epoch = quiet.next-1, 1
		_ = n.ctl.HandleCommit(0, batch)
	}
	require.Equal(b, int64(b.N), quiet.done)
}

type quietRaft struct{ next, done int64 }

func (q *quietRaft) PrepareAppend(_ int32, frames [][]byte) (int64, error) {
	q.next += int64(len(frames))
	return q.next - 1, nil
}
func (q *quietRaft) SchedulePreparedAppend() {}
func (q *quietRaft) UpgradeKRaftVersion(int32, int16, bool) error {
	return nil
}
func (q *quietRaft) Resign(int32) error                  { return nil }
func (q *quietRaft) LeaderAndEpoch() raft.LeaderAndEpoch { return raft.LeaderAndEpoch{} }
func (q *quietRaft) LogEndOffset() int64                 { return q.next }
func (q *quietRaft) KRaftVersion() int16                 { return 1 }
func (q *quietRaft) Voters() *voters.Set                 { return nil }
func (q *quietRaft) Done(int64, *Result)                 { q.done++ }
func (q *quietRaft) Observe(*Event)                      {}
