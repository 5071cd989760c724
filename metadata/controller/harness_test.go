package controller

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20261130")
	}
	os.Exit(m.Run())
}

// node is one controller with the raft that it sees.
type node struct {
	t       require.TestingT
	id      int32
	cfg     Config
	ctl     *Controller
	loader  *loader.Loader
	epoch   int32 // leads in, 0 = does not
	group   *group
	prepare []raft.Batch // prepared, not scheduled

	appendErr error
	resignErr error

	voters            *voters.Set
	kraftBehind       int16 // kraft.version is 1 less that
	upgrades          []string
	upgradeErr        error
	upgradeErrAtCheck bool

	resigned  []int32
	events    []Event
	results   map[int64]Result
	delivered int // batches of the committed log
}

// group is a quorum with one log: what is committed, then what only the leader has appended.
type group struct {
	t           require.TestingT
	nodes       []*node
	committed   []raft.Batch
	uncommitted []raft.Batch
	epoch       int32
	digests     map[int64]uint64 // stable offset -> digest, equal on all nodes
}

func newGroup(t require.TestingT, n int32, cfg Config) *group {
	g := &group{t: t, digests: map[int64]uint64{}}
	for id := range n {
		c := cfg
		c.NodeID = id
		nd := &node{t: t, id: id, cfg: c, group: g}
		g.nodes = append(g.nodes, nd)
		nd.boot()
	}
	return g
}

func (n *node) boot() {
	n.epoch, n.prepare, n.delivered, n.events, n.results = 0, nil, 0, nil, map[int64]Result{}
	var err error
	n.ctl, err = New(n.cfg, Deps{Raft: n, Chooser: n, Responder: n, Observer: n})
	require.NoError(n.t, err)
	n.loader, err = loader.New(loader.Config{Release: n.cfg.Release, StopOnLoadFailure: true, RetryNs: 1}, loader.Deps{
		Raft: n, Observer: loaderObserver{n},
	})
	require.NoError(n.t, err)
}

// loaderObserver compares the images that a node publishes with what controllers held at that stable offset.
type loaderObserver struct{ n *node }

func (o loaderObserver) Observe(e *loader.Event) {
	if e.Kind == loader.ImageAdvanced {
		o.n.group.checkDigest(o.n.t, e.Offset, e.Digest)
	}
}

func (n *node) HighWatermark() (int64, bool) { return 0, true }

func (g *group) end() int64 {
	if n := len(g.uncommitted); n > 0 {
		return g.uncommitted[n-1].LastOffset + 1
	}
	if n := len(g.committed); n > 0 {
		return g.committed[n-1].LastOffset + 1
	}
	return 0
}

// RaftClient.

func (n *node) PrepareAppend(epoch int32, frames [][]byte) (int64, error) {
	switch {
	case n.appendErr != nil:
		return 0, n.appendErr
	case n.epoch == 0 || epoch != n.epoch:
		return 0, fmt.Errorf("test: %w", raft.ErrNotLeader)
	case len(frames) == 0:
		return 0, raft.ErrNoRecords
	}
	b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: n.group.end(), LeaderEpoch: epoch}, frames...)
	last := n.group.end() + int64(len(frames)) - 1
	n.prepare = append(n.prepare, raft.Batch{BaseOffset: n.group.end(), LastOffset: last, Epoch: epoch, Bytes: b})
	return last, nil
}

func (n *node) SchedulePreparedAppend() {
	n.group.uncommitted = append(n.group.uncommitted, n.prepare...)
	n.prepare = nil
}

func (n *node) Resign(epoch int32) error {
	n.resigned = append(n.resigned, epoch)
	n.epoch = 0
	return n.resignErr
}

func (n *node) LeaderAndEpoch() raft.LeaderAndEpoch {
	return raft.LeaderAndEpoch{LeaderID: 7, Epoch: n.group.epoch}
}
func (n *node) LogEndOffset() int64 { return n.group.end() }
func (n *node) KRaftVersion() int16 { return 1 - n.kraftBehind }
func (n *node) Voters() *voters.Set { return n.voters }

func (n *node) UpgradeKRaftVersion(epoch int32, version int16, validateOnly bool) error {
	n.upgrades = append(n.upgrades, fmt.Sprintf("%d to %d %t", epoch, version, validateOnly))
	if n.upgradeErr != nil && validateOnly == n.upgradeErrAtCheck {
		return n.upgradeErr
	}
	return nil
}

// Chooser, Responder, Observer.

func (n *node) Choose(_ Site, key uint64, m int64) int64 {
	return int64((key+uint64(n.id)+1)*0x9e3779b97f4a7c15>>33) % m
}

func (n *node) Done(id int64, r *Result) {
	_, twice := n.results[id]
	require.False(n.t, twice, "operation %d answered twice", id)
	n.results[id] = *r
}

func (n *node) Observe(e *Event) {
	n.events = append(n.events, *e)
	switch e.Kind {
	case Committed:
		n.group.checkDigest(n.t, e.Other, e.Digest)
	case Renounced:
		n.group.checkDigest(n.t, e.Offset, e.Digest)
	}
}

