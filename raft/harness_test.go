package raft

import (
	"container/heap"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// This file is a small deterministic simulator: one event queue, connections with random latency, partitions, power
// losses. It exists so that the replica can be tested without the project's own simulator.

const testClusterID = "MkU3OEVBNTcwNTJENDM2Qg"

// dirID makes a directory id.
func dirID(n byte) (u record.UUID) { u[15], u[0] = n, 7; return u }

// cluster is the world of one test.
type cluster struct {
	t      testing.TB
	rng    *rand.Rand
	nowMs  int64
	seq    int64
	queue  eventQueue
	nodes  []*node
	conns  map[int64]*conn
	lastID int64
	cut    map[[2]int32]bool // from, to
	maxMs  int64             // largest latency
	// history: what the observers saw, for the invariants of checks_test.go.
	leaders      map[int32]int32 // epoch -> id
	exposed      map[int64]string
	highest      int64 // high watermark that any leader exposed
	highestEpoch int32 // of a leader that did
	errs         []error
	fatalOK      bool
	operators    map[int64]func(Message) // connections of clients that are no replicas
	snapshots    bool                    // state machines make snapshots now and then
}

// node is a host with a disk; its replica comes and goes.
type node struct {
	c       *cluster
	id      int32
	dir     record.UUID
	files   *memfiles.Files
	cfg     Config
	replica *Replica
	life    int64
	wakeAt  int64
	app     *app
	events  []Event
	votes   map[int32]ReplicaKey // by epoch, over all lives of the disk
	trace   *strings.Builder
	// aliases are other endpoints under which the node is reached: those that it had before it moved.
	aliases  []voters.Endpoint
	checked  int   // events that checkVoters has seen
	tolerate error // a fatal error that this node may end with
}

// conn joins a dialler to the node at the other end.
type conn struct {
	id       int64
	from, to *node
	lives    [2]int64
	open     bool
	readyMs  [2]int64 // earliest delivery per direction, which makes it FIFO
}

type queued struct {
	atMs, seq int64
	run       func()
}

type eventQueue []*queued

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	return q[i].atMs < q[j].atMs || q[i].atMs == q[j].atMs && q[i].seq < q[j].seq
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(*queued)) }
func (q *eventQueue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}

func newCluster(t testing.TB, seed int64, n int32) *cluster {
	t.Helper()
	c := &cluster{
		t: t, rng: rand.New(rand.NewSource(seed)), nowMs: 1_000_000, conns: map[int64]*conn{},
		cut: map[[2]int32]bool{}, maxMs: 5, leaders: map[int32]int32{}, exposed: map[int64]string{},
	}
	var entries []voters.Voter
	for id := int32(1); id <= n; id++ {
		entries = append(entries, voters.Voter{ReplicaKey: ReplicaKey{ID: id}, Endpoints: testEndpoints(id)})
	}
	static, err := voters.New(entries...)
	require.NoError(t, err)
	for id := int32(1); id <= n; id++ {
		c.addNode(id, static)
	}
	return c
}

func testEndpoints(id int32) []voters.Endpoint {
	return []voters.Endpoint{{Name: "CONTROLLER", Host: fmt.Sprintf("host%d", id), Port: 9093}}
}

// addNode adds a host that is not running yet.
func (c *cluster) addNode(id int32, static *voters.Set) *node {
	cfg := DefaultConfig()
	cfg.NodeID, cfg.DirectoryID, cfg.ClusterID = id, dirID(byte(id)), testClusterID
	cfg.Listeners, cfg.CanBecomeVoter = testEndpoints(id), true
	cfg.StaticVoters = static
	cfg.ElectionTimeoutMs, cfg.FetchTimeoutMs, cfg.RequestTimeoutMs = 200, 300, 250
	cfg.ElectionBackoffMaxMs, cfg.FetchMaxWaitMs, cfg.AppendLingerMs = 100, 100, 2
	n := &node{c: c, id: id, dir: cfg.DirectoryID, files: memfiles.New(), cfg: cfg}
	require.NoError(c.t, n.files.MkdirAll(testDir)) // as the operator who formatted it left it
	require.NoError(c.t, n.files.SyncDir("/"))
	require.NoError(c.t, n.files.SyncDir("/data"))
	c.nodes = append(c.nodes, n)
	return n
}

