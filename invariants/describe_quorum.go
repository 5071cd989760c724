package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
)

var describeQuorumDoc = sim.InvariantDoc{
	Name:   "describe-quorum",
	Source: "KIP-836, KIP-853; KAFKA-17604; kraft-protocol 2.10, 3.5",
	Doc: "A leader's answer to DescribeQuorum is true: its voters, with their listeners, are those of the newest voter set in its log; " +
		"observers are all others that it has answered a Fetch of in this epoch, a removed voter too, and nobody else; each log end is the " +
		"offset of the last Fetch that was answered, or of one that waits; its own is the end of its log. Both lists are ascending by key.",
}

// fetchPoint is where a replica said in a Fetch that it is.
type fetchPoint struct {
	id     int32
	dir    record.UUID
	epoch  int32
	offset int64
}

// is reports whether a Fetch is one of a replica in an epoch; a zero directory id is any.
func (f *fetchPoint) is(key raft.ReplicaKey, epoch int32) bool {
	return f.epoch == epoch && f.id == key.ID && (f.dir == key.DirectoryID || key.DirectoryID.IsZero())
}

// progressOf is what one host asked another for, in Fetch requests, and what of it was answered.
type progressOf struct {
	asked, served fetchPoint
	lost          [2]fetchPoint // the latest that had no answer when the next was sent: they may wait at the leader still, and count when they are through
	waits         bool          // asked has no answer yet
	unsure        bool          // an older request was answered after a newer one had been sent
	servedNs      int64
	correlation   int32
	taken         fetchPoint // the latest that the leader of that epoch took in, answered or not
}

// fetchTaken notes a Fetch as a leader takes it in: from here on it may know its sender, whatever that one asks elsewhere or in another
// epoch before there is an answer.
func (c *core) fetchTaken(r, leader *replica, m *raft.FetchRequest) {
	if leader.quorum.leader != leader.nodeID || leader.quorum.epoch != m.CurrentLeaderEpoch {
		return
	}
	p := &c.wire.between(r, leader).progress
	if p.taken.epoch == m.CurrentLeaderEpoch && p.taken.dir != m.ReplicaDirectoryID {
		c.goneDisks = append(c.goneDisks, p.taken)
	}
	p.taken = fetchPoint{m.ReplicaID, m.ReplicaDirectoryID, m.CurrentLeaderEpoch, m.FetchOffset}
}

// fetchProgress notes a Fetch as it is sent.
func (c *core) fetchProgress(r, to *replica, m *raft.FetchRequest) {
	p := &c.wire.between(r, to).progress
	if p.served.epoch == m.CurrentLeaderEpoch && p.served.id >= 0 && p.served.dir != m.ReplicaDirectoryID {
		c.goneDisks = append(c.goneDisks, p.served) // its disk was replaced: the leader remembers who it was
	}
	if p.waits {
		p.lost[1], p.lost[0] = p.lost[0], p.asked
	}
	p.asked = fetchPoint{m.ReplicaID, m.ReplicaDirectoryID, m.CurrentLeaderEpoch, m.FetchOffset}
	p.waits, p.correlation = true, m.Correlation
}

// fetchAnswered notes an answer that is no error and sends its asker nowhere else: the leader has recorded the offset.
func (c *core) fetchAnswered(r, to *replica, m *raft.FetchResponse) {
	p := &c.wire.between(to, r).progress
	if !p.waits || p.correlation != m.Correlation {
		p.unsure = true
		return
	}
	p.waits = false
	if m.DivergingEpoch.Epoch >= 0 || m.SnapshotID.Epoch >= 0 || m.SnapshotID.Offset >= 0 {
		return
	}
	p.served, p.servedNs, p.unsure = p.asked, c.nowNs, false
}

// described judges an answer as it is sent.
func (c *core) described(r *replica, m *raft.DescribeQuorumResponse) {
	if m.ErrorCode != raft.None || m.PartitionError != raft.None || m.WrongShape {
		return
	}
	rule := &c.rules.describeQuorum
	rule.eval()
	if r.quorum.leader != r.nodeID || r.quorum.epoch != m.LeaderEpoch || m.LeaderID != r.nodeID {
		rule.fail("not-leader", r.id+" answers as leader "+number(int64(m.LeaderID))+" of epoch "+number(int64(m.LeaderEpoch))+
			"; its quorum-state has leader "+number(int64(r.quorum.leader))+" of epoch "+number(int64(r.quorum.epoch)))
		return
	}
	if l := c.claim(r, m.LeaderEpoch, "describe-quorum"); l != nil {
		if m.HighWatermark < l.exposed {
			rule.fail("high-watermark", r.id+" tells high watermark "+number(m.HighWatermark)+" after "+number(l.exposed))
		} else if m.HighWatermark >= 0 {
			c.expose(r, m.LeaderEpoch, m.HighWatermark, "describe-quorum")
		}
	}
	for _, list := range [2][]raft.DescribedReplica{m.Voters, m.Observers} {
		for i := 1; i < len(list); i++ {
			if list[i-1].Compare(list[i].ReplicaKey) > 0 {
				rule.fail("order", r.id+" describes "+describedText(list)+", which is not in the order of their keys")
				return
			}
		}
	}
	c.describedVoters(r, m)
	c.describedNodes(r, m)
	c.describedObservers(r, m)
}

// describedVoters compares the voters.
func (c *core) describedVoters(r *replica, m *raft.DescribeQuorumResponse) {
	rule, set := &c.rules.describeQuorum, c.votersOf(r)
	same := int32(len(m.Voters)) == set.size()
	for i := range m.Voters {
		k := voterKey{m.Voters[i].ID, m.Voters[i].DirectoryID}
		same = same && set.has(&k)
	}
	if !same {
		rule.fail("voters", r.id+" describes "+describedText(m.Voters)+" as voters; the newest set in its log is "+set.text())
		return
	}
	for i := range m.Voters {
		c.describedReplica(r, &m.Voters[i], m.LeaderEpoch)
	}
}

