package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
)

// transport is raft.Transport on the simulated network.
type transport node

func (t *transport) Dial(host string, port uint16) int64 {
	to, at := t.c.locate(t.h, host, port)
	conn := t.env.Dial(to, int32(at))
	t.c.prompt.once.dialled(t.env.Host(), conn)
	return conn
}
func (t *transport) CloseConn(conn int64) {
	(*node)(t).unlink(conn)
	t.c.prompt.once.over(t.env.Host(), conn)
	t.env.CloseConn(conn)
}

// waker turns client calls of other lanes into one pending poll of the raft lane.
type waker node

func (w *waker) Wake() {
	if w.wakePosted {
		return
	}
	w.wakePosted = true
	w.env.Post(laneRaft, wakePost{})
}

// The decision sites of the products.
var (
	siteElection    = decide.NewSpread("raft/election-timeout", "milliseconds added to an election timeout")
	siteBootstrap   = decide.NewSpread("raft/bootstrap-server", "which bootstrap server is asked first")
	siteReconnect   = decide.NewSpread("raft/reconnect-backoff", "jitter of the pause before a lost connection is dialled again")
	siteSnapshot    = decide.NewSpread("raft/snapshot-suffix", "random part in the name of a snapshot that is being written")
	siteDirectoryID = decide.NewSpread("metadata/directory-id", "32 bits of a new directory id")
	siteSalt        = decide.NewSpread("metadata/scram-salt", "26 bits of a salt")
	siteClusterID   = decide.NewSpread("metadata/cluster-id", "32 bits of a new cluster id")
)

// choices backs raft's chooser with named decisions.
type choices node

func (c *choices) Choose(site raft.Site, key uint64, n int64) int64 {
	switch site {
	case raft.SiteElectionTimeout:
		return c.env.Choose(siteElection, key, n)
	case raft.SiteBootstrapServer:
		return c.env.Choose(siteBootstrap, key, n)
	case raft.SiteReconnectBackoff:
		return c.env.Choose(siteReconnect, key, n)
	case raft.SiteSnapshotSuffix:
		return c.env.Choose(siteSnapshot, key, n)
	}
	panic("scenarios: raft has a choice without a site")
}

// formatChoices backs the chooser of format and startup.
type formatChoices struct{ env *sim.Env }

func (c formatChoices) Choose(site format.Site, key uint64, n int64) int64 {
	if site == format.SiteSalt {
		return c.env.Choose(siteSalt, key, n)
	}
	return c.env.Choose(siteDirectoryID, key, n)
}

// NowMs is format.Clock.
func (c formatChoices) NowMs() int64 { return c.env.WallMs() }

// controllerChoices backs the controller's chooser.
type controllerChoices node

func (c *controllerChoices) Choose(_ controller.Site, key uint64, n int64) int64 {
	return c.env.Choose(siteClusterID, key, n)
}

// listener turns raft's calls into posts to the lane of a component.
type listener struct {
	n    *node
	lane sim.LaneID
	id   int32
	name string
}

func (l *listener) HandleCommit(batches []raft.Batch) {
	m := &l.n.c.memory
	p := m.commits.next()
	*p = commitPost{listener: l.id, batches: batches}
	o := m.delivered.next()
	*o = invariants.CommitDelivered{Listener: l.name, Batches: batches}
	l.n.env.Observe(o)
	l.n.env.Post(l.lane, p)
}

func (l *listener) HandleLoadBootstrap(snapshot []byte) {
	p := l.n.c.memory.snapshots.next()
	*p = bootstrapPost{listener: l.id, bytes: snapshot}
	o := l.n.c.memory.loaded.next()
	*o = invariants.BootstrapDelivered{Listener: l.name, Bytes: int32(len(snapshot))}
	l.n.env.Observe(o)
	l.n.env.Post(l.lane, p)
}

// HandleLoadSnapshot is raft.SnapshotListener.
func (l *listener) HandleLoadSnapshot(id raft.OffsetAndEpoch, snapshot []byte) {
	p := l.n.c.memory.loadings.next()
	*p = snapshotPost{listener: l.id, id: id, bytes: snapshot}
	o := l.n.c.memory.snapshotted.next()
	*o = invariants.SnapshotDelivered{Listener: l.name, ID: id, Bytes: int32(len(snapshot))}
	l.n.env.Observe(o)
	l.n.env.Post(l.lane, p)
}

func (l *listener) HandleLeaderChange(le raft.LeaderAndEpoch) {
	p := l.n.c.memory.leaders.next()
	*p = leaderPost{listener: l.id, leader: le}
	o := l.n.c.memory.told.next()
	*o = invariants.LeaderDelivered{Listener: l.name, Leader: le}
	l.n.env.Observe(o)
	l.n.env.Post(l.lane, p)
}

// entries are the records of a node's bootstrap metadata.
func entries(m *bootstrap.Metadata) (list []records.Record) {
	for i := range m.Entries {
		list = append(list, m.Entries[i].Record)
	}
	return list
}
