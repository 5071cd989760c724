package scenarios

import (
	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/raft"
)

// slab hands out values of one type that live as long as the run and are reused by the next: posts and observations.
type slab[T any] struct {
	chunks [][]T
	begun  int32 // chunks in use
	rest   []T   // of the last of them
}

const slabChunk = 256

func (s *slab[T]) next() *T {
	if len(s.rest) == 0 {
		s.begin()
	}
	v := &s.rest[0]
	s.rest = s.rest[1:]
	return v
}

// begin takes the next chunk.
func (s *slab[T]) begin() {
	if s.begun == int32(len(s.chunks)) {
		s.chunks = append(s.chunks, make([]T, slabChunk))
	}
	s.rest = s.chunks[s.begun]
	s.begun++
}

func (s *slab[T]) reset() { s.begun, s.rest = 0, nil }

// memory is everything that nodes of one world allocate for a run. A cluster resets it when it is built.
type memory struct {
	messages  *raft.Pool
	raft      slab[invariants.RaftObservation]
	control   slab[invariants.MetadataObservation]
	loads     slab[invariants.LoaderObservation]
	commits   slab[commitPost]
	leaders   slab[leaderPost]
	snapshots slab[bootstrapPost]
	delivered slab[invariants.CommitDelivered]
	told      slab[invariants.LeaderDelivered]
	loaded    slab[invariants.BootstrapDelivered]

	snapshotted slab[invariants.SnapshotDelivered]
	loadings    slab[snapshotPost]
	answers     slab[invariants.OperationAnswered]
	operations  slab[invariants.OperationAsked]
	taken       slab[invariants.OperationTaken]
	frames      slab[frame]
	wire        []byte // scratch of frames
}

func (m *memory) reset() {
	if m.messages == nil {
		m.messages = raft.NewPool()
	}
	m.messages.Reset()
	m.raft.reset()
	m.control.reset()
	m.loads.reset()
	m.commits.reset()
	m.leaders.reset()
	m.snapshots.reset()
	m.delivered.reset()
	m.told.reset()
	m.loaded.reset()
	m.answers.reset()
	m.operations.reset()
	m.taken.reset()
	m.frames.reset()
	m.loadings.reset()
	m.snapshotted.reset()
}
