package raft

import (
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/internal/memfiles"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

// TestScripts runs testdata/*.txt: one replica, seen from outside. Commands go in, protocol lines come out, in the order
// in which they happen:
//
//	=> 2 VoteRequest ...      a message sent to node 2 (b0, b1: bootstrap servers)
//	disk: quorum-state {...}  the file was replaced (renamed and its directory synced)
//	disk: log fsync           the log was synced
//	role, epoch ...           an event of the replica
//	app: ...                  a call of the listener
//	fatal: ...                the input ended in an error
//
// Every choice is 0, so an election timer is exactly the election timeout. Connections open at once unless a script says
// `dial off`. go test -rewrite regenerates the expected lines; read them before you believe them.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 25)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := &script{t: t}
			datadriven.RunTest(t, file, s.run)
		})
	}
}

// script is the state of one file.
type script struct {
	t        *testing.T
	cfg      Config
	files    *memfiles.Files
	replica  *Replica
	nowMs    int64
	out      strings.Builder
	dialled  map[int64]string // conn -> peer name
	pending  []int64          // dials without outcome
	last     map[string]any   // peer name -> last request sent to it
	lastConn map[string]int64 // peer name -> conn of that request
	dialOff  bool
	lastID   int64
	appID    int32
	apps     []*namedApp // listeners with names
	hold     bool
	held     int
	writer   *SnapshotWriter
}

const scriptDir = "/data/__cluster_metadata-0"

func (s *script) run(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.t = t
	s.out.Reset()
	handlers := map[string]func(*datadriven.TestData) error{
		"replica": s.cmdReplica, "state": s.cmdState, "log": s.cmdLog, "open": s.cmdOpen, "poll": s.cmdPoll,
		"vote": s.cmdVote, "fetch": s.cmdFetch, "begin": s.cmdBegin, "end": s.cmdEnd, "answer": s.cmdAnswer,
		"disconnect": s.cmdDisconnect, "append": s.cmdAppend, "resign": s.cmdResign, "shutdown": s.cmdShutdown,
		"status": s.cmdStatus, "kill": s.cmdKill, "dial": s.cmdDial, "listener": s.cmdListener, "release": s.cmdRelease,
		"unregister": s.cmdUnregister, "decay": s.cmdDecay,
		"corrupt-state": s.cmdCorruptState, "connect": s.cmdConnect,
	}
	for name, command := range s.voterCommands() {
		handlers[name] = command
	}
	for name, command := range s.snapshotCommands() {
		handlers[name] = command
	}
	handler := handlers[d.Cmd]
	if handler == nil {
		t.Fatalf("%s: no command %q", d.Pos, d.Cmd)
	}
	if err := handler(d); err != nil {
		fmt.Fprintf(&s.out, "fatal: %v\n", err)
	}
	return s.out.String()
}

// arg returns the value of name, or def.
func arg(d *datadriven.TestData, name, def string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Join(a.Vals, ",")
		}
	}
	return def
}

func number(t *testing.T, d *datadriven.TestData, name string, def int64) int64 {
	t.Helper()
	v, err := strconv.ParseInt(arg(d, name, strconv.FormatInt(def, 10)), 10, 64)
	require.NoError(t, err, d.Pos)
	return v
}

func (s *script) num(d *datadriven.TestData, name string, def int64) int64 {
	return number(s.t, d, name, def)
}

func scriptDirID(n int64) (u record.UUID) {
	if n > 0 {
		u = dirID(byte(n))
	}
	return u
}

// key parses id or id:dir.
func (s *script) key(text string) ReplicaKey {
	id, dir, _ := strings.Cut(text, ":")
	n, err := strconv.ParseInt(id, 10, 32)
	require.NoError(s.t, err)
	k := ReplicaKey{ID: int32(n)}
	if dir != "" {
		n, err := strconv.ParseInt(dir, 10, 8)
		require.NoError(s.t, err)
		k.DirectoryID = scriptDirID(n)
	}
	return k
}

func (s *script) keys(text string) (keys []ReplicaKey) {
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		keys = append(keys, s.key(strings.TrimSpace(part)))
	}
	return keys
}

