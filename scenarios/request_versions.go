package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
)

// What is asked of controllers beside raft's RPCs has versions too. A connection to the port for such requests begins with a greeting,
// as raft's do (greeting.go), and then each request goes in the highest version that both ends know: what that version does not
// have stays at home, and an RPC that the other end does not know is answered UNSUPPORTED_VERSION by the sender's own client.

// The API keys.
const (
	rpcCreateTopics             int16 = 19
	rpcDeleteTopics             int16 = 20
	rpcDescribeConfigs          int16 = 32
	rpcCreatePartitions         int16 = 37
	rpcElectLeaders             int16 = 43
	rpcIncrementalAlterConfigs  int16 = 44
	rpcAlterReassignments       int16 = 45
	rpcAlterPartition           int16 = 56
	rpcUpdateFeatures           int16 = 57
	rpcBrokerRegistration       int16 = 62
	rpcBrokerHeartbeat          int16 = 63
	rpcUnregisterBroker         int16 = 64
	rpcAllocateProducerIDs      int16 = 67
	rpcControllerRegistration   int16 = 70
	rpcAssignReplicasToDirs     int16 = 73
	rpcUnregisterController     int16 = 94
	logDirsInRegistrations      int16 = 2 // of BrokerRegistration, KIP-858
	cleanShutdownInRegistration int16 = 3 // KIP-966
	zeroRangesInRegistration    int16 = 4 // feature ranges that begin with 0, KAFKA-17492
	offlineDirsInHeartbeats     int16 = 1 // of BrokerHeartbeat, KIP-858
	cordonedDirsInHeartbeats    int16 = 2 // KIP-1066
	brokerEpochsInWishes        int16 = 3 // of AlterPartition, KIP-903
)

// requestGeneration is a set of versions that releases share (metadata-bootstrap 5.8, 7.5, 7.7).
type requestGeneration uint8

const (
	untilDirectories requestGeneration = iota // 3.3 to 3.6: brokers alone register, without log directories
	withDirectories                           // 3.7 and 3.8: KIP-858, KIP-919, KIP-966
	withZeroRanges                            // 3.9 and 4.0: feature ranges that begin with 0
	withCordons                               // trunk of August 2026: cordoned directories, unregistration of controllers
	requestGenerations
)

func requestGenerationOf(r *features.Release) requestGeneration {
	switch {
	case r.Layout == features.Aug26:
		return withCordons
	case r.Feature(features.KRaftVersion) != nil:
		return withZeroRanges
	case r.LatestProduction >= 19:
		return withDirectories
	}
	return untilDirectories
}

// requestLanguages are the versions of each generation, made once and never changed.
var requestLanguages = func() (list [requestGenerations][]raft.APIVersionRange) {
	for g := range requestGenerations {
		registration := [...]int16{1, 3, 4, 4}[g]
		heartbeat := [...]int16{0, 1, 1, 2}[g]
		wishes := [...]int16{2, 3, 3, 3}[g]
		ranges := []raft.APIVersionRange{
			{APIKey: rpcCreateTopics, MinVersion: 2, MaxVersion: 7}, {APIKey: rpcDeleteTopics, MinVersion: 1, MaxVersion: 6},
			{APIKey: rpcDescribeConfigs, MinVersion: 1, MaxVersion: 4}, {APIKey: rpcCreatePartitions, MaxVersion: 3},
			{APIKey: rpcElectLeaders, MaxVersion: 2}, {APIKey: rpcIncrementalAlterConfigs, MaxVersion: 1},
			{APIKey: rpcAlterReassignments, MaxVersion: 0}, {APIKey: rpcAlterPartition, MinVersion: 2, MaxVersion: wishes},
			{APIKey: rpcUpdateFeatures, MaxVersion: 1}, {APIKey: rpcBrokerRegistration, MaxVersion: registration},
			{APIKey: rpcBrokerHeartbeat, MaxVersion: heartbeat}, {APIKey: rpcUnregisterBroker, MaxVersion: 0},
			{APIKey: rpcAllocateProducerIDs, MaxVersion: 0},
		}
		if g >= withDirectories {
			ranges = append(ranges, raft.APIVersionRange{APIKey: rpcControllerRegistration}, raft.APIVersionRange{APIKey: rpcAssignReplicasToDirs})
		}
		if g >= withCordons {
			ranges = append(ranges, raft.APIVersionRange{APIKey: rpcUnregisterController})
		}
		list[g] = ranges
	}
	return list
}()

