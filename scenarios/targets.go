package scenarios

import (
	"cmp"
	"slices"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/sim"
)

// The symbolic targets of plans.
const (
	targetLeader = "leader"           // who leads the newest epoch that anybody leads
	targetNext   = "next-leader"      // of the other voters that run the one with the newest log: who wins the next election, if anybody does
	targetQuorum = "quorum-minus-one" // as many voters as may be gone with a majority left, the leader and those with the newest logs first
)

func targetWords() []string { return []string{targetLeader, targetNext, targetQuorum} }

// target finds the hosts behind a word, in the first cluster that has some.
func (c *cluster) target(word string) (hosts []*sim.Host, why string) {
	for k := range c.quorums {
		leader := c.ops.leader(k)
		if word == targetLeader {
			if leader != nil {
				return []*sim.Host{leader}, ""
			}
			continue
		}
		ranked, voters := c.ranked(k, leader)
		if word == targetNext {
			if i := slices.IndexFunc(ranked, func(h *sim.Host) bool { return h != leader }); i >= 0 {
				return ranked[i : i+1], ""
			}
			continue
		}
		if n := (voters - 1) / 2; n > 0 && len(ranked) > 0 {
			return ranked[:min(n, len(ranked))], ""
		}
	}
	if word == targetLeader {
		return nil, "nobody leads"
	}
	return nil, "no voter runs that it could mean"
}

// ranked lists the voters of a cluster that run, the leader first, then those with the newest logs; of two that are equal the one with
// the lower node id. voters counts those that do not run as well. The voter set is the leader's, or that of whoever has the newest log.
func (c *cluster) ranked(cluster int, leader *sim.Host) (hosts []*sim.Host, voters int) {
	type candidate struct {
		h     *sim.Host
		id    int32
		end   raft.OffsetAndEpoch
		voter bool
	}
	var all []candidate
	for _, h := range c.w.Hosts() {
		n := nodeOf(h)
		if n == nil || n.replica == nil || h.Booting() || !c.belongs(n, cluster) || n.h.kind == kindBroker {
			continue
		}
		all = append(all, candidate{h: h, id: n.h.nodeID, end: raft.OffsetAndEpoch{Offset: n.replica.LogEndOffset(), Epoch: n.replica.Glance().LogEndEpoch}})
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.end.Epoch, a.end.Epoch), cmp.Compare(b.end.Offset, a.end.Offset), cmp.Compare(a.id, b.id))
	})
	source := leader
	if source == nil && len(all) > 0 {
		source = all[0].h
	}
	if source == nil {
		return nil, 0
	}
	set := nodeOf(source).replica.Voters()
	for i := range all {
		for k := range set.Len() {
			all[i].voter = all[i].voter || set.At(k).ID == all[i].id
		}
		if all[i].voter && all[i].h == leader {
			hosts = append(hosts, leader)
		}
	}
	for i := range all {
		if all[i].voter && all[i].h != leader {
			hosts = append(hosts, all[i].h)
		}
	}
	return hosts, int(set.Len())
}
