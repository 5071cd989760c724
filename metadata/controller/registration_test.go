package controller

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
)

const second int64 = 1_000_000_000

// registered is a group of three at a metadata.version, whose node 0 is active and knows cluster id X.
func registered(t *testing.T, version int16, change func(*Config)) (*group, *node) {
	t.Helper()
	cfg := config(t, Draft)
	cfg.ClusterID, cfg.BrokerSessionTimeoutNs, cfg.ControllersRegister = "X", 9*second, true
	cfg.Bootstrap = []records.Record{level(features.MetadataVersion, version)}
	if version < 7 {
		cfg.Release, cfg.Variant = release(t, "4.0"), Released
	}
	if change != nil {
		change(&cfg)
	}
	return active(t, cfg)
}

func uuid(n byte) record.UUID { return record.UUID{0: n, 15: 9} }

// introduction is a request of an incarnation that a kip1262 node would send.
func introduction(t *testing.T, id int32, incarnation byte) *BrokerRegistration {
	t.Helper()
	r := &BrokerRegistration{
		BrokerID: id, ClusterID: "X", IncarnationID: uuid(incarnation), PreviousBrokerEpoch: -1, Version: 4,
		Listeners: []image.Endpoint{{Name: "PLAINTEXT", Host: "h", Port: 9092}}, LogDirs: []record.UUID{uuid(byte(100 + id))},
		Features: ranges(t, "kip1262"),
	}
	return r
}

func ranges(t *testing.T, name string) (list []image.FeatureRange) {
	t.Helper()
	rel := release(t, name)
	for _, f := range rel.FeatureNames() {
		lowest, highest, _ := rel.Range(f, false)
		list = append(list, image.FeatureRange{Name: f, Minimum: lowest, Maximum: highest})
	}
	return list
}

var opID int64

// ask submits an operation, commits what it wrote, and returns the answer and the records.
func ask(t *testing.T, g *group, n *node, nowNs int64, op Op) (Result, string) {
	t.Helper()
	opID++
	op.ID = opID
	require.NoError(t, n.ctl.Submit(nowNs, &op))
	wrote := strings.Join(spell(t, g.uncommitted), " ")
	g.commit(-1)
	r, ok := n.results[op.ID]
	require.True(t, ok, "operation %s is not answered", op.Kind)
	for _, other := range g.nodes {
		require.Equal(t, n.ctl.Image().Digest(), other.ctl.Image().Digest())
		require.Equal(t, n.ctl.timeline.registered, other.ctl.timeline.registered)
	}
	return r, wrote
}

func register(t *testing.T, g *group, n *node, nowNs int64, r *BrokerRegistration) int64 {
	t.Helper()
	answer, _ := ask(t, g, n, nowNs, Op{Kind: RegisterBroker, Broker: r})
	require.Equal(t, None, answer.Code, answer.Message)
	return answer.Broker.BrokerEpoch
}

// beatAt is a heartbeat as the network brings it: contact first.
func beatAt(t *testing.T, g *group, n *node, nowNs int64, h BrokerHeartbeat) (BrokerReply, string) {
	t.Helper()
	n.ctl.Contact(nowNs, h.BrokerID, h.BrokerEpoch)
	r, wrote := ask(t, g, n, nowNs, Op{Kind: Heartbeat, Heartbeat: &h})
	require.Equal(t, None, r.Code, r.Message)
	return r.Broker, wrote
}

// unfenced registers a broker and lets it catch up.
func unfenced(t *testing.T, g *group, n *node, nowNs int64, id int32) int64 {
	t.Helper()
	epoch := register(t, g, n, nowNs, introduction(t, id, byte(id+1)))
	reply, _ := beatAt(t, g, n, nowNs, BrokerHeartbeat{BrokerID: id, BrokerEpoch: epoch, CurrentMetadataOffset: g.end()})
	require.False(t, reply.IsFenced)
	return epoch
}

