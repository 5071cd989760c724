package plan_test

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// bounded is the registry with a family that says what it takes, and kinds whose numbers have ends.
func bounded() *plan.Registry {
	r := registry()
	r.AddAction(plan.Kind{Name: "slow", Doc: "slows down", Fields: []plan.Field{
		{Name: "percent", Type: plan.NumberField, Min: 0, Max: 1_000_000},
		{Name: "for", Type: plan.DurationField, Max: 5_000_000},
	}})
	r.AddParameters(plan.Parameters{
		Scenario: "toy", HostKinds: []string{"controller", "broker"},
		Plan: []plan.Field{
			{Name: "election_timeout_ms", Type: plan.NumberField, Min: 1, Max: 1_000_000_000},
			{Name: "quorum", Type: plan.WordField, Words: []string{"static", "dynamic"}},
		},
		Host: []plan.Field{
			{Name: "node_id", Type: plan.NumberField, Max: 1<<31 - 1},
			{Name: "format", Type: plan.WordField, Words: []string{"full", "golden:*"}},
			{Name: "file:*", Type: plan.TextField},
		},
		Check: func(p *plan.Plan) error {
			if p.Seed == 666 {
				return &plan.FieldError{Field: "seed", Problem: "not that one"}
			}
			return nil
		},
	})
	many := plan.Parameters{Scenario: "toy/wide"}
	for i := range 30 {
		many.Plan = append(many.Plan, plan.Field{Name: fmt.Sprintf("number_%d", i), Type: plan.NumberField})
	}
	r.AddParameters(many)
	return r
}

func TestRangesAndUnknownParameters(t *testing.T) {
	host := func(p *plan.Plan, name, value string) { p.Hosts[1].Params = plan.Params{name: value} }
	slow := func(p *plan.Plan, name, value string) {
		p.Actions = []plan.Action{{ID: "a", Kind: "slow", Params: plan.Params{name: value}}}
	}
	for _, c := range []struct {
		name string
		edit func(p *plan.Plan)
		want string // "" for a plan that is fine
	}{
		{"nothing", func(*plan.Plan) {}, ""},
		{"timeout", func(p *plan.Plan) { p.Params = plan.Params{"election_timeout_ms": "1"} }, ""},
		{"zero timeout", func(p *plan.Plan) { p.Params = plan.Params{"election_timeout_ms": "0"} },
			"params.election_timeout_ms: 0 is not in the range from 1 to 1000000000"},
		{"huge timeout", func(p *plan.Plan) { p.Params = plan.Params{"election_timeout_ms": "1000000001"} }, "params.election_timeout_ms: "},
		{"unknown parameter", func(p *plan.Plan) { p.Params = plan.Params{"election_timout_ms": "5"} },
			"params.election_timout_ms: toy has no such parameter: it takes election_timeout_ms, quorum"},
		{"one of many", func(p *plan.Plan) { p.Scenario, p.Params = "toy/wide", plan.Params{"number_9x": "5"} },
			"params.number_9x: toy/wide has no such parameter: the nearest are number_9, "},
		{"word", func(p *plan.Plan) { p.Params = plan.Params{"quorum": "dynamics"} }, `params.quorum: "dynamics" is not one of static, dynamic`},
		{"host parameter", func(p *plan.Plan) { host(p, "node_di", "5") }, "hosts[1].params.node_di: a host of toy has no such parameter: it takes"},
		{"host number", func(p *plan.Plan) { host(p, "node_id", "-1") }, "hosts[1].params.node_id: "},
		{"format", func(p *plan.Plan) { host(p, "format", "golden:x") }, ""},
		{"bad format", func(p *plan.Plan) { host(p, "format", "golden") }, `hosts[1].params.format: "golden" is not one of full, golden:*`},
		{"golden without a case", func(p *plan.Plan) { host(p, "format", "golden:") }, "hosts[1].params.format: "},
		{"file", func(p *plan.Plan) { host(p, "file:dir0/x", "") }, ""},
		{"file without a name", func(p *plan.Plan) { host(p, "file:", "") }, "hosts[1].params.file:: "},
		{"host kind", func(p *plan.Plan) { p.Hosts[0].Kind = "brokr" }, `hosts[0].kind: "brokr" is not one of controller, broker`},
		{"check", func(p *plan.Plan) { p.Seed = 666 }, "seed: not that one"},
		{"other family", func(p *plan.Plan) { p.Scenario, p.Params = "elsewhere", plan.Params{"colour": "5"} }, ""},
		{"percent", func(p *plan.Plan) { slow(p, "percent", "1000000") }, ""},
		{"negative percent", func(p *plan.Plan) { slow(p, "percent", "-1") }, "actions[0].params.percent: -1 is not in the range from 0 to 1000000"},
		{"negative duration", func(p *plan.Plan) { slow(p, "for", "-1ms") }, "actions[0].params.for: -1ms is not in the range from 0s to 5s"},
		{"long duration", func(p *plan.Plan) { slow(p, "for", "5.000001s") }, "actions[0].params.for: "},
		{"storm", func(p *plan.Plan) { p.StormUs = 86_400_000_001 }, "storm_us: 86400000001 is not in the range from 0 to 86400000000, a day"},
		{"start", func(p *plan.Plan) { p.Hosts[0].StartUs = 86_400_000_001 }, "hosts[0].start_us: "},
		{"offset", func(p *plan.Plan) { p.Hosts[0].OffsetMs = -1_000_000_001 }, "hosts[0].offset_ms: "},
		{"latency", func(p *plan.Plan) { p.Network.LatencyUs = 3_600_000_001 }, "network.latency_us: 3600000001 is more than 3600000000"},
		{"sync", func(p *plan.Plan) { p.Disk.SyncNs = 1 << 62 }, "disk.sync_ns: "},
		{"disk jitter", func(p *plan.Plan) { p.Disk.JitterPercent = 10_001 }, "disk.jitter_percent: "},
		{"lanes", func(p *plan.Plan) { p.Lanes.WakeJitterUs = 1 << 62 }, "lanes.wake_jitter_us: "},
		{"weights", func(p *plan.Plan) { p.Network.Weights = make([]int64, 1025) }, "network.weights: 1025 are more than 1024"},
		{"hosts", func(p *plan.Plan) {
			for i := range 127 {
				p.Hosts = append(p.Hosts, plan.Host{ID: fmt.Sprintf("more%d", i), Kind: "broker"})
			}
		}, "hosts: 129 are more than 128"},
		{"decisions", func(p *plan.Plan) {
			p.Decisions = []plan.Decision{{NameHash: 7}, {NameHash: 8}, {NameHash: 7, Value: 1}}
		},
			"decisions[2].hash: 7 is overridden by decisions[0] already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := small()
			c.edit(p)
			err := plan.Validate(p, bounded())
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, plan.ErrInput)
			require.ErrorContains(t, err, c.want)
		})
	}
	require.Panics(t, func() { bounded().AddParameters(plan.Parameters{Scenario: "toy"}) })
}

func TestNearest(t *testing.T) {
	known := []string{"raft/storm-3", "raft/storm-5", "kip1262/draft", "kafka/s1"}
	require.Equal(t, []string{"raft/storm-3", "raft/storm-5"}, plan.Nearest("raft/strom-3", known, 2))
	require.Equal(t, []string{"kip1262/draft"}, plan.Nearest("kip", known, 1))
	require.Equal(t, known[3:], plan.Nearest("s1", known, 1))
	require.Len(t, plan.Nearest("", known, 9), 4)
	require.Empty(t, plan.Nearest("x", nil, 3))
}
