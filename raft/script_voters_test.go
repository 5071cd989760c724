package raft

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// The script commands about voter sets: lead, add, remove, update, api-versions, describe, upgrade, voters, metrics; and
// how their messages are written.

// voterCommands are merged into the commands of script.run.
func (s *script) voterCommands() map[string]func(*datadriven.TestData) error {
	return map[string]func(*datadriven.TestData) error{
		"lead": s.cmdLead, "add": s.cmdAdd, "remove": s.cmdRemove, "update": s.cmdUpdate,
		"api-versions": s.cmdAPIVersions, "describe": s.cmdDescribe, "upgrade": s.cmdUpgrade, "voters": s.cmdVoters,
		"metrics": s.cmdMetrics, "replica-keeps-disk": s.cmdReplicaKeepsDisk,
	}
}

// voterOptions reads the options of `replica` that are about voters: auto-join, versions=(52,1,1,17) (API key and largest
// version in turns), kraft=(min,max), host=... (the own endpoint), listeners=n.
func (s *script) voterOptions(d *datadriven.TestData) {
	s.cfg.AutoJoin = d.HasArg("auto-join")
	s.cfg.MinKRaftVersion, s.cfg.MaxKRaftVersion = s.rangeArg(d, "kraft")
	if host := arg(d, "host", ""); host != "" {
		s.cfg.Listeners = []voters.Endpoint{{Name: "CONTROLLER", Host: host, Port: 9093}}
	}
	for i := int64(1); i < s.num(d, "listeners", 1); i++ {
		s.cfg.Listeners = append(s.cfg.Listeners, voters.Endpoint{Name: fmt.Sprintf("L%d", i), Host: s.cfg.Listeners[0].Host, Port: uint16(9093 + i)})
	}
	if text := arg(d, "versions", ""); text != "" {
		numbers := strings.Split(text, ",")
		for i := 0; i+1 < len(numbers); i += 2 {
			s.cfg.Versions = append(s.cfg.Versions, VersionLimit{APIKey: s.int16(numbers[i]), MaxVersion: s.int16(numbers[i+1])})
		}
	}
}

// cmdReplicaKeepsDisk changes options of the replica that was killed; its disk stays.
func (s *script) cmdReplicaKeepsDisk(d *datadriven.TestData) error {
	s.voterOptions(d)
	return nil
}

func (s *script) int16(text string) int16 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 16)
	require.NoError(s.t, err)
	return int16(n)
}

// rangeArg reads (min,max), default (0,1).
func (s *script) rangeArg(d *datadriven.TestData, name string) (int16, int16) {
	low, high, _ := strings.Cut(arg(d, name, "0,1"), ",")
	return s.int16(low), s.int16(high)
}

// cmdLead opens the replica and lets it win: everybody grants, and with commit=(2:2,3:3) these voters fetch what the epoch
// begins with. Only the outcome is printed; how it comes about other scripts say.
func (s *script) cmdLead(d *datadriven.TestData) error {
	err := s.lead(d)
	s.out.Reset()
	if err != nil {
		return err
	}
	b := s.replica.base()
	fmt.Fprintf(&s.out, "%v epoch=%d hw=%d leo=%d\n", s.replica.Role(), b.epoch, b.highWatermark, s.replica.log.EndOffset())
	return nil
}

func (s *script) lead(d *datadriven.TestData) error {
	if s.replica == nil {
		if err := s.cmdOpen(d); err != nil {
			return err
		}
	}
	answered := map[int32]bool{}
	for round := 0; s.replica.Role() != Leader; round++ {
		require.Less(s.t, round, 20, "%s: it does not win", d.Pos)
		granted, err := s.grantVotes(answered)
		if err != nil {
			return err
		}
		if granted {
			continue
		}
		s.nowMs = max(s.nowMs, s.replica.DeadlineMs())
		if err := s.settle(func() error { return s.replica.Poll(s.nowMs) }); err != nil {
			return err
		}
	}
	for _, key := range s.keys(arg(d, "commit", "")) {
		m := &FetchRequest{
			ClusterID: ClusterID{ID: s.cfg.ClusterID, Known: true}, ReplicaID: key.ID, ReplicaDirectoryID: key.DirectoryID,
			MaxBytes: 1, CurrentLeaderEpoch: s.replica.base().epoch, FetchOffset: s.replica.log.EndOffset(),
			LastFetchedEpoch: s.replica.log.LastEpoch(), HighWatermark: -1,
		}
		if err := s.receive(int64(key.ID), m); err != nil {
			return err
		}
	}
	return s.drainAnswers()
}