func TestBrokerRegistrationChecks(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int16
		extra   []records.Record
		change  func(r *BrokerRegistration)
		code    ErrorCode
	}{
		{name: "good", version: 33},
		{name: "1 cluster id", version: 33, change: func(r *BrokerRegistration) { r.ClusterID = "Y"; r.IsMigratingZkBroker = true }, code: InconsistentClusterID},
		{name: "2 another process", version: 33, change: func(r *BrokerRegistration) { r.BrokerID = 7; r.IsMigratingZkBroker = true }, code: DuplicateBrokerRegistration},
		{name: "3 migrating", version: 33, change: func(r *BrokerRegistration) { r.IsMigratingZkBroker = true; r.LogDirs = nil }, code: BrokerIDNotRegistered},
		{name: "4 no directory", version: 33, change: func(r *BrokerRegistration) { r.LogDirs = nil; r.Features = nil }, code: InvalidRegistration},
		{name: "4 reserved directory", version: 33, change: func(r *BrokerRegistration) { r.LogDirs = []record.UUID{record.DirectoryLost} }, code: InvalidRegistration},
		{name: "4 twice", version: 33, change: func(r *BrokerRegistration) { r.LogDirs = append(r.LogDirs, r.LogDirs[0]) }, code: InvalidRegistration},
		{name: "4 of another broker", version: 33, change: func(r *BrokerRegistration) { r.LogDirs = []record.UUID{uuid(107)} }, code: InvalidRegistration},
		{name: "4 not before 3.7-IV2", version: 16, change: func(r *BrokerRegistration) { r.LogDirs = nil }},
		{name: "5 metadata.version", version: 33, change: func(r *BrokerRegistration) { r.Features = r.Features[:1]; r.Features[0].Maximum = 32 }, code: UnsupportedVersion},
		{name: "5 above what is finalized", version: 33, change: func(r *BrokerRegistration) {
			r.Features = append(r.Features, image.FeatureRange{Name: "new.version", Minimum: 1, Maximum: 2})
		}, code: UnsupportedVersion},
		{name: "6 before 7", version: 33, extra: []records.Record{level(features.GroupVersion, 1)},
			change: func(r *BrokerRegistration) { r.Features = nil }, code: InvalidRegistration},
		{name: "7 finalized and not named", version: 33, extra: []records.Record{level(features.GroupVersion, 1)},
			change: func(r *BrokerRegistration) { r.Features = r.Features[:1] }, code: UnsupportedVersion},
		{name: "7 not finalized", version: 33, change: func(r *BrokerRegistration) { r.Features = r.Features[:1] }},
		{name: "text too long", version: 33, change: func(r *BrokerRegistration) { r.Listeners[0].Host = strings.Repeat("h", 40000) }, code: InvalidRegistration},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := registered(t, c.version, func(cfg *Config) { cfg.Bootstrap = append(cfg.Bootstrap, c.extra...) })
			unfenced(t, g, n, 0, 7)
			r := introduction(t, 1, 1)
			if c.change != nil {
				c.change(r)
			}
			before := n.ctl.Image()
			answer, wrote := ask(t, g, n, second, Op{Kind: RegisterBroker, Broker: r})
			require.Equal(t, c.code, answer.Code, answer.Message)
			if c.code != None {
				require.Equal(t, before.Digest(), n.ctl.Image().Digest())
				require.Empty(t, wrote)
				return
			}
			b := n.ctl.Image().Broker(1)
			require.Equal(t, answer.Broker.BrokerEpoch, b.Epoch)
			require.True(t, b.Fenced)
			require.Equal(t, c.version >= 17, len(b.LogDirs) == 1)
		})
	}
}

// TestRegistrationWhileNoIDIsKnown: a leader that nobody formatted compares no cluster id below the level of the record, or refuses all
// (metadata-bootstrap 4.4, D1); the empty string is an id.
func TestRegistrationWhileNoIDIsKnown(t *testing.T) {
	for _, c := range []struct {
		name   string
		level  int16
		change func(*Config)
		id     string
		code   ErrorCode
	}{
		{"taken", 33, func(*Config) {}, "X", None},
		{"refused", 33, func(cfg *Config) { cfg.Choices.RefuseUnknownID = true }, "X", InconsistentClusterID},
		{"empty and another", 33, func(cfg *Config) { cfg.EmptyClusterID = true }, "X", InconsistentClusterID},
		{"empty and empty", 33, func(cfg *Config) { cfg.EmptyClusterID = true }, "", None},
		{"the log has another", 34, func(*Config) {}, "X", InconsistentClusterID},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := registered(t, c.level, func(cfg *Config) {
				cfg.ClusterID = ""
				c.change(cfg)
			})
			r := introduction(t, 1, 1)
			r.ClusterID = c.id
			answer, _ := ask(t, g, n, second, Op{Kind: RegisterBroker, Broker: r})
			require.Equal(t, c.code, answer.Code, answer.Message)
			require.Equal(t, c.code == None, n.ctl.Image().Broker(1) != nil)
		})
	}
}

