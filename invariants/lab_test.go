package invariants

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// lab is a cluster by hand: real volumes, and what processes would have done to them and sent, step by step.
type lab struct {
	t       testing.TB
	core    core
	nodes   []*member
	found   []string // "invariant/evidence", in order, without repetition
	details []string // of those
	seen    map[string]*int64
	boot    []int32 // voters of the 0-0 checkpoint, nil: static voters
	mute    bool    // replicas do not tell which voters they use
	alone   bool    // leaders change the voters without being asked
	next    int32   // correlation
}

// member is one host of a lab.
type member struct {
	lab       *lab
	r         *replica
	v         *vdisk.Volume
	files     *vdisk.Handle
	id        int32
	dir       record.UUID
	fd        int32
	size      int64
	end       int64
	boots     int32
	positions []mark
	path      string // of the segment that it writes
	version   int16  // of quorum-state, at least
	old       bool   // quorum-state does not follow the log
}

type mark struct{ offset, pos int64 }

const (
	testData      = "/data/dir0"
	testPartition = testData + "/" + partitionDir
	testSegment   = testPartition + "/00000000000000000000.log"
)

// newLab makes voters 1 to n, formatted and up.
func newLab(t testing.TB, n int32, cfg Config) *lab {
	t.Helper()
	l := &lab{t: t, seen: map[string]*int64{}}
	for id := int32(1); id <= n; id++ {
		cfg.StaticVoters = append(cfg.StaticVoters, id)
	}
	l.start(cfg)
	for id := int32(1); id <= n; id++ {
		l.add(id)
	}
	return l
}

// start makes the core ready for hosts.
func (l *lab) start(cfg Config) {
	counter := func(name string) *int64 {
		if l.seen[name] == nil {
			l.seen[name] = new(int64)
		}
		return l.seen[name]
	}
	l.core.reset(cfg, func(invariant, evidence, detail string) {
		require.NotEmpty(l.t, detail)
		if x := invariant + "/" + evidence; !slices.Contains(l.found, x) {
			l.found, l.details = append(l.found, x), append(l.details, detail)
		}
	}, counter, counter, counter)
}

// add makes one more host, a voter when its id is in the static list.
func (l *lab) add(id int32) *member {
	m := &member{lab: l, id: id, v: vdisk.NewVolume(fmt.Sprintf("n%d", id), vdisk.Model{}), dir: record.UUIDFromHalves(1, uint64(id))}
	m.r = l.core.addReplica(&replica{}, fmt.Sprintf("n%d", id), m.v)
	m.v.Load(testData+"/"+propertiesName, []byte(propertiesText(id, m.dir, "")))
	m.v.Load(testSegment, nil)
	if slices.Contains(l.boot, id) {
		m.v.Load(testPartition+"/"+bootstrapName, l.controlBatch(0, 0, nil, l.boot))
	}
	m.v.SetObserver(m.observe)
	l.nodes = append(l.nodes, m)
	m.boot()
	return m
}

func propertiesText(id int32, dir record.UUID, cluster string) string {
	s := fmt.Sprintf("#\nnode.id=%d\nversion=1\ndirectory.id=%s\n", id, dir)
	if cluster != "" {
		s += "cluster.id=" + cluster + "\n"
	}
	return s
}

func (m *member) observe(op *vdisk.Op) {
	var o diskOp
	o.set(op)
	if o.kind != 0 {
		m.lab.core.onDisk(m.r, &o)
	}
}

// node returns a host by id.
func (l *lab) node(id int32) *member { return l.nodes[id-1] }

// tick lets time pass, in milliseconds.
func (l *lab) tick(ms int64) { l.core.nowNs += ms * 1_000_000 }

// clean wants no violation; breaks wants exactly these.
func (l *lab) clean() {
	l.t.Helper()
	require.Empty(l.t, l.found)
}

func (l *lab) breaks(want ...string) {
	l.t.Helper()
	require.Equal(l.t, want, l.found)
}

// evaluated wants an invariant to have been looked at.
func (l *lab) evaluated(names ...string) {
	l.t.Helper()
	for _, name := range names {
		require.NotNil(l.t, l.seen[name], name)
		require.Positive(l.t, *l.seen[name], name)
	}
}

// boot starts the process.
func (m *member) boot() {
	m.boots++
	m.files = m.v.Handle(vdisk.Immediate{})
	m.lab.core.booted(m.r, m.boots)
	m.r.server = true
	fd, err := m.files.Open(testSegment, true)
	require.NoError(m.lab.t, err)
	m.fd, m.path = fd, testSegment
	m.size, err = m.files.Size(fd)
	require.NoError(m.lab.t, err)
	m.end = m.r.log.end
	m.positions = slices.DeleteFunc(m.positions, func(p mark) bool { return p.offset >= m.end })
	m.tellVoters()
}

// crash ends the process; power takes the page cache too, and loses everything that was not synced.
func (m *member) crash(power bool) {
	kind := vdisk.Kill
	if power {
		kind = vdisk.PowerLoss
	}
	m.files.Drop()
	m.v.Crash(kind, nil, loseAll{})
	m.lab.core.crashed(m.r)
	m.lab.core.stopped(m.r, false, nil)
}

