package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
)

// ownListeners judges where a replica says that it listens, by the configuration that its process began with. A quorum of which every
// node reaches the others over one listener works whatever is said of the rest, and only a node that comes with another release, or an
// operator who reads the voter set, is misled.
var ownListeners = sim.InvariantDoc{
	Name: "own-listeners", Source: "KIP-853; kraft-protocol 2.6, 2.11, 2.13, 5.6",
	Doc: "The BeginQuorumEpoch of a leader, and what a replica says of itself in an UpdateRaftVoter or AddRaftVoter, has all its listeners as its process " +
		"was configured; a version that has none has none.",
}

// configured are the listeners of a process.
type configured struct {
	boot int32
	list []voters.Endpoint
}

// began notes the listeners with which a process begins.
func (x *prompt) began(h *sim.Host, list []voters.Endpoint) {
	if x.c != nil {
		x.configured[h.Index()] = configured{boot: h.Boot(), list: list}
	}
}

// saysWhere judges a request that may say where its sender listens. An operator asks in the name of others, and is no host of the
// cluster where raft runs alone.
func (x *prompt) saysWhere(from *sim.Host, m sim.Message) {
	if from.Kind() == kindOperator {
		return
	}
	e := &x.c.hosts[from.Index()]
	switch r := m.(type) {
	case *raft.BeginQuorumEpochRequest:
		if len(r.LeaderEndpoints) > 0 {
			x.lists(from, "BeginQuorumEpoch", r.LeaderEndpoints)
		}
	case *raft.UpdateRaftVoterRequest:
		x.lists(from, "UpdateRaftVoter", r.Listeners)
	case *raft.AddRaftVoterRequest:
		if r.VoterID == e.nodeID {
			x.lists(from, "AddRaftVoter", r.Listeners)
		}
	}
}

func (x *prompt) lists(from *sim.Host, what string, list []voters.Endpoint) {
	own := &x.configured[from.Index()]
	if own.boot != from.Boot() {
		return
	}
	*x.listeners++
	for i := range own.list {
		if len(list) != len(own.list) || !slices.Contains(list, own.list[i]) {
			x.c.w.Violate(ownListeners.Name, "listeners", from.ID()+" says in its "+what+" that it has "+number(int64(len(list)))+" listeners, and is configured with "+
				number(int64(len(own.list)))+", among them "+own.list[i].Name)
			return
		}
	}
}
