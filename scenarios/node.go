package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// The lanes of a node, as Kafka's threads.
const (
	laneRaft sim.LaneID = iota
	laneController
	laneLoader
	laneSnapshot
)

// node is one KRaft process: a replica, on controllers a QuorumController, and a MetadataLoader with its publishers.
type node struct {
	c       *cluster
	h       *hostSettings
	env     *sim.Env
	replica *raft.Replica
	control *controller.Controller
	loader  *loader.Loader
	images  *loader.SnapshotGenerator

	links      []link      // that this node dialled and that are open
	late       []*listener // that raft does not know yet: start_order raft-first
	bootedNs   int64       // on the monotonic clock
	wakePosted bool
	clusterID  string
	stopping   bool
	leaving    bool // it was told to end in order

	member *member // its life as a registered node, nil where the plan has none
	told   int64   // operation that the controller answered last
	asked  []asked // what members and clients asked of this controller

	formattedEmpty bool // meta.properties hold a cluster id, the empty string: nothing to wait for
}

// Boot is Kafka's start order (metadata-bootstrap 2.4, 7.4): identity, raft, loader, controller.
func (n *node) Boot(env *sim.Env) error {
	n.env = env
	switch {
	case n.c.members.register:
		env.Lanes("raft", "controller", "loader", "snapshot", "requests", "member")
	case n.takesRequests():
		env.Lanes("raft", "controller", "loader", "snapshot", "requests")
	default:
		env.Lanes("raft", "controller", "loader", "snapshot")
	}
	who, err := startup.Run(env.Files(), n.c.startupConfig(n.h, env.WallMs(), formatChoices{env}))
	if err != nil {
		return err
	}
	n.clusterID, n.bootedNs = who.ClusterID, env.MonotonicNs()
	if _, known := who.Directories.ClusterID(); known && who.ClusterID == "" {
		n.formattedEmpty = true
	}
	config := n.c.raftConfig(n.h, who)
	n.c.prompt.began(env.Host(), config.Listeners)
	config.Log.Alloc = env.Alloc
	n.replica = raft.New(config, raft.Deps{
		Files: env.Files(), Dir: n.h.metadataDir + "/__cluster_metadata-0", Transport: (*transport)(n), Chooser: (*choices)(n),
		Observer: (*raftObserver)(n), Waker: (*waker)(n), Alloc: env.Alloc, Pool: n.c.memory.messages,
	})
	if err := n.openLoader(who); err != nil {
		return err
	}
	if err := n.openController(who); err != nil {
		return err
	}
	if err := n.openMember(who); err != nil {
		return err
	}
	if err := n.replica.Open(env.WallMs()); err != nil {
		return err
	}
	env.Listen(int32(n.h.port), laneRaft)
	if n.control != nil && n.takesRequests() {
		env.Listen(memberPort, laneRequests)
	}
	env.Post(laneRaft, wakePost{})
	n.wakePosted = true
	return nil
}

// startupConfig is what the configuration file of a node says of its storage.
func (s *settings) startupConfig(h *hostSettings, nowMs int64, chooser format.Chooser) startup.Config {
	return startup.Config{
		NodeID: h.nodeID, Directories: h.dirs, MetadataDir: h.metadataDir, Controller: h.kind != kindBroker,
		StaticVoter: !s.dynamic && h.kind == kindController, Release: h.release,
		SelfFormat: s.selfFormat, OrphanLog: s.choices.orphanLog, UnidentifiedLog: s.choices.unidentifiedLog,
		Version: s.choices.fileVersion, NowMs: nowMs, Chooser: chooser,
	}
}

// openController builds the QuorumController and registers it at raft.
func (n *node) openController(who *startup.Node) error {
	if who.Bootstrap == nil {
		return nil
	}
	_, formatted := who.Directories.ClusterID()
	c, err := controller.New(controller.Config{
		NodeID: n.h.nodeID, Variant: n.c.variant, Choices: n.c.choices.controller, Release: n.h.release, UnstableFeatures: n.h.unstable, Bootstrap: entries(who.Bootstrap),
		ClusterID: who.ClusterID, EmptyClusterID: formatted && who.ClusterID == "", MaxRecordsPerBatch: n.c.recordsPerBatch, MaxAtomicRecords: controller.DefaultMaxRecordsPerBatch,
		MaxIdleIntervalNs: n.c.idleNs, MinInSyncReplicas: "1",
		ImbalanceCheckNs: n.c.members.balanceMs * million, UncleanCheckNs: n.c.members.uncleanMs * million,
		BrokerSessionTimeoutNs: n.c.members.sessionNs(), ControllersRegister: n.c.members.register, RefuseOldControllers: n.c.members.refuseOld,
	}, controller.Deps{Raft: n.replica, Chooser: (*controllerChoices)(n), Responder: (*responder)(n), Observer: (*controlObserver)(n), Offers: n.replica})
	if err != nil {
		return err
	}
	n.control = c
	n.register(&listener{n: n, lane: laneController, name: "controller"})
	return nil
}

