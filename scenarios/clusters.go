package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Several clusters may live in one network: hosts that name a cluster (hosts[].params.cluster) belong to it, those that name none to
// one without a name. Each has voters, clients and operators of its own, and node ids of its own, which may be those of another.

// quorumOf is what the nodes of a cluster are configured with.
type quorumOf struct {
	name    string
	id      string      // cluster.id
	static  *voters.Set // controller.quorum.voters, nil when the quorum is dynamic
	initial string      // --initial-controllers
}

const (
	// writtenConfig is what clients write.
	writtenConfig = "log.retention.ms"
	// clusterStep lies between the values that the clients of two clusters write, so that a record says whose it is.
	clusterStep int64 = 1_000_000_000_000
)

// clusterIndex returns the index of a cluster by its name, -1 when there is none. No name is the first.
func (s *settings) clusterIndex(name string) int {
	if name == "" {
		return 0
	}
	for k := range s.quorums {
		if s.quorums[k].name == name {
			return k
		}
	}
	return -1
}

// clusterNamed returns the index of a cluster by its name and adds it when it is new, with the id of its first host.
func (s *settings) clusterNamed(name, id string) int {
	for k := range s.quorums {
		if s.quorums[k].name == name {
			return k
		}
	}
	if name == "" {
		id = s.clusterID
	}
	s.quorums = append(s.quorums, quorumOf{name: name, id: id})
	return len(s.quorums) - 1
}

// quorum derives the voters of each cluster: the static list, or the text of --initial-controllers.
func (s *settings) quorum() error {
	for k := range s.quorums {
		var static, initial []string
		for i := range s.hosts {
			h := &s.hosts[i]
			if h.kind != kindController || h.cluster != k {
				continue
			}
			static = append(static, fmt.Sprintf("%d@%s:%d", h.nodeID, h.name, h.port))
			initial = append(initial, fmt.Sprintf("%d@%s:%d:%s", h.nodeID, h.name, h.port, h.directoryID))
		}
		if len(static) == 0 {
			return fmt.Errorf("plan: hosts: no host of kind controller: a quorum needs one")
		}
		if s.dynamic {
			s.quorums[k].initial = strings.Join(initial, ",")
			continue
		}
		set, err := voters.ParseStatic(strings.Join(static, ","), s.listener)
		if err != nil {
			return fmt.Errorf("plan: hosts: %w", err)
		}
		s.quorums[k].static = set
	}
	if len(s.quorums) == 0 {
		return fmt.Errorf("plan: hosts: no host of kind controller: a quorum needs one")
	}
	return nil
}

// staticOf parses the list of the hosts that which allows.
func (s *settings) staticOf(which func(h *hostSettings) bool) (*voters.Set, error) {
	var list []string
	for i := range s.hosts {
		if h := &s.hosts[i]; which(h) {
			list = append(list, fmt.Sprintf("%d@%s:%d", h.nodeID, h.name, h.port))
		}
	}
	return voters.ParseStatic(strings.Join(list, ","), s.listener)
}

// voterCount is how many voters a cluster begins with.
func (s *settings) voterCount(cluster int) (n int64) {
	for i := range s.hosts {
		if h := &s.hosts[i]; h.kind == kindController && h.cluster == cluster {
			n++
		}
	}
	return n
}

// fewestVoters is how many the smallest cluster begins with.
func (s *settings) fewestVoters() int64 {
	least := s.voterCount(0)
	for k := range s.quorums {
		least = min(least, s.voterCount(k))
	}
	return least
}

// staticVoters lists the node ids of a static quorum, nothing for a dynamic one.
func (s *settings) staticVoters(cluster int) (ids []int32) {
	for i := range s.hosts {
		if h := &s.hosts[i]; !s.dynamic && h.kind == kindController && h.cluster == cluster {
			ids = append(ids, h.nodeID)
		}
	}
	return ids
}

// partition is what the invariants are told of several clusters.
func (s *settings) partition() (list []invariants.Cluster, of []int32) {
	for k := range s.quorums {
		list = append(list, invariants.Cluster{StaticVoters: s.staticVoters(k), Foreign: func(name, value string) bool {
			if name != writtenConfig {
				return false
			}
			v, err := strconv.ParseInt(value, 10, 64)
			return err == nil && v/clusterStep != int64(k)
		}})
	}
	for i := range s.hosts {
		of = append(of, int32(s.hosts[i].cluster))
	}
	return list, of
}

// belongs reports whether a node goes by the id of a cluster: clients look at that and not at the machine.
func (c *cluster) belongs(n *node, cluster int) bool {
	return len(c.quorums) == 1 || n.clusterID == c.quorums[cluster].id
}

// guardSwaps lets disks be exchanged between clusters, and without a budget, when both are formatted: until then the format tool would take
// the disk of one for that of the other.
func (c *cluster) guardSwaps() {
	c.guardDisks("clone", "of") // a copy of a disk without a node is none of a node
	if len(c.quorums) == 1 && !beyondBudget(c.w.Plan()) {
		return
	}
	c.guardDisks("swap", "with")
}

// guardDisks refuses an action as long as one of its two hosts is not formatted.
func (c *cluster) guardDisks(kind, other string) {
	core := c.w.Handler(kind)
	c.w.Handle(kind, sim.ActionHandler{Undo: core.Undo, Do: func(w *sim.World, a *sim.Act) string {
		for _, h := range [2]*sim.Host{a.Host("host"), a.Host(other)} {
			if h != nil && !c.ready[h.Index()] {
				return h.ID() + " is not formatted yet"
			}
		}
		return core.Do(w, a)
	}})
}

// markSwapped notes who changes its machine for a while: others may keep the address that its leader had there, or a connection to it.
func (c *cluster) markSwapped(p *plan.Plan) {
	if len(c.quorums) == 1 {
		return
	}
	for i := range p.Actions {
		a := &p.Actions[i]
		for k := range c.hosts {
			if h := &c.hosts[k]; a.Kind == "swap" && (h.id == a.Params["host"] || h.id == a.Params["with"]) {
				h.swapped, h.moved = true, c.dynamic
			}
		}
	}
}