// makeDynamic turns the static quorum into one that was formatted with directory ids: each node has the checkpoint.
func (c *cluster) makeDynamic() {
	var entries []voters.Voter
	var bootstrap []Address
	for _, n := range c.nodes {
		entries = append(entries, voters.Voter{
			ReplicaKey: ReplicaKey{ID: n.id, DirectoryID: n.dir}, Endpoints: n.cfg.Listeners, MaxKRaftVersion: 1,
		})
		bootstrap = append(bootstrap, Address{Host: n.cfg.Listeners[0].Host, Port: n.cfg.Listeners[0].Port})
	}
	content := checkpoint(c.t, entries)
	for _, n := range c.nodes {
		n.cfg.StaticVoters, n.cfg.BootstrapServers = nil, bootstrap
		putFile(c.t, n.files, "00000000000000000000-0000000000.checkpoint", content)
	}
}

func (c *cluster) node(id int32) *node {
	for _, n := range c.nodes {
		if n.id == id {
			return n
		}
	}
	c.t.Fatalf("no node %d", id)
	return nil
}

func (c *cluster) after(ms int64, run func()) {
	c.seq++
	heap.Push(&c.queue, &queued{atMs: c.nowMs + ms, seq: c.seq, run: run})
}

// run lets ms milliseconds pass, or stops as soon as until holds.
func (c *cluster) run(ms int64, until func() bool) bool {
	end := c.nowMs + ms
	for c.queue.Len() > 0 && c.queue[0].atMs <= end {
		if until != nil && until() {
			return true
		}
		e := heap.Pop(&c.queue).(*queued)
		c.nowMs = max(c.nowMs, e.atMs)
		e.run()
	}
	c.nowMs = end
	return until != nil && until()
}

const testDir = "/data/__cluster_metadata-0"

// start boots a node on its disk.
func (n *node) start() {
	n.life++
	n.replica = New(n.cfg, Deps{
		Files: n.files, Dir: testDir, Transport: n, Chooser: n, Observer: n, Waker: n,
	})
	n.app = &app{n: n, life: n.life}
	if err := n.replica.Open(n.c.nowMs); err != nil {
		n.failed(err)
		return
	}
	n.app.id = n.replica.Register(n.app)
	n.schedule()
}

// stop kills the process; a power loss also drops what was not synced.
func (n *node) stop(powerLoss bool) {
	n.life++
	n.replica = nil
	if powerLoss {
		n.files.Crash()
	} else {
		n.files.Kill()
	}
	for _, id := range n.c.connIDs() {
		if k := n.c.conns[id]; k.from == n || k.to == n {
			n.c.breakConn(k)
		}
	}
}