// describedNodes compares where the voters listen. Versions below 2 do not tell.
func (c *core) describedNodes(r *replica, m *raft.DescribeQuorumResponse) {
	set := c.rosterInForce(r)
	if set == nil || len(m.Nodes) == 0 {
		return
	}
	for i := range set.voters {
		v := &set.voters[i]
		found := slices.ContainsFunc(m.Nodes, func(n raft.DescribedNode) bool {
			return n.NodeID == v.VoterID && slices.EqualFunc(n.Listeners, v.Endpoints, func(a voters.Endpoint, b record.VoterEndpoint) bool {
				return a.Name == b.Name && a.Host == b.Host && a.Port == b.Port
			})
		})
		if !found || len(m.Nodes) != len(set.voters) {
			c.rules.describeQuorum.fail("nodes", r.id+" does not tell where voter "+number(int64(v.VoterID))+" listens as its log says: "+endpointsText(v))
			return
		}
	}
}

// describedObservers looks for observers that are missing, and for those that nobody is.
func (c *core) describedObservers(r *replica, m *raft.DescribeQuorumResponse) {
	rule, set := &c.rules.describeQuorum, c.votersOf(r)
	for i := range m.Observers {
		o := &m.Observers[i]
		if o.ID == r.nodeID && o.DirectoryID == r.directoryID {
			if set.holds(r) {
				rule.fail("observers", r.id+" describes itself as an observer; the newest voter set in its log is "+set.text())
			}
			continue
		}
		if k := (voterKey{o.ID, o.DirectoryID}); !o.DirectoryID.IsZero() && set.has(&k) || !c.fetchesFrom(r, o.ReplicaKey, m.LeaderEpoch) {
			rule.fail("observers", r.id+" describes "+o.ReplicaKey.String()+" as an observer, which is a voter or has not fetched in epoch "+
				number(int64(m.LeaderEpoch)))
			return
		}
		c.describedReplica(r, o, m.LeaderEpoch)
	}
	for _, x := range c.replicas {
		p := &c.wire.between(x, r).progress
		k := voterKey{p.served.id, p.served.dir}
		if x == r || p.servedNs == 0 || p.unsure || p.served.epoch != m.LeaderEpoch || p.served.id < 0 || set.has(&k) ||
			c.nowNs-p.servedNs > observerSessionNs {
			continue
		}
		if !slices.ContainsFunc(m.Observers, func(o raft.DescribedReplica) bool {
			return o.ID == k.id && (o.DirectoryID == k.dir || o.DirectoryID.IsZero())
		}) {
			rule.fail("observer-missing", r.id+" answered a Fetch of "+x.id+" in epoch "+number(int64(m.LeaderEpoch))+
				" and describes neither a voter nor an observer "+number(int64(k.id))+":"+k.dir.String())
			return
		}
	}
}

// observerSessionNs is a little less than how long a leader remembers an observer that is silent (300 s of its wall clock).
const observerSessionNs = 250_000_000_000

// fetchesFrom reports whether a replica has sent the leader a Fetch of its epoch.
func (c *core) fetchesFrom(r *replica, key raft.ReplicaKey, epoch int32) bool {
	for _, x := range c.replicas {
		p := &c.wire.between(x, r).progress
		if p.asked.is(key, epoch) || p.served.is(key, epoch) || p.taken.is(key, epoch) || p.unsure && x.nodeID == key.ID {
			return true
		}
	}
	for i := range c.goneDisks {
		if c.goneDisks[i].is(key, epoch) {
			return true
		}
	}
	return false
}

// describedReplica judges one entry.
func (c *core) describedReplica(r *replica, d *raft.DescribedReplica, epoch int32) {
	rule := &c.rules.describeQuorum
	if d.ID == r.nodeID && (d.DirectoryID == r.directoryID || d.DirectoryID.IsZero()) {
		if d.LogEndOffset != r.log.end {
			rule.fail("own-log-end", r.id+" says that its log ends at "+number(d.LogEndOffset)+"; it ends at "+number(r.log.end))
		}
		return
	}
	if d.LastCaughtUpTimeMs > d.LastFetchTimeMs {
		rule.fail("times", r.id+" says that "+d.ReplicaKey.String()+" had caught up after it fetched last")
	}
	for _, x := range c.replicas {
		p := &c.wire.between(x, r).progress
		if p.unsure {
			return
		}
		served, asked := p.servedNs > 0 && p.served.is(d.ReplicaKey, epoch), p.asked.is(d.ReplicaKey, epoch)
		if !served && !asked {
			continue
		}
		if served && d.LogEndOffset == p.served.offset || asked && d.LogEndOffset == p.asked.offset || !served && d.LogEndOffset < 0 ||
			p.taken.is(d.ReplicaKey, epoch) && d.LogEndOffset == p.taken.offset {
			return
		}
		for i := range p.lost {
			if p.lost[i].is(d.ReplicaKey, epoch) && d.LogEndOffset == p.lost[i].offset {
				return
			}
		}
		rule.fail("log-end", r.id+" says that "+d.ReplicaKey.String()+" is at "+number(d.LogEndOffset)+"; the last Fetch that it answered was at "+
			number(p.served.offset)+", the last that was sent at "+number(p.asked.offset))
		return
	}
}

// describedText lists ids.
func describedText(list []raft.DescribedReplica) string {
	t := "["
	for i := range list {
		if i > 0 {
			t += " "
		}
		t += number(int64(list[i].ID))
	}
	return t + "]"
}