// cmdReplica prepares a node: replica id=1 voters=(1,2,3) | dynamic=(1:1,2:2,3:3), bootstrap=2 (servers), cluster=...
func (s *script) cmdReplica(d *datadriven.TestData) error {
	s.cfg = DefaultConfig()
	s.cfg.NodeID = int32(s.num(d, "id", 1))
	s.cfg.DirectoryID = scriptDirID(s.num(d, "dir", int64(max(s.cfg.NodeID, 1))))
	s.cfg.ClusterID = arg(d, "cluster", "C")
	s.cfg.Listeners = testEndpoints(s.cfg.NodeID)
	s.cfg.CanBecomeVoter = arg(d, "observer", "no") == "no"
	s.cfg.AppendLingerMs = s.num(d, "linger", 0)
	s.cfg.RequestTimeoutMs = s.num(d, "request-timeout", 2000)
	s.cfg.MaxBatchBytes = int32(s.num(d, "batch-bytes", 8<<20))
	s.cfg.FetchMaxBytes = int32(s.num(d, "fetch-bytes", 1<<20))
	for i := int64(0); i < s.num(d, "bootstrap", 0); i++ {
		s.cfg.BootstrapServers = append(s.cfg.BootstrapServers, Address{Host: fmt.Sprintf("b%d", i), Port: 9093})
	}
	s.voterOptions(d)
	s.snapshotOptions(d)
	s.files = memfiles.New()
	require.NoError(s.t, s.files.MkdirAll(scriptDir))
	require.NoError(s.t, s.files.SyncDir("/"))
	require.NoError(s.t, s.files.SyncDir("/data"))
	var entries []voters.Voter
	for _, k := range s.keys(arg(d, "voters", "")) {
		entries = append(entries, voters.Voter{ReplicaKey: k, Endpoints: testEndpoints(k.ID)})
	}
	static, err := voters.New(entries...)
	require.NoError(s.t, err)
	s.cfg.StaticVoters = static
	if text := arg(d, "dynamic", ""); text != "" {
		var set []voters.Voter
		for _, k := range s.keys(text) {
			set = append(set, voters.Voter{ReplicaKey: k, Endpoints: testEndpoints(k.ID), MaxKRaftVersion: 1})
		}
		s.writeCheckpoint(set)
	}
	s.nowMs = 1000
	return nil
}

// writeCheckpoint writes a 0-0.checkpoint as the formatter does.
func (s *script) writeCheckpoint(entries []voters.Voter) {
	s.writeFile("00000000000000000000-0000000000.checkpoint", checkpoint(s.t, entries))
}

// checkpoint is the content of a 0-0.checkpoint: header, kraft.version 1, voters; one record; footer.
func checkpoint(t require.TestingT, entries []voters.Voter) []byte {
	set, err := voters.New(entries...)
	require.NoError(t, err)
	var header, footer record.Builder
	header.Reset(nil, record.BatchSpec{Control: true})
	header.AddControl(record.SnapshotHeader, (&record.SnapshotHeaderRecord{}).AppendTo(nil))
	header.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: 1}).AppendTo(nil))
	votersRecord := set.Record()
	header.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
	content := header.Finish()
	content = record.AppendBatch(content, record.BatchSpec{BaseOffset: 3}, []byte("metadata.version"))
	footer.Reset(content, record.BatchSpec{BaseOffset: 4, Control: true})
	footer.AddControl(record.SnapshotFooter, (&record.SnapshotFooterRecord{}).AppendTo(nil))
	return footer.Finish()
}

func (s *script) writeFile(name string, content []byte) {
	fd, err := s.files.Open(scriptDir+"/"+name, true)
	require.NoError(s.t, err)
	require.NoError(s.t, s.files.WriteAt(fd, content, 0))
	require.NoError(s.t, s.files.Sync(fd))
	require.NoError(s.t, s.files.Close(fd))
	require.NoError(s.t, s.files.SyncDir(scriptDir))
}

// cmdState writes a quorum-state: state epoch=3 leader=2 voted=1:1 version=1.
func (s *script) cmdState(d *datadriven.TestData) error {
	voted := s.key(arg(d, "voted", "-1"))
	return quorumstate.NewStore(s.files, scriptDir).Write(quorumstate.State{
		LeaderEpoch: int32(s.num(d, "epoch", 0)), LeaderID: int32(s.num(d, "leader", -1)),
		VotedID: voted.ID, VotedDirectoryID: voted.DirectoryID, Voters: []int32{1, 2, 3},
	}, int16(s.num(d, "version", 0)))
}

