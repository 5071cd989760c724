package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim"
)

// openLoader builds the MetadataLoader with the publisher that gives the node its cluster id, and registers it at raft.
// Registration comes before anything may wait for an id (metadata-bootstrap 4.7).
func (n *node) openLoader(who *startup.Node) error {
	publisher, err := loader.NewClusterIDPublisher(loader.ClusterIDConfig{
		Files: n.env.Files(), Ensemble: who.Directories, Version: n.c.choices.fileVersion, TellFirst: n.c.choices.tellFirst, Clock: n.env,
		Sinks: []loader.ClusterIDSink{(*discovered)(n)}, Observer: (*loaderObserver)(n),
	})
	if err != nil {
		return err
	}
	for i := range who.Directories.Directories { // those that start-up gave up: nobody will write to them
		if d := &who.Directories.Directories[i]; d.State == metaprops.Failed {
			(*loaderObserver)(n).Observe(&loader.Event{Kind: loader.DirectoryFailed, Index: int32(i), Text: d.Path, Err: d.Err})
		}
	}
	n.loader, err = loader.New(loader.Config{
		Release: n.h.release, StopOnLoadFailure: n.h.kind != kindBroker, RetryNs: n.c.retryNs(),
	}, loader.Deps{Raft: n.replica, Observer: (*loaderObserver)(n), Guard: publisher})
	if err != nil {
		return err
	}
	n.images, err = loader.NewSnapshotGenerator(loader.SnapshotConfig{
		MaxBytes: n.c.snapshots.maxBytes, IntervalNs: n.c.snapshots.intervalNs,
	}, (*snapshotLane)(n))
	if err != nil {
		return err
	}
	if err := n.loader.Install(n.env.MonotonicNs(), n.images); err != nil {
		return err
	}
	if err := n.loader.Install(n.env.MonotonicNs(), publisher); err != nil {
		return err
	}
	n.register(&listener{n: n, lane: laneLoader, name: "loader"})
	n.env.Post(laneLoader, wakePost{})
	return nil
}

// retryNs is the loader's retry period: Kafka's 100 ms, less where the timeouts of the plan are small.
func (s *settings) retryNs() int64 {
	return min(loader.DefaultRetryNs, max(1_000_000, s.timeouts.fetch*1_000_000/4))
}

func (n *node) inputLoader(env *sim.Env, in *sim.Input) error {
	now := env.MonotonicNs()
	switch m := in.Msg.(type) {
	case *commitPost:
		if err := n.loader.HandleCommit(now, m.batches); err != nil {
			return err
		}
		n.replica.ReleaseReader(m.listener)
	case *bootstrapPost:
		n.loader.HandleLoadBootstrap(now, m.bytes)
	case *snapshotPost:
		if err := n.loader.HandleLoadSnapshot(now, m.id, m.bytes); err != nil {
			return err
		}
	case snapshotDone:
		n.images.JobDone()
		env.Observe(&snapshotNote{done: true})
	case *leaderPost:
		n.loader.HandleLeaderChange(now, m.leader)
	case wakePost, nil:
	default:
		panic(fmt.Sprintf("scenarios: the loader lane got %T", in.Msg))
	}
	if err := n.loader.Poll(now); err != nil {
		return err
	}
	deadline := n.loader.DeadlineNs()
	if next := n.registerLate(now); next >= 0 && (deadline < 0 || next < deadline) {
		deadline = next
	}
	next, err := n.awaitClusterID(now)
	if err != nil {
		return err
	}
	if next >= 0 && (deadline < 0 || next < deadline) {
		deadline = next
	}
	env.WakeAt(deadline)
	return nil
}

// discovered is told the cluster id when the publisher has persisted it: raft and the controller go by it from then on. They hear of it
// by posts, which leave this lane when what was written before is on the disk: a call would let another lane go by it earlier.
type discovered node

func (d *discovered) SetClusterID(id string) {
	d.clusterID = id
	d.env.Post(laneRaft, &clusterIDPost{id: id})
	if d.control != nil {
		d.env.Post(laneController, &clusterIDPost{id: id})
	}
	if d.member != nil {
		d.env.Post(laneMember, &clusterIDPost{id: id})
	}
}
