package invariants

import (
	"fmt"
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// What observations mean to people: facets of a host, and clauses of a story (sim.Describer). None of it is asked in a campaign.

func num[T int16 | int32 | int64](v T) string { return strconv.FormatInt(int64(v), 10) }

// range of offsets in words.
func offsets(from, to int64) string {
	if to-from == 1 {
		return "offset " + num(from)
	}
	return fmt.Sprintf("offsets %d to %d", from, to-1)
}

// raftDescription is a description of a raft event.
type raftDescription struct {
	*sim.Description
	e *raft.Event
}

// claim says what the host does from here on.
func (d *raftDescription) claim(topic, format string, args ...any) {
	d.Claim = sim.Claim{Topic: topic, Clause: fmt.Sprintf(format, args...), Epoch: d.e.Epoch}
	if d.e.Peer.ID >= 0 {
		d.Claim.About = d.Name(d.e.Peer.ID)
	}
}

// span says which offsets the claim is about.
func (d *raftDescription) span(from, to int64) { d.Claim.From, d.Claim.To = from, to }

// on adds a premise: the latest claim of a host on one of the topics that covers an offset (-1: any).
func (d *raftDescription) on(topics, host string, epoch int32, offset int64) {
	d.Stands(sim.Premise{Topics: topics, Host: host, Epoch: epoch, Offset: offset})
}

// leader is the host of the leader, Others when none is known.
func (d *raftDescription) leader() string {
	if d.e.Leader < 0 {
		return sim.Others
	}
	return d.Name(d.e.Leader)
}

// Describe implements sim.Describer.
func (o *RaftObservation) Describe(about *sim.Description) {
	d := &raftDescription{about, &o.E}
	d.Weight = sim.Detail
	switch {
	case d.election(), d.log(), d.voters(), d.fetches():
	}
}

// election describes roles, epochs and votes.
func (d *raftDescription) election() bool {
	e := d.e
	switch e.Kind {
	case raft.RoleChanged:
		d.Weight = sim.Turning
		d.role()
	case raft.EpochAdopted:
		d.Weight = sim.Noise
		d.Facet("epoch", num(e.Epoch))
		d.claim("epoch", "goes from epoch %d to epoch %d", e.Other, e.Epoch)
	case raft.ElectionStarted:
		d.Weight = sim.Turning
		d.claim("candidate", "stands for election in epoch %d and votes for itself", e.Epoch)
		d.Stands(sim.Premise{Topics: "pre-vote-granted", Host: sim.Others, About: sim.Self, Epoch: e.Epoch - 1, Offset: -1, Fold: "since %s would vote for it"})
		d.on("timeout", sim.Self, 0, -1)
	case raft.PreVoteStarted:
		d.claim("pre-vote", "asks whether it could win an election after epoch %d", e.Epoch)
		d.on("timeout", sim.Self, 0, -1)
	case raft.VotePersisted:
		d.Facet("vote", d.Name(e.Peer.ID))
	case raft.VoteGranted:
		d.Weight = sim.Turning
		again := ""
		if e.Flag {
			again = " again"
		}
		d.claim("vote", "votes%s for %s in epoch %d", again, d.Name(e.Peer.ID), e.Epoch)
		d.on("candidate", d.Name(e.Peer.ID), e.Epoch, -1)
		d.on("lost", sim.Self, 0, -1)
	case raft.PreVoteGranted:
		d.claim("pre-vote-granted", "says that it would vote for %s", d.Name(e.Peer.ID))
	case raft.VoteRefused:
		d.claim("vote-refused", "refuses %s its vote in epoch %d", d.Name(e.Peer.ID), e.Epoch)
	case raft.FetchTimeout:
		d.Weight = sim.Turning
		d.claim("timeout", "has heard nothing from the leader of epoch %d for too long", e.Epoch)
	case raft.ElectionTimeout:
		d.claim("timeout", "has waited long enough as %s in epoch %d", e.Role, e.Epoch)
	case raft.ElectionLost:
		d.claim("lost-election", "gives up its election in epoch %d, a majority refused", e.Epoch)
	case raft.CheckQuorumExpired:
		d.Weight = sim.Turning
		d.claim("check-quorum", "gives up the leadership of epoch %d: a majority has not fetched from it for too long", e.Epoch)
		d.on("leader", sim.Self, e.Epoch, -1)
	default:
		return false
	}
	return true
}

func (d *raftDescription) role() {
	e := d.e
	role := fmt.Sprint(e.Role)
	d.Facet("role", role)
	d.Facet("epoch", num(e.Epoch))
	leader := ""
	if e.Leader >= 0 {
		leader = d.Name(e.Leader)
	}
	d.Facet("leader", leader)
	switch {
	case e.Role == raft.Leader:
		d.claim("leader", "becomes leader of epoch %d", e.Epoch)
		d.Stands(sim.Premise{Topics: "vote", Host: sim.Others, About: sim.Self, Epoch: e.Epoch, Offset: -1, Fold: "with the vote of %s"})
		d.on("candidate", sim.Self, e.Epoch, -1)
	case e.Role == raft.Resigned:
		d.claim("resigned", "resigns from the leadership of epoch %d", e.Epoch)
		d.on("leader", sim.Self, e.Epoch, -1)
		d.on("check-quorum", sim.Self, e.Epoch, -1)
	case e.Leader >= 0:
		d.claim("follower", "follows %s in epoch %d", leader, e.Epoch)
		d.on("leader", leader, e.Epoch, -1)
		d.Claim.About = leader
	case e.Role == raft.Candidate || e.Role == raft.Prospective: // ElectionStarted and PreVoteStarted say it
	default:
		d.claim("role", "is %s in epoch %d and knows no leader", role, e.Epoch)
	}
}

// log describes what happens to the log.
func (d *raftDescription) log() bool {
	e := d.e
	switch e.Kind {
	case raft.HighWatermarkAdvanced:
		d.Facet("high-watermark", num(e.Offset))
		d.claim("commit", "takes everything below offset %d for committed", e.Offset)
		d.span(max(e.Other, 0), e.Offset)
		if e.Role == raft.Leader {
			d.Stands(sim.Premise{Topics: "holds", Host: sim.Self, Offset: e.Offset - 1, Epoch: e.Epoch, Fold: "since %s fetched from there on"})
			d.Stands(sim.Premise{Topics: "append", Host: sim.Self, Offset: e.Offset - 1, Durable: true})
			d.on("leader", sim.Self, e.Epoch, -1)
		} else {
			d.on("commit", d.leader(), 0, e.Offset-1)
		}
	case raft.LogAppended:
		d.Facet("log-end", num(e.Offset))
		if e.Role == raft.Leader {
			d.claim("append", "appends %s as leader of epoch %d", offsets(e.Other, e.Offset), e.Epoch)
			d.on("leader", sim.Self, e.Epoch, -1)
		} else {
			d.claim("append", "appends %s, fetched from %s in epoch %d", offsets(e.Other, e.Offset), d.Name(e.Leader), e.Epoch)
			d.on("append", d.leader(), 0, e.Other)
		}
		d.span(e.Other, e.Offset)
	case raft.LogFlushed:
		d.Facet("flushed", num(e.Offset))
		d.Weight = sim.Noise // the disk tells the truth of it
	case raft.LogTruncated:
		d.Weight = sim.Turning
		d.Facet("log-end", num(e.Offset))
		d.claim("truncate", "cuts its log at offset %d", e.Offset)
		if e.Other >= 0 {
			d.Claim.Clause += fmt.Sprintf(", where it knows everything below %d as committed", e.Other)
		}
		d.span(e.Offset, max(e.Offset+1, e.Other))
		d.on("diverge", d.leader(), 0, -1)
		d.on("append,commit", sim.Self, 0, e.Offset)
	case raft.LogRecovered:
		d.Facet("log-end", num(e.Offset))
		if e.Offset == 0 {
			break // nothing was there
		}
		d.Weight = sim.Turning
		d.claim("recover", "starts with a log that ends at offset %d", e.Offset)
		if e.Other > 0 {
			d.Claim.Clause += fmt.Sprintf(", after %d torn bytes were cut", e.Other)
		}
		d.span(max(e.Offset-1, 0), e.Offset)
		d.on("lost,down", sim.Self, 0, -1)
	case raft.SnapshotStored:
		d.Weight = sim.Turning
		d.Facet("snapshot", num(e.Offset))
		d.claim("snapshot", "has the snapshot that ends at offset %d", e.Offset)
		d.span(max(e.Offset-1, 0), e.Offset)
	case raft.LogReplaced:
		d.Weight = sim.Turning
		d.Facet("log-start", num(e.Offset))
		d.Facet("log-end", num(e.Offset))
		d.claim("replace", "replaces its log, which ended at offset %d, by the snapshot that ends at %d", e.Other, e.Offset)
		d.span(e.Offset, max(e.Offset+1, e.Other))
		d.on("offer", d.leader(), 0, -1)
	case raft.LogPrefixDeleted:
		d.Facet("log-start", num(e.Offset))
		d.claim("prefix", "deletes its log below offset %d", e.Offset)
		d.span(e.Other, e.Offset)
		d.on("snapshot", sim.Self, 0, -1)
	default:
		return false
	}
	return true
}

// voters describes changes of the voter set.
func (d *raftDescription) voters() bool {
	e := d.e
	switch e.Kind {
	case raft.VotersChanged:
		d.Weight = sim.Turning
		where := "of offset " + num(e.Offset)
		switch e.Offset {
		case -1:
			where = "of the bootstrap snapshot"
		case raft.NoVotersInLog:
			where = "of the configuration"
		}
		d.Facet("voters-from", where)
		d.claim("voters", "goes by the voter set %s", where)
		if e.Offset >= 0 {
			d.span(e.Offset, e.Offset+1)
			d.on("append", sim.Self, 0, e.Offset)
			d.on("voter-change", sim.Self, 0, -1)
		}
	case raft.KRaftVersionChanged:
		d.Weight = sim.Turning
		d.Facet("kraft.version", num(e.Offset))
		d.claim("kraft-version", "goes by kraft.version %d", e.Offset)
	case raft.VoterChangeStarted:
		d.Weight = sim.Turning
		what := "change"
		if e.Offset >= 1 && e.Offset <= 3 {
			what = [...]string{"addition", "removal", "update"}[e.Offset-1]
		}
		d.claim("voter-change", "takes on the %s of voter %s", what, d.Name(e.Peer.ID))
		d.on("leader", sim.Self, e.Epoch, -1)
	case raft.VoterChangeEnded:
		d.Weight = sim.Turning
		if e.Offset != 0 {
			d.claim("voter-change-end", "gives up the change of voter %s (%v)", d.Name(e.Peer.ID), raft.ErrorCode(e.Offset))
		} else {
			d.claim("voter-change-end", "has done the change of voter %s", d.Name(e.Peer.ID))
		}
		if e.Other >= 0 {
			d.Claim.Clause += fmt.Sprintf(", whose record is at offset %d", e.Other)
			d.span(e.Other, e.Other+1)
			d.on("commit", sim.Self, 0, e.Other)
		}
		d.on("voter-change", sim.Self, 0, -1)
	default:
		return false
	}
	return true
}

// fetches describes what replicas say of their logs to each other, and what failed between them.
func (d *raftDescription) fetches() bool {
	e := d.e
	switch e.Kind {
	case raft.FetchAccepted:
		d.claim("holds", "counts %s as a holder of everything below offset %d", d.Name(e.Peer.ID), e.Offset)
		d.span(0, e.Offset)
		if e.Offset > 0 {
			d.Stands(sim.Premise{Topics: "append,snapshot", Host: d.Name(e.Peer.ID), Offset: e.Offset - 1, Durable: true})
		}
	case raft.DivergenceAnswered:
		d.Weight = sim.Turning
		d.claim("diverge", "tells %s that its log diverges behind offset %d of epoch %d", d.Name(e.Peer.ID), e.Offset, e.Other)
		d.span(max(e.Offset-1, 0), e.Offset)
		d.on("leader", sim.Self, e.Epoch, -1)
	case raft.DivergenceReceived:
		d.claim("diverges", "hears that its log diverges behind offset %d of epoch %d", e.Offset, e.Other)
		d.span(max(e.Offset-1, 0), e.Offset)
	case raft.SnapshotOffered:
		if e.Flag {
			d.Weight = sim.Turning
			d.claim("offer", "sends %s to the snapshot that ends at offset %d", d.Name(e.Peer.ID), e.Offset)
			d.span(max(e.Offset-1, 0), e.Offset)
		}
	case raft.PeerUnavailable:
		d.claim("unavailable", "cannot reach %s", d.Name(e.Peer.ID))
	case raft.RequestTimeout:
		d.claim("unanswered", "gets no answer from %s", d.Name(e.Peer.ID))
	case raft.UnexpectedAnswer:
		d.claim("unexpected", "is answered %v by %s", raft.ErrorCode(e.Offset), d.Name(e.Peer.ID))
	case raft.ShutdownFinished:
		d.claim("shutdown", "ends its graceful shutdown")
	case raft.VoterHeard, raft.LeaderChangeAnnounced, raft.BatchDelivered, raft.SnapshotDelivered:
		d.Weight = sim.Noise
	default:
		return false
	}
	return true
}

// Describe implements sim.Describer.
func (o *MetadataObservation) Describe(d *sim.Description) {
	e := &o.E
	d.Weight = sim.Detail
	claim := func(topic, format string, args ...any) {
		d.Claim = sim.Claim{Topic: topic, Clause: fmt.Sprintf(format, args...), Epoch: e.Epoch}
	}
	at := func() { d.Claim.From, d.Claim.To = e.Offset, e.Offset+1 }
	switch e.Kind {
	case controller.ControllerClaimed:
		d.Weight = sim.Turning
		d.Facet("controller", "active in epoch "+num(e.Epoch))
		claim("controller", "has its controller active in epoch %d, to write from offset %d on", e.Epoch, e.Offset)
		d.Stands(sim.Premise{Topics: "leader", Host: sim.Self, Epoch: e.Epoch, Offset: -1})
	case controller.ActivationCompleted:
		d.Weight = sim.Turning
		if e.Offset >= 0 {
			what := offsets(e.Offset, e.Other+1)
			if e.Text != "" {
				what += ", cluster id " + e.Text + " among them"
			}
			claim("activation", "has appended the first records of its controller's epoch %d, %s", e.Epoch, what)
			d.Claim.From, d.Claim.To = e.Offset, e.Other+1
		} else {
			claim("activation", "finds the metadata complete, so that its controller's epoch %d begins without a record", e.Epoch)
		}
		d.Stands(sim.Premise{Topics: "controller", Host: sim.Self, Epoch: e.Epoch, Offset: -1})
	case controller.ActivationStable:
		claim("activation-stable", "has the first records of its controller's epoch %d committed", e.Epoch)
		at()
	case controller.Renounced:
		d.Weight = sim.Turning
		d.Facet("controller", "standby")
		claim("renounce", "has its controller give up epoch %d and go back to offset %d", e.Epoch, e.Offset)
		at()
		d.Stands(sim.Premise{Topics: "check-quorum,resigned,follower", Host: sim.Self, Offset: -1})
		d.Stands(sim.Premise{Topics: "operation,append", Host: sim.Self, Offset: e.Offset + 1})
	case controller.TransactionAborted:
		d.Weight = sim.Turning
		claim("abort", "has its controller drop the transaction of offset %d", e.Other)
		at()
	case controller.OpAppended:
		claim("operation", "appends %s for %s, the last at offset %d", counted(int64(e.Count), "record"), operationName(e.OpID), e.Offset)
		at()
	case controller.OpDone:
		if e.Code != 0 {
			claim("answer", "answers %s with %v", operationName(e.OpID), e.Code)
			break
		}
		d.Weight = sim.Noise // OperationAnswered tells of success
	case controller.ClusterIDLearned:
		d.Weight = sim.Turning
		d.Facet("cluster-id", e.Text)
		claim("cluster-id", "has cluster id %s for its own", e.Text)
		d.Stands(sim.Premise{Topics: "cluster-id-stored,activation", Host: sim.Self, Offset: -1})
	case controller.SnapshotLoaded:
		claim("image", "has its controller load the snapshot that ends at offset %d", e.Offset)
		at()
	case controller.BrokerSessionExpired:
		d.Weight = sim.Turning
		claim("session", "has not heard from broker %s for too long and fences it at offset %d", d.Name(e.Count), e.Offset)
		at()
	case controller.Committed, controller.NoOpWritten, controller.OpStarted:
		d.Weight = sim.Noise
	}
}

// Describe implements sim.Describer.
func (o *LoaderObservation) Describe(d *sim.Description) {
	e := &o.E
	d.Weight = sim.Noise
	claim := func(topic, format string, args ...any) {
		d.Claim = sim.Claim{Topic: topic, Clause: fmt.Sprintf(format, args...), Epoch: e.Epoch}
	}
	at := func() { d.Claim.From, d.Claim.To = e.Offset, e.Offset+1 }
	switch e.Kind {
	case loader.ImageAdvanced:
		d.Facet("image", num(e.Offset))
	case loader.ImagePublished:
		d.Facet("image", num(e.Offset))
		claim("publish", "publishes the image of offset %d", e.Offset)
		at()
		d.Stands(sim.Premise{Topics: "abort", Host: sim.Self, Offset: -1})
		d.Stands(sim.Premise{Topics: "commit", Host: sim.Self, Offset: e.Offset})
	case loader.CaughtUp:
		d.Weight = sim.Detail
		claim("caught-up", "has read the metadata up to offset %d and publishes it", e.Offset)
	case loader.SnapshotLoaded:
		d.Weight = sim.Detail
		d.Facet("image", num(e.Offset))
		claim("image", "loads the snapshot that ends at offset %d", e.Offset)
		at()
	case loader.TransactionAborted:
		d.Weight = sim.Turning
		claim("abort", "drops %s of the transaction of offset %d", counted(int64(e.Count), "change"), e.Other)
		at()
	case loader.LoadFailed, loader.PublisherFailed:
		d.Weight = sim.Turning
		claim("load", "cannot apply the metadata at offset %d: %v", e.Offset, e.Err)
		at()
	case loader.ClusterIDPersisted:
		d.Weight = sim.Turning
		claim("cluster-id-stored", "stores cluster id %s in directory %d", e.Text, e.Index)
	case loader.ClusterIDKnown:
		d.Weight = sim.Turning
		d.Facet("cluster-id", e.Text)
		claim("cluster-id", "has cluster id %s for its own", e.Text)
	case loader.DirectoryFailed:
		d.Weight = sim.Turning
		claim("directory", "cannot write directory %d and does without it", e.Index)
	}
}

// Describe implements sim.Describer.
func (o *OperationAnswered) Describe(d *sim.Description) {
	d.Weight = sim.Turning
	d.Claim = sim.Claim{Topic: "answer", Clause: "acknowledges " + operationName(o.OpID)}
	if o.Offset >= 0 {
		d.Claim.Clause += fmt.Sprintf(", written at offset %d", o.Offset)
		d.Claim.From, d.Claim.To = o.Offset, o.Offset+1
		d.Stands(sim.Premise{Topics: "commit,operation", Host: sim.Self, Offset: o.Offset})
	}
}