func (s *script) cmdCorruptState(d *datadriven.TestData) error {
	s.writeFile("quorum-state", []byte(d.Input))
	return nil
}

// cmdDecay flips the last bit of the log while the replica has it open.
func (s *script) cmdDecay(*datadriven.TestData) error {
	fd, err := s.files.Open(scriptDir+"/00000000000000000000.log", false)
	require.NoError(s.t, err)
	size, err := s.files.Size(fd)
	require.NoError(s.t, err)
	var last [1]byte
	_, err = s.files.ReadAt(fd, last[:], size-1)
	require.NoError(s.t, err)
	last[0] ^= 1
	require.NoError(s.t, s.files.WriteAt(fd, last[:], size-1))
	return s.files.Close(fd)
}

// cmdLog fills the log with one batch of one record per epoch named: log epochs=(1,1,2).
func (s *script) cmdLog(d *datadriven.TestData) error {
	l, err := raftlog.Open(s.files, scriptDir, raftlog.Config{SegmentBytes: s.cfg.Log.SegmentBytes})
	require.NoError(s.t, err)
	for _, text := range strings.Split(arg(d, "epochs", ""), ",") {
		epoch, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		require.NoError(s.t, err)
		require.NoError(s.t, l.AppendLeader(record.AppendBatch(nil, record.BatchSpec{
			BaseOffset: l.EndOffset(), LeaderEpoch: int32(epoch), TimestampMs: 5,
		}, []byte("x"))))
	}
	require.NoError(s.t, l.Close())
	s.files.Kill()
	return nil
}

func (s *script) cmdOpen(d *datadriven.TestData) error {
	s.dialled, s.last, s.lastConn, s.pending = map[int64]string{}, map[string]any{}, map[string]int64{}, nil
	s.held = 0
	s.files.Hook = func(op, path string) error {
		switch {
		case op == "rename" && strings.HasSuffix(path, "quorum-state.tmp"):
			fmt.Fprintf(&s.out, "disk: quorum-state %s\n", s.read(path))
		case op == "sync" && strings.HasSuffix(path, ".log"):
			fmt.Fprintf(&s.out, "disk: log fsync\n")
		}
		return nil
	}
	s.replica = New(s.cfg, Deps{Files: s.files, Dir: scriptDir, Transport: s, Chooser: s, Observer: s})
	if err := s.replica.Open(s.nowMs); err != nil {
		return err
	}
	return s.settle(func() error { return s.replica.Poll(s.nowMs) })
}

func (s *script) read(path string) string {
	hook := s.files.Hook
	s.files.Hook = nil
	defer func() { s.files.Hook = hook }()
	fd, err := s.files.Open(path, false)
	require.NoError(s.t, err)
	size, err := s.files.Size(fd)
	require.NoError(s.t, err)
	content := make([]byte, size)
	_, err = s.files.ReadAt(fd, content, 0)
	require.NoError(s.t, err)
	require.NoError(s.t, s.files.Close(fd))
	return string(content)
}

// settle runs an input and then lets every dial succeed that it started.
func (s *script) settle(input func() error) error {
	if err := input(); err != nil {
		return err
	}
	for len(s.pending) > 0 && !s.dialOff {
		conn := s.pending[0]
		s.pending = s.pending[1:]
		if err := s.replica.Connected(s.nowMs, conn); err != nil {
			return err
		}
	}
	return nil
}

// cmdPoll lets time pass: poll ms=100 [quiet] (print nothing). Wake-ups happen when the replica wants them.
func (s *script) cmdPoll(d *datadriven.TestData) error {
	end := s.nowMs + s.num(d, "ms", 0)
	for wakeUps := 0; ; wakeUps++ {
		require.Less(s.t, wakeUps, 10_000, "the replica spins")
		at := s.replica.DeadlineMs()
		if at < 0 || at > end {
			break
		}
		s.nowMs = max(s.nowMs, at)
		before := s.out.Len()
		err := s.settle(func() error { return s.replica.Poll(s.nowMs) })
		if text := s.out.String(); len(text) > before {
			added := text[before:]
			s.out.Reset()
			fmt.Fprintf(&s.out, "%s%d ms:\n%s", text[:before], s.nowMs, added)
		}
		if err != nil {
			return err
		}
	}
	s.nowMs = end
	if d.HasArg("quiet") {
		s.out.Reset()
	}
	return s.settle(func() error { return s.replica.Poll(s.nowMs) })
}

