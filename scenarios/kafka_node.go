package scenarios

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// laneCounter is the state machine of a counterNode; the raft lane is the one of every node.
const laneCounter sim.LaneID = 1

// counterShutdownMs is how long a graceful end may take in Kafka's simulation.
const counterShutdownMs = 500

var siteAppend = decide.NewSpread("kafka/append-pause", "milliseconds added to the pause before the next append")

// counterNode is a node of Kafka's own simulation: a replica and a counter that follows it, nothing else. While it believes that it
// leads, it appends the next number every few milliseconds. Its records must come back committed as 1, 2, 3 and so on, on every
// node and through every change of leader; anything else stops the node, which is a finding.
type counterNode struct {
	node
	k       *kafkaCluster
	counter counter
}

// counter is the state machine.
type counter struct {
	claimed     int32 // epoch that this node leads as far as the counter was told, -1: none
	committed   int32
	uncommitted int32
	offset      int64 // next record to come
	snapshotted int64 // end of the latest snapshot that was made or loaded
	epoch       int32 // of the latest batch
	timestampMs int64
	records     [1][]byte
	it          record.Iterator
}

// errCounter is wrapped by what stops a counter.
var errCounter = errors.New("scenarios: the replicated counter is wrong")

// Boot opens the replica. There is no formatting, no bootstrap and no metadata layer: identity comes from the plan.
func (n *counterNode) Boot(env *sim.Env) error {
	n.env = env
	n.counter.claimed = -1
	env.Lanes("raft", "counter")
	config := n.c.raftConfig(n.h, &startup.Node{DirectoryID: n.h.directoryID, ClusterID: n.h.clusterID})
	config.ReconnectBackoffMs, config.ReconnectBackoffMaxMs = n.c.timeouts.backoff, n.c.timeouts.backoff
	config.DiscoveryIntervalMs = n.k.discoveryMs
	n.c.prompt.began(env.Host(), config.Listeners)
	if n.c.dynamic { // any of the first voters may go, so all nodes are named
		config.BootstrapServers = config.BootstrapServers[:0]
		for i := range n.c.hosts {
			config.BootstrapServers = append(config.BootstrapServers, raft.Address{Host: n.c.hosts[i].name, Port: n.c.hosts[i].port})
		}
	}
	config.Log.Alloc = env.Alloc
	n.replica = raft.New(config, raft.Deps{
		Files: env.Files(), Dir: n.h.metadataDir + "/__cluster_metadata-0", Transport: (*transport)(&n.node),
		Chooser: (*choices)(&n.node), Observer: (*raftObserver)(&n.node), Waker: (*waker)(&n.node), Alloc: env.Alloc,
		Pool: n.c.memory.messages,
	})
	l := &listener{n: &n.node, lane: laneCounter, name: "counter"}
	l.id = n.replica.Register(l)
	if err := n.replica.Open(env.WallMs()); err != nil {
		return err
	}
	env.Listen(int32(n.h.port), laneRaft)
	env.Post(laneRaft, wakePost{})
	n.wakePosted = true
	return nil
}

// Input runs one input on its lane.
func (n *counterNode) Input(env *sim.Env, in *sim.Input) error {
	if in.Lane == laneRaft {
		return n.inputRaft(env, in)
	}
	switch m := in.Msg.(type) {
	case *commitPost:
		if err := n.counter.commit(m.batches); err != nil {
			return err
		}
		if err := n.snapshot(env); err != nil {
			return err
		}
		n.replica.ReleaseReader(m.listener)
	case *snapshotPost:
		return n.counter.load(m)
	case *leaderPost:
		n.claim(env, m.leader)
	case *bootstrapPost:
	case nil:
		return n.increment(env)
	default:
		panic(fmt.Sprintf("scenarios: the counter lane got %T", in.Msg))
	}
	return nil
}

// commit takes in committed batches.
func (c *counter) commit(batches []raft.Batch) error {
	for i := range batches {
		b := &batches[i]
		if b.BaseOffset < c.offset {
			return fmt.Errorf("%w: a batch at %d after everything below %d", errCounter, b.BaseOffset, c.offset)
		}
		c.offset, c.epoch, c.timestampMs = b.LastOffset+1, b.Epoch, b.AppendTimestampMs
		if b.Control {
			continue
		}
		var r record.Record
		for c.it.Reset(record.Batch(b.Bytes)); c.it.Next(&r); {
			if len(r.Value) != 4 {
				return fmt.Errorf("%w: %d bytes at offset %d", errCounter, len(r.Value), r.Offset)
			}
			if v := int32(binary.BigEndian.Uint32(r.Value)); v != c.committed+1 {
				return fmt.Errorf("%w: %d at offset %d after %d", errCounter, v, r.Offset, c.committed)
			}
			c.committed++
		}
		if err := c.it.Err(); err != nil {
			return fmt.Errorf("%w: %w", errCounter, err)
		}
	}
	return nil
}