func TestIncarnations(t *testing.T) {
	g, n := registered(t, 33, nil)
	first := unfenced(t, g, n, 0, 1)
	require.Equal(t, first, register(t, g, n, second, introduction(t, 1, 2)), "the same incarnation keeps its epoch")
	b := n.ctl.Image().Broker(1)
	require.False(t, b.Fenced, "and its standing")
	require.Greater(t, n.ctl.timeline.registered.offset(1), first)

	other := introduction(t, 1, 3)
	answer, _ := ask(t, g, n, 9*second, Op{Kind: RegisterBroker, Broker: other})
	require.Equal(t, DuplicateBrokerRegistration, answer.Code, "the session is just not over")
	want := g.end()
	require.Equal(t, want, register(t, g, n, 9*second+1, other), "a new one has the next offset as its epoch")
	b = n.ctl.Image().Broker(1)
	require.True(t, b.Fenced)
	r, _ := ask(t, g, n, 9*second+1, Op{Kind: Heartbeat, Heartbeat: &BrokerHeartbeat{BrokerID: 1, BrokerEpoch: first}})
	require.Equal(t, StaleBrokerEpoch, r.Code, "the former incarnation is out")
	r, _ = ask(t, g, n, 9*second+1, Op{Kind: Heartbeat, Heartbeat: &BrokerHeartbeat{BrokerID: 2, BrokerEpoch: first}})
	require.Equal(t, StaleBrokerEpoch, r.Code, "an unknown broker too")
}

// KB-30: a broker's epoch and registration come out alike on all controllers, and after a failover, though raft puts records of its
// own in between.
func TestRegistrationsSurviveFailover(t *testing.T) {
	g, n := registered(t, 33, nil)
	one := unfenced(t, g, n, 0, 1)
	register(t, g, n, second, introduction(t, 2, 3))
	at := n.ctl.timeline.registered
	require.NoError(t, n.ctl.Submit(second, &Op{ID: 900, Kind: RegisterBroker, Broker: introduction(t, 3, 4)}))
	require.NotNil(t, n.ctl.Image().Broker(3))
	require.NoError(t, g.elect(1, 0))
	require.Nil(t, n.ctl.Image().Broker(3), "what was not committed is taken back")
	require.Equal(t, at, n.ctl.timeline.registered)
	require.Equal(t, NotController, n.results[900].Code)

	next := g.nodes[1]
	g.commit(-1)
	require.NoError(t, next.ctl.Poll(8*second))
	require.Empty(t, g.uncommitted, "each unfenced broker has one full session from activation on")
	require.False(t, next.ctl.Image().Broker(1).Fenced)
	reply, _ := beatAt(t, g, next, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: n.ctl.Image().Broker(2).Epoch, CurrentMetadataOffset: at.offset(2) - 1})
	require.True(t, reply.IsFenced, "not caught up with its registration, wherever that was written")
	require.False(t, reply.IsCaughtUp)
	reply, _ = beatAt(t, g, next, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: n.ctl.Image().Broker(2).Epoch, CurrentMetadataOffset: at.offset(2)})
	require.False(t, reply.IsFenced)
	require.NotEqual(t, one, n.ctl.Image().Broker(2).Epoch)
}