// grantVotes grants every vote and pre-vote that was asked for and not answered; it tells whether there was one.
func (s *script) grantVotes(answered map[int32]bool) (granted bool, err error) {
	for _, conn := range s.conns() {
		q, ok := s.last[s.dialled[conn]].(*VoteRequest)
		if kind := s.replica.Role(); !ok || answered[q.Correlation] || kind != Prospective && kind != Candidate {
			continue
		}
		answered[q.Correlation], granted = true, true
		m := &VoteResponse{
			Header: Header{Correlation: q.Correlation, Response: true}, LeaderID: -1, LeaderEpoch: q.ReplicaEpoch,
			VoteGranted: true, Endpoint: NodeEndpoint{NodeID: -1},
		}
		if err := s.settle(func() error { return s.replica.Receive(s.nowMs, conn, m) }); err != nil {
			return granted, err
		}
	}
	return granted, nil
}

// drainAnswers answers the requests of the election's end (BeginQuorumEpoch), so that connections are free.
func (s *script) drainAnswers() error {
	for _, conn := range s.conns() {
		q, ok := s.last[s.dialled[conn]].(*BeginQuorumEpochRequest)
		if !ok {
			continue
		}
		m := &BeginQuorumEpochResponse{
			Header: Header{Correlation: q.Correlation, Response: true}, LeaderID: q.LeaderID, LeaderEpoch: q.LeaderEpoch,
			Endpoint: NodeEndpoint{NodeID: -1},
		}
		if err := s.settle(func() error { return s.replica.Receive(s.nowMs, conn, m) }); err != nil {
			return err
		}
	}
	return nil
}

// listenersArg returns the endpoints of a voter: host=... for another host, listener=... for another name.
func (s *script) listenersArg(d *datadriven.TestData, id int32) []voters.Endpoint {
	endpoints := testEndpoints(max(id, 0))
	endpoints[0].Host = arg(d, "host", endpoints[0].Host)
	endpoints[0].Name = arg(d, "listener", endpoints[0].Name)
	return endpoints
}

// cmdAdd: add voter=4:4 [from=9] [now] (answer before the commit) [listener=NAME] [host=...]
func (s *script) cmdAdd(d *datadriven.TestData) error {
	key := s.key(arg(d, "voter", "4:4"))
	return s.receive(s.num(d, "from", 9), &AddRaftVoterRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d), TimeoutMs: 1000, VoterID: key.ID, VoterDirectoryID: key.DirectoryID,
		Listeners: s.listenersArg(d, key.ID), AckWhenCommitted: !d.HasArg("now"),
	})
}

// cmdRemove: remove voter=2:2 [from=9]
func (s *script) cmdRemove(d *datadriven.TestData) error {
	key := s.key(arg(d, "voter", "2:2"))
	return s.receive(s.num(d, "from", 9), &RemoveRaftVoterRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d), VoterID: key.ID, VoterDirectoryID: key.DirectoryID,
	})
}

// cmdUpdate: update voter=2:2 [epoch=..] [host=...] [kraft=(0,1)] [listener=NAME]
func (s *script) cmdUpdate(d *datadriven.TestData) error {
	key := s.key(arg(d, "voter", "2:2"))
	low, high := s.rangeArg(d, "kraft")
	return s.receive(int64(max(key.ID, 0)), &UpdateRaftVoterRequest{
		Header: s.header(d), ClusterID: s.clusterIDArg(d), VoterID: key.ID, VoterDirectoryID: key.DirectoryID,
		CurrentLeaderEpoch: int32(s.num(d, "epoch", int64(s.replica.base().epoch))),
		Listeners:          s.listenersArg(d, key.ID), MinKRaftVersion: low, MaxKRaftVersion: high,
	})
}