func (s *script) receive(from int64, m Message) error {
	return s.settle(func() error { return s.replica.Receive(s.nowMs, 1000+from, m) })
}

func (s *script) clusterIDArg(d *datadriven.TestData) ClusterID {
	text := arg(d, "cluster", s.cfg.ClusterID)
	if text == "null" {
		return ClusterID{}
	}
	return ClusterID{ID: strings.Trim(text, `'`), Known: true}
}

func (s *script) header(d *datadriven.TestData) Header {
	return Header{Correlation: 7, WrongShape: arg(d, "shape", "") == "wrong"}
}

// cmdVote: vote from=2:2 epoch=5 last-epoch=4 last-offset=10 [pre] [to=1:1]
func (s *script) cmdVote(d *datadriven.TestData) error {
	from, to := s.key(arg(d, "from", "2")), s.key(arg(d, "to", "-1"))
	return s.receive(int64(from.ID), &VoteRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d),
		VoterID: to.ID, VoterDirectoryID: to.DirectoryID,
		ReplicaEpoch: int32(s.num(d, "epoch", 0)), ReplicaID: from.ID, ReplicaDirectoryID: from.DirectoryID,
		LastOffsetEpoch: int32(s.num(d, "last-epoch", 0)), LastOffset: s.num(d, "last-offset", 0),
		PreVote: d.HasArg("pre"),
	})
}

// cmdFetch: fetch from=2:2 epoch=5 offset=3 last-epoch=4 [hw=..] [wait=..] [max=..]
func (s *script) cmdFetch(d *datadriven.TestData) error {
	from := s.key(arg(d, "from", "2"))
	return s.receive(int64(from.ID), &FetchRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d),
		ReplicaID: from.ID, ReplicaEpoch: -1, ReplicaDirectoryID: from.DirectoryID,
		MaxWaitMs: int32(s.num(d, "wait", 500)), MaxBytes: int32(s.num(d, "max", 1<<20)),
		CurrentLeaderEpoch: int32(s.num(d, "epoch", 0)), FetchOffset: s.num(d, "offset", 0),
		LastFetchedEpoch: int32(s.num(d, "last-epoch", 0)), HighWatermark: s.num(d, "hw", -1),
	})
}

func (s *script) endpointsArg(d *datadriven.TestData, id int32) (endpoints []voters.Endpoint) {
	n := s.num(d, "endpoints", 1)
	for i := int64(0); i < n; i++ {
		e := testEndpoints(id)[0]
		if i > 0 {
			e.Name = fmt.Sprintf("L%d", i)
		}
		endpoints = append(endpoints, e)
	}
	return endpoints
}

// cmdBegin: begin from=2 epoch=5 [to=1:1] [endpoints=1]
func (s *script) cmdBegin(d *datadriven.TestData) error {
	from, to := s.key(arg(d, "from", "2")), s.key(arg(d, "to", "-1"))
	return s.receive(int64(from.ID), &BeginQuorumEpochRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d), VoterID: to.ID, VoterDirectoryID: to.DirectoryID,
		LeaderID: from.ID, LeaderEpoch: int32(s.num(d, "epoch", 0)), LeaderEndpoints: s.endpointsArg(d, from.ID),
	})
}

// cmdEnd: end from=2 epoch=5 candidates=(3,1)
func (s *script) cmdEnd(d *datadriven.TestData) error {
	from := s.key(arg(d, "from", "2"))
	return s.receive(int64(from.ID), &EndQuorumEpochRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d),
		LeaderID: from.ID, LeaderEpoch: int32(s.num(d, "epoch", 0)), PreferredCandidates: s.keys(arg(d, "candidates", "")),
	})
}

// errorArg reads an error code by number.
func (s *script) errorArg(d *datadriven.TestData, name string) ErrorCode {
	return ErrorCode(s.num(d, name, 0))
}

