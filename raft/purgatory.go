package raft

// parkedFetch is a Fetch that the leader had nothing to answer to when it came.
type parkedFetch struct {
	conn       int64
	request    *FetchRequest
	response   *FetchResponse // computed on arrival; sent unchanged if the time runs out (KAFKA-15100)
	deadlineMs int64
}

// park keeps a Fetch until something is appended, the high watermark moves, its time is over or the replica loses its
// role. A parked fetch whose connection breaks stays: it is re-evaluated and recorded like any other, only its answer
// reaches nobody.
func (r *Replica) park(conn int64, request *FetchRequest, response *FetchResponse) {
	r.parked = append(r.parked, parkedFetch{
		conn: conn, request: request, response: response, deadlineMs: r.nowMs + int64(request.MaxWaitMs),
	})
}

// takeParked removes and returns all parked fetches. The two buffers change places, so that a nested call (a fetch
// that moves the high watermark while others are being completed) finds an empty list and not the same fetches again.
func (r *Replica) takeParked() []parkedFetch {
	if len(r.parked) == 0 {
		return nil
	}
	taken := r.parked
	r.parked, r.parkedSpare = r.parkedSpare[:0], nil
	return taken
}

// giveBack returns the buffer of takeParked for reuse.
func (r *Replica) giveBack(taken []parkedFetch) {
	clear(taken)
	r.parkedSpare = taken[:0]
}

// completeParked evaluates every parked fetch again, steps 4 to 7 of kraft-protocol 2.8 with the present time, and
// answers it whatever comes out.
func (r *Replica) completeParked() error {
	taken := r.takeParked()
	if taken == nil {
		return nil
	}
	for i := range taken {
		p := &taken[i]
		if err := r.evaluateFetch(p.request, p.response); err != nil {
			return err
		}
		r.deps.Transport.Send(p.conn, p.response)
	}
	r.giveBack(taken)
	return nil
}

// failParked answers every parked fetch with NOT_LEADER_OR_FOLLOWER and no records, as the roles Resigned and Follower
// do on entry.
func (r *Replica) failParked() {
	taken := r.takeParked()
	if taken == nil {
		return
	}
	for i := range taken {
		p := &taken[i]
		r.clearFetchResponse(p.request, p.response, NotLeaderOrFollower)
		r.deps.Transport.Send(p.conn, p.response)
	}
	r.giveBack(taken)
}

// expireParked sends the answers whose time is over as they were computed on arrival, and returns when the next one
// is due.
func (r *Replica) expireParked() int64 {
	nextMs := never
	kept := 0
	for i := range r.parked {
		p := r.parked[i]
		if r.nowMs >= p.deadlineMs {
			r.deps.Transport.Send(p.conn, p.response)
			continue
		}
		nextMs = min(nextMs, p.deadlineMs)
		r.parked[kept] = p
		kept++
	}
	clear(r.parked[kept:])
	r.parked = r.parked[:kept]
	return nextMs
}