func (g *group) checkDigest(t require.TestingT, stable int64, digest uint64) {
	if known, ok := g.digests[stable]; ok {
		require.Equal(t, known, digest, "state at stable offset %d", stable)
	}
	g.digests[stable] = digest
}

func (n *node) kinds() (kinds []string) {
	for _, e := range n.events {
		if e.Kind != Committed {
			kinds = append(kinds, e.Kind.String())
		}
	}
	return kinds
}

func (n *node) event(kind EventKind) *Event {
	for at := len(n.events) - 1; at >= 0; at-- {
		if n.events[at].Kind == kind {
			return &n.events[at]
		}
	}
	return nil
}

// deliver hands n what is committed and not delivered yet.
func (n *node) deliver() error {
	batches := n.group.committed[n.delivered:]
	n.delivered = len(n.group.committed)
	if err := n.loader.HandleCommit(0, batches); err != nil {
		return err
	}
	return n.ctl.HandleCommit(0, batches)
}

// commit makes count uncommitted batches committed (-1: all) and delivers them everywhere.
func (g *group) commit(count int) {
	if count < 0 || count > len(g.uncommitted) {
		count = len(g.uncommitted)
	}
	g.committed = append(g.committed, g.uncommitted[:count]...)
	g.uncommitted = g.uncommitted[count:]
	for _, n := range g.nodes {
		require.NoError(g.t, n.deliver())
	}
}

// elect lets node id win an epoch with keep of the uncommitted batches in its log: those are committed together with
// the LeaderChange, all others are truncated. The returned error is the winner's.
func (g *group) elect(id int32, keep int) error {
	g.epoch++
	g.uncommitted = g.uncommitted[:min(keep, len(g.uncommitted))]
	for _, n := range g.nodes {
		n.epoch = 0
		require.NoError(g.t, n.ctl.HandleLeaderChange(0, raft.LeaderAndEpoch{LeaderID: -1, Epoch: g.epoch}))
	}
	end := g.end()
	g.uncommitted = append(g.uncommitted, raft.Batch{BaseOffset: end, LastOffset: end, Epoch: g.epoch, Control: true})
	g.commit(-1)
	g.nodes[id].epoch = g.epoch
	return g.nodes[id].ctl.HandleLeaderChange(0, raft.LeaderAndEpoch{LeaderID: id, Epoch: g.epoch})
}

// log spells the data records of batches, batches separated by "|".
func spell(t require.TestingT, batches []raft.Batch) (out []string) {
	var reader image.BatchReader
	for _, b := range batches {
		if b.Control {
			continue
		}
		if len(out) > 0 {
			out = append(out, "|")
		}
		for reader.Reset(b.Bytes); reader.Next(); {
			out = append(out, spellRecord(reader.Record))
		}
		require.NoError(t, reader.Err())
	}
	return out
}

func spellRecord(r records.Record) string {
	switch m := r.(type) {
	case *records.BeginTransactionRecord:
		return "begin:" + *m.Name
	case *records.EndTransactionRecord:
		return "end"
	case *records.AbortTransactionRecord:
		return "abort:" + *m.Reason
	case *records.FeatureLevelRecord:
		return fmt.Sprintf("%s=%d", m.Name, m.FeatureLevel)
	case *records.ClusterIdRecord:
		return "id:" + m.ClusterId
	case *records.ConfigRecord:
		if m.Value == nil {
			return fmt.Sprintf("unset:%s/%s", m.ResourceName, m.Name)
		}
		return fmt.Sprintf("config:%s=%s", m.Name, *m.Value)
	case *records.UserScramCredentialRecord:
		return "scram:" + m.Name
	case *records.NoOpRecord:
		return "noop"
	}
	return r.RecordName()
}

func release(t require.TestingT, name string) *features.Release {
	r, err := features.Find(name)
	require.NoError(t, err)
	return r
}

func level(name string, level int16) records.Record {
	return &records.FeatureLevelRecord{Name: name, FeatureLevel: level}
}

func scram() records.Record {
	return &records.UserScramCredentialRecord{Name: "u", Mechanism: 1, Salt: []byte{1}, Iterations: 4096}
}

func config(t require.TestingT, variant Variant) Config {
	cfg := Config{
		Variant: variant, Release: release(t, "kip1262"), MaxRecordsPerBatch: DefaultMaxRecordsPerBatch,
		MaxAtomicRecords: DefaultMaxRecordsPerBatch, MinInSyncReplicas: "1",
		Bootstrap: []records.Record{level(features.MetadataVersion, 34)},
	}
	if variant == Released {
		cfg.Release = release(t, "upstream-4.5")
		cfg.Bootstrap = []records.Record{level(features.MetadataVersion, 33)}
	}
	return cfg
}

func submit(t *testing.T, n *node, op Op) Result {
	t.Helper()
	require.NoError(t, n.ctl.Submit(0, &op))
	r, ok := n.results[op.ID]
	require.True(t, ok, "operation %d is not answered", op.ID)
	return r
}
