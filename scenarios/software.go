package scenarios

import (
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/wire"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// software is what a release knows of raft: its RPC versions, nil for the newest, and the largest kraft.version
// (kraft-protocol 2.1). The releases of October 2024 have no pre-vote, know nothing of the follower's high watermark in a Fetch
// (KIP-1166), and answer no AddRaftVoter before its commit (KIP-1186). Those before 3.9 know no voter changes at all (KIP-853)
// and keep their quorum-state in version 0.
func software(r *features.Release) (v raft.Versions, maxKRaftVersion int16) {
	f := r.Feature(features.KRaftVersion)
	if f != nil {
		maxKRaftVersion = f.LatestProduction
	}
	switch {
	case r.Layout == features.Aug26:
		return nil, maxKRaftVersion
	case f != nil:
		return october, maxKRaftVersion
	}
	return beforeVoterChanges, maxKRaftVersion
}

// The API keys below are Fetch 1, ApiVersions 18, Vote 52, BeginQuorumEpoch 53, EndQuorumEpoch 54, DescribeQuorum 55,
// FetchSnapshot 59, AddRaftVoter 80, RemoveRaftVoter 81, UpdateRaftVoter 82.
var (
	october = raft.Versions{
		{APIKey: 1, MaxVersion: 17}, {APIKey: 18, MaxVersion: 4}, {APIKey: 52, MaxVersion: 1}, {APIKey: 80, MaxVersion: 0},
	}
	beforeVoterChanges = raft.Versions{
		{APIKey: 1, MaxVersion: 16}, {APIKey: 18, MaxVersion: 3}, {APIKey: 52, MaxVersion: 0}, {APIKey: 53, MaxVersion: 0},
		{APIKey: 54, MaxVersion: 0}, {APIKey: 55, MaxVersion: 1}, {APIKey: 59, MaxVersion: 0}, {APIKey: 80, MaxVersion: -1},
		{APIKey: 81, MaxVersion: -1}, {APIKey: 82, MaxVersion: -1},
	}
)

// preVoteEverywhere reports whether the software of all hosts, now and after each action of the plan, has pre-votes (KIP-996).
func (s *settings) preVoteEverywhere(p *plan.Plan) bool {
	for i := range s.hosts {
		if s.hosts[i].release.Layout != features.Aug26 || s.hosts[i].limits.largest(wire.Vote) < 2 {
			return false
		}
	}
	for i := range p.Actions {
		if a := &p.Actions[i]; a.Kind == "software" || a.Kind == procedureKind && a.Params["release"] != "" {
			if r, err := features.Find(a.Params["release"]); err != nil || r.Layout != features.Aug26 {
				return false
			}
		}
	}
	return true
}