// asks lists the versions in which a host asks controllers, and is asked.
func (h *hostSettings) asks() []raft.APIVersionRange {
	return limited(requestLanguages[requestGenerationOf(h.release)], h.limits.requests)
}

// rpcOf is the API key of an operation.
func rpcOf(kind controller.OpKind) int16 {
	switch kind {
	case controller.CreateTopics:
		return rpcCreateTopics
	case controller.DeleteTopics:
		return rpcDeleteTopics
	case controller.CreatePartitions:
		return rpcCreatePartitions
	case controller.ElectLeaders:
		return rpcElectLeaders
	case controller.AlterPartition:
		return rpcAlterPartition
	case controller.AlterPartitionReassignments:
		return rpcAlterReassignments
	case controller.AllocateProducerIDs:
		return rpcAllocateProducerIDs
	case controller.AssignReplicasToDirs:
		return rpcAssignReplicasToDirs
	case controller.UpdateFeatures:
		return rpcUpdateFeatures
	case controller.RegisterBroker:
		return rpcBrokerRegistration
	case controller.Heartbeat:
		return rpcBrokerHeartbeat
	case controller.UnregisterBroker:
		return rpcUnregisterBroker
	case controller.RegisterController:
		return rpcControllerRegistration
	case controller.UnregisterController:
		return rpcUnregisterController
	case controller.ReadConfig:
		return rpcDescribeConfigs
	}
	return rpcIncrementalAlterConfigs
}

// spokenVersion is the version of an RPC between two lists; false when they have none in common.
func spokenVersion(key int16, ours, theirs []raft.APIVersionRange) (version int16, ok bool) {
	version, err := wire.CommonVersion(key, ours, theirs)
	return version, err == nil
}

// inVersion is an operation as a version of its RPC carries it.
func inVersion(op controller.Op, version int16) controller.Op {
	switch {
	case op.Kind == controller.RegisterBroker:
		op.Broker = registrationIn(op.Broker, version)
	case op.Kind == controller.Heartbeat:
		op.Heartbeat = heartbeatIn(op.Heartbeat, version)
	case op.Kind == controller.AlterPartition && version < brokerEpochsInWishes:
		wish := *op.Request.(*controller.AlterPartitionRequest)
		wish.Partitions = slices.Clone(wish.Partitions)
		for i := range wish.Partitions {
			p := &wish.Partitions[i]
			p.Isr = slices.Clone(p.Isr)
			for k := range p.Isr {
				p.Isr[k].Epoch = -1
			}
		}
		op.Request = &wish
	}
	return op
}

func registrationIn(r *controller.BrokerRegistration, version int16) *controller.BrokerRegistration {
	if r.Version == version {
		return r
	}
	same := *r
	same.Version = version
	if version < logDirsInRegistrations {
		same.LogDirs = nil
	}
	if version < cleanShutdownInRegistration {
		same.PreviousBrokerEpoch = -1
	}
	if version < zeroRangesInRegistration {
		same.Features = slices.DeleteFunc(slices.Clone(r.Features), func(f image.FeatureRange) bool { return f.Minimum == 0 })
	}
	return &same
}

func heartbeatIn(h *controller.BrokerHeartbeat, version int16) *controller.BrokerHeartbeat {
	if version >= cordonedDirsInHeartbeats || h.CordonedLogDirs == nil && (version >= offlineDirsInHeartbeats || h.OfflineLogDirs == nil) {
		return h
	}
	same := *h
	same.CordonedLogDirs = nil
	if version < offlineDirsInHeartbeats {
		same.OfflineLogDirs = nil
	}
	return &same
}
