package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/raft/wire"
)

// registered is what the configuration of a host gives its entry in the voter set (invariants.Config.Registered). A host whose disk is
// in another machine for a while says nothing: it has the identity of somebody else.
func (c *cluster) registered(host string, into *invariants.Registration) bool {
	at := c.w.Host(host)
	h := &c.hosts[at.Index()]
	if h.kind != kindController && h.kind != kindObserver || h.swapped || c.ops.unheard(at) {
		return false
	}
	_, into.MaxKRaftVersion = h.software()
	into.MinKRaftVersion = 0
	into.Listeners = h.listeners(c.listener, h.told(), into.Listeners[:0])
	into.Corrects = h.knows(wire.UpdateRaftVoter)
	into.Joins = h.autoJoin && h.knows(wire.AddRaftVoter) && !c.hasTwin(h)
	return true
}

// hasTwin reports whether another node of the cluster has the node id of h: two of them evict each other for ever (KIP-1262, T32).
func (c *cluster) hasTwin(h *hostSettings) bool {
	for i := range c.hosts {
		if o := &c.hosts[i]; o != h && o.kind != kindOperator && o.cluster == h.cluster && o.nodeID == h.nodeID {
			return true
		}
	}
	return false
}

// knows reports whether the software of a host knows an RPC at all.
func (h *hostSettings) knows(key int16) bool {
	for _, v := range h.speaks() {
		if v.APIKey == key {
			return true
		}
	}
	return false
}

// told is the port that a controller tells others for raft.
func (h *hostSettings) told() uint16 {
	if h.advertised != 0 {
		return h.advertised
	}
	return h.port
}

// elsewhere is how far apart the ports of a controller's listeners are. At those that are not for raft nobody answers here.
const elsewhere = 10_000

// listeners appends the listeners of a controller as its configuration lists them: the one of that name, which raft goes by, on
// a port, and the others.
func (h *hostSettings) listeners(name string, port uint16, list []voters.Endpoint) []voters.Endpoint {
	if h.names == nil {
		return append(list, voters.Endpoint{Name: name, Host: h.name, Port: port})
	}
	for i, other := range h.names {
		e := voters.Endpoint{Name: other, Host: h.name, Port: h.port + elsewhere*uint16(i+1)}
		if other == name {
			e.Port = port
		}
		list = append(list, e)
	}
	return list
}
