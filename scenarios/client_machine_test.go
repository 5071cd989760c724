package scenarios

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// askingPlan is three quiet controllers, and clients on a machine of their own.
func askingPlan(releases ...string) *plan.Plan {
	p := quietPlan(releases...)
	p.Hosts = append(p.Hosts, plan.Host{ID: clientHost, Kind: kindOperator, Params: plan.Params{"asks": "requests"}})
	p.Workload = append(p.Workload, plan.Workload{ID: "clients", Kind: clientsKind, Params: plan.Params{"clients": "2", "operations": "200", "think": "10ms", "timeout": "400ms"}})
	return p
}

// TestClientsAskOverTheNetwork: nothing that a client asks for reaches a controller but over a connection that was greeted first, and answers
// come back on it.
func TestClientsAskOverTheNetwork(t *testing.T) {
	v, lines := traced(t, askingPlan("", "", ""))
	require.Equal(t, plan.OK, v.Outcome, v.Broken)
	greeted, asked, answered := map[string]bool{}, 0, 0
	for i := range lines {
		l := &lines[i]
		to, what := sent(l)
		switch {
		case l.What == "input" && strings.HasPrefix(l.Host, clientHost) && strings.Contains(l.Text, ": ApiVersions of "):
			peer, _, _ := strings.Cut(strings.TrimPrefix(l.Text, "message from "), ":")
			greeted[peer] = true
		case l.What == "send" && strings.HasPrefix(l.Host, clientHost) && strings.HasPrefix(what, "request "):
			require.True(t, greeted[to], l.Text)
			asked++
		case l.What == "send" && strings.HasPrefix(what, "answer to request"):
			require.Equal(t, clientHost, strings.Split(to, "/")[0], l.Text)
			answered++
		}
	}
	require.Greater(t, asked, 100)
	require.LessOrEqual(t, asked-answered, 2, "what was under way at the end")
}

// TestCutClientsHearNothing: while the way to the controllers, or the way back, is cut, no client hears anything, and operations whose answer
// was cut off stay unknown to them although they are in the log.
func TestCutClientsHearNothing(t *testing.T) {
	for _, way := range []struct{ from, to string }{{clientHost, "c1,c2,c3"}, {"c1,c2,c3", clientHost}} {
		p := askingPlan("", "", "")
		p.Actions = []plan.Action{{ID: "cut", Kind: "cut", AtUs: 2_000_000, Params: plan.Params{"from": way.from, "to": way.to, "for": "1s"}}}
		v, lines := traced(t, p)
		require.Equal(t, plan.OK, v.Outcome, v.Broken)
		before, during, after, done := 0, 0, 0, 0
		for i := range lines {
			l := &lines[i]
			if l.What == "protocol" && strings.Contains(l.Text, "op-appended") && l.AtUs > 2_050_000 && l.AtUs < 3_000_000 {
				done++
			}
			if l.What != "input" || !strings.HasPrefix(l.Host, clientHost) || !strings.Contains(l.Text, "answer to request") {
				continue
			}
			switch {
			case l.AtUs < 2_000_000:
				before++
			case l.AtUs > 2_050_000 && l.AtUs < 3_000_000:
				during++
			case l.AtUs > 3_000_000:
				after++
			}
		}
		require.Positive(t, before)
		require.Zero(t, during, "%+v", way)
		require.Positive(t, after)
		require.Equal(t, way.to == clientHost, done > 0, "%+v: %d operations were done in the cut", way, done)
	}
}

// TestCutBrokerIsFenced: a broker whose heartbeats do not arrive is fenced when its session is over, not before, and comes back when they do;
// it makes no difference whether the whole network is cut or heartbeats alone are held back, on the way there or their answers.
func TestCutBrokerIsFenced(t *testing.T) {
	const session, from, to = 500_000, 2_000_000, 3_500_000
	all := plan.Params{"from": "b1", "to": "c1,c2,c3", "for": "1.5s"}
	beats := plan.Params{"from": "b1", "to": "c1,c2,c3", "for": "1.5s", "kind": number(int64(kindHeartbeat))}
	for name, a := range map[string]plan.Action{"cut": {Kind: "cut", Params: all}, "filter": {Kind: "filter", Params: beats}, "isolate": {Kind: "isolate",
		Params: plan.Params{"host": "b1", "for": "1.5s"}}} {
		t.Run(name, func(t *testing.T) {
			p := quietPlan("", "", "")
			p.Hosts = append(p.Hosts, plan.Host{ID: "b1", Kind: kindBroker, Params: plan.Params{}}, plan.Host{ID: "b2", Kind: kindBroker, Params: plan.Params{}})
			p.Params["members"], p.Params["broker_session_timeout_ms"], p.Params["broker_heartbeat_interval_ms"] = "register", "500", "100"
			p.StormUs = 6_000_000
			a.ID, a.AtUs = "fault", from
			p.Actions = []plan.Action{a}
			v, lines := traced(t, p)
			require.Equal(t, plan.OK, v.Outcome, v.Broken)
			fenced, back := int64(0), int64(0)
			for i := range lines {
				l := &lines[i]
				switch {
				case l.What == "protocol" && strings.HasPrefix(l.Text, "broker-session-expired"):
					require.Zero(t, fenced, "once")
					fenced = l.AtUs
				case l.What == "send" && strings.Contains(l.Text, "answer to member 4") && strings.Contains(l.Text, "fenced false") && fenced > 0 && back == 0:
					back = l.AtUs
				}
			}
			require.GreaterOrEqual(t, fenced, int64(from+session-100_000-50_000), "the last heartbeat before the cut is that old at most")
			require.LessOrEqual(t, fenced, int64(from+session+session/4))
			require.Greater(t, back, int64(to))
		})
	}
}