func TestSessionsExpireOneByOne(t *testing.T) {
	g, n := registered(t, 33, nil)
	for id := range int32(3) {
		unfenced(t, g, n, int64(2-id)*second, id)
	}
	require.Equal(t, 9*second/8, n.ctl.DeadlineNs())
	require.NoError(t, n.ctl.Poll(9*second))
	require.Empty(t, g.uncommitted)
	require.Equal(t, 9*second+9*second/8, n.ctl.DeadlineNs())
	now := 10*second + second/2 // 2 and 1 are over
	var fenced []int32
	for range 3 {
		require.NoError(t, n.ctl.Poll(now))
		g.commit(-1)
		if e := n.event(BrokerSessionExpired); e != nil && (len(fenced) == 0 || fenced[len(fenced)-1] != e.Count) {
			fenced = append(fenced, e.Count)
			require.Equal(t, now+1, n.ctl.DeadlineNs(), "at once again while it found one")
		}
		now++
	}
	require.Equal(t, []int32{2, 1}, fenced, "who was silent for longest is first, one each time")
	require.False(t, n.ctl.Image().Broker(0).Fenced)
	require.True(t, n.ctl.Image().Broker(1).Fenced)
	require.NoError(t, n.ctl.Poll(now))
	require.Empty(t, g.uncommitted)
	require.Equal(t, now-1+9*second/8, n.ctl.DeadlineNs())
}

func TestHeartbeatStates(t *testing.T) {
	for _, c := range []struct {
		name string
		s    standing
		h    BrokerHeartbeat
		want brokerState
	}{
		{"fenced, wants to go", standing{registeredAt: 5}, BrokerHeartbeat{WantShutDown: true}, stateShutdownNow},
		{"fenced, wants to go fenced", standing{}, BrokerHeartbeat{WantShutDown: true, WantFence: true}, stateShutdownNow},
		{"fenced, caught up", standing{registeredAt: 5}, BrokerHeartbeat{CurrentMetadataOffset: 5}, stateUnfenced},
		{"fenced, behind", standing{registeredAt: 5}, BrokerHeartbeat{CurrentMetadataOffset: 4}, stateFenced},
		{"fenced, wants to stay", standing{registeredAt: 5}, BrokerHeartbeat{CurrentMetadataOffset: 9, WantFence: true}, stateFenced},
		{"unfenced", standing{current: stateUnfenced, registeredAt: 5}, BrokerHeartbeat{}, stateUnfenced},
		{"unfenced, both", standing{current: stateUnfenced, leads: true}, BrokerHeartbeat{WantFence: true, WantShutDown: true}, stateShutdownNow},
		{"unfenced, wants a fence", standing{current: stateUnfenced}, BrokerHeartbeat{WantFence: true}, stateFenced},
		{"unfenced, leads", standing{current: stateUnfenced, leads: true}, BrokerHeartbeat{WantShutDown: true}, stateControlledShutdown},
		{"unfenced, leads nothing", standing{current: stateUnfenced}, BrokerHeartbeat{WantShutDown: true}, stateShutdownNow},
		{"stopping, leads", standing{current: stateControlledShutdown, leads: true, lowestActive: 9}, BrokerHeartbeat{WantShutDown: true}, stateControlledShutdown},
		{"stopping, others behind", standing{current: stateControlledShutdown, shutdownOffset: 9, lowestActive: 8}, BrokerHeartbeat{WantShutDown: true}, stateControlledShutdown},
		{"stopping, others there", standing{current: stateControlledShutdown, shutdownOffset: 9, lowestActive: 9}, BrokerHeartbeat{WantShutDown: true}, stateShutdownNow},
		{"stopping, no others", standing{current: stateControlledShutdown, shutdownOffset: 9, lowestActive: noActiveBroker}, BrokerHeartbeat{}, stateShutdownNow},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, c.s.next(&c.h))
			require.Equal(t, c.want == stateFenced || c.want == stateShutdownNow, c.want.isFenced())
		})
	}
}

