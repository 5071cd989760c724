package raft

import (
	"fmt"
	"math"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// Config is everything that an operator decides about a replica. The comment of each field names Kafka's key, its
// default, the range that is safe, and what breaks outside it. Values that Kafka would refuse are marked
// "simulation only": they make rare states common (one record per batch, no linger) and break no rule.
// A Config is read once, by New.
type Config struct {
	// NodeID is node.id, at least 0; -1 is a client without identity, which can only observe.
	NodeID int32
	// DirectoryID is directory.id of the metadata log's directory. It must be there before Open (KIP-853): it is the
	// half of the replica's identity that dies with its disk.
	DirectoryID record.UUID
	// ClusterID is cluster.id, "" as long as it is unknown (KIP-1262): requests then carry null, and requests with
	// any cluster id are accepted.
	ClusterID string
	// RefuseWhileUnknown makes a replica without a cluster id refuse requests that carry one. KIP-1262 does not say; the
	// default is to accept them.
	RefuseWhileUnknown bool

	// ListenerName is the first of controller.listener.names: the listener that raft itself talks to.
	ListenerName string
	// Listeners are the endpoints that this node advertises, the one named ListenerName among them. A voter announces
	// them in BeginQuorumEpoch and in its entry of the voter set. Empty for an observer that will never be a voter.
	Listeners []voters.Endpoint
	// StaticVoters is controller.quorum.voters (voters.ParseStatic), nil when unset. It counts only as long as
	// neither log nor snapshot holds a voter set.
	StaticVoters *voters.Set
	// BootstrapServers is controller.quorum.bootstrap.servers. When empty the static voters take their place; both
	// empty is a configuration error.
	BootstrapServers []Address
	// CanBecomeVoter says that the node has the controller role: it flushes what it fetched before it fetches
	// again, even while it is an observer. A pure observer (a broker) does not.
	CanBecomeVoter bool
	// MinKRaftVersion and MaxKRaftVersion are the kraft.versions that this software knows: 0 to 1.
	MinKRaftVersion, MaxKRaftVersion int16
	// AutoJoin is controller.quorum.auto.join.enable, default false: an observer with the controller role asks to become
	// a voter. Without that role it is a configuration error. Two nodes with one NodeID would evict each other for ever.
	AutoJoin bool
	// Versions limits what this software knows of raft's RPCs; nil is the newest.
	Versions Versions

	// ElectionTimeoutMs is controller.quorum.election.timeout.ms, default 1000. A voter without leader waits it plus
	// a random part below it. Below some ten round trips elections collide again and again.
	ElectionTimeoutMs int64
	// FetchTimeoutMs is controller.quorum.fetch.timeout.ms, default 2000: a follower that long without an answer
	// starts an election; a leader without a majority of fetches for 1.5 times as long resigns. It should exceed
	// FetchMaxWaitMs plus a round trip.
	FetchTimeoutMs int64
	// ElectionBackoffMaxMs is controller.quorum.election.backoff.max.ms, default 1000: the longest wait that
	// EndQuorumEpoch imposes on a follower (2.7).
	ElectionBackoffMaxMs int64
	// AppendLingerMs is controller.quorum.append.linger.ms, default 25: how long the leader gathers records for a
	// batch. 0 writes at once.
	AppendLingerMs int64
	// RequestTimeoutMs is controller.quorum.request.timeout.ms, default 2000: how long an answer may take, the
	// opening of its connection included.
	RequestTimeoutMs int64
	// RetryBackoffMs is controller.quorum.retry.backoff.ms, default 20: the pause before a peer that answered with
	// an error is asked again. Kafka allows 0; less than 1 counts as 1 here, because a replica never spins.
	RetryBackoffMs int64
	// ReconnectBackoffMs and ReconnectBackoffMaxMs are the pause before a lost connection is dialled again: it
	// doubles from the first to the second, plus or minus a fifth. Kafka's values are fixed at 50 and 500.
	ReconnectBackoffMs, ReconnectBackoffMaxMs int64

	// FetchMaxBytes is controller.quorum.fetch.max.bytes, default 1 MiB, at least 1: the size of a Fetch answer, which
	// always holds one batch at least. 1 sends batch by batch.
	FetchMaxBytes int32
	// FetchSnapshotMaxBytes is controller.quorum.fetch.snapshot.max.bytes, default 1 MiB, at least 1: the size of a piece of a
	// snapshot that is downloaded. Small values make a transfer of many requests.
	FetchSnapshotMaxBytes int32
	// MaxSnapshotBatchBytes is the largest batch in a snapshot that is made here; one call of Append must fit. Fixed at
	// 8 MiB in Kafka, others are simulation only.
	MaxSnapshotBatchBytes int32
	// CleanIntervalMs is how often the retention limits of Log are looked at. Fixed at 60 s in Kafka, others are simulation
	// only.
	CleanIntervalMs int64
	// FetchMaxWaitMs is how long the leader may hold back a Fetch that it has nothing to answer to. Fixed at 500 in
	// Kafka, others are simulation only. 0 turns waiting off and lets followers fetch as fast as the network goes.
	FetchMaxWaitMs int32
	// DiscoveryIntervalMs is the least time between two Fetches that look for an unknown leader. Kafka has no such limit:
	// it asks again as soon as a bootstrap server answered that it knows no leader either, as fast as round trips go.
	// That is 0, the default; anything above is simulation only and saves events that say nothing.
	DiscoveryIntervalMs int64
	// MaxBatchBytes is the largest batch that the leader makes; one call of PrepareAppend must fit. Fixed at 8 MiB
	// in Kafka, others are simulation only.
	MaxBatchBytes int32
	// MaxBatchRecords closes the open batch once it holds that many records; the records of one call are never split.
	// Kafka has no such limit (the default is the largest number), others are simulation only: 1 gives every call of
	// PrepareAppend a batch of its own, so that a transaction of many calls can be cut anywhere.
	MaxBatchRecords int32
	// MaxUnwrittenBatches is how many full batches may wait for the raft lane before PrepareAppend refuses. Fixed at
	// 10 in Kafka, others are simulation only.
	MaxUnwrittenBatches int32
	// ListenerMaxBytes bounds what one HandleCommit delivers from disk, one batch at least. Fixed at 8 MiB in Kafka,
	// others are simulation only.
	ListenerMaxBytes int32

	// Log configures the segments.
	Log raftlog.Config
}

// Address is a host and port that need not belong to a known replica.
type Address struct {
	Host string
	Port uint16
}

// DefaultConfig returns Kafka's defaults. Identity, listeners and the voters or bootstrap servers are still to be
// filled in.
func DefaultConfig() Config {
	return Config{
		NodeID:                -1,
		ListenerName:          "CONTROLLER",
		MaxKRaftVersion:       1,
		ElectionTimeoutMs:     1000,
		FetchTimeoutMs:        2000,
		ElectionBackoffMaxMs:  1000,
		AppendLingerMs:        25,
		RequestTimeoutMs:      2000,
		RetryBackoffMs:        20,
		ReconnectBackoffMs:    50,
		ReconnectBackoffMaxMs: 500,
		FetchMaxBytes:         1 << 20,
		FetchSnapshotMaxBytes: 1 << 20,
		MaxSnapshotBatchBytes: 8 << 20,
		CleanIntervalMs:       60_000,
		FetchMaxWaitMs:        500,
		MaxBatchBytes:         8 << 20,
		MaxBatchRecords:       math.MaxInt32,
		MaxUnwrittenBatches:   10,
		ListenerMaxBytes:      8 << 20,
	}
}

// validate refuses what would break a rule. It returns an error that names the field.
func (c *Config) validate() error {
	if c.NodeID < -1 {
		return fmt.Errorf("%w: NodeID %d", ErrConfig, c.NodeID)
	}
	if c.DirectoryID.IsZero() {
		return fmt.Errorf("%w: DirectoryID is the zero uuid", ErrConfig)
	}
	if c.ListenerName == "" {
		return fmt.Errorf("%w: ListenerName is empty", ErrConfig)
	}
	if c.StaticVoters.Len() == 0 && len(c.BootstrapServers) == 0 {
		return fmt.Errorf("%w: neither StaticVoters nor BootstrapServers", ErrConfig)
	}
	if c.CanBecomeVoter && !c.advertises(c.ListenerName) {
		return fmt.Errorf("%w: Listeners lack %q", ErrConfig, c.ListenerName)
	}
	if c.AutoJoin && !c.CanBecomeVoter {
		return fmt.Errorf("%w: AutoJoin without the controller role", ErrConfig)
	}
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{
		{"ElectionTimeoutMs", c.ElectionTimeoutMs, 0}, {"FetchTimeoutMs", c.FetchTimeoutMs, 0},
		{"ElectionBackoffMaxMs", c.ElectionBackoffMaxMs, 0}, {"AppendLingerMs", c.AppendLingerMs, 0},
		{"RequestTimeoutMs", c.RequestTimeoutMs, 0}, {"RetryBackoffMs", c.RetryBackoffMs, 0},
		{"ReconnectBackoffMs", c.ReconnectBackoffMs, 0},
		{"ReconnectBackoffMaxMs", c.ReconnectBackoffMaxMs, c.ReconnectBackoffMs},
		{"FetchMaxBytes", int64(c.FetchMaxBytes), 1}, {"FetchMaxWaitMs", int64(c.FetchMaxWaitMs), 0},
		{"FetchSnapshotMaxBytes", int64(c.FetchSnapshotMaxBytes), 1},
		{"MaxSnapshotBatchBytes", int64(c.MaxSnapshotBatchBytes), 1}, {"CleanIntervalMs", c.CleanIntervalMs, 1},
		{"DiscoveryIntervalMs", c.DiscoveryIntervalMs, 0},
		{"MaxBatchBytes", int64(c.MaxBatchBytes), 1}, {"MaxBatchRecords", int64(c.MaxBatchRecords), 1}, {"MaxUnwrittenBatches", int64(c.MaxUnwrittenBatches), 1},
		{"ListenerMaxBytes", int64(c.ListenerMaxBytes), 1},
		{"MaxKRaftVersion", int64(c.MaxKRaftVersion), int64(c.MinKRaftVersion)},
	} {
		if f.value < f.least {
			return fmt.Errorf("%w: %s is %d, at least %d is needed", ErrConfig, f.name, f.value, f.least)
		}
	}
	return nil
}

// advertises reports whether the node has a listener of that name.
func (c *Config) advertises(listener string) bool {
	for i := range c.Listeners {
		if c.Listeners[i].Name == listener {
			return true
		}
	}
	return false
}