// Input runs one input on its lane.
func (n *node) Input(env *sim.Env, in *sim.Input) error {
	switch in.Lane {
	case laneRaft:
		return n.inputRaft(env, in)
	case laneController:
		return n.inputController(env, in)
	case laneSnapshot:
		return n.inputSnapshot(env, in)
	case laneRequests:
		return n.inputRequests(env, in)
	case laneMember:
		return n.inputMember(env, in)
	}
	return n.inputLoader(env, in)
}

func (n *node) inputRaft(env *sim.Env, in *sim.Input) (err error) {
	n.c.prompt.turn(env.Host())
	now := env.WallMs()
	switch in.Kind {
	case sim.InMessage:
		err = n.receive(env, now, in)
	case sim.InConnected:
		err = n.opened(env, now, in.Conn)
	case sim.InDisconnected:
		n.unlink(in.Conn)
		n.c.prompt.closed(env.Host(), in.Conn)
		err = n.replica.Disconnected(now, in.Conn, in.Refused)
	default:
		switch m := in.Msg.(type) {
		case *frozenPost:
			err = n.replica.SnapshotFrozen(now, m.id)
		case *unsupportedPost:
			err = n.replica.Receive(now, m.conn, m.answer)
		case *clusterIDPost:
			n.replica.SetClusterID(m.id)
			err = n.replica.Poll(now)
		case wakePost:
			n.wakePosted = false
			err = n.replica.Poll(now)
		default:
			err = n.replica.Poll(now)
		}
	}
	if err != nil {
		return err
	}
	if d := n.replica.DeadlineMs(); d < 0 {
		env.WakeAt(-1)
	} else {
		env.WakeAt(env.MonotonicNs() + max(d-now, 1)*1_000_000)
	}
	if n.stopping && n.replica.Done() {
		env.Exit()
	}
	return nil
}

func (n *node) inputController(env *sim.Env, in *sim.Input) (err error) {
	now := env.MonotonicNs()
	switch m := in.Msg.(type) {
	case *commitPost:
		if err = n.control.HandleCommit(now, m.batches); err == nil {
			n.replica.ReleaseReader(m.listener)
		}
	case *bootstrapPost:
		err = n.control.HandleLoadBootstrap(now, m.bytes)
	case *snapshotPost:
		err = n.control.HandleLoadSnapshot(now, m.id, m.bytes)
	case *leaderPost:
		err = n.control.HandleLeaderChange(now, m.leader)
	case *clusterIDPost:
		n.control.SetClusterID(m.id)
	case *request:
		err = n.submit(now, &m.op)
	case *memberPost:
		err = n.submitMember(now, m)
	case nil:
		err = n.control.Poll(now)
	default:
		panic(fmt.Sprintf("scenarios: the controller lane got %T", in.Msg))
	}
	if err != nil {
		return err
	}
	env.WakeAt(n.control.DeadlineNs())
	return nil
}

// Stop asks for a graceful end: a registered broker asks the controller for leave, the replica resigns if it leads, then the process
// exits.
func (n *node) Stop(env *sim.Env) {
	if n.member != nil && n.member.life != nil {
		n.leaving = true
		n.c.membersOf.sessions.stopped(env.Host())
		env.Post(laneMember, memberStop{})
		return
	}
	n.shutDown(env)
}

func (n *node) shutDown(env *sim.Env) {
	n.stopping = true
	n.c.prompt.left(env.Host())
	n.replica.Shutdown(env.WallMs(), n.c.timeouts.fetch)
	env.Post(laneRaft, wakePost{})
}

// AppendState appends the state of all three.
func (n *node) AppendState(buf []byte, view sim.View) []byte {
	if n.loader == nil { // its start was refused before there was anything
		return buf
	}
	protocol := view == sim.ProtocolView
	buf = n.replica.AppendState(buf, protocol)
	if n.control != nil {
		buf = n.control.AppendState(buf, protocol)
	}
	if n.member != nil {
		buf = n.member.appendState(buf, protocol)
	}
	return n.loader.AppendState(buf, protocol)
}
