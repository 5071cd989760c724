package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// facets collects what a node says of itself.
type facets struct {
	n    *node
	list []sim.Facet
}

func (f *facets) add(name, value string) {
	f.list = append(f.list, sim.Facet{Name: name, Value: value})
}

func (f *facets) number(name string, value int64) { f.add(name, strconv.FormatInt(value, 10)) }

// node is the host of a node id, when there is one.
func (f *facets) node(id int32) string {
	if id < 0 {
		return "none"
	}
	found := ""
	for i := range f.n.c.hosts {
		h := &f.n.c.hosts[i]
		if h.nodeID != id || h.kind == kindOperator || h.cluster != f.n.h.cluster {
			continue
		}
		if found != "" {
			return fmt.Sprintf("node %d", id)
		}
		found = h.id
	}
	if found == "" {
		return fmt.Sprintf("node %d", id)
	}
	return found
}

// DescribeState is sim.StateDescriber: the replica, the controller, the loader and the image, in the order in which one reads them.
func (n *node) DescribeState() []sim.Facet {
	f := &facets{n: n}
	if n.replica == nil {
		return nil
	}
	f.replica(n.replica)
	if n.control != nil {
		if n.control.Active() {
			f.add("controller", fmt.Sprintf("active in epoch %d", n.control.ClaimedEpoch()))
		} else {
			f.add("controller", "standby")
		}
		f.add("controller-stable", fmt.Sprintf("committed %d, stable %d", n.control.LastCommittedOffset(), n.control.LastStableOffset()))
	}
	f.add("cluster-id", n.clusterID)
	if n.loader != nil {
		f.add("loader", map[bool]string{true: "publishing", false: "catching up"}[n.loader.CaughtUp()])
		f.number("image", n.loader.LastAppliedOffset())
		f.image(n.loader.Image())
	}
	return f.list
}

func (f *facets) replica(r *raft.Replica) {
	g := r.Glance()
	if !g.Open {
		return
	}
	le := r.LeaderAndEpoch()
	f.add("role", r.Role().String())
	if g.Observer {
		f.add("voter", "no")
	}
	f.number("epoch", int64(le.Epoch))
	f.add("leader", f.node(le.LeaderID))
	f.add("vote", f.node(g.Vote.ID))
	f.number("log-start", r.LogStartOffset())
	f.number("log-end", r.LogEndOffset())
	f.number("log-end-epoch", int64(g.LogEndEpoch))
	if hw, known := r.HighWatermark(); known {
		f.number("high-watermark", hw)
	}
	f.add("voters", f.voters(r))
	f.number("kraft.version", int64(r.KRaftVersion()))
	if id, found := r.LatestSnapshotID(); found {
		f.add("snapshot", fmt.Sprintf("%d of epoch %d", id.Offset, id.Epoch))
	}
	f.add("parked-fetches", f.fetches(g.Parked))
	f.add("followers", f.fetches(g.Holders))
}

func (f *facets) voters(r *raft.Replica) string {
	set, names := r.Voters(), []string(nil)
	for i := int32(0); i < set.Len(); i++ {
		names = append(names, f.node(set.At(i).ID))
	}
	text := strings.Join(names, ",")
	if at := r.VotersOffset(); at >= 0 {
		text += fmt.Sprintf(" (offset %d)", at)
	}
	return text
}

func (f *facets) fetches(list []raft.HeldFetch) string {
	var text []string
	for _, h := range list {
		text = append(text, fmt.Sprintf("%s at %d", f.node(h.ReplicaID), h.Offset))
	}
	return strings.Join(text, ", ")
}

// image is a summary; the digest tells whether two nodes have the same.
func (f *facets) image(i *image.Image) {
	if i == nil {
		return
	}
	if mv := i.MetadataVersion(); mv > 0 {
		f.number("metadata.version", int64(mv))
	}
	f.add("image-cluster-id", i.ClusterID())
	f.add("image-digest", fmt.Sprintf("%016x", i.Digest()))
}
