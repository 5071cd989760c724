package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
)

// limits take single entries out of what a host's release knows: the largest version of an RPC, of raft's or of what is asked of controllers
// beside it, -1 for none of it, and the largest kraft.version. A plan says them as "Vote:1 BrokerHeartbeat:0 kraft.version:0". No release is like that; they show what one entry of the
// table is good for.
type limits struct {
	rpcs         raft.Versions // of raft
	requests     raft.Versions // of request_versions.go
	kraftVersion int16         // the largest, noLimit for the release's
}

const noLimit int16 = 1<<15 - 1

// kraftVersionEntry is the name of the entry that is no RPC.
const kraftVersionEntry = "kraft.version"

// limitNames are the RPCs that raft speaks, by API key.
var limitNames = [...]struct {
	key  int16
	name string
}{
	{wire.Fetch, "Fetch"}, {wire.APIVersions, "ApiVersions"}, {wire.Vote, "Vote"}, {wire.BeginQuorumEpoch, "BeginQuorumEpoch"},
	{wire.EndQuorumEpoch, "EndQuorumEpoch"}, {wire.DescribeQuorum, "DescribeQuorum"}, {wire.FetchSnapshot, "FetchSnapshot"},
	{wire.AddRaftVoter, "AddRaftVoter"}, {wire.RemoveRaftVoter, "RemoveRaftVoter"}, {wire.UpdateRaftVoter, "UpdateRaftVoter"},
}

// requestNames are the RPCs of request_versions.go.
var requestNames = [...]struct {
	key  int16
	name string
}{
	{rpcCreateTopics, "CreateTopics"}, {rpcDeleteTopics, "DeleteTopics"}, {rpcDescribeConfigs, "DescribeConfigs"}, {rpcCreatePartitions, "CreatePartitions"},
	{rpcElectLeaders, "ElectLeaders"}, {rpcIncrementalAlterConfigs, "IncrementalAlterConfigs"}, {rpcAlterReassignments, "AlterPartitionReassignments"},
	{rpcAlterPartition, "AlterPartition"}, {rpcUpdateFeatures, "UpdateFeatures"}, {rpcBrokerRegistration, "BrokerRegistration"},
	{rpcBrokerHeartbeat, "BrokerHeartbeat"}, {rpcUnregisterBroker, "UnregisterBroker"}, {rpcAllocateProducerIDs, "AllocateProducerIds"},
	{rpcControllerRegistration, "ControllerRegistration"}, {rpcAssignReplicasToDirs, "AssignReplicasToDirs"}, {rpcUnregisterController, "UnregisterController"},
}

// parseLimits reads the parameter; "" is no limit. An error tells what is expected.
func parseLimits(text string) (l limits, err error) {
	l.kraftVersion = noLimit
	for _, word := range strings.Fields(text) {
		name, number, found := strings.Cut(word, ":")
		version, err := strconv.ParseInt(number, 10, 16)
		if !found || err != nil || version < -1 {
			return l, fmt.Errorf("%q is not NAME:VERSION", word)
		}
		if name == kraftVersionEntry && version >= 0 {
			l.kraftVersion = int16(version)
			continue
		}
		key := int16(-1)
		for i := range limitNames {
			if limitNames[i].name == name {
				key = limitNames[i].key
			}
		}
		for i := range requestNames {
			if requestNames[i].name == name {
				l.requests = append(l.requests, raft.VersionLimit{APIKey: requestNames[i].key, MaxVersion: int16(version)})
				found = false // it is none of raft's
			}
		}
		switch {
		case !found:
			continue
		case key < 0:
			return l, fmt.Errorf("%q names no RPC between nodes", word)
		}
		l.rpcs = append(l.rpcs, raft.VersionLimit{APIKey: key, MaxVersion: int16(version)})
	}
	return l, nil
}

// largest is the limit of an RPC, noLimit when there is none.
func (l *limits) largest(key int16) int16 {
	for i := range l.rpcs {
		if l.rpcs[i].APIKey == key {
			return l.rpcs[i].MaxVersion
		}
	}
	return noLimit
}

// limited is what is left of a list of versions.
func limited(known []raft.APIVersionRange, by raft.Versions) (list []raft.APIVersionRange) {
	if len(by) == 0 {
		return known
	}
	for _, v := range known {
		for i := range by {
			if by[i].APIKey == v.APIKey {
				v.MaxVersion = min(v.MaxVersion, by[i].MaxVersion)
			}
		}
		if v.MaxVersion >= v.MinVersion {
			list = append(list, v)
		}
	}
	return list
}

// speaks lists the versions that a host knows.
func (h *hostSettings) speaks() []raft.APIVersionRange {
	return limited(languages[generationOf(h.release)], h.limits.rpcs)
}

// between is the version of an RPC between two hosts, -1 for none.
func between(one, two *hostSettings, key int16) int16 {
	if len(one.limits.rpcs) == 0 && len(two.limits.rpcs) == 0 {
		return negotiated[generationOf(one.release)][generationOf(two.release)][key]
	}
	version, err := wire.CommonVersion(key, one.speaks(), two.speaks())
	if err != nil {
		return -1
	}
	return version
}

// software is what the host's software knows of raft: that of its release, but for the limits.
func (h *hostSettings) software() (v raft.Versions, maxKRaftVersion int16) {
	v, maxKRaftVersion = software(h.release)
	if len(h.limits.rpcs) > 0 {
		v = nil
		for _, known := range limitNames {
			v = append(v, raft.VersionLimit{APIKey: known.key, MaxVersion: -1})
		}
		for _, known := range h.speaks() {
			for i := range v {
				if v[i].APIKey == known.APIKey {
					v[i].MaxVersion = known.MaxVersion
				}
			}
		}
	}
	return v, min(maxKRaftVersion, h.limits.kraftVersion)
}
