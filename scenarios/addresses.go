package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/raft"
)

// bootstrapPrefix begins the names under which bootstrap servers are reached: names apart from those that nodes advertise, as a
// load balancer or a service record gives. They lead to wherever the node listens at the moment.
const bootstrapPrefix = "bootstrap."

// nowhere is a name that never resolves.
const nowhere = "nowhere.invalid"

// bootstrapServers is controller.quorum.bootstrap.servers of a host, nil for a static quorum.
func (s *settings) bootstrapServers(h *hostSettings) (list []raft.Address) {
	ids := h.bootstrap
	if h.pointed != nil {
		ids = h.pointed
	}
	for _, id := range ids {
		list = append(list, raft.Address{Host: bootstrapPrefix + id, Port: raftPort})
	}
	if len(list) > 0 || !s.dynamic {
		return list
	}
	for i := range s.hosts {
		if v := &s.hosts[i]; v.kind == kindController && v.cluster == h.cluster {
			list = append(list, raft.Address{Host: v.name, Port: v.port})
		}
	}
	return list
}

// locate returns the id of the host behind an address as a host sees it, and the port that it has there. Two voters may share a host name, on ports
// of their own; whoever has moved is no longer found where it was.
func (c *cluster) locate(from *hostSettings, name string, port uint16) (string, uint16) {
	if !from.reaches(name) {
		return nowhere, port
	}
	if id, ok := strings.CutPrefix(name, bootstrapPrefix); ok {
		return c.resolve(id)
	}
	for i := range c.hosts {
		if h := &c.hosts[i]; h.name == name && h.port == port {
			return h.id, port
		}
		if h := &c.hosts[i]; h.oldName == name && h.port == port {
			if h.keepsName {
				return h.id, port
			}
			return nowhere, port
		}
	}
	return name, port
}

// resolve is where a bootstrap name leads.
func (c *cluster) resolve(id string) (string, uint16) {
	for i := range c.ops.misled {
		if m := &c.ops.misled[i]; m.id == id {
			id = m.to
			break
		}
	}
	for i := range c.hosts {
		if h := &c.hosts[i]; h.id == id {
			return h.id, h.port
		}
	}
	return nowhere, raftPort
}

// misled is a bootstrap name that leads astray.
type misled struct {
	action int    // index of the action that did it
	id, to string // "": nowhere
}
