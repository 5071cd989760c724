package raft

import (
	"math"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// The API keys of raft's RPCs (kraft-protocol 2.1).
const (
	apiFetch            int16 = 1
	apiApiVersions      int16 = 18
	apiVote             int16 = 52
	apiBeginQuorumEpoch int16 = 53
	apiEndQuorumEpoch   int16 = 54
	apiDescribeQuorum   int16 = 55
	apiFetchSnapshot    int16 = 59
	apiAddRaftVoter     int16 = 80
	apiRemoveRaftVoter  int16 = 81
	apiUpdateRaftVoter  int16 = 82
)

// newestVersions are the versions of AUG26, ascending by key.
var newestVersions = [...]APIVersionRange{
	{APIKey: apiFetch, MinVersion: 4, MaxVersion: 18}, {APIKey: apiApiVersions, MaxVersion: 5},
	{APIKey: apiVote, MaxVersion: 2}, {APIKey: apiBeginQuorumEpoch, MaxVersion: 1}, {APIKey: apiEndQuorumEpoch, MaxVersion: 1},
	{APIKey: apiDescribeQuorum, MaxVersion: 2}, {APIKey: apiFetchSnapshot, MaxVersion: 1}, {APIKey: apiAddRaftVoter, MaxVersion: 1},
	{APIKey: apiRemoveRaftVoter, MaxVersion: 0}, {APIKey: apiUpdateRaftVoter, MaxVersion: 0},
}

// Versions says what a node's software knows of raft's RPCs: for each API key that it names, the largest version; -1
// says that the API is not known at all. Keys that it does not name are known to their newest version, so that the zero
// Versions is the newest software. A node sends nothing above its own versions and answers UNSUPPORTED_VERSION where a
// request needs more: without Vote 2 it has no pre-vote, without Fetch 18 it leaves the high watermark out of its Fetch.
type Versions []VersionLimit

// VersionLimit is the largest version of one API.
type VersionLimit struct {
	APIKey     int16
	MaxVersion int16
}

// maxVersion returns the largest version of an API that this node knows, -1 for none.
func (c *Config) maxVersion(key int16) int16 {
	for i := range c.Versions {
		if c.Versions[i].APIKey == key {
			return c.Versions[i].MaxVersion
		}
	}
	for i := range newestVersions {
		if newestVersions[i].APIKey == key {
			return newestVersions[i].MaxVersion
		}
	}
	return -1
}

// hasPreVote reports whether this node knows pre-votes (KIP-996).
func (c *Config) hasPreVote() bool { return c.maxVersion(apiVote) >= 2 }

// firstFetchWithHighWatermark is the version of Fetch from which on the follower tells its high watermark (KIP-1166).
const firstFetchWithHighWatermark = 18

// toldHighWatermark is the high watermark in this node's Fetch requests; older software leaves the field out, and its
// default says that nothing newer is wanted.
func (r *Replica) toldHighWatermark() int64 {
	if r.cfg.maxVersion(apiFetch) < firstFetchWithHighWatermark {
		return math.MaxInt64
	}
	return r.base().highWatermark
}

// kraftVersionFeature is the name of the feature under which a node tells its kraft.versions.
const kraftVersionFeature = "kraft.version"

// firstVersionWithZeroMinimum is the version of ApiVersions from which on features whose minimum is 0 are told; older
// clients cannot read them (KAFKA-17011).
const firstVersionWithZeroMinimum = 4

// handleApiVersionsRequest tells the versions of raft's RPCs and the range of kraft.version (kraft-protocol 2.14). The
// finalized version is the one that KRaftVersion reports: not committed necessarily.
func (r *Replica) handleApiVersionsRequest(conn int64, m *ApiVersionsRequest) error {
	response := &ApiVersionsResponse{
		Header: Header{Correlation: m.Correlation, Response: true}, FinalizedFeaturesEpoch: -1,
	}
	for i := range newestVersions {
		known := newestVersions[i]
		known.MaxVersion = min(known.MaxVersion, r.cfg.maxVersion(known.APIKey))
		if known.MaxVersion >= known.MinVersion {
			response.APIKeys = append(response.APIKeys, known)
		}
	}
	if r.cfg.MinKRaftVersion > 0 || r.cfg.maxVersion(apiApiVersions) >= firstVersionWithZeroMinimum {
		response.SupportedFeatures = append(response.SupportedFeatures, SupportedFeature{
			Name: kraftVersionFeature, MinVersion: r.cfg.MinKRaftVersion, MaxVersion: r.cfg.MaxKRaftVersion,
		})
	}
	if version := r.KRaftVersion(); version > 0 {
		response.FinalizedFeatures = append(response.FinalizedFeatures, FinalizedFeature{
			Name: kraftVersionFeature, MinVersionLevel: version, MaxVersionLevel: version,
		})
	}
	r.deps.Transport.Send(conn, response)
	return nil
}

// sendProbe asks the replica that is about to become a voter, or to move, for its versions, at the endpoint that it will
// have in the voter set. It returns the correlation id of the answer to come, 0 when its connection is busy, pausing or
// fails at once.
func (r *Replica) sendProbe(id int32, endpoint voters.Endpoint) int32 {
	p := r.channel.peerTo(id, endpoint)
	if !r.isReady(p) {
		return 0
	}
	r.moveLink(p)
	m := &ApiVersionsRequest{ClientSoftwareName: "apache-kafka-java", ClientSoftwareVersion: "4.5.0", NodeID: -1}
	r.send(p, m, &m.Header)
	if p.state != peerAwaiting {
		return 0
	}
	return m.Correlation
}

// handleApiVersionsResponse lets the pending change go on. The answer of a replica that is not part of one, or no longer,
// means nothing.
func (r *Replica) handleApiVersionsResponse(p *peer, m *ApiVersionsResponse) (success bool, err error) {
	l, ok := r.role.(*leader)
	if !ok || l.change.kind == noChange || l.change.probe != m.Correlation {
		return true, nil
	}
	if m.ErrorCode != None {
		r.probeFailed(m.Correlation)
		return r.unexpected(p, m.ErrorCode), nil
	}
	l.change.probe = 0
	var minVersion, maxVersion int16
	found := false
	for i := range m.SupportedFeatures {
		if f := &m.SupportedFeatures[i]; f.Name == kraftVersionFeature {
			minVersion, maxVersion, found = f.MinVersion, f.MaxVersion, true
		}
	}
	if l.change.kind == addVoter {
		r.finishAddVoter(l, minVersion, maxVersion, found)
	} else {
		r.finishUpdateVoter(l, minVersion, maxVersion, found)
	}
	return true, nil
}

// probeFailed ends the pending change whose question, with that correlation id, will not be answered.
func (r *Replica) probeFailed(correlation int32) {
	if l, ok := r.role.(*leader); ok && l.change.kind != noChange && l.change.probe == correlation {
		r.endChange(l, RequestTimedOut, "the voter does not answer at its endpoint")
	}
}