// quorum writes quorum-state as the replica does, durably.
func (m *member) quorum(epoch, leader, voted int32) {
	s := quorumstate.State{LeaderID: leader, LeaderEpoch: epoch, VotedID: voted}
	version := m.version
	if !m.old {
		version = max(version, m.lab.core.kraftVersionOf(m.r))
	}
	if voted >= 0 && version > 0 {
		s.VotedDirectoryID = m.lab.node(voted).dir
	}
	require.NoError(m.lab.t, quorumstate.NewStore(m.files, testPartition).Write(s, version))
}

// role is the event of a new role.
func (m *member) role(to raft.Role, epoch, leader int32) {
	m.event(raft.Event{Kind: raft.RoleChanged, Role: to, Epoch: epoch, Leader: leader})
}

func (m *member) event(e raft.Event) { m.lab.core.onRaftEvent(m.r, &e) }

// follow makes the member follow a leader, as after BeginQuorumEpoch.
func (m *member) follow(epoch, leader int32) {
	m.quorum(epoch, leader, -1)
	m.role(raft.Follower, epoch, leader)
}

// candidate goes through pre-vote and candidacy, asking the others.
func (m *member) candidate(epoch int32, grants ...int32) {
	m.role(raft.Prospective, epoch-1, -1)
	for _, id := range grants {
		if v := m.lab.node(id); v.r.role == follower { // it heard nothing from its leader either
			v.role(raft.Prospective, v.r.roleEpoch, v.r.quorum.leader)
		}
		m.lab.preVote(m, m.lab.node(id), epoch-1, true)
	}
	m.quorum(epoch, -1, m.id)
	m.role(raft.Candidate, epoch, -1)
}

// lead wins an election with the votes of others, and writes the first batch of the epoch.
func (m *member) lead(epoch int32, grants ...int32) {
	m.candidate(epoch, grants...)
	for _, id := range grants {
		v := m.lab.node(id)
		v.quorum(epoch, -1, m.id)
		v.role(raft.Unattached, epoch, -1)
		m.lab.vote(m, v, epoch, true)
	}
	m.win(epoch)
	m.leaderChange(epoch)
}

// win makes the candidate leader.
func (m *member) win(epoch int32) {
	m.quorum(epoch, m.id, -1)
	m.role(raft.Leader, epoch, m.id)
}

// leaderChange appends the first batch of an epoch and flushes.
func (m *member) leaderChange(epoch int32) {
	c := record.LeaderChangeMessage{LeaderID: m.id}
	for _, k := range m.lab.core.votersOf(m.r).keys {
		c.Voters = append(c.Voters, record.LeaderChangeVoter{VoterID: k.id})
	}
	c.GrantingVoters = c.Voters
	var voters []int32
	if m.end == 0 {
		voters = m.lab.boot
	}
	m.write(m.lab.controlBatch(m.end, epoch, &c, voters))
	m.flush()
}

// preVote and vote are a request and its answer.
func (l *lab) preVote(m, v *member, epoch int32, granted bool) { l.askVote(m, v, epoch, true, granted) }
func (l *lab) vote(m, v *member, epoch int32, granted bool)    { l.askVote(m, v, epoch, false, granted) }

func (l *lab) askVote(m, v *member, epoch int32, pre, granted bool) {
	l.next++
	l.core.onVoteRequest(m.r, v.r, &raft.VoteRequest{
		Header: raft.Header{Correlation: l.next}, VoterID: v.id, ReplicaEpoch: epoch, ReplicaID: m.id, ReplicaDirectoryID: m.dir,
		PreVote: pre, LastOffset: m.end,
	})
	l.core.onVoteResponse(v.r, m.r, &raft.VoteResponse{
		Header: raft.Header{Correlation: l.next}, LeaderID: -1, LeaderEpoch: epoch, VoteGranted: granted,
	})
}

// write appends bytes to the log.
func (m *member) write(batch []byte) {
	m.positions = append(m.positions, mark{m.end, m.size})
	require.NoError(m.lab.t, m.files.WriteAt(m.fd, batch, m.size))
	m.size += int64(len(batch))
	m.end = record.Batch(batch).NextOffset()
	m.tellVoters()
}

// flush makes the log durable.
func (m *member) flush() { require.NoError(m.lab.t, m.files.Sync(m.fd)) }

// append writes a batch of data records, flushed.
func (m *member) append(epoch int32, values ...records.Record) []byte {
	var frames [][]byte
	for _, r := range values {
		frames = append(frames, records.Append(nil, r, 0))
	}
	b := record.AppendBatch(nil, record.BatchSpec{BaseOffset: m.end, LeaderEpoch: epoch}, frames...)
	m.write(b)
	m.flush()
	return b
}

// noOp writes one no-op record.
func (m *member) noOp(epoch int32) []byte { return m.append(epoch, &records.NoOpRecord{}) }

