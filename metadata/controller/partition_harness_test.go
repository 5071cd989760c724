package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// stand is how a broker of a test image stands.
type stand byte

const (
	up stand = iota
	fencedUp
	leavingUp
)

// brokerRecordOf is a registration of broker id with epoch 100+id and one directory.
func brokerRecordOf(id int32, s stand) *records.RegisterBrokerRecord {
	return &records.RegisterBrokerRecord{
		BrokerId: id, BrokerEpoch: int64(100 + id), IncarnationId: record.UUID{0: byte(id), 15: 7}, Fenced: s == fencedUp,
		InControlledShutdown: s == leavingUp, LogDirs: []record.UUID{directoryOf(id)},
	}
}

func directoryOf(id int32) record.UUID { return record.UUID{0: byte(id), 1: 1, 15: 9} }

// topicT is the topic of test images, with one partition 0.
var topicT = record.UUID{0: 0x7f, 15: 1}

func keyT(n int32) image.PartitionKey { return image.PartitionKey{TopicID: topicT, Partition: n} }

// partitionT is a partition of topicT that is led and in sync as given.
func partitionT(n int32, replicas, isr []int32, leader int32) *records.PartitionRecord {
	m := records.NewPartitionRecord()
	m.PartitionId, m.TopicId, m.Replicas, m.Isr, m.Leader, m.LeaderEpoch, m.PartitionEpoch = n, topicT, replicas, isr, leader, 5, 9
	for _, id := range replicas {
		m.Directories = append(m.Directories, directoryOf(id))
	}
	return m
}

// imageWith replays records on the empty image.
func imageWith(t require.TestingT, rs ...records.Record) *image.Image {
	delta := image.NewDelta(image.New())
	for _, r := range rs {
		require.NoError(t, delta.Replay(r))
	}
	return delta.Apply(image.Provenance{Offset: int64(len(rs)), Epoch: 1})
}

func replayOn(t require.TestingT, img *image.Image, rs ...records.Record) *image.Image {
	delta := image.NewDelta(img)
	for _, r := range rs {
		require.NoError(t, delta.Replay(r))
	}
	return delta.Apply(img.Provenance())
}

// cluster boots one active controller whose log begins with metadata.version, brokers 1 to n as they stand, and more records.
func brokersUp(t testing.TB, version int16, stands []stand, more ...records.Record) (*group, *node) {
	t.Helper()
	cfg := config(t, Released)
	cfg.Bootstrap = []records.Record{level(features.MetadataVersion, version)}
	g := newGroup(t, 3, cfg)
	require.NoError(t, g.elect(0, 0))
	g.commit(-1)
	n := g.nodes[0]
	n.ctl.outcome.reset()
	for i, s := range stands {
		n.ctl.outcome.records = append(n.ctl.outcome.records, brokerRecordOf(int32(i+1), s))
	}
	n.ctl.outcome.records = append(n.ctl.outcome.records, more...)
	require.NoError(t, n.ctl.write(&deferredOp{kind: noOp}))
	g.commit(-1)
	return g, n
}

// demand submits a request, commits what it wrote and returns the answer.
func demand(t testing.TB, g *group, n *node, q Request) Result {
	t.Helper()
	id := int64(len(n.results) + 1)
	require.NoError(t, n.ctl.Submit(0, &Op{ID: id, Kind: q.Kind(), Request: q}))
	g.commit(-1)
	r, ok := n.results[id]
	require.True(t, ok, "%s is not answered", q.Kind())
	return r
}

// wrong says which rule of the invariant `partitions` an image breaks, "" for none.
func wrong(img *image.Image) string {
	has := func(list []int32, id int32) bool {
		for _, x := range list {
			if x == id {
				return true
			}
		}
		return false
	}
	for key, p := range img.AllPartitions() {
		for _, id := range p.Isr {
			if !has(p.Replicas, id) {
				return "in sync and no replica: " + key.TopicID.String()
			}
		}
		if !p.HasLeader() {
			continue
		}
		if !has(p.Isr, p.Leader) {
			return "leads and is not in sync: " + key.TopicID.String()
		}
		if b := img.Broker(p.Leader); b == nil || !b.Active() {
			return "leads and is not active: " + key.TopicID.String()
		}
	}
	return ""
}
