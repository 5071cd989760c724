package controller

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// ErrConfig names a field of Config that no controller can run with.
var ErrConfig = errors.New("controller: bad configuration")

// Variant says which state of KIP-1262 the controller follows (metadata-bootstrap 4.3). It matters only together with
// a release that has the ClusterIdRecord.
type Variant uint8

// The variants.
const (
	// Released has no ClusterIdRecord: its release must not know the record.
	Released Variant = iota
	// FinalMar takes the id from meta.properties or the bootstrap records and stops when neither has one: a bootstrap
	// controller must be formatted.
	FinalMar
	// FinalApr lets the voters of a static quorum be unformatted: their first leader writes an id as the draft's does.
	FinalApr
	// Draft makes up an id when neither source has one.
	Draft
)

// String returns the variant's name in plans.
func (v Variant) String() string {
	switch v {
	case Released:
		return "released"
	case FinalMar:
		return "final-mar"
	case FinalApr:
		return "final-apr"
	case Draft:
		return "draft"
	}
	panic(fmt.Sprintf("controller: no variant %d", uint8(v)))
}

// writes reports whether a leader that knows no cluster id makes one up at its activation (D3).
func (v Variant) writes() bool { return v == FinalApr || v == Draft }

// Choices are the points about the controller that the sources of KIP-1262 leave open. The zero value is what metadata-bootstrap
// recommends (4.4, 4.10).
type Choices struct {
	// AdoptOffered: a leader without a cluster id takes the one that another voter's requests carried, and makes one up only
	// if there was none (T23). Needs Deps.Offers.
	AdoptOffered bool
	// WriteMissing: a leader that finds the level in force and no record writes it (D4, tolerant); otherwise it stops.
	WriteMissing bool
	// GenerateOnUpgrade: an upgrade asked of a leader that knows no id makes one up in the same batch (T25); otherwise it is
	// refused.
	GenerateOnUpgrade bool
	// RefuseUnknownID: a leader that knows no id refuses the registration of a broker that has one; otherwise it takes it, since ids are
	// compared only where both are known (D1). Below the level of the ClusterIdRecord such a leader never learns an id.
	RefuseUnknownID bool
}

// Offers tells which cluster id others have shown to a node that has none. raft.Replica is one.
type Offers interface {
	// OfferedClusterID returns the id that a voter's request carried, "" for none.
	OfferedClusterID() string
}

// DefaultMaxRecordsPerBatch is Kafka's constant, for atomic results and for the split of others.
const DefaultMaxRecordsPerBatch int32 = 10000

// Config is what a controller is built with.
type Config struct {
	NodeID  int32
	Variant Variant
	Choices Choices

	// Release is what this node's software knows: its levels bound UpdateFeatures and replay.
	Release *features.Release
	// UnstableFeatures is unstable.feature.versions.enable.
	UnstableFeatures bool

	// Bootstrap holds the candidate bootstrap records from bootstrap.checkpoint or the default (2.4 step 5). Exactly
	// one FeatureLevelRecord of metadata.version must be among them. A 0-0.checkpoint with data records overrides them.
	Bootstrap []records.Record

	// ClusterID is the cluster.id that the process found at boot, "" for none. See SetClusterID.
	ClusterID string
	// EmptyClusterID says that meta.properties do hold a cluster id, and that it is the empty string, which Kafka's formatter
	// accepts. No record may carry it, and no other id may replace it: such a controller bootstraps no level that has one.
	EmptyClusterID bool

	// MaxRecordsPerBatch splits results that are not atomic, the bootstrap transaction above all. Kafka: 10000. Safe
	// down to 1 ("simulation only"), where each record has a batch of its own if raft does not join them.
	MaxRecordsPerBatch int32
	// MaxAtomicRecords bounds an atomic result, which is never split. Kafka: 10000. Below 3 upgrades fail.
	MaxAtomicRecords int32

	// MaxIdleIntervalNs is metadata.max.idle.interval.ms (default 500 ms): the period of the NoOpRecords of an active
	// controller at metadata.version 5 or higher. 0 writes none.
	MaxIdleIntervalNs int64

	// BrokerSessionTimeoutNs is broker.session.timeout.ms (default 9 s): how long a broker may be silent before it is fenced.
	// 0 fences nobody: no broker registers in such a cluster ("simulation only").
	BrokerSessionTimeoutNs int64
	// ControllersRegister says that the controllers of this quorum register (KIP-919), as Kafka's do. Where they don't
	// ("simulation only"), UpdateFeatures asks for no registration of theirs.
	ControllersRegister bool
	// RefuseOldControllers refuses the registration of a controller that does not support what is finalized. Kafka takes it, and
	// the controller stops at the next record that it does not know (KB-32, trap).
	RefuseOldControllers bool

	// MinInSyncReplicas is the node's static min.insync.replicas, which the ELR configuration record carries (3.3).
	MinInSyncReplicas string

	// Defaults are the static configurations of partitions. Zero fields stand for Kafka's defaults, MinInSyncReplicas for the number
	// in the field of that name above.
	Defaults PartitionDefaults
	// ImbalanceCheckNs is leader.imbalance.check.interval.seconds (default 300 s): how often leadership goes back to preferred
	// replicas. 0 stands for auto.leader.rebalance.enable=false.
	ImbalanceCheckNs int64
	// UncleanCheckNs is how often partitions without leader get one uncleanly, where that is allowed (Kafka: 5 min). 0 for never.
	UncleanCheckNs int64
}

