package raft

// Glance is what a replica knows beside what its accessors tell, for people who look at a run in a debugger. Taking it changes nothing.
type Glance struct {
	Open        bool // Open is over; the other fields mean nothing before
	Vote        ReplicaKey
	LogEndEpoch int32
	Observer    bool
	Parked      []HeldFetch // Fetch requests that wait here for something to be answered
	Holders     []HeldFetch // a leader's view of the others: what each was last seen to fetch from, voters first
}

// HeldFetch is a replica and the offset that it fetches from; -1: it has not fetched.
type HeldFetch struct {
	ReplicaID int32
	Offset    int64
}

// Glance looks into the replica.
func (r *Replica) Glance() (g Glance) {
	if r.role == nil {
		return g
	}
	g.Open, g.Vote, g.LogEndEpoch, g.Observer = true, r.base().voted, r.log.LastEpoch(), !r.isVoter()
	for i := range r.parked {
		g.Parked = append(g.Parked, HeldFetch{r.parked[i].request.ReplicaID, r.parked[i].request.FetchOffset})
	}
	l, ok := r.role.(*leader)
	if !ok {
		return g
	}
	for _, list := range [2][]replicaProgress{l.voters, l.observers} {
		for i := range list {
			if p := &list[i]; p.key.ID != r.cfg.NodeID {
				g.Holders = append(g.Holders, HeldFetch{p.key.ID, p.endOffset})
			}
		}
	}
	return g
}
