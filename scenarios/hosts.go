package scenarios

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/sim"
)

// HostReport is a host as a run left it: its storage, and the metrics of the replica that runs on it.
type HostReport struct {
	Host    string         `json:"host"`
	NodeID  int32          `json:"node_id"`
	Release string         `json:"release"`
	Quorum  string         `json:"quorum,omitempty"` // the static voters, id@host:port,...; "" for a dynamic quorum
	Metrics *raft.Metrics  `json:"-"`                // nil: no node runs on the host
	Files   []ExportedFile `json:"-"`                // contents are copies
}

// ErrNoHosts says that no run of a scenario of this package is there to look at.
var ErrNoHosts = errors.New("scenarios: no run of this scenario to look at")

// HostsOf looks at the world that the last run of a scenario left, on an engine of this catalogue, in the order of the plan's
// hosts; machines that run no node are left out.
func HostsOf(c *sim.Catalogue, name string) ([]HostReport, error) {
	cl := clusterOf(c.Scenario(name))
	if cl == nil || cl.w == nil || cl.settings == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoHosts, name)
	}
	var list []HostReport
	for i, h := range cl.w.Hosts() {
		if i >= len(cl.hosts) || cl.hosts[i].kind == kindOperator {
			continue
		}
		own, quorum := &cl.hosts[i], ""
		if !cl.dynamic {
			quorum = cl.quorum(own.cluster)
		}
		r := HostReport{Host: h.ID(), NodeID: own.nodeID, Release: own.release.Name, Quorum: quorum, Files: filesOf(h)}
		if replica := replicaOf(h); replica != nil {
			m := replica.Metrics()
			r.Metrics = &m
			if m.KRaftVersion > 0 { // upgraded since
				r.Quorum = ""
			}
		}
		list = append(list, r)
	}
	return list, nil
}

// clusterOf is the cluster of a scenario, nil when it has none.
func clusterOf(s sim.Scenario) *cluster {
	switch s := s.(type) {
	case *scenario:
		return &s.cluster
	case *kafkaScenario:
		return &s.cluster.cluster
	}
	return nil
}

// replicaOf is the replica that runs on a host, nil when none does.
func replicaOf(h *sim.Host) *raft.Replica {
	if h.Booting() {
		return nil
	}
	switch p := h.Process().(type) {
	case *node:
		return p.replica
	case *counterNode:
		return p.replica
	}
	return nil
}

// quorum lists the controllers of a cluster of the plan as --voters would.
func (c *cluster) quorum(cluster int) string {
	var list []string
	for i := range c.hosts {
		if v := &c.hosts[i]; v.kind == kindController && v.cluster == cluster {
			list = append(list, fmt.Sprintf("%d@%s:%d", v.nodeID, v.name, v.port))
		}
	}
	return strings.Join(list, ",")
}

// filesOf copies the files of a host below /data, as its processes see them, and puts the indexes beside the segments that Kafka has
// there. Those that lie there, from a tree, are of other content; Kafka makes them anew at a start, too (formats 9.3).
func filesOf(h *sim.Host) (files []ExportedFile) {
	add := func(name string, content []byte) {
		files = append(files, ExportedFile{Path: name, Size: int64(len(content)), Content: content})
	}
	h.Volume().Walk(func(name string, data []byte) {
		rel, ok := strings.CutPrefix(name, "/data/")
		dir, base := path.Split(rel)
		if !ok || inPartition(dir) && raftlog.IsIndexFile(base) {
			return
		}
		add(rel, slices.Clone(data))
		if names, contents, ok := raftlog.IndexFiles(base, data); ok && inPartition(dir) {
			for i := range names {
				add(dir+names[i], contents[i])
			}
		}
	})
	slices.SortStableFunc(files, func(a, b ExportedFile) int { return strings.Compare(a.Path, b.Path) })
	return files
}

// inPartition reports whether a folder is that of a metadata log.
func inPartition(dir string) bool { return path.Base(dir) == bootstrap.PartitionDir }