func (c *Config) validate() error {
	switch {
	case c.NodeID < 0:
		return fmt.Errorf("%w: node id %d", ErrConfig, c.NodeID)
	case c.Release == nil:
		return fmt.Errorf("%w: no release", ErrConfig)
	case c.MaxRecordsPerBatch < 1 || c.MaxAtomicRecords < 1:
		return fmt.Errorf("%w: records per batch %d, atomic %d", ErrConfig, c.MaxRecordsPerBatch, c.MaxAtomicRecords)
	case c.BrokerSessionTimeoutNs < 0:
		return fmt.Errorf("%w: broker session timeout %d ns", ErrConfig, c.BrokerSessionTimeoutNs)
	case c.MaxIdleIntervalNs < 0:
		return fmt.Errorf("%w: idle interval %d ns", ErrConfig, c.MaxIdleIntervalNs)
	case c.Variant > Draft:
		return fmt.Errorf("%w: variant %d", ErrConfig, uint8(c.Variant))
	case c.Variant == Released && c.knowsClusterID():
		return fmt.Errorf("%w: variant released with release %s, which has the ClusterIdRecord", ErrConfig, c.Release.Name)
	}
	return nil
}

// knowsClusterID tells whether the software has the ClusterIdRecord at any level.
func (c *Config) knowsClusterID() bool { return c.Release.SupportsClusterID(c.Release.LatestTesting) }

// RaftClient is what the controller asks of raft (kraft-protocol 8). The bytes of the frames given to PrepareAppend
// never change afterwards; the slice that holds the frames is the controller's again when the call returns.
type RaftClient interface {
	PrepareAppend(epoch int32, records [][]byte) (lastOffset int64, err error)
	SchedulePreparedAppend()
	Resign(epoch int32) error
	LeaderAndEpoch() raft.LeaderAndEpoch
	LogEndOffset() int64
	KRaftVersion() int16
	// Voters is the voter set in force.
	Voters() *voters.Set
	// UpgradeKRaftVersion schedules the records of a higher kraft.version, or with validateOnly says whether it could
	// (kraft-protocol 5.7). raft.ErrVoterSet is fatal, all other errors are answers.
	UpgradeKRaftVersion(epoch int32, version int16, validateOnly bool) error
}

// Site names a choice that the controller leaves to its surroundings.
type Site uint8

// SiteClusterID draws 32 bits of a new cluster id at a time; keys are epoch<<2 + (0..3). A value that makes a reserved
// id, or one whose text begins with "-", is corrected without another draw.
const SiteClusterID Site = 1

// Chooser makes choices: 0 <= result < n. Production code backs it with crypto/rand.
type Chooser interface {
	Choose(site Site, key uint64, n int64) int64
}

// Responder hears the outcome of every operation that was submitted, exactly once unless the process stops before.
type Responder interface {
	Done(opID int64, result *Result)
}

// Observer hears protocol events; it may not call back. The event is valid during the call.
type Observer interface {
	Observe(e *Event)
}

// Deps are the controller's neighbours. Observer may be nil, and Offers unless ids may be adopted.
type Deps struct {
	Raft      RaftClient
	Chooser   Chooser
	Responder Responder
	Observer  Observer
	Offers    Offers
	Policy    TopicPolicy // may be nil
}
