package raft

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// pair is a leader and its follower on a network that delivers at once, for measuring. Connection n of either side is
// connection n of the other.
type pair struct {
	replicas [2]*Replica
	sides    [2]side
	queue    []delivery
	head     int
	nowMs    int64
	conns    int64
	values   [][]byte
	sent     int64 // bytes of records in answers to fetches,
	answers  int64 // and the answers that have some
}

type side struct {
	p    *pair
	me   int32
	app  int32
	done bool
}

type delivery struct {
	to   int32
	conn int64
	m    Message // nil: the connection opened
}

func (s *side) Dial(string, uint16) int64 {
	s.p.conns++
	s.p.queue = append(s.p.queue, delivery{to: s.me, conn: s.p.conns})
	return s.p.conns
}
func (s *side) Send(conn int64, m Message) {
	if f, ok := m.(*FetchResponse); ok && len(f.Records) > 0 {
		s.p.sent += int64(len(f.Records))
		s.p.answers++
	}
	s.p.queue = append(s.p.queue, delivery{to: 1 - s.me, conn: conn, m: m})
}
func (s *side) CloseConn(int64)                          {}
func (s *side) Choose(_ Site, key uint64, n int64) int64 { return int64(s.me) * (n - 1) }
func (s *side) HandleCommit([]Batch)                     { s.done = true }
func (s *side) HandleLoadBootstrap([]byte)               {}
func (s *side) HandleLeaderChange(LeaderAndEpoch)        {}

// unsynced is a disk whose fsync costs nothing: that of memfiles copies the whole file.
type unsynced struct{ *memfiles.Files }

func (unsynced) Sync(int32) error { return nil }

func newPair(t testing.TB) *pair {
	t.Helper()
	p := &pair{nowMs: 1000, values: [][]byte{[]byte("0123456789")}}
	set, err := voters.New(voters.Voter{ReplicaKey: ReplicaKey{ID: 1}, Endpoints: testEndpoints(1)},
		voters.Voter{ReplicaKey: ReplicaKey{ID: 2}, Endpoints: testEndpoints(2)})
	require.NoError(t, err)
	chunk := []byte(nil)
	alloc := func(n int) []byte { // record bytes come from an arena
		if len(chunk) < n {
			chunk = make([]byte, max(1<<22, n))
		}
		b := chunk[:n:n]
		chunk = chunk[n:]
		return b
	}
	for i := range p.replicas {
		files := memfiles.New()
		require.NoError(t, files.MkdirAll(testDir))
		cfg := DefaultConfig()
		cfg.NodeID, cfg.DirectoryID, cfg.StaticVoters, cfg.CanBecomeVoter = int32(i+1), dirID(byte(i+1)), set, true
		cfg.Listeners, cfg.AppendLingerMs, cfg.DiscoveryIntervalMs = testEndpoints(int32(i+1)), 0, 50
		p.sides[i] = side{p: p, me: int32(i)}
		s := &p.sides[i]
		p.replicas[i] = New(cfg, Deps{Files: unsynced{files}, Dir: testDir, Transport: s, Chooser: s, Alloc: alloc, Pool: NewPool()})
		require.NoError(t, p.replicas[i].Open(p.nowMs))
		s.app = p.replicas[i].Register(s)
	}
	for p.replicas[0].Role() != Leader {
		p.nowMs += 100
		require.NoError(t, p.replicas[0].Poll(p.nowMs))
		require.NoError(t, p.drain())
	}
	return p
}

// drain delivers until nothing is on its way; an unanswered Fetch stays parked at the leader.
func (p *pair) drain() error {
	for p.head < len(p.queue) {
		d := p.queue[p.head]
		p.head++
		var err error
		if d.m == nil {
			err = p.replicas[d.to].Connected(p.nowMs, d.conn)
		} else {
			err = p.replicas[d.to].Receive(p.nowMs, d.conn, d.m)
		}
		if err != nil {
			return err
		}
		for i := range p.sides {
			if p.sides[i].done {
				p.sides[i].done = false
				p.replicas[i].ReleaseReader(p.sides[i].app)
			}
		}
	}
	p.queue, p.head = p.queue[:0], 0
	return nil
}

// round appends one record and lets it be fetched, flushed, acknowledged and committed on both sides.
func (p *pair) round() error {
	p.nowMs++
	l := p.replicas[0]
	if _, err := l.PrepareAppend(l.LeaderAndEpoch().Epoch, p.values); err != nil {
		return err
	}
	l.SchedulePreparedAppend()
	if err := l.Poll(p.nowMs); err != nil {
		return err
	}
	return p.drain()
}

// TestReplicationRoundAllocates bounds what one append, fetched and committed on both sides, allocates: amortised
// chunks, that is nothing.
func TestReplicationRoundAllocates(t *testing.T) {
	p := newPair(t)
	for i := 0; i < 500; i++ {
		require.NoError(t, p.round())
	}
	hw, known := p.replicas[1].HighWatermark()
	require.True(t, known)
	require.GreaterOrEqual(t, hw, int64(500))
	allocs := testing.AllocsPerRun(500, func() {
		if err := p.round(); err != nil {
			t.Fatal(err)
		}
	})
	require.Zero(t, allocs)
}

func BenchmarkReplicationRound(b *testing.B) {
	p := newPair(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.round(); err != nil {
			b.Fatal(err)
		}
	}
}
