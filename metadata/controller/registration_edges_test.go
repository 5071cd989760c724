package controller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// leaving is a cluster of brokers 1 and 2, of which 1 leads a partition and has just asked for leave; at is the offset that others
// have to see before it may go.
func leaving(t *testing.T) (g *group, n *node, one, two, at int64) {
	t.Helper()
	g, n = registered(t, 33, nil)
	one, two = unfenced(t, g, n, 0, 1), unfenced(t, g, n, 0, 2)
	p := &records.PartitionRecord{PartitionId: 0, TopicId: uuid(50), Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1,
		Directories: []record.UUID{uuid(101), uuid(102)}}
	n.ctl.outcome = outcome{records: []records.Record{&records.TopicRecord{Name: "t", TopicId: uuid(50)}, p}, atomic: true}
	require.NoError(t, n.ctl.write(&deferredOp{kind: noOp}))
	g.commit(-1)
	reply, _ := beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: g.end() - 1, WantShutDown: true})
	require.True(t, reply.InControlledShutdown)
	return g, n, one, two, g.end() - 1
}

// TestControlledShutdownWaitsForNobodyFenced: a broker that is fenced sees nothing for as long as it likes, and keeps nobody from going.
func TestControlledShutdownWaitsForNobodyFenced(t *testing.T) {
	g, n, one, two, at := leaving(t)
	register(t, g, n, second, introduction(t, 3, 4)) // and never sends a heartbeat
	beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: at})
	reply, _ := beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: at, WantShutDown: true})
	require.True(t, reply.ShouldShutDown)
}

// TestControlledShutdownWaitsForOneOffset: what is written after a broker asked for leave concerns it no more. With a newer offset at
// each heartbeat it would never go while anything is written.
func TestControlledShutdownWaitsForOneOffset(t *testing.T) {
	g, n, one, two, at := leaving(t)
	register(t, g, n, second, introduction(t, 3, 4))
	goes := BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: at, WantShutDown: true}
	reply, _ := beatAt(t, g, n, second, goes)
	require.True(t, reply.InControlledShutdown, "broker 2 has not seen it")
	require.Greater(t, g.end()-1, at)
	beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: at})
	reply, _ = beatAt(t, g, n, second, goes)
	require.True(t, reply.ShouldShutDown)
}

// TestSameIncarnationGoesOnLeaving: a registration that is repeated late, as by the network, changes nothing of the standing.
func TestSameIncarnationGoesOnLeaving(t *testing.T) {
	g, n, one, _, _ := leaving(t)
	require.Equal(t, one, register(t, g, n, second, introduction(t, 1, 2)))
	b := n.ctl.Image().Broker(1)
	require.True(t, b.InControlledShutdown)
	require.False(t, b.Fenced)
}

// TestOldSessionFencesNobodyElse: the session of a former incarnation runs out, and the next check finds the next incarnation at work.
func TestOldSessionFencesNobodyElse(t *testing.T) {
	g, n := registered(t, 33, nil)
	unfenced(t, g, n, 0, 1)
	now := 9*second + 1 // over, and not checked yet
	epoch := register(t, g, n, now, introduction(t, 1, 7))
	reply, _ := beatAt(t, g, n, now, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: epoch, CurrentMetadataOffset: g.end()})
	require.False(t, reply.IsFenced)
	require.NoError(t, n.ctl.Poll(now+1))
	require.Empty(t, g.uncommitted)
	require.False(t, n.ctl.Image().Broker(1).Fenced)
}

// TestDeletionNamedTwiceAmongOthers: a topic that a request names twice is not deleted, wherever among the others it stands.
func TestDeletionNamedTwiceAmongOthers(t *testing.T) {
	a, b, c := record.UUID{1}, record.UUID{2}, record.UUID{3}
	g, n := brokersUp(t, 33, []stand{up}, &records.TopicRecord{Name: "a", TopicId: a}, &records.TopicRecord{Name: "b", TopicId: b},
		&records.TopicRecord{Name: "c", TopicId: c})
	r := demand(t, g, n, &DeleteTopicsRequest{Names: []string{"c", "a"}, IDs: []record.UUID{b, c}})
	require.Equal(t, []ErrorCode{InvalidRequest, None, None, InvalidRequest}, codes(r.Answer.([]TopicResult)))
	require.NotNil(t, n.ctl.Image().TopicByID(c))
	require.EqualValues(t, 1, n.ctl.Image().TopicCount())
}
