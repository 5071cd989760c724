package raft

// slab hands out values of one type from chunks, so that a message costs an allocation once in slabChunk times.
type slab[T any] struct {
	chunks [][]T
	chunk  int32 // index of the chunk in use
	used   int32 // values given out of it
	retain bool
}

// slabChunk is the number of values per chunk.
const slabChunk = 64

// next returns a value that nobody else has, with every field zero.
func (s *slab[T]) next() *T {
	if len(s.chunks) == 0 || s.used == slabChunk {
		s.grow()
	}
	v := &s.chunks[s.chunk][s.used]
	s.used++
	var zero T
	*v = zero
	return v
}

// grow moves on to the next chunk. A slab that does not retain forgets the full one, which then lives as long as a
// message in it does.
func (s *slab[T]) grow() {
	s.used = 0
	switch {
	case len(s.chunks) == 0:
		s.chunks = append(s.chunks, make([]T, slabChunk))
	case !s.retain:
		s.chunks[0] = make([]T, slabChunk)
	default:
		s.chunk++
		if int(s.chunk) == len(s.chunks) {
			s.chunks = append(s.chunks, make([]T, slabChunk))
		}
	}
}

// reset starts over with the first chunk.
func (s *slab[T]) reset() { s.chunk, s.used = 0, 0 }

// Pool hands out messages. Messages are immutable once sent and live as long as the run, so a Pool only grows; a
// simulator that runs again and again shares one Pool between its replicas and calls Reset between runs. Not safe
// for concurrent use: replicas on different goroutines need pools of their own.
type Pool struct {
	voteRequests   slab[VoteRequest]
	voteResponses  slab[VoteResponse]
	beginRequests  slab[BeginQuorumEpochRequest]
	beginResponses slab[BeginQuorumEpochResponse]
	endRequests    slab[EndQuorumEpochRequest]
	endResponses   slab[EndQuorumEpochResponse]
	fetchRequests  slab[FetchRequest]
	fetchResponses slab[FetchResponse]

	snapshotRequests  slab[FetchSnapshotRequest]
	snapshotResponses slab[FetchSnapshotResponse]
}

// NewPool returns a pool that keeps every chunk for the next run.
func NewPool() *Pool {
	p := &Pool{}
	p.voteRequests.retain, p.voteResponses.retain = true, true
	p.beginRequests.retain, p.beginResponses.retain = true, true
	p.endRequests.retain, p.endResponses.retain = true, true
	p.fetchRequests.retain, p.fetchResponses.retain = true, true
	p.snapshotRequests.retain, p.snapshotResponses.retain = true, true
	return p
}

// Reset makes all messages given out so far available again. Nobody may hold one any more.
func (p *Pool) Reset() {
	p.voteRequests.reset()
	p.voteResponses.reset()
	p.beginRequests.reset()
	p.beginResponses.reset()
	p.endRequests.reset()
	p.endResponses.reset()
	p.fetchRequests.reset()
	p.fetchResponses.reset()
	p.snapshotRequests.reset()
	p.snapshotResponses.reset()
}
