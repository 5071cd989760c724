package raft

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// follower fetches from the leader of its epoch. A voter that hears nothing for a fetch timeout turns prospective; an
// observer goes on trying. Now and then it corrects its entry in the voter set (5.6) or, as an observer that may, asks to
// become a voter (5.8).
type follower struct {
	base
	fetchDeadlineMs int64
	// hasFetched: this leader has answered a Fetch of this object. From then on pre-votes are refused, which is what
	// protects a working leader (1.7). A new object for more endpoints starts over.
	hasFetched bool

	download *raftlog.SnapshotWriter // snapshot on its way from the leader; nil: none

	updateDeadlineMs int64 // when the entry in the voter set is looked at next, or membership is asked for
	hasUpdatedLeader bool  // this leader took the last UpdateRaftVoter
}

// kind implements role.
func (*follower) kind() Role { return Follower }

// poll implements role.
func (f *follower) poll(r *Replica) (int64, error) {
	if r.shuttingDown {
		return r.shutdownDeadlineMs, nil
	}
	if !r.isVoter() {
		return f.pollObserver(r)
	}
	if r.nowMs >= f.fetchDeadlineMs {
		r.emit(FetchTimeout, 0, 0, &NoReplica, false)
		return r.nowMs, r.becomeProspective()
	}
	wakeMs := f.fetchDeadlineMs
	if f.wantsUpdate(r) {
		if r.nowMs >= f.updateDeadlineMs {
			next, err := r.sendUpdateVoter(f)
			return min(next, wakeMs), err
		}
		wakeMs = min(wakeMs, f.updateDeadlineMs)
	} else {
		f.skipUpdatePeriods(r)
	}
	next, err := r.fetchFromBestNode(f)
	return min(next, wakeMs), err
}

// pollObserver fetches, or asks to become a voter.
func (f *follower) pollObserver(r *Replica) (int64, error) {
	if !r.joinsByItself() {
		return r.fetchFromBestNode(f)
	}
	if r.nowMs >= f.updateDeadlineMs {
		return r.sendJoin(f)
	}
	next, err := r.fetchFromBestNode(f)
	return min(next, f.updateDeadlineMs), err
}

// heardFromLeader notes a successful answer of the leader.
func (f *follower) heardFromLeader(r *Replica) {
	f.fetchDeadlineMs = r.nowMs + r.cfg.FetchTimeoutMs
	f.hasFetched = true
}

// fetchFromBestNode sends the one Fetch that may be outstanding (1.9): to the leader, or, when the leader has not
// answered or answered with an error, to a bootstrap server that may know a newer one.
func (r *Replica) fetchFromBestNode(f *follower) (int64, error) {
	leader, err := r.leaderPeer(f)
	if err != nil {
		return 0, err
	}
	if r.timedOut(leader) {
		r.expire(leader)
		return r.fetchFromBootstrap(), nil
	}
	if r.backingOff(leader) {
		return min(r.fetchFromBootstrap(), leader.deadlineMs), nil
	}
	if r.anyInFlight() {
		return r.inFlightDeadlineMs(), nil
	}
	if r.isReady(leader) {
		if f.download != nil {
			r.sendFetchSnapshot(f, leader)
		} else {
			r.sendFetch(leader)
		}
		if r.backingOff(leader) {
			// The lost connection may not be dialled again yet. Kafka's next poll finds the leader backing off, in which a
			// bootstrap server is asked; at the deadline of the pause the leader would be tried again, and nobody else ever.
			return min(r.fetchFromBootstrap(), leader.deadlineMs), nil
		}
	}
	return leader.deadlineMs, nil
}

// leaderPeer returns the peer that is the leader, at its endpoint for the raft listener.
func (r *Replica) leaderPeer(f *follower) (*peer, error) {
	endpoint, found := endpointFor(f.leaderEndpoints, r.cfg.ListenerName)
	if !found {
		return nil, fmt.Errorf("%w: leader %d has no listener %q", ErrUnknownEndpoint, f.leaderID, r.cfg.ListenerName)
	}
	return r.channel.peerTo(f.leaderID, endpoint), nil
}

// fetchFromBootstrap sends a Fetch to a bootstrap server if one may be asked, and returns when to look again.
func (r *Replica) fetchFromBootstrap() int64 {
	p, againMs := r.readyBootstrap()
	if p == nil {
		return againMs
	}
	r.sendFetch(p)
	return p.deadlineMs
}

// endpointFor returns the endpoint of that listener.
func endpointFor(endpoints []voters.Endpoint, listener string) (voters.Endpoint, bool) {
	for i := range endpoints {
		if endpoints[i].Name == listener {
			return endpoints[i], true
		}
	}
	return voters.Endpoint{}, false
}

// appendTo implements role.
func (f *follower) appendTo(buf []byte, protocolView bool) []byte {
	buf = record.AppendBool(record.AppendBool(buf, f.hasFetched), f.hasUpdatedLeader)
	if f.download != nil {
		buf = record.AppendInt64(appendOffsetAndEpoch(buf, f.download.ID()), f.download.Size())
	}
	if protocolView {
		return buf
	}
	return record.AppendInt64(record.AppendInt64(buf, f.fetchDeadlineMs), f.updateDeadlineMs)
}