// cmdAnswer answers the request last sent to a peer: answer peer=2 granted | error=74 leader=3 epoch=6 hw=5 records=(1,1)
// diverging=(epoch,offset) correlation=...
func (s *script) cmdAnswer(d *datadriven.TestData) error {
	peer := arg(d, "peer", "2")
	request := s.last[peer]
	require.NotNil(s.t, request, "%s: nothing was sent to %s", d.Pos, peer)
	conn := s.lastConn[peer]
	top, code := s.errorArg(d, "top"), s.errorArg(d, "error")
	leaderID := int32(s.num(d, "leader", -1))
	endpoint := NodeEndpoint{NodeID: -1}
	if leaderID >= 0 && arg(d, "endpoint", "yes") == "yes" {
		e := testEndpoints(leaderID)[0]
		endpoint = NodeEndpoint{NodeID: leaderID, Host: e.Host, Port: e.Port}
	}
	header := func(h *Header) Header {
		return Header{
			Correlation: int32(s.num(d, "correlation", int64(h.Correlation))), Response: true,
			WrongShape: arg(d, "shape", "") == "wrong",
		}
	}
	var m Message
	switch q := request.(type) {
	case *VoteRequest:
		m = &VoteResponse{
			Header: header(&q.Header), ErrorCode: top, PartitionError: code, LeaderID: leaderID, Endpoint: endpoint,
			LeaderEpoch: int32(s.num(d, "epoch", int64(q.ReplicaEpoch))), VoteGranted: d.HasArg("granted"),
		}
	case *BeginQuorumEpochRequest:
		m = &BeginQuorumEpochResponse{
			Header: header(&q.Header), ErrorCode: top, PartitionError: code, LeaderID: leaderID, Endpoint: endpoint,
			LeaderEpoch: int32(s.num(d, "epoch", int64(q.LeaderEpoch))),
		}
	case *EndQuorumEpochRequest:
		m = &EndQuorumEpochResponse{
			Header: header(&q.Header), ErrorCode: top, PartitionError: code, LeaderID: leaderID, Endpoint: endpoint,
			LeaderEpoch: int32(s.num(d, "epoch", int64(q.LeaderEpoch))),
		}
	case *FetchRequest:
		response := &FetchResponse{
			Header: header(&q.Header), ErrorCode: top, PartitionError: code, LeaderID: leaderID, Endpoint: endpoint,
			LeaderEpoch:   int32(s.num(d, "epoch", int64(q.CurrentLeaderEpoch))),
			HighWatermark: s.num(d, "hw", -1), DivergingEpoch: noOffset, SnapshotID: noOffset,
		}
		s.fetchAnswer(d, q, response)
		m = response
	case *FetchSnapshotRequest:
		response := &FetchSnapshotResponse{
			Header: header(&q.Header), ErrorCode: top, PartitionError: code, LeaderID: leaderID, Endpoint: endpoint,
			LeaderEpoch: int32(s.num(d, "epoch", int64(q.CurrentLeaderEpoch))),
		}
		s.snapshotAnswer(d, q, response)
		m = response
	default:
		m = s.voterAnswer(d, request, header)
	}
	return s.settle(func() error { return s.replica.Receive(s.nowMs, conn, m) })
}

func (s *script) fetchAnswer(d *datadriven.TestData, q *FetchRequest, response *FetchResponse) {
	point := func(name string) OffsetAndEpoch {
		epoch, offset, _ := strings.Cut(arg(d, name, "-1,-1"), ",")
		e, err := strconv.ParseInt(strings.TrimSpace(epoch), 10, 32)
		require.NoError(s.t, err)
		o, err := strconv.ParseInt(strings.TrimSpace(offset), 10, 64)
		require.NoError(s.t, err)
		return OffsetAndEpoch{Epoch: int32(e), Offset: o}
	}
	response.DivergingEpoch, response.SnapshotID = point("diverging"), point("snapshot")
	offset := s.num(d, "base", q.FetchOffset)
	if text := arg(d, "records", ""); text != "" {
		for _, part := range strings.Split(text, ",") {
			epoch, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
			require.NoError(s.t, err)
			response.Records = record.AppendBatch(response.Records, record.BatchSpec{
				BaseOffset: offset, LeaderEpoch: int32(epoch), TimestampMs: 5,
			}, []byte("x"))
			offset++
		}
	}
	if text := arg(d, "voters", ""); text != "" {
		var set []voters.Voter
		for _, k := range s.keys(text) {
			set = append(set, voters.Voter{ReplicaKey: k, Endpoints: testEndpoints(k.ID), MaxKRaftVersion: 1})
		}
		vs, err := voters.New(set...)
		require.NoError(s.t, err)
		var b record.Builder
		b.Reset(response.Records, record.BatchSpec{BaseOffset: offset, LeaderEpoch: response.LeaderEpoch, Control: true})
		if !d.HasArg("alone") {
			b.AddControl(record.KRaftVersion, (&record.KRaftVersionRecord{KRaftVersion: 1}).AppendTo(nil))
		}
		votersRecord := vs.Record()
		b.AddControl(record.KRaftVoters, votersRecord.AppendTo(nil))
		response.Records = b.Finish()
	}
}