// TestFirstHeartbeatAfterFailover: a new active controller has heard of nobody, and what it looks up about others is not taken for the
// sender's.
func TestFirstHeartbeatAfterFailover(t *testing.T) {
	g, n := registered(t, 33, nil)
	one := unfenced(t, g, n, 0, 1)
	two := register(t, g, n, 0, introduction(t, 2, 3))
	n.ctl.brokers.activate(0, 9*second, n.ctl.Image())
	reply, wrote := beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: two - 1})
	require.Equal(t, BrokerReply{BrokerEpoch: two, IsFenced: true}, reply)
	require.Empty(t, wrote)
	require.Equal(t, two-1, n.ctl.beatOf(n.ctl.Image().Broker(2)).metadataOffset)
	require.EqualValues(t, -1, n.ctl.beatOf(n.ctl.Image().Broker(1)).metadataOffset, "it has said nothing since")
	require.EqualValues(t, -1, n.ctl.lowestActiveOffset(), "who shuts down waits for it all the same")
	require.True(t, n.ctl.brokers.sessions.valid(second, 1, one))
	n.ctl.brokers.activate(0, 9*second, n.ctl.Image())
	require.False(t, n.ctl.brokers.sessions.valid(second, 2, two), "a fenced broker has no session that keeps its next process out")
	reply, _ = beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: two})
	require.Equal(t, BrokerReply{BrokerEpoch: two, IsCaughtUp: true}, reply, "at the offset of its registration it has caught up")
	reply, _ = beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: two - 1})
	require.False(t, reply.IsFenced)
}

func TestControlledShutdownWaitsForOthers(t *testing.T) {
	g, n := registered(t, 33, nil)
	one, two := unfenced(t, g, n, 0, 1), unfenced(t, g, n, 0, 2)
	topic := uuid(50)
	p := &records.PartitionRecord{PartitionId: 0, TopicId: topic, Replicas: []int32{1, 2}, Isr: []int32{1, 2}, Leader: 1,
		Directories: []record.UUID{uuid(101), uuid(102)}}
	n.ctl.outcome = outcome{records: []records.Record{&records.TopicRecord{Name: "t", TopicId: topic}, p}, atomic: true}
	require.NoError(t, n.ctl.write(&deferredOp{kind: noOp}))
	g.commit(-1)

	reply, wrote := beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: g.end() - 1, WantShutDown: true})
	require.Equal(t, BrokerReply{BrokerEpoch: one, IsCaughtUp: true, InControlledShutdown: true}, reply)
	require.Contains(t, wrote, "BrokerRegistrationChangeRecord")
	require.True(t, n.ctl.Image().Broker(1).InControlledShutdown)
	at := n.ctl.beatOf(n.ctl.Image().Broker(1)).shutdownOffset
	require.Equal(t, g.end()-1, at)

	// The leadership moves, here by hand; then the other broker has to see it.
	if n.ctl.leads(1) {
		moved := records.NewPartitionChangeRecord()
		moved.TopicId, moved.PartitionId, moved.Leader, moved.Isr = topic, 0, 2, []int32{2}
		n.ctl.outcome = outcome{records: []records.Record{moved}, atomic: true}
		require.NoError(t, n.ctl.write(&deferredOp{kind: noOp}))
		g.commit(-1)
	}
	goes := BrokerHeartbeat{BrokerID: 1, BrokerEpoch: one, CurrentMetadataOffset: g.end() - 1, WantShutDown: true}
	beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: at - 1})
	reply, wrote = beatAt(t, g, n, second, goes)
	require.False(t, reply.ShouldShutDown)
	require.Empty(t, wrote, "once")
	beatAt(t, g, n, second, BrokerHeartbeat{BrokerID: 2, BrokerEpoch: two, CurrentMetadataOffset: at})
	reply, _ = beatAt(t, g, n, second, goes)
	require.True(t, reply.ShouldShutDown)
	require.True(t, reply.IsFenced)
	require.True(t, n.ctl.Image().Broker(1).Fenced)
}

func TestFencingAtOldLevels(t *testing.T) {
	for version, want := range map[int16]string{4: "UnfenceBrokerRecord FenceBrokerRecord", 6: "BrokerRegistrationChangeRecord BrokerRegistrationChangeRecord"} {
		g, n := registered(t, version, nil)
		r := introduction(t, 1, 1)
		r.Features = ranges(t, "4.0")
		epoch := register(t, g, n, 0, r)
		_, up := beatAt(t, g, n, 0, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: epoch, CurrentMetadataOffset: g.end()})
		_, down := beatAt(t, g, n, 0, BrokerHeartbeat{BrokerID: 1, BrokerEpoch: epoch, CurrentMetadataOffset: g.end(), WantFence: true})
		require.Equal(t, want, up+" "+down)
		require.True(t, n.ctl.Image().Broker(1).Fenced)
	}
}

