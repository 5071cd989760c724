package raft

import "github.com/kraftsim/kraftsim/raft/raftlog"

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

// Pool hands out messages, and lists of batches. Messages are immutable once sent and live as long as the run, so a Pool only grows; a
// simulator that runs again and again shares one Pool between its replicas and calls Reset between runs; such a Pool keeps the
// memory of logs and leaders too. Not safe
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

	retain  bool
	batches batchLists
	logs    raftlog.Memory
	leaders []*leader // whose lists of batches come back, if they are retained
	lists   [][]Batch
}

// NewPool returns a pool that keeps every chunk for the next run.
func NewPool() *Pool {
	p := &Pool{retain: true}
	p.batches.retain = true
	p.voteRequests.retain, p.voteResponses.retain = true, true
	p.beginRequests.retain, p.beginResponses.retain = true, true
	p.endRequests.retain, p.endResponses.retain = true, true
	p.fetchRequests.retain, p.fetchResponses.retain = true, true
	p.snapshotRequests.retain, p.snapshotResponses.retain = true, true
	return p
}

// Reset makes everything given out so far available again. Nobody may hold any of it any more, and no replica may be called.
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
	p.batches.reset()
	p.logs.Reset()
	for _, l := range p.leaders {
		clear(l.uncommitted)
		p.lists = append(p.lists, l.uncommitted[:0])
		l.uncommitted = nil
	}
	clear(p.leaders)
	p.leaders = p.leaders[:0]
}

// lend gives a leader a list for its batches.
func (p *Pool) lend(l *leader) {
	if !p.retain {
		return
	}
	if n := len(p.lists); n > 0 {
		l.uncommitted, p.lists = p.lists[n-1], p.lists[:n-1]
	}
	p.leaders = append(p.leaders, l)
}

// batchChunk is the number of Batch values that one allocation of batchLists provides.
const batchChunk = 256

// batchLists cuts lists of batches from chunks: listeners keep their lists, so that none is given out again before reset.
type batchLists struct {
	chunks [][]Batch
	chunk  int32 // index of the chunk in use
	retain bool
}

// next returns an empty list with room for n.
func (b *batchLists) next(n int) []Batch {
	for {
		if int(b.chunk) == len(b.chunks) {
			b.chunks = append(b.chunks, make([]Batch, 0, max(batchChunk, n)))
		}
		c := b.chunks[b.chunk]
		if at := len(c); cap(c)-at >= n {
			b.chunks[b.chunk] = c[:at+n]
			return c[at : at : at+n]
		}
		if b.retain {
			b.chunk++
		} else {
			b.chunks = b.chunks[:0]
		}
	}
}

func (b *batchLists) reset() {
	for i := range b.chunks {
		b.chunks[i] = b.chunks[i][:0]
	}
	b.chunk = 0
}