func (s *script) cmdAPIVersions(d *datadriven.TestData) error {
	return s.receive(s.num(d, "from", 9), &ApiVersionsRequest{Header: s.header(d), NodeID: -1})
}

func (s *script) cmdDescribe(d *datadriven.TestData) error {
	return s.receive(s.num(d, "from", 9), &DescribeQuorumRequest{Header: s.header(d)})
}

// cmdUpgrade: upgrade version=1 [epoch=..] [validate]
func (s *script) cmdUpgrade(d *datadriven.TestData) error {
	epoch := int32(s.num(d, "epoch", int64(s.replica.base().epoch)))
	err := s.replica.UpgradeKRaftVersion(epoch, int16(s.num(d, "version", 1)), d.HasArg("validate"))
	if err != nil {
		fmt.Fprintf(&s.out, "error: %v\n", err)
	} else {
		fmt.Fprintf(&s.out, "ok, kraft.version %d reported, %d in the log\n", s.replica.KRaftVersion(), s.replica.control.kraftVersion())
	}
	if d.HasArg("no-poll") {
		return nil
	}
	return s.settle(func() error { return s.replica.Poll(s.nowMs) })
}

// cmdVoters prints the voter set in force, entry by entry.
func (s *script) cmdVoters(d *datadriven.TestData) error {
	set := s.replica.Voters()
	fmt.Fprintf(&s.out, "offset %d, kraft.version %d\n", s.replica.VotersOffset(), s.replica.KRaftVersion())
	for i := int32(0); i < set.Len(); i++ {
		v := set.At(i)
		fmt.Fprintf(&s.out, "%s at %s, kraft.version %d-%d\n", s.text(v.ReplicaKey), v.Endpoints[0].Host,
			v.MinKRaftVersion, v.MaxKRaftVersion)
	}
	return nil
}

func (s *script) cmdMetrics(d *datadriven.TestData) error {
	m := s.replica.Metrics()
	fmt.Fprintf(&s.out, "%v leader=%d epoch=%d vote=%d observer=%v hw=%d log=%d..%d/%d voters=%d observers=%d uncommitted=%v",
		m.State, m.Leader, m.Epoch, m.Vote, m.Observer, m.HighWatermark, m.LogStartOffset, m.LogEndOffset, m.LogEndEpoch,
		m.Voters, m.Observers, m.UncommittedVoterChange)
	fmt.Fprintf(&s.out, "\nunknown-connections=%d kraft.version=%d ignored-static=%v commit=%d/%d ms election=%d/%d ms",
		m.UnknownVoterConnections, m.KRaftVersion, m.IgnoredStaticVoters, m.CommitLatencyAverageMs, m.CommitLatencyMaximumMs,
		m.ElectionLatencyAverageMs, m.ElectionLatencyMaximumMs)
	fmt.Fprintf(&s.out, "\nfetched=%d at %d/1000 s appended=%d at %d/1000 s\n", m.FetchedRecords, m.FetchedRecordsMilliPerSec,
		m.AppendedRecords, m.AppendRecordsMilliPerSec)
	return nil
}

// voterAnswer answers a request about voters for `answer`: kraft=(0,1) or kraft=none for ApiVersions; nil for others.
func (s *script) voterAnswer(d *datadriven.TestData, request any, header func(*Header) Header) Message {
	code := s.errorArg(d, "error")
	switch q := request.(type) {
	case *ApiVersionsRequest:
		m := &ApiVersionsResponse{Header: header(&q.Header), ErrorCode: code, FinalizedFeaturesEpoch: -1}
		if arg(d, "kraft", "") != "none" {
			low, high := s.rangeArg(d, "kraft")
			m.SupportedFeatures = []SupportedFeature{{Name: "kraft.version", MinVersion: low, MaxVersion: high}}
		}
		return m
	case *AddRaftVoterRequest:
		return &AddRaftVoterResponse{Header: header(&q.Header), ErrorCode: code}
	case *RemoveRaftVoterRequest:
		return &RemoveRaftVoterResponse{Header: header(&q.Header), ErrorCode: code}
	case *UpdateRaftVoterRequest:
		leaderID := int32(s.num(d, "leader", -1))
		m := &UpdateRaftVoterResponse{
			Header: header(&q.Header), ErrorCode: code, LeaderID: leaderID, Endpoint: NodeEndpoint{NodeID: -1},
			LeaderEpoch: int32(s.num(d, "epoch", int64(q.CurrentLeaderEpoch))),
		}
		if leaderID >= 0 {
			e := testEndpoints(leaderID)[0]
			m.Endpoint = NodeEndpoint{NodeID: leaderID, Host: e.Host, Port: e.Port}
		}
		return m
	}
	return nil
}