func TestLogDirectoriesInHeartbeats(t *testing.T) {
	g, n := registered(t, 33, nil)
	r := introduction(t, 1, 1)
	r.LogDirs = []record.UUID{uuid(3), uuid(1), uuid(2)}
	h := BrokerHeartbeat{BrokerID: 1, BrokerEpoch: register(t, g, n, 0, r), OfflineLogDirs: []record.UUID{uuid(3)}, WantFence: true}
	_, wrote := beatAt(t, g, n, 0, h)
	require.Equal(t, "BrokerRegistrationChangeRecord", wrote)
	require.Equal(t, []record.UUID{uuid(1), uuid(2)}, n.ctl.Image().Broker(1).LogDirs)
	_, wrote = beatAt(t, g, n, 0, h)
	require.Empty(t, wrote, "said already")
	h.CordonedLogDirs = []record.UUID{uuid(2)}
	_, wrote = beatAt(t, g, n, 0, h)
	require.Equal(t, "BrokerRegistrationChangeRecord", wrote)
	require.Equal(t, []record.UUID{uuid(2)}, n.ctl.Image().Broker(1).CordonedLogDirs)

	g, n = registered(t, 16, nil)
	h.BrokerEpoch = register(t, g, n, 0, r)
	_, wrote = beatAt(t, g, n, 0, h)
	require.Empty(t, wrote, "no such change before 3.7-IV2")
}

func TestUnregister(t *testing.T) {
	g, n := registered(t, 33, nil)
	unfenced(t, g, n, 0, 1)
	r, _ := ask(t, g, n, 0, Op{Kind: UnregisterBroker, NodeID: 2})
	require.Equal(t, BrokerIDNotRegistered, r.Code)
	r, wrote := ask(t, g, n, 0, Op{Kind: UnregisterBroker, NodeID: 1})
	require.Equal(t, None, r.Code)
	require.Equal(t, "UnregisterBrokerRecord", wrote)
	require.Nil(t, n.ctl.Image().Broker(1))
	require.Equal(t, int64(-1), n.ctl.timeline.registered.offset(1))

	controller := func(id int32) *ControllerRegistration {
		return &ControllerRegistration{ControllerID: id, IncarnationID: uuid(byte(id)), Features: ranges(t, "kip1262")}
	}
	n.voters = voterSet(t, 0, 1)
	for _, c := range []struct {
		name    string
		version int16
		id      int32
		code    ErrorCode
	}{
		{"a voter, whatever else", 31, 1, InvalidRequest},
		{"too old", 31, 5, UnsupportedVersion},
		{"unknown", 33, 6, ControllerIDNotRegistered},
		{"gone for good", 33, 5, None},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := registered(t, c.version, nil)
			n.voters = voterSet(t, 0, 1)
			r, wrote := ask(t, g, n, 0, Op{Kind: RegisterController, Controller: controller(5)})
			require.Equal(t, None, r.Code)
			require.Equal(t, "RegisterControllerRecord", wrote)
			r, _ = ask(t, g, n, 0, Op{Kind: UnregisterController, NodeID: c.id})
			require.Equal(t, c.code, r.Code, r.Message)
			require.Equal(t, c.code == None, n.ctl.Image().Controller(5) == nil)
		})
	}
}

func voterSet(t *testing.T, ids ...int32) *voters.Set {
	t.Helper()
	var list []voters.Voter
	for _, id := range ids {
		list = append(list, voters.Voter{ReplicaKey: voters.ReplicaKey{ID: id}})
	}
	s, err := voters.New(list...)
	require.NoError(t, err)
	return s
}

func TestControllerRegistration(t *testing.T) {
	old := ranges(t, "upstream-4.5")
	old[0].Maximum = 32
	for _, c := range []struct {
		name    string
		version int16
		refuse  bool
		code    ErrorCode
	}{
		{"before 3.7-IV0", 14, false, UnsupportedVersion},
		{"below the level in force: Kafka takes it", 33, false, None},
		{"below the level in force, refusing", 33, true, UnsupportedVersion},
		{"in range", 32, true, None},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, n := registered(t, c.version, func(cfg *Config) { cfg.RefuseOldControllers = c.refuse })
			r, _ := ask(t, g, n, 0, Op{Kind: RegisterController, Controller: &ControllerRegistration{ControllerID: 4, Features: old}})
			require.Equal(t, c.code, r.Code, r.Message)
			require.Equal(t, c.code == None, n.ctl.Image().Controller(4) != nil)
		})
	}
}

