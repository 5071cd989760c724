package scenarios

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// OnSend is sim.SendChecker: who is refused for a cluster id, who asks for votes.
func (k *kipWitness) OnSend(from, to *sim.Host, m sim.Message) {
	x := &k.hosts[from.Index()]
	if v, ok := m.(*raft.VoteRequest); ok && !v.PreVote && x.wiped {
		x.voted = true
	}
	if to == nil {
		return
	}
	if code, ok := topLevel(m); ok && code == raft.InconsistentClusterID {
		y := &k.hosts[to.Index()]
		y.inconsistent++
		if x.id() != "" {
			y.foreign++
		} else {
			k.notes["refused-by-ignorant"]++
		}
	}
	k.sent(from, to, m)
}

// topLevel is the top level error of an answer.
func topLevel(m sim.Message) (raft.ErrorCode, bool) {
	switch m := m.(type) {
	case *raft.FetchResponse:
		return m.ErrorCode, true
	case *raft.VoteResponse:
		return m.ErrorCode, true
	case *raft.BeginQuorumEpochResponse:
		return m.ErrorCode, true
	case *raft.EndQuorumEpochResponse:
		return m.ErrorCode, true
	case *raft.FetchSnapshotResponse:
		return m.ErrorCode, true
	case *raft.AddRaftVoterResponse:
		return m.ErrorCode, true
	case *raft.RemoveRaftVoterResponse:
		return m.ErrorCode, true
	}
	return 0, false
}

// sent notes what single cases look at.
func (k *kipWitness) sent(from, to *sim.Host, m sim.Message) {
	x, y := &k.hosts[from.Index()], &k.hosts[to.Index()]
	switch m := m.(type) {
	case *raft.FetchRequest:
		k.notes["asks-foreign/"+from.ID()+">"+to.ID()] = 0
		if m.ClusterID.Known && m.ClusterID.ID != k.c.quorums[k.c.hosts[to.Index()].cluster].id {
			k.notes["asks-foreign/"+from.ID()+">"+to.ID()] = 1 // a node has one Fetch under way to each server
		}
		if m.ClusterID.Known && y.id() == "" && y.nodeRan > 0 && x.bootedWithID {
			k.notes["known-to-ignorant"]++ // T19
		}
		if m.HighWatermark >= 0 && m.HighWatermark != raft.HighWatermarkNotSent {
			k.notes["mark-known/"+from.ID()]++
		}
	case *raft.FetchResponse:
		if m.ErrorCode == raft.None && len(m.Records) > 0 {
			k.notes["served/"+to.ID()]++
			k.notes["served-foreign/"+to.ID()] += k.notes["asks-foreign/"+to.ID()+">"+from.ID()]
			k.notes["served/"+to.ID()+"/"+k.c.quorums[k.c.hosts[from.Index()].cluster].name]++
		}
	case *raft.RemoveRaftVoterRequest:
		if k.c.hosts[from.Index()].kind != kindOperator && m.VoterID == k.c.hosts[from.Index()].nodeID {
			k.notes["evicted"]++ // T32
		}
	}
	k.sentWhilePending(from, m)
	k.crossing(from, to, m)
}

// sentWhilePending looks at requests of nodes that started without an id, while a record is written and not stable (T24).
func (k *kipWitness) sentWhilePending(from *sim.Host, m sim.Message) {
	id, ok := requestID(m)
	if !ok || k.notes["written"] == 0 || k.notes["pending-over"] > 0 || k.hosts[from.Index()].bootedWithID {
		return
	}
	if k.look(); len(k.stable.ClusterIDs) > 0 {
		k.notes["pending-over"] = 1
		return
	}
	k.notes["sent-while-pending"]++
	if id.Known {
		k.notes["exposed-early"]++
	}
}

// requestID is the cluster id of a request.
func requestID(m sim.Message) (raft.ClusterID, bool) {
	switch m := m.(type) {
	case *raft.FetchRequest:
		return m.ClusterID, true
	case *raft.VoteRequest:
		return m.ClusterID, true
	case *raft.BeginQuorumEpochRequest:
		return m.ClusterID, true
	}
	return raft.ClusterID{}, false
}