func messageText(e ErrorMessage) string {
	if !e.Known {
		return ""
	}
	return " (" + e.Text + ")"
}

// describeVoterMessage prints the messages about voters, "?" for others.
func (s *script) describeVoterMessage(m Message) string {
	switch m := m.(type) {
	case *AddRaftVoterRequest:
		return fmt.Sprintf("AddRaftVoter voter=%s at %s ack-when-committed=%v timeout=%d",
			s.text(ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}), m.Listeners[0].Host, m.AckWhenCommitted, m.TimeoutMs)
	case *AddRaftVoterResponse:
		return fmt.Sprintf("AddRaftVoterResponse %v%s", m.ErrorCode, messageText(m.ErrorMessage))
	case *RemoveRaftVoterRequest:
		return fmt.Sprintf("RemoveRaftVoter voter=%s", s.text(ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}))
	case *RemoveRaftVoterResponse:
		return fmt.Sprintf("RemoveRaftVoterResponse %v%s", m.ErrorCode, messageText(m.ErrorMessage))
	case *UpdateRaftVoterRequest:
		return fmt.Sprintf("UpdateRaftVoter epoch=%d voter=%s at %s kraft.version=%d-%d", m.CurrentLeaderEpoch,
			s.text(ReplicaKey{ID: m.VoterID, DirectoryID: m.VoterDirectoryID}), m.Listeners[0].Host, m.MinKRaftVersion, m.MaxKRaftVersion)
	case *UpdateRaftVoterResponse:
		return fmt.Sprintf("UpdateRaftVoterResponse %v leader=%d epoch=%d%s", m.ErrorCode, m.LeaderID, m.LeaderEpoch, at(m.Endpoint))
	case *ApiVersionsRequest:
		return "ApiVersions"
	case *ApiVersionsResponse:
		return s.describeAPIVersions(m)
	case *DescribeQuorumResponse:
		return s.describeQuorum(m)
	}
	return "?"
}

func (s *script) describeAPIVersions(m *ApiVersionsResponse) string {
	var b strings.Builder
	b.WriteString("ApiVersionsResponse")
	for _, a := range m.APIKeys {
		fmt.Fprintf(&b, " %d:%d-%d", a.APIKey, a.MinVersion, a.MaxVersion)
	}
	for _, f := range m.SupportedFeatures {
		fmt.Fprintf(&b, " %s %d-%d", f.Name, f.MinVersion, f.MaxVersion)
	}
	for _, f := range m.FinalizedFeatures {
		fmt.Fprintf(&b, " finalized %s %d", f.Name, f.MaxVersionLevel)
	}
	return b.String() + errorText(m.ErrorCode, None)
}

func (s *script) describeQuorum(m *DescribeQuorumResponse) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DescribeQuorumResponse leader=%d epoch=%d hw=%d%s", m.LeaderID, m.LeaderEpoch, m.HighWatermark,
		errorText(m.ErrorCode, m.PartitionError))
	list := func(name string, replicas []DescribedReplica) {
		for _, r := range replicas {
			fmt.Fprintf(&b, "\n   %s %s leo=%d fetch=%s caught-up=%s", name, s.text(r.ReplicaKey), r.LogEndOffset,
				s.age(r.LastFetchTimeMs), s.age(r.LastCaughtUpTimeMs))
		}
	}
	list("voter", m.Voters)
	list("observer", m.Observers)
	for _, n := range m.Nodes {
		fmt.Fprintf(&b, "\n   node %d at %s", n.NodeID, n.Listeners[0].Host)
	}
	return b.String()
}

// age prints how long ago a time is, which is steadier than the time.
func (s *script) age(ms int64) string {
	if ms < 0 {
		return "never"
	}
	return fmt.Sprintf("%dms-ago", s.nowMs-ms)
}