// cmdDisconnect breaks the connection to a peer: disconnect peer=2 [refused]
func (s *script) cmdDisconnect(d *datadriven.TestData) error {
	peer := arg(d, "peer", "2")
	for _, conn := range s.conns() {
		if s.dialled[conn] != peer {
			continue
		}
		delete(s.dialled, conn)
		for i, pending := range s.pending {
			if pending == conn {
				s.pending = append(s.pending[:i], s.pending[i+1:]...)
				break
			}
		}
		return s.settle(func() error { return s.replica.Disconnected(s.nowMs, conn, d.HasArg("refused")) })
	}
	s.t.Fatalf("%s: no connection to %s", d.Pos, peer)
	return nil
}

func (s *script) conns() (ids []int64) {
	for id := range s.dialled {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	return ids
}

// cmdDial: dial off leaves connections opening; dial on goes back to opening at once.
func (s *script) cmdDial(d *datadriven.TestData) error {
	s.dialOff = d.HasArg("off")
	return nil
}

// cmdConnect lets all dials succeed that wait.
func (s *script) cmdConnect(d *datadriven.TestData) error {
	pending := s.pending
	s.pending = nil
	for _, conn := range pending {
		if err := s.replica.Connected(s.nowMs, conn); err != nil {
			return err
		}
	}
	return nil
}

// cmdAppend: append epoch=1 values=(a,b) [prepare-only]
func (s *script) cmdAppend(d *datadriven.TestData) error {
	var records [][]byte
	for _, v := range strings.FieldsFunc(arg(d, "values", ""), func(r rune) bool { return r == ',' }) {
		records = append(records, []byte(strings.TrimSpace(v)))
	}
	last, err := s.replica.PrepareAppend(int32(s.num(d, "epoch", int64(s.replica.LeaderAndEpoch().Epoch))), records)
	if err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
		return nil
	}
	fmt.Fprintf(&s.out, "last offset %d\n", last)
	if !d.HasArg("prepare-only") {
		s.replica.SchedulePreparedAppend()
	}
	return s.settle(func() error { return s.replica.Poll(s.nowMs) })
}

func (s *script) cmdResign(d *datadriven.TestData) error {
	if err := s.replica.Resign(int32(s.num(d, "epoch", int64(s.replica.LeaderAndEpoch().Epoch)))); err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
	}
	return s.settle(func() error { return s.replica.Poll(s.nowMs) })
}

func (s *script) cmdShutdown(d *datadriven.TestData) error {
	s.replica.Shutdown(s.nowMs, s.num(d, "ms", 5000))
	err := s.settle(func() error { return s.replica.Poll(s.nowMs) })
	fmt.Fprintf(&s.out, "done=%v\n", s.replica.Done())
	return err
}

func (s *script) cmdStatus(d *datadriven.TestData) error {
	b := s.replica.base()
	fmt.Fprintf(&s.out, "%v epoch=%d leader=%d voted=%s hw=%d leo=%d flushed=%d last-epoch=%d", s.replica.Role(), b.epoch,
		b.leaderID, s.text(b.voted), b.highWatermark, s.replica.log.EndOffset(), s.replica.log.FlushedOffset(),
		s.replica.log.LastEpoch())
	fmt.Fprintf(&s.out, " voters=%v@%d kraft.version=%d", s.replica.control.voterIDs(), s.replica.control.votersOffset(),
		s.replica.KRaftVersion())
	if at := s.replica.DeadlineMs(); at < 0 {
		fmt.Fprintf(&s.out, " no wake-up\n")
	} else {
		fmt.Fprintf(&s.out, " wake-up in %d ms\n", at-s.nowMs)
	}
	return nil
}

// cmdKill ends the process: kill [power-loss]; a new `open` starts it again.
func (s *script) cmdKill(d *datadriven.TestData) error {
	s.files.Hook = nil
	if d.HasArg("power-loss") {
		s.files.Crash()
	} else {
		s.files.Kill()
	}
	s.replica = nil
	return nil
}