// snapshotRecords: a counter makes a snapshot when more records than that were committed after the latest one.
const snapshotRecords = 10

// snapshot makes a snapshot when it is time: the number that was committed last.
func (n *counterNode) snapshot(env *sim.Env) error {
	c := &n.counter
	if !n.k.snapshots || c.offset-c.snapshotted <= snapshotRecords {
		return nil
	}
	id, now := raft.OffsetAndEpoch{Offset: c.offset, Epoch: c.epoch}, env.WallMs()
	w, err := n.replica.CreateSnapshot(now, id, c.timestampMs)
	if w == nil || err != nil {
		return err
	}
	c.snapshotted = c.offset
	value := env.Alloc(4)
	binary.BigEndian.PutUint32(value, uint32(c.committed))
	if err := w.Append(now, value); err != nil {
		return err
	}
	if err := w.Freeze(now); err != nil {
		return err
	}
	env.Post(laneRaft, &frozenPost{id: id})
	return nil
}

// load takes a snapshot in the place of everything. A leader that appends has everything already.
func (c *counter) load(m *snapshotPost) error {
	if c.claimed >= 0 {
		return fmt.Errorf("%w: a leader that appends loads snapshot %d-%d", errCounter, m.id.Offset, m.id.Epoch)
	}
	for rest := m.bytes; len(rest) > 0; {
		batch, next, err := record.NextBatch(rest)
		if err != nil {
			return fmt.Errorf("%w: snapshot %d-%d: %w", errCounter, m.id.Offset, m.id.Epoch, err)
		}
		if rest = next; batch.IsControl() {
			continue
		}
		var r record.Record
		for c.it.Reset(batch); c.it.Next(&r); {
			if len(r.Value) != 4 {
				return fmt.Errorf("%w: %d bytes in snapshot %d-%d", errCounter, len(r.Value), m.id.Offset, m.id.Epoch)
			}
			c.committed = int32(binary.BigEndian.Uint32(r.Value))
		}
	}
	c.offset, c.snapshotted = m.id.Offset, m.id.Offset
	return nil
}

// claim starts or ends the appending.
func (n *counterNode) claim(env *sim.Env, l raft.LeaderAndEpoch) {
	c := &n.counter
	if l.LeaderID != n.h.nodeID {
		c.claimed = -1
		env.WakeAt(-1)
		return
	}
	c.claimed, c.uncommitted = l.Epoch, c.committed
	n.pause(env)
}

// increment appends the next number. A replica that no longer leads has not told the counter yet.
func (n *counterNode) increment(env *sim.Env) error {
	c := &n.counter
	if c.claimed < 0 || n.stopping {
		return nil
	}
	value := env.Alloc(4)
	binary.BigEndian.PutUint32(value, uint32(c.uncommitted+1))
	c.records[0] = value
	switch _, err := n.replica.PrepareAppend(c.claimed, c.records[:]); {
	case err == nil:
		c.uncommitted++
		n.replica.SchedulePreparedAppend()
	case errors.Is(err, raft.ErrNotLeader):
		return nil
	case !errors.Is(err, raft.ErrTooManyBatches):
		return err
	}
	n.pause(env)
	return nil
}

// pause sets the time of the next append.
func (n *counterNode) pause(env *sim.Env) {
	c := &n.counter
	ms := n.k.appendMs
	if n.k.appendJitterMs > 1 {
		ms += env.Choose(siteAppend, uint64(uint32(c.claimed))<<32|uint64(uint32(c.uncommitted)), n.k.appendJitterMs)
	}
	env.WakeAt(env.MonotonicNs() + ms*million)
}

// Stop ends the node gracefully, as Kafka's simulation does.
func (n *counterNode) Stop(env *sim.Env) {
	n.stopping = true
	n.c.prompt.left(env.Host())
	n.replica.Shutdown(env.WallMs(), counterShutdownMs)
	env.Post(laneRaft, wakePost{})
}

// AppendState appends the state of both.
func (n *counterNode) AppendState(buf []byte, view sim.View) []byte {
	c := &n.counter
	buf = n.replica.AppendState(buf, view == sim.ProtocolView)
	buf = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(buf, uint32(c.claimed)), uint32(c.committed))
	return binary.BigEndian.AppendUint32(buf, uint32(c.uncommitted))
}