// 5.2, checks 4 and 5, and their place before check 6.
func TestUpdateFeaturesAsksMembers(t *testing.T) {
	at32 := func(name string) []image.FeatureRange {
		list := ranges(t, name)
		list[0].Maximum = 32
		return list
	}
	for _, c := range []struct {
		name     string
		broker   []image.FeatureRange
		control  []image.FeatureRange
		voters   []int32
		version  int16
		update   FeatureUpdate
		optional bool // controllers don't register
		refused  string
	}{
		{name: "all support it", broker: ranges(t, "kip1262"), control: ranges(t, "kip1262"), voters: []int32{0, 4}},
		{name: "a fenced broker does not", broker: at32("kip1262"), refused: "broker 1 supports"},
		{name: "a broker without the feature", broker: ranges(t, "kip1262")[:1], update: FeatureUpdate{features.GroupVersion, 1, Upgrade}, refused: "0 to 0"},
		{name: "level 0 needs nothing", broker: ranges(t, "kip1262")[:1], update: FeatureUpdate{features.GroupVersion, 0, SafeDowngrade}},
		{name: "a registered controller does not", control: at32("kip1262"), refused: "controller 4 supports"},
		{name: "a voter has not registered", control: ranges(t, "kip1262"), voters: []int32{0, 4, 5}, refused: "controller 5 has not registered"},
		{name: "a voter has not registered, before 3.7-IV0", version: 14, voters: []int32{0, 5}, update: FeatureUpdate{features.MetadataVersion, 15, Upgrade}},
		{name: "where none registers", voters: []int32{0, 5}, optional: true},
		{name: "before check 6", broker: at32("kip1262"), update: FeatureUpdate{features.MetadataVersion, 33, UnsafeDowngrade}, refused: "broker 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.version == 0 {
				c.version = 32
			}
			if c.update.Feature == "" {
				c.update = FeatureUpdate{features.MetadataVersion, 33, Upgrade}
			}
			g, n := registered(t, c.version, func(cfg *Config) { cfg.ControllersRegister = !c.optional })
			if c.voters != nil {
				n.voters = voterSet(t, c.voters...)
			}
			if c.broker != nil {
				r := introduction(t, 1, 1)
				r.Features = c.broker
				register(t, g, n, 0, r)
			}
			if c.control != nil {
				ask(t, g, n, 0, Op{Kind: RegisterController, Controller: &ControllerRegistration{ControllerID: 4, Features: c.control}})
			}
			r, wrote := ask(t, g, n, 0, Op{Kind: UpdateFeatures, Updates: []FeatureUpdate{c.update}})
			if c.refused == "" {
				require.Equal(t, None, r.Code, r.Message)
				require.Equal(t, fmt.Sprintf("%s=%d", c.update.Feature, c.update.Level), wrote)
				return
			}
			require.Equal(t, InvalidUpdateVersion, r.Code)
			require.Contains(t, r.Message, c.refused)
			require.Empty(t, wrote)
		})
	}
}

// An epoch is the next offset of the log, committed or not: no two registrations have the same (metadata-bootstrap 5.8).
func TestEpochsOfRegistrationsThatWait(t *testing.T) {
	g, n := registered(t, 33, nil)
	for id := range int32(3) {
		require.NoError(t, n.ctl.Submit(0, &Op{ID: int64(id) + 1, Kind: RegisterBroker, Broker: introduction(t, id+1, byte(id+1))}))
	}
	for id := range int32(3) {
		require.Equal(t, g.end()-3+int64(id), n.ctl.Image().Broker(id+1).Epoch)
	}
	g.commit(-1)
	for id := range int32(3) {
		require.Equal(t, n.ctl.Image().Broker(id+1).Epoch, n.results[int64(id)+1].Broker.BrokerEpoch)
	}
}