// TestRequestsInOldVersions: what a version does not have is not sent, and the request that was handed in stays as it is.
func TestRequestsInOldVersions(t *testing.T) {
	dir := record.UUIDFromHalves(1, 2)
	r := &controller.BrokerRegistration{BrokerID: 1, LogDirs: []record.UUID{dir}, PreviousBrokerEpoch: 7, Version: 4,
		Features: []image.FeatureRange{{Name: "group.version", Maximum: 1}, {Name: "metadata.version", Minimum: 7, Maximum: 33}}}
	for version, want := range map[int16]controller.BrokerRegistration{
		0: {BrokerID: 1, PreviousBrokerEpoch: -1, Version: 0}, 1: {BrokerID: 1, PreviousBrokerEpoch: -1, Version: 1},
		2: {BrokerID: 1, LogDirs: []record.UUID{dir}, PreviousBrokerEpoch: -1, Version: 2}, 3: {BrokerID: 1, LogDirs: []record.UUID{dir}, PreviousBrokerEpoch: 7, Version: 3},
	} {
		want.Features = r.Features[1:] // KAFKA-17492
		op := inVersion(controller.Op{Kind: controller.RegisterBroker, Broker: r}, version)
		require.Equal(t, &want, op.Broker)
	}
	h := &controller.BrokerHeartbeat{BrokerID: 1, OfflineLogDirs: []record.UUID{dir}, CordonedLogDirs: []record.UUID{dir}}
	for version, want := range map[int16]controller.BrokerHeartbeat{0: {BrokerID: 1}, 1: {BrokerID: 1, OfflineLogDirs: []record.UUID{dir}}, 2: *h} {
		require.Equal(t, &want, inVersion(controller.Op{Kind: controller.Heartbeat, Heartbeat: h}, version).Heartbeat)
	}
	q := &controller.AlterPartitionRequest{BrokerID: 1, Partitions: []controller.PartitionWish{{Key: image.PartitionKey{TopicID: dir}, Isr: []controller.InSyncReplica{{BrokerID: 1, Epoch: 9}}}}}
	old := inVersion(controller.Op{Kind: controller.AlterPartition, Request: q}, 2).Request.(*controller.AlterPartitionRequest)
	require.Equal(t, int64(-1), old.Partitions[0].Isr[0].Epoch)
	require.Equal(t, int64(9), q.Partitions[0].Isr[0].Epoch)
	require.Same(t, q, inVersion(controller.Op{Kind: controller.AlterPartition, Request: q}, 3).Request)
}

// TestRequestVersionsOfReleases: two releases speak the lower of their versions, and what one does not have is not spoken at all.
func TestRequestVersionsOfReleases(t *testing.T) {
	between := func(one, two string, key int16) int16 {
		a, err := features.Find(one)
		require.NoError(t, err)
		b, err := features.Find(two)
		require.NoError(t, err)
		v, ok := spokenVersion(key, requestLanguages[requestGenerationOf(a)], requestLanguages[requestGenerationOf(b)])
		if !ok {
			return -1
		}
		return v
	}
	for _, x := range []struct {
		one, two string
		key      int16
		want     int16
	}{
		{"3.6", "upstream-4.5", rpcBrokerRegistration, 1}, {"3.7", "4.0", rpcBrokerRegistration, 3}, {"4.0", "kip1262", rpcBrokerRegistration, 4},
		{"3.3", "4.0", rpcBrokerHeartbeat, 0}, {"4.0", "kip1262", rpcBrokerHeartbeat, 1}, {"kip1262", "upstream-4.5", rpcBrokerHeartbeat, 2},
		{"3.6", "4.0", rpcControllerRegistration, -1}, {"3.7", "4.0", rpcControllerRegistration, 0}, {"4.0", "kip1262", rpcUnregisterController, -1},
		{"kip1262", "kip1262", rpcUnregisterController, 0}, {"3.3", "kip1262", rpcAlterPartition, 2},
	} {
		require.Equal(t, x.want, between(x.one, x.two, x.key), "%+v", x)
		require.Equal(t, x.want, between(x.two, x.one, x.key), "%+v", x)
	}
}

// TestEveryOperationIsAnRPC: every kind of operation that clients have is one of the requests that the newest software knows.
func TestEveryOperationIsAnRPC(t *testing.T) {
	newest := requestLanguages[withCordons]
	for kind := controller.AppendConfig; kind < 128; kind++ {
		if strings.HasPrefix(kind.String(), "op ") {
			continue
		}
		_, ok := spokenVersion(rpcOf(kind), newest, newest)
		require.True(t, ok, kind.String())
	}
}
