package invariants

import (
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// Suite is all checkers of the package as one sim.Checker: it turns what the world shows into calls of a core. Each cluster of
// the run has a core of its own, so that every invariant looks at the leaders and the log of its own cluster. It may be used for any
// number of runs, one after the other, and keeps its memory.
type Suite struct {
	cfg   Config
	world *sim.World
	cores []*core // by cluster; those beyond the clusters of the run wait for another run
	count int32   // clusters of the run
	pool  []*replica
	at    []place // by host: whose disk it has
	home  []place // by host: that of its own disk
	cross crossings
	op    diskOp
	owed  []duty
}

// place is a disk, with the identity that lives on it, and its cluster.
type place struct {
	core *core
	r    *replica
}

// New returns a suite.
func New(cfg Config) *Suite { return &Suite{cfg: cfg} }

// Configure replaces the configuration, for the next run.
func (s *Suite) Configure(cfg Config) { s.cfg = cfg }

// Attach implements sim.Checker.
func (s *Suite) Attach(w *sim.World) {
	s.world, s.count = w, max(1, int32(len(s.cfg.Clusters)))
	for int32(len(s.cores)) < s.count {
		s.cores = append(s.cores, &core{})
	}
	for k, c := range s.cores[:s.count] {
		c.reset(s.cfg.of(int32(k)), w.Violate, w.Evaluated, w.Sometimes, w.Stat)
	}
	s.cross.reset()
	s.at, s.home = s.at[:0], s.home[:0]
	for i, h := range w.Hosts() {
		if i == len(s.pool) {
			s.pool = append(s.pool, &replica{})
		}
		c := s.cores[s.cfg.clusterOf(i)]
		s.home = append(s.home, place{c, c.addReplica(s.pool[i], h.ID(), h.Volume())})
	}
	s.at = append(s.at, s.home...)
	s.separate()
	for k := int32(len(s.owed)) / numberOfDuties; k < s.count; k++ {
		s.owed = append(s.owed, s.duties(s.cores[k])...)
	}
	for i := range s.owed[:s.count*numberOfDuties] {
		w.AddObligation(&s.owed[i])
	}
}

// enter brings the clock of a core up to date and returns it, with the replica whose disk a host has.
func (s *Suite) enter(h *sim.Host) (*core, *replica) {
	p := &s.at[h.Index()]
	p.core.nowNs = s.world.NowNs()
	return p.core, p.r
}

// refresh brings what obligations look at up to date.
func (s *Suite) refresh() {
	for _, c := range s.cores[:s.count] {
		c.nowNs = s.world.NowNs()
		c.beginCalm()
	}
	for i, h := range s.world.Hosts() {
		s.at[i].r.frozen = h.Frozen()
	}
}

// OnBoot implements sim.LifeChecker.
func (s *Suite) OnBoot(h *sim.Host) {
	c, r := s.enter(h)
	c.booted(r, h.Boot())
	if c != s.home[h.Index()].core {
		*c.times.otherClustersDisk++
	}
}

// OnDown implements sim.LifeChecker.
func (s *Suite) OnDown(h *sim.Host, kind sim.DownKind, err error) {
	c, r := s.enter(h)
	if kind != sim.FatalError && kind != sim.RefusedToStart {
		err = nil
	}
	c.stopped(r, kind == sim.RefusedToStart, err)
}

// OnDiskCrash implements sim.DiskChecker. A disk that was put into another host takes its replica, and its cluster, along.
func (s *Suite) OnDiskCrash(h *sim.Host, v *vdisk.Volume) {
	if at := &s.at[h.Index()]; at.r.disk != disk(v) {
		for _, p := range s.home {
			if p.r.disk == disk(v) {
				*at = p
				p.r.id, p.r.static = h.ID(), &s.home[h.Index()].core.cfg.static
				p.r.settledNs = s.world.NowNs() + 2*s.cfg.FetchTimeoutNs
			}
		}
	}
	c, r := s.enter(h)
	c.crashed(r)
}

// OnDisk implements sim.DiskChecker.
func (s *Suite) OnDisk(h *sim.Host, v *vdisk.Volume, op *vdisk.Op) {
	c, r := s.enter(h)
	if r.disk != disk(v) {
		return // a clone of another's disk: what is done to it is done to nobody's log
	}
	if s.op.set(op); s.op.kind != 0 {
		c.onDisk(r, &s.op)
	}
}

// set makes o the translation of an operation; kind 0 is what the mirrors don't follow: what a power loss did is read from the volume as
// a whole.
func (o *diskOp) set(op *vdisk.Op) {
	o.kind, o.path, o.to, o.offset, o.size, o.data = 0, op.Path, op.To, op.Offset, op.Size, op.Data
	switch op.Kind {
	case vdisk.OpCreate:
		o.kind = opCreate
	case vdisk.OpWrite:
		o.kind = opWrite
	case vdisk.OpTruncate:
		o.kind = opTruncate
	case vdisk.OpSync:
		o.kind = opSync
	case vdisk.OpSyncFailed:
		if !op.Kept { // pages that stay dirty are as if nobody had asked for an fsync
			o.kind = opSyncFailed
		}
	case vdisk.OpRename:
		o.kind = opRename
	case vdisk.OpRemove:
		o.kind = opRemove
	case vdisk.OpSyncDir:
		o.kind = opSyncDir
	}
}

// byReplica reports whether a message is raft's own. What other lanes of a node send comes in the middle of a step of its replica.
// Any type can be a raft.Message, so it goes by the kinds: raft's are below 1000.
func byReplica(m sim.Message) bool { return m.Kind() < 1000 }

// OnSend implements sim.SendChecker.
func (s *Suite) OnSend(from, to *sim.Host, m sim.Message) {
	c, r := s.enter(from)
	var peer *replica
	if to != nil {
		if p := &s.at[to.Index()]; p.core == c {
			peer = p.r
		} else {
			s.crossed(s.at[from.Index()], *p, m)
		}
	}
	if byReplica(m) {
		c.votersUsed(r)
	}
	if id, _, ok := requestOf(m); ok {
		c.ownIDInRequest(r, id)
	}
	switch m := m.(type) {
	case *raft.FetchRequest:
		c.onFetchRequest(r, peer, m)
	case *raft.FetchResponse:
		c.onFetchResponse(r, peer, m)
	case *raft.VoteRequest:
		c.onVoteRequest(r, peer, m)
	case *raft.VoteResponse:
		c.onVoteResponse(r, peer, m)
	case *raft.BeginQuorumEpochRequest:
		c.onBeginQuorumEpoch(r, m)
	case *raft.AddRaftVoterRequest:
		r.wantsToJoin = r.wantsToJoin || m.VoterID == r.nodeID
		if to != nil {
			s.at[to.Index()].core.changeAsked(voterQuestion{int32(from.Index()), int32(to.Index()), m.Correlation,
				voterWish{key: voterKey{m.VoterID, m.VoterDirectoryID}, add: true}, !m.AckWhenCommitted})
		}
	case *raft.RemoveRaftVoterRequest:
		if to != nil {
			s.at[to.Index()].core.changeAsked(voterQuestion{int32(from.Index()), int32(to.Index()), m.Correlation,
				voterWish{key: voterKey{m.VoterID, m.VoterDirectoryID}}, false})
		}
	case *raft.AddRaftVoterResponse:
		if to != nil {
			c.changeAnswered(r, true, int32(to.Index()), int32(from.Index()), m.Correlation, m.ErrorCode)
		}
	case *raft.RemoveRaftVoterResponse:
		if to != nil {
			c.changeAnswered(r, false, int32(to.Index()), int32(from.Index()), m.Correlation, m.ErrorCode)
		}
	case *raft.ApiVersionsResponse:
		for i := range m.FinalizedFeatures {
			if f := &m.FinalizedFeatures[i]; f.Name == "kraft.version" {
				c.kraftVersionReported(r, f.MaxVersionLevel)
			}
		}
	case *raft.DescribeQuorumResponse:
		c.described(r, m)
	case *raft.EndQuorumEpochRequest:
		c.requestSent(r, m.LeaderEpoch)
	}
}

// OnTake implements sim.TakeChecker.
func (s *Suite) OnTake(h, from *sim.Host, m sim.Message) {
	switch m.(type) {
	case *raft.FetchRequest, *raft.FetchSnapshotRequest, *raft.UpdateRaftVoterRequest:
	default:
		return
	}
	c, r := s.enter(h)
	p := &s.at[from.Index()]
	if p.core != c {
		return
	}
	switch m := m.(type) {
	case *raft.FetchRequest:
		c.called(p.r, r, voterKey{m.ReplicaID, m.ReplicaDirectoryID})
		c.fetchTaken(p.r, r, m)
	case *raft.FetchSnapshotRequest:
		c.called(p.r, r, voterKey{m.ReplicaID, m.ReplicaDirectoryID})
	case *raft.UpdateRaftVoterRequest:
		c.called(p.r, r, voterKey{m.VoterID, m.VoterDirectoryID})
	}
}

// OnProtocol implements sim.ProtocolChecker.
func (s *Suite) OnProtocol(h *sim.Host, o sim.Observation) {
	c, r := s.enter(h)
	switch o := o.(type) {
	case *RaftObservation:
		c.onRaftEvent(r, &o.E)
	case *CommitDelivered:
		for i := range o.Batches {
			c.delivered(r, o.Listener, record.Batch(o.Batches[i].Bytes))
		}
	case *LoaderObservation:
		c.onLoaderEvent(r, &o.E)
	case *MetadataObservation:
		c.onControllerEvent(r, &o.E)
	case *LeaderDelivered:
		c.leaderDelivered(r, o.Listener, o.Leader.LeaderID, o.Leader.Epoch)
	case *OperationAnswered:
		if o.Offset >= 0 {
			c.appendAcknowledged(r, o.Offset)
		}
	case *SnapshotDelivered:
		c.snapshotDelivered(r, o.Listener, o.ID.Offset)
	case *BootstrapDelivered:
		c.bootstrapDelivered(r, o.Listener)
	}
}

func (c *core) onRaftEvent(r *replica, e *raft.Event) {
	r.server = true
	switch e.Kind {
	case raft.RoleChanged:
		c.roleChanged(r, roleOf(e.Role), e.Epoch, e.Leader)
	case raft.HighWatermarkAdvanced:
		c.watermarkEvent(r, e.Epoch, e.Offset, e.Role == raft.Leader)
	case raft.VotersChanged:
		r.votersInUse, r.votersSaidAt, r.votersUnsure = c.votersAt(r, e.Offset), e.Offset, true
	case raft.VoterChangeStarted, raft.VoterChangeEnded:
		c.changeEvent(r, e.Kind == raft.VoterChangeStarted)
	case raft.SnapshotOffered:
		c.snapshotOffered(r, e.Offset, e.Flag)
	case raft.LogReplaced:
		*c.times.downloaded++
		r.download = -1
	case raft.PreVoteGranted:
		r.preVoteFor = e.Peer.ID
	case raft.VoteGranted:
		r.preVoteFor = -1
	case raft.FetchAccepted, raft.VoterHeard:
		c.fetchAccepted(r, voterKey{e.Peer.ID, e.Peer.DirectoryID})
	}
}

// roleOf translates raft's word for a role.
func roleOf(r raft.Role) role {
	switch r {
	case raft.Unattached:
		return unattached
	case raft.Prospective:
		return prospective
	case raft.Candidate:
		return candidate
	case raft.Follower:
		return follower
	case raft.Leader:
		return leader
	case raft.Resigned:
		return resigned
	}
	return noRole
}

func (c *core) onLoaderEvent(r *replica, e *loader.Event) {
	switch e.Kind {
	case loader.ImageAdvanced:
		c.imageAdvanced(r, e.Other, e.Offset)
	case loader.ImagePublished:
		c.imageTold(r, e.Offset)
		c.imagePublished(r, e.Offset, e.Digest, e.Image)
	case loader.PublisherInitialized:
		c.imageTold(r, e.Offset)
	case loader.ClusterIDKnown:
		r.knowsID = true
	case loader.DirectoryFailed:
		r.loader.dirFailed = true
	}
}

func (c *core) onControllerEvent(r *replica, e *controller.Event) {
	c.partitionsEvent(r, e)
	switch e.Kind {
	case controller.ActivationCompleted:
		c.activationCompleted(r, e.Epoch, e.Offset, e.Other, e.Level)
	case controller.Committed, controller.ControllerClaimed:
		c.imageShown(r, e.Other, e.Digest, e.Stable, "controller")
	case controller.Renounced:
		c.imageShown(r, e.Offset, e.Digest, e.Image, "reverted")
	}
}