// truncate cuts the log at an offset.
func (m *member) truncate(offset int64) {
	for i, p := range m.positions {
		if p.offset == offset {
			require.NoError(m.lab.t, m.files.Truncate(m.fd, p.pos))
			m.size, m.end = p.pos, offset
			m.positions = m.positions[:i]
			m.tellVoters()
			return
		}
	}
	m.lab.t.Fatalf("n%d has no batch at %d", m.id, offset)
}

// copyFrom appends what the leader has beyond the member's end, flushed.
func (m *member) copyFrom(leader *member, upTo int64) {
	m.copyUnflushed(leader, upTo)
	m.flush()
}

func (m *member) copyUnflushed(leader *member, upTo int64) {
	first, _ := leader.v.File(testSegment)
	all := slices.Clone(first)
	if leader.path != testSegment {
		second, _ := leader.v.File(leader.path)
		all = append(all, second...)
	}
	for len(all) > 0 {
		b, rest, err := record.NextBatch(all)
		require.NoError(m.lab.t, err)
		if len(b) == 0 {
			return
		}
		if b.BaseOffset() == m.end && b.NextOffset() <= upTo {
			m.write(slices.Clone(b))
		}
		all = rest
	}
}

// fetch sends a Fetch from the member's end; answer is what the leader sends back. hw -1: unknown.
func (m *member) fetch(leader *member, epoch int32, hw int64) {
	m.lab.next++
	m.lab.core.onFetchRequest(m.r, leader.r, &raft.FetchRequest{
		Header: raft.Header{Correlation: m.lab.next}, ReplicaID: m.id, ReplicaDirectoryID: m.dir, CurrentLeaderEpoch: epoch,
		FetchOffset: m.end, HighWatermark: hw,
	})
	m.lab.core.called(m.r, leader.r, voterKey{m.id, m.dir})
}

func (m *member) answer(to *member, epoch int32, hw int64) {
	m.lab.core.onFetchResponse(m.r, to.r, &raft.FetchResponse{
		Header: raft.Header{Correlation: m.lab.next}, LeaderID: m.id, LeaderEpoch: epoch, HighWatermark: hw,
		DivergingEpoch: raft.OffsetAndEpoch{Offset: -1, Epoch: -1}, SnapshotID: raft.OffsetAndEpoch{Offset: -1, Epoch: -1},
	})
}

// raise is the event of a leader that raised its high watermark, and the answer that shows it.
func (m *member) raise(to *member, epoch int32, hw int64) {
	m.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: epoch, Leader: m.id, Offset: hw})
	m.answer(to, epoch, hw)
}

// replicate brings a follower up to the leader's end, and the high watermark with it.
func (m *member) replicate(f *member, epoch int32) {
	f.fetch(m, epoch, f.r.watermark)
	m.event(raft.Event{Kind: raft.FetchAccepted, Role: raft.Leader, Epoch: epoch, Peer: voters.ReplicaKey{ID: f.id, DirectoryID: f.dir}})
	m.answer(f, epoch, -1)
	f.copyFrom(m, m.end)
	f.fetch(m, epoch, f.r.watermark)
	m.event(raft.Event{Kind: raft.FetchAccepted, Role: raft.Leader, Epoch: epoch, Peer: voters.ReplicaKey{ID: f.id, DirectoryID: f.dir}})
	m.raise(f, epoch, m.end)
}

// deliver gives the batch at an offset to a listener.
func (m *member) deliver(name string, offset int64) {
	all, _ := m.v.File(testSegment)
	for len(all) > 0 {
		b, rest, err := record.NextBatch(all)
		require.NoError(m.lab.t, err)
		if b.BaseOffset() == offset {
			m.lab.core.delivered(m.r, name, b)
			return
		}
		all = rest
	}
	m.lab.t.Fatalf("n%d has no batch at %d", m.id, offset)
}

// properties rewrites meta.properties of a directory as a server does.
func (m *member) properties(dir, cluster string) {
	tmp := dir + "/" + propertiesName + ".tmp"
	fd, err := m.files.Open(tmp, true)
	require.NoError(m.lab.t, err)
	id := m.dir
	if dir != testData {
		id = record.UUIDFromHalves(2, uint64(m.id))
	}
	require.NoError(m.lab.t, m.files.WriteAt(fd, []byte(propertiesText(m.id, id, cluster)), 0))
	require.NoError(m.lab.t, m.files.Sync(fd))
	require.NoError(m.lab.t, m.files.Close(fd))
	require.NoError(m.lab.t, m.files.Rename(tmp, dir+"/"+propertiesName))
	require.NoError(m.lab.t, m.files.SyncDir(dir))
}

// nextBatch makes another batch of one no-op record that follows b.
func nextBatch(b []byte) []byte {
	x := record.Batch(b)
	return record.AppendBatch(nil, record.BatchSpec{BaseOffset: x.NextOffset(), LeaderEpoch: x.LeaderEpoch()},
		records.Append(nil, &records.NoOpRecord{}, 0))
}
