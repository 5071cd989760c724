package invariants

import (
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

// Several clusters may share one network: names may lead from one to the other, addresses are given again, disks end up in the
// wrong machine. Which cluster a host belongs to is plan data (Config.ClusterOf); where there is one cluster nothing here runs.

var clustersApartDoc = sim.InvariantDoc{
	Name:   "clusters-apart",
	Source: "KAFKA-10817, KAFKA-12440, KAFKA-13528; known-bugs KB-27; kraft-protocol 2.3",
	Doc: "Where several clusters share a network: a request that carries the id of another cluster is refused for that and nothing else; " +
		"no record that a client of one cluster wrote, no voter and no vote of it shows in the log or the quorum-state of another.",
}

// separate tells the cores of each other.
func (s *Suite) separate() {
	if s.count == 1 {
		return
	}
	for k, c := range s.cores[:s.count] {
		c.ledger.foreign = s.cfg.Clusters[k].Foreign
		for _, o := range s.cores[:s.count] {
			if o != c {
				c.others = append(c.others, o)
			}
		}
	}
}

// crossings are the latest requests from one cluster to another that the server must refuse.
type crossings struct{ asked []crossing }

// crossing is one of them. An asker has at most one request of a kind under way to a server that matters here.
type crossing struct {
	asker, server *replica
	kind          uint32
	correlation   int32
	boot          int32 // of the asker
}

func (x *crossings) reset() { x.asked = x.asked[:0] }

// find returns the entry of a kind of request between two replicas, nil when there is none.
func (x *crossings) find(asker, server *replica, kind uint32) *crossing {
	for i := range x.asked {
		if a := &x.asked[i]; a.asker == asker && a.server == server && a.kind == kind {
			return a
		}
	}
	return nil
}

// crossed follows a message from a replica of one cluster to one of another.
func (s *Suite) crossed(from, to place, m sim.Message) {
	if id, correlation, ok := requestOf(m); ok {
		s.askedAcross(from, to, m.Kind(), correlation, id)
		return
	}
	code, correlation, ok := answerOf(m)
	if !ok {
		return
	}
	a := s.cross.find(to.r, from.r, m.Kind()&^1)
	if a == nil || a.correlation != correlation || a.boot != to.r.boot {
		return
	}
	a.correlation = -1
	rule := &from.core.rules.clustersApart
	rule.eval()
	if code == raft.InconsistentClusterID {
		*from.core.times.refusedOther++
		to.core.toldForeignEpoch(to.r, m)
		return
	}
	rule.fail("served", from.r.id+" answers "+requestName(m)+" of "+to.r.id+
		", which carries the id of another cluster, with "+errorName(code)+" in place of INCONSISTENT_CLUSTER_ID")
}

// ForeignEpoch is the evidence of a declared loss: the answer to an UpdateRaftVoter names leader and epoch whatever its error is, that
// of another cluster id included, and whoever asked believes them (kraft-protocol 2.4, 2.13).
const ForeignEpoch = "foreign-epoch"

// toldForeignEpoch follows a refusal that carries an epoch above that of the one who asked: what goes wrong in its cluster from now on
// may follow from that. An epoch that is not above it is no news, and nothing follows.
func (c *core) toldForeignEpoch(r *replica, m sim.Message) {
	if a, ok := m.(*raft.UpdateRaftVoterResponse); ok && a.LeaderEpoch > r.roleEpoch {
		*c.times.foreignEpoch++
		if c.loss == "" {
			c.loss = ForeignEpoch
		}
	}
}

// askedAcross notes a request whose cluster id is not that of the server. A server that knows no id takes any (KIP-1262). What a host
// asks soon after its disk was exchanged is left out: who had answers for the disk before may still send them to the machine, where they
// go nowhere, and correlation ids begin anew in each process life.
func (s *Suite) askedAcross(from, to place, kind uint32, correlation int32, id raft.ClusterID) {
	a := s.cross.find(from.r, to.r, kind)
	if a == nil {
		s.cross.asked = append(s.cross.asked, crossing{asker: from.r, server: to.r, kind: kind})
		a = &s.cross.asked[len(s.cross.asked)-1]
	}
	a.correlation, a.boot = -1, from.r.boot
	mine := to.r.knownClusterID()
	if s.world != nil && s.world.NowNs() < from.r.settledNs {
		return
	}
	if id.Known && to.r.up && to.r.knowsID && mine != 0 && to.core.ledger.texts[mine] != id.ID {
		a.correlation = correlation
	}
}

// requestOf returns cluster id and correlation of a request that has a cluster id.
func requestOf(m sim.Message) (id raft.ClusterID, correlation int32, ok bool) {
	switch m := m.(type) {
	case *raft.FetchRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.VoteRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.BeginQuorumEpochRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.EndQuorumEpochRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.FetchSnapshotRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.AddRaftVoterRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.RemoveRaftVoterRequest:
		return m.ClusterID, m.Correlation, true
	case *raft.UpdateRaftVoterRequest:
		return m.ClusterID, m.Correlation, true
	}
	return id, 0, false
}

// errorName is Kafka's name of an error; one that raft does not use is told by its number.
func errorName(code raft.ErrorCode) string {
	if name := code.String(); name != "ERROR" {
		return name
	}
	return "error " + number(int64(code))
}

// requestName is what Kafka calls the request of an answer.
func requestName(answer sim.Message) string {
	switch answer.(type) {
	case *raft.FetchResponse:
		return "Fetch"
	case *raft.VoteResponse:
		return "Vote"
	case *raft.BeginQuorumEpochResponse:
		return "BeginQuorumEpoch"
	case *raft.EndQuorumEpochResponse:
		return "EndQuorumEpoch"
	case *raft.FetchSnapshotResponse:
		return "FetchSnapshot"
	case *raft.AddRaftVoterResponse:
		return "AddRaftVoter"
	case *raft.RemoveRaftVoterResponse:
		return "RemoveRaftVoter"
	case *raft.UpdateRaftVoterResponse:
		return "UpdateRaftVoter"
	}
	return "request kind " + number(int64(answer.Kind()>>1))
}

// answerOf returns top level error and correlation of the answer to such a request.
func answerOf(m sim.Message) (code raft.ErrorCode, correlation int32, ok bool) {
	switch m := m.(type) {
	case *raft.FetchResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.VoteResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.BeginQuorumEpochResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.EndQuorumEpochResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.FetchSnapshotResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.AddRaftVoterResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.RemoveRaftVoterResponse:
		return m.ErrorCode, m.Correlation, true
	case *raft.UpdateRaftVoterResponse:
		return m.ErrorCode, m.Correlation, true
	}
	return 0, 0, false
}

// owner returns the replica of another cluster with a directory id, nil when there is none: directory ids are unique.
func (c *core) owner(dir record.UUID) *replica {
	if dir.IsZero() {
		return nil
	}
	for _, o := range c.others {
		for _, r := range o.replicas {
			if r.directoryID == dir {
				return r
			}
		}
	}
	return nil
}

// ownRecords checks a batch with records that matter, as a live process appends it.
func (c *core) ownRecords(r *replica, id batchID) {
	if len(c.others) == 0 {
		return
	}
	rule := &c.rules.clustersApart
	rule.eval()
	b := c.ledger.at(id)
	for i := b.factStart; i < b.factEnd; i++ {
		f := &c.ledger.facts[i]
		if f.kind == factForeign {
			rule.fail("foreign-record", r.id+" appends a record at offset "+number(f.offset)+" that a client of another cluster wrote")
		}
		if f.kind != factVoters {
			continue
		}
		set := &c.ledger.sets[f.number]
		for k := range set.keys {
			if o := c.owner(set.keys[k].dir); o != nil {
				rule.fail("foreign-voter", r.id+" appends voters "+set.text()+" at offset "+number(f.offset)+"; the directory of "+
					number(int64(set.keys[k].id))+" is that of "+o.id+", of another cluster")
			}
		}
	}
}

// ownVote checks a vote that is written to quorum-state.
func (c *core) ownVote(r *replica, q *quorumFile) {
	if len(c.others) == 0 || q.voted < 0 {
		return
	}
	rule := &c.rules.clustersApart
	rule.eval()
	if o := c.owner(q.directory); o != nil {
		rule.fail("foreign-vote", r.id+" votes in epoch "+number(int64(q.epoch))+" for "+o.id+", of another cluster")
	}
}