func (c *cluster) connIDs() []int64 {
	var ids []int64
	for id := int64(1); id <= c.lastID; id++ {
		if c.conns[id] != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func (n *node) failed(err error) {
	n.c.errs = append(n.c.errs, fmt.Errorf("node %d: %w", n.id, err))
	if !n.c.fatalOK && (n.tolerate == nil || !errors.Is(err, n.tolerate)) {
		n.c.t.Fatalf("node %d: %v", n.id, err)
	}
	n.stop(false)
}

// input runs one input of the raft lane and what follows from it.
func (n *node) input(life int64, f func() error) {
	if n.life != life || n.replica == nil {
		return
	}
	if err := f(); err != nil {
		n.failed(err)
		return
	}
	n.checkVoters()
	if at := n.replica.DeadlineMs(); at >= 0 {
		require.Greater(n.c.t, at, n.c.nowMs, "node %d wants to be woken at once: it would spin", n.id)
	}
	n.schedule()
}

// schedule asks for the wake-up that the replica wants.
func (n *node) schedule() {
	at := n.replica.DeadlineMs()
	if at < 0 || n.wakeAt == at && at > n.c.nowMs {
		return
	}
	n.wakeAt = at
	n.poll(max(0, at-n.c.nowMs))
}

func (n *node) poll(ms int64) {
	life := n.life
	n.c.after(ms, func() {
		n.input(life, func() error { n.wakeAt = 0; return n.replica.Poll(n.c.nowMs) })
	})
}

func (n *node) Wake() { n.poll(0) }

func (n *node) Choose(site Site, key uint64, k int64) int64 { return n.c.rng.Int63n(k) }

func (n *node) latency() int64 { return 1 + n.c.rng.Int63n(n.c.maxMs) }

func (n *node) Dial(host string, port uint16) int64 {
	c := n.c
	c.lastID++
	k := &conn{id: c.lastID, from: n}
	for _, other := range c.nodes {
		for _, e := range append(other.aliases, other.cfg.Listeners...) {
			if e.Host == host && e.Port == port {
				k.to = other
			}
		}
	}
	c.conns[k.id] = k
	k.lives[0] = n.life
	c.after(n.latency(), func() {
		if c.conns[k.id] == nil {
			return
		}
		if k.to == nil || k.to.replica == nil {
			delete(c.conns, k.id)
			n.input(k.lives[0], func() error { return n.replica.Disconnected(c.nowMs, k.id, true) })
			return
		}
		if c.isCut(k.from, k.to) {
			return // no answer: the dialler's request timeout ends it
		}
		k.lives[1], k.open = k.to.life, true
		n.input(k.lives[0], func() error { return n.replica.Connected(c.nowMs, k.id) })
	})
	return k.id
}

func (c *cluster) isCut(a, b *node) bool { return c.cut[[2]int32{a.id, b.id}] }

func (n *node) CloseConn(id int64) {
	delete(n.c.conns, id)
}

func (n *node) Send(id int64, m Message) {
	c := n.c
	if answer := c.operators[id]; answer != nil {
		c.after(n.latency(), func() { answer(m) })
		return
	}
	k := c.conns[id]
	if k == nil || !k.open {
		return
	}
	side, other := 0, k.to
	if k.from != n {
		side, other = 1, k.from
	}
	bytes := string(m.AppendTo(nil))
	at := max(c.nowMs+n.latency(), k.readyMs[side])
	k.readyMs[side] = at
	if c.isCut(n, other) {
		return
	}
	c.after(at-c.nowMs, func() {
		if c.conns[id] != k || !k.open || c.isCut(n, other) {
			return
		}
		if string(m.AppendTo(nil)) != bytes {
			c.t.Fatalf("a message changed after it was sent")
		}
		other.input(k.lives[1-side], func() error { return other.replica.Receive(c.nowMs, id, m) })
	})
}

// breakConn resets a connection; both ends learn of it.
func (c *cluster) breakConn(k *conn) {
	delete(c.conns, k.id)
	from, life := k.from, k.lives[0]
	c.after(from.latency(), func() {
		from.input(life, func() error { return from.replica.Disconnected(c.nowMs, k.id, false) })
	})
}

// partition cuts all links between the two groups, or heals them.
func (c *cluster) partition(cut bool, group ...int32) {
	inside := map[int32]bool{}
	for _, id := range group {
		inside[id] = true
	}
	for _, a := range c.nodes {
		for _, b := range c.nodes {
			if inside[a.id] != inside[b.id] {
				c.cut[[2]int32{a.id, b.id}] = cut
			}
		}
	}
}

// leader returns the leader of the highest epoch that some node is in, or nil.
func (c *cluster) leader() *node {
	var best *node
	for _, n := range c.nodes {
		if n.replica != nil && n.replica.Role() == Leader &&
			(best == nil || n.replica.LeaderAndEpoch().Epoch > best.replica.LeaderAndEpoch().Epoch) {
			best = n
		}
	}
	return best
}

// awaitLeader runs until a leader has committed something of its epoch.
func (c *cluster) awaitLeader(ms int64) *node {
	c.t.Helper()
	ok := c.run(ms, func() bool {
		l := c.leader()
		if l == nil {
			return false
		}
		_, known := l.replica.HighWatermark()
		return known
	})
	require.True(c.t, ok, "no leader in %d ms", ms)
	return c.leader()
}

// append writes records on the leader and returns the last offset.
func (n *node) append(values ...string) int64 {
	var records [][]byte
	for _, v := range values {
		records = append(records, []byte(v))
	}
	last, err := n.replica.PrepareAppend(n.replica.LeaderAndEpoch().Epoch, records)
	require.NoError(n.c.t, err)
	n.replica.SchedulePreparedAppend()
	return last
}

// awaitCommitted runs until every running node in ids delivered everything below offset.
func (c *cluster) awaitCommitted(ms, offset int64, ids ...int32) {
	c.t.Helper()
	ok := c.run(ms, func() bool {
		for _, id := range ids {
			if n := c.node(id); n.replica == nil || n.app.next <= offset {
				return false
			}
		}
		return true
	})
	require.True(c.t, ok, "offset %d not committed on %v in %d ms", offset, ids, ms)
}

// app is the state machine above a replica.
type app struct {
	n       *node
	life    int64
	id      int32
	next    int64
	epoch   int32 // of the record below next
	values  []string
	changes []LeaderAndEpoch
	loaded  int
}

func (a *app) HandleCommit(batches []Batch) {
	n := a.n
	n.c.after(0, func() {
		if n.life != a.life {
			return
		}
		for _, b := range batches {
			require.Equal(n.c.t, a.next, b.BaseOffset, "node %d: contiguous", n.id)
			a.next, a.epoch = b.LastOffset+1, b.Epoch
			n.c.expose(b)
			if b.Control {
				continue
			}
			var it record.Iterator
			var rec record.Record
			for it.Reset(record.Batch(b.Bytes)); it.Next(&rec); {
				a.values = append(a.values, string(rec.Value))
			}
			require.NoError(n.c.t, it.Err())
		}
		n.replica.ReleaseReader(a.id)
	})
}

// expose checks state machine safety: everybody sees the same batch at an offset.
func (c *cluster) expose(b Batch) {
	if before, found := c.exposed[b.BaseOffset]; found {
		require.Equal(c.t, before, string(b.Bytes), "two batches committed at offset %d", b.BaseOffset)
		return
	}
	c.exposed[b.BaseOffset] = string(b.Bytes)
}

func (a *app) HandleLoadBootstrap(snapshot []byte) {
	require.Zero(a.n.c.t, a.next)
	a.loaded++
}

func (a *app) HandleLeaderChange(l LeaderAndEpoch) { a.changes = append(a.changes, l) }

// Observe checks what can be checked event by event.
func (n *node) Observe(e *Event) {
	if n.trace != nil {
		fmt.Fprintf(n.trace, "%d n%d %v epoch=%d role=%v leader=%d offset=%d other=%d peer=%d flag=%v\n",
			n.c.nowMs, n.id, e.Kind, e.Epoch, e.Role, e.Leader, e.Offset, e.Other, e.Peer.ID, e.Flag)
	}
	n.events = append(n.events, *e)
	n.c.checkEvent(n, e)
	if e.Kind == RoleChanged && e.Role == Leader {
		if other, found := n.c.leaders[e.Epoch]; found {
			n.c.t.Fatalf("epoch %d has two leaders, %d and %d", e.Epoch, other, n.id)
		}
		n.c.leaders[e.Epoch] = n.id
	}
}

// count returns how many events of that kind the node saw.
func (n *node) count(kind EventKind) (k int) {
	for i := range n.events {
		if n.events[i].Kind == kind {
			k++
		}
	}
	return k
}