// cmdListener registers a listener: listener [hold]; with hold it keeps its batches until `release`.
func (s *script) cmdListener(d *datadriven.TestData) error {
	if d.HasArg("name") {
		s.registerNamed(arg(d, "name", ""))
		return s.pollUntilReleased()
	}
	s.hold = d.HasArg("hold")
	s.appID = s.replica.Register(s)
	return s.pollUntilReleased()
}

func (s *script) cmdRelease(d *datadriven.TestData) error {
	s.held = 0
	s.replica.ReleaseReader(s.appID)
	return s.pollUntilReleased()
}

func (s *script) pollUntilReleased() error {
	for {
		if err := s.settle(func() error { return s.replica.Poll(s.nowMs) }); err != nil {
			return err
		}
		named := s.releaseNamed()
		if !named && (s.held == 0 || s.hold) {
			return nil
		}
		if s.hold {
			continue
		}
		s.held = 0
		s.replica.ReleaseReader(s.appID)
	}
}

func (s *script) HandleCommit(batches []Batch) {
	for _, b := range batches {
		kind := "data"
		if b.Control {
			kind = "control"
		}
		fmt.Fprintf(&s.out, "app: commit %d..%d epoch=%d %s\n", b.BaseOffset, b.LastOffset, b.Epoch, kind)
	}
	s.held++
}

func (s *script) HandleLoadBootstrap(snapshot []byte) {
	fmt.Fprintf(&s.out, "app: load bootstrap checkpoint, %d bytes\n", len(snapshot))
}

func (s *script) HandleLeaderChange(l LeaderAndEpoch) {
	fmt.Fprintf(&s.out, "app: leader %d epoch %d\n", l.LeaderID, l.Epoch)
}

// Choose implements Chooser: always 0, but jitter of reconnects in the middle.
func (s *script) Choose(site Site, key uint64, n int64) int64 {
	if site == SiteReconnectBackoff {
		return n / 2
	}
	return 0
}

// Dial implements Transport.
func (s *script) Dial(host string, port uint16) int64 {
	s.lastID++
	name := strings.TrimPrefix(host, "host")
	s.dialled[s.lastID] = name
	s.pending = append(s.pending, s.lastID)
	if s.dialOff {
		fmt.Fprintf(&s.out, "dial %s\n", name)
	}
	return s.lastID
}

// CloseConn implements Transport.
func (s *script) CloseConn(conn int64) {
	fmt.Fprintf(&s.out, "close %s\n", s.dialled[conn])
	delete(s.dialled, conn)
}

// Send implements Transport.
func (s *script) Send(conn int64, m Message) {
	name, ours := s.dialled[conn]
	if ours {
		s.last[name], s.lastConn[name] = m, conn
	} else {
		name = strconv.FormatInt(conn-1000, 10)
	}
	fmt.Fprintf(&s.out, "=> %s %s\n", name, s.describe(m))
}

// Observe implements Observer.
func (s *script) Observe(e *Event) {
	switch e.Kind {
	case RoleChanged:
		fmt.Fprintf(&s.out, "%v epoch=%d leader=%d\n", e.Role, e.Epoch, e.Leader)
	case HighWatermarkAdvanced:
		fmt.Fprintf(&s.out, "high watermark %d -> %d\n", e.Other, e.Offset)
	case LogAppended:
		fmt.Fprintf(&s.out, "log %d -> %d\n", e.Other, e.Offset)
	case LogTruncated:
		fmt.Fprintf(&s.out, "log cut at %d\n", e.Offset)
	case FetchAccepted:
		fmt.Fprintf(&s.out, "fetch of %s at %d counts\n", s.text(e.Peer), e.Offset)
	case VotersChanged:
		fmt.Fprintf(&s.out, "voters of offset %d in force\n", e.Offset)
	case ShutdownFinished:
		outcome := ""
		if e.Flag {
			outcome = " timed-out"
		}
		fmt.Fprintf(&s.out, "%v%s\n", e.Kind, outcome)
	case FetchTimeout, ElectionTimeout, CheckQuorumExpired, RequestTimeout, PeerUnavailable:
		fmt.Fprintf(&s.out, "%v\n", e.Kind)
	case UnexpectedAnswer:
		fmt.Fprintf(&s.out, "unexpected answer %v\n", ErrorCode(e.Offset))
	}
	s.observeSnapshot(e)
}

