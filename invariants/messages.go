package invariants

import "github.com/kraftsim/kraftsim/raft"

// onFetchRequest follows a Fetch as it is sent: it acknowledges, shows a high watermark, and says who asks.
func (c *core) onFetchRequest(r, to *replica, m *raft.FetchRequest) {
	r.fetched = true
	c.reached(r, m.ReplicaDirectoryID, m.CurrentLeaderEpoch, m.FetchOffset)
	c.requestSent(r, m.CurrentLeaderEpoch)
	c.directoryIDFirst(r, m.ReplicaDirectoryID)
	if m.HighWatermark != raft.HighWatermarkNotSent {
		// A request that waited for its connection is older than the log: it shows what was.
		if m.FetchOffset == r.log.end || m.HighWatermark > r.watermark {
			c.followerWatermark(r, m.CurrentLeaderEpoch, m.HighWatermark)
		}
	}
	c.acknowledge(r, m.CurrentLeaderEpoch, m.FetchOffset)
	if to != nil {
		c.fetchProgress(r, to, m)
		c.fetchAsked(r, to, m.Correlation, m.ClusterID.Known, m.ClusterID.ID)
	}
}

// onFetchResponse follows an answer as it is sent. Without an error only a leader answers, and its high watermark is exposed.
func (c *core) onFetchResponse(r, to *replica, m *raft.FetchResponse) {
	if m.ErrorCode != raft.None || m.PartitionError != raft.None {
		return
	}
	if m.LeaderID == r.nodeID && m.HighWatermark >= 0 {
		c.watermarkTold(r, m.LeaderEpoch, m.HighWatermark)
		c.expose(r, m.LeaderEpoch, m.HighWatermark, "fetch-answer")
	}
	if to != nil {
		c.fetchServed(r, to, m.Correlation)
		c.fetchAnswered(r, to, m)
	}
}

func (c *core) onVoteRequest(r, to *replica, m *raft.VoteRequest) {
	c.requestSent(r, m.ReplicaEpoch)
	c.directoryIDFirst(r, m.ReplicaDirectoryID)
	c.voteAsked(r, voterKey{m.VoterID, m.VoterDirectoryID})
	if to != nil && (m.VoterID < 0 || m.VoterID == to.nodeID) { // a wrong name may lead it to one whom it is not meant for
		c.wire.between(r, to).vote = askedVote{
			correlation: m.Correlation, epoch: m.ReplicaEpoch, preVote: m.PreVote, asked: true, id: m.ReplicaID,
			dir: m.ReplicaDirectoryID, lastEpoch: m.LastOffsetEpoch, end: m.LastOffset,
		}
	}
	if m.PreVote {
		c.preVoteAsked(r, m.ReplicaEpoch)
	} else {
		c.standardVote(r, m.ReplicaEpoch, key(m.ReplicaID, m.ReplicaDirectoryID), "own-candidacy")
	}
}

func (c *core) onVoteResponse(r, to *replica, m *raft.VoteResponse) {
	if to == nil || m.ErrorCode != raft.None || m.PartitionError != raft.None {
		return
	}
	v := &c.wire.between(to, r).vote
	if !v.asked || v.correlation != m.Correlation || v.epoch != m.LeaderEpoch {
		return // the answer to an earlier request
	}
	switch {
	case m.VoteGranted && v.preVote:
		c.preVoteGranted(r, to, v.epoch)
	case m.VoteGranted && r.preVoteFor == to.nodeID:
		// An answer to the pre-vote of an earlier process life, which counted its requests from the start again.
	case m.VoteGranted:
		c.standardVote(r, v.epoch, key(v.id, v.dir), "granted-twice")
	case v.preVote && r.role == follower && r.appended:
		*c.times.preVoteRefused++
	case !v.preVote:
		c.voteRefused(r, to, v, m.LeaderID)
	}
}

func (c *core) onBeginQuorumEpoch(r *replica, m *raft.BeginQuorumEpochRequest) {
	c.requestSent(r, m.LeaderEpoch)
	c.signOfLife(r, c.cfg.FetchTimeoutNs/4)
	if m.LeaderID == r.nodeID {
		c.claim(r, m.LeaderEpoch, "begin-quorum-epoch")
	}
}