// text prints a key as scripts write it.
func (s *script) text(k ReplicaKey) string {
	if k.DirectoryID.IsZero() {
		return strconv.FormatInt(int64(k.ID), 10)
	}
	return fmt.Sprintf("%d:%d", k.ID, k.DirectoryID[15])
}

func errorText(top, code ErrorCode) string {
	switch {
	case top != None:
		return fmt.Sprintf(" top=%v", top)
	case code != None:
		return fmt.Sprintf(" error=%v", code)
	}
	return ""
}

func (s *script) describe(m Message) string {
	switch m := m.(type) {
	case *VoteRequest:
		kind := "Vote"
		if m.PreVote {
			kind = "PreVote"
		}
		return fmt.Sprintf("%s to=%s epoch=%d from=%s log=(%d,%d)", kind,
			s.text(ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}), m.ReplicaEpoch,
			s.text(ReplicaKey{ID: m.ReplicaID, DirectoryID: m.ReplicaDirectoryID}), m.LastOffsetEpoch, m.LastOffset)
	case *VoteResponse:
		return fmt.Sprintf("VoteResponse granted=%v epoch=%d leader=%d%s%s", m.VoteGranted, m.LeaderEpoch, m.LeaderID,
			at(m.Endpoint), errorText(m.ErrorCode, m.PartitionError))
	case *BeginQuorumEpochRequest:
		return fmt.Sprintf("BeginQuorumEpoch to=%s leader=%d epoch=%d endpoints=%d",
			s.text(ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}), m.LeaderID, m.LeaderEpoch, len(m.LeaderEndpoints))
	case *BeginQuorumEpochResponse:
		return fmt.Sprintf("BeginQuorumEpochResponse epoch=%d leader=%d%s%s", m.LeaderEpoch, m.LeaderID, at(m.Endpoint),
			errorText(m.ErrorCode, m.PartitionError))
	case *EndQuorumEpochRequest:
		var keys []string
		for _, k := range m.PreferredCandidates {
			keys = append(keys, s.text(k))
		}
		return fmt.Sprintf("EndQuorumEpoch leader=%d epoch=%d candidates=(%s)", m.LeaderID, m.LeaderEpoch, strings.Join(keys, ","))
	case *EndQuorumEpochResponse:
		return fmt.Sprintf("EndQuorumEpochResponse epoch=%d leader=%d%s%s", m.LeaderEpoch, m.LeaderID, at(m.Endpoint),
			errorText(m.ErrorCode, m.PartitionError))
	case *FetchRequest:
		cluster := ""
		if !m.ClusterID.Known {
			cluster = " cluster=null"
		}
		return fmt.Sprintf("Fetch epoch=%d offset=%d last-epoch=%d hw=%d%s", m.CurrentLeaderEpoch, m.FetchOffset,
			m.LastFetchedEpoch, m.HighWatermark, cluster)
	case *FetchResponse:
		return s.describeFetchResponse(m)
	}
	if text, ok := describeSnapshotMessage(m); ok {
		return text
	}
	return s.describeVoterMessage(m)
}

func at(e NodeEndpoint) string {
	if e.NodeID < 0 {
		return ""
	}
	return fmt.Sprintf("@%s:%d", e.Host, e.Port)
}

func (s *script) describeFetchResponse(m *FetchResponse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "FetchResponse epoch=%d leader=%d%s hw=%d", m.LeaderEpoch, m.LeaderID, at(m.Endpoint), m.HighWatermark)
	if m.LogStartOffset != 0 {
		fmt.Fprintf(&b, " start=%d", m.LogStartOffset)
	}
	if m.DivergingEpoch != noOffset {
		fmt.Fprintf(&b, " diverging=(%d,%d)", m.DivergingEpoch.Epoch, m.DivergingEpoch.Offset)
	}
	if m.SnapshotID != noOffset {
		fmt.Fprintf(&b, " snapshot=(%d,%d)", m.SnapshotID.Epoch, m.SnapshotID.Offset)
	}
	for rest := m.Records; len(rest) > 0; {
		batch, next, err := record.NextBatch(rest)
		require.NoError(s.t, err)
		require.NotEmpty(s.t, batch)
		fmt.Fprintf(&b, " [%d..%d epoch=%d]", batch.BaseOffset(), batch.LastOffset(), batch.LeaderEpoch())
		rest = next
	}
	return b.String() + errorText(m.ErrorCode, m.PartitionError)
}
