package plan_test

import (
	"strings"
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		require.NoError(t, plan.Validate(p, registry()))
		data, err := plan.Encode(p)
		require.NoError(t, err)
		back, err := plan.Decode(data)
		require.NoError(t, err)
		require.Equal(t, p, back)
		again, err := plan.Encode(back)
		require.NoError(t, err)
		require.Equal(t, string(data), string(again))
		require.Equal(t, p, p.Clone())
	})
}

func TestCloneSharesNothing(t *testing.T) {
	p := small()
	c := p.Clone()
	c.Actions[0].Params["from"] = "n2"
	c.Hosts[0].ID = "other"
	c.Workload[0].Params["every"] = "1s"
	require.Equal(t, small(), p)
}

func TestDecodeNamesPositionAndField(t *testing.T) {
	const head = `{"format": 1, "scenario": "toy", "seed": "1", "storm_us": "5", "hosts": [{"id": "n1", "kind": "c"}]`
	for _, c := range []struct{ name, text, want string }{
		{"unknown field", head + `, "colour": 1}`, "colour: unknown field"},
		{"nested unknown field", head + `, "network": {"latency": 1}}`, "network.latency: unknown field"},
		{"in a list", `{"hosts": [{"id": "n1"}, {"idd": "n2"}]}`, "hosts[1].idd: unknown field"},
		{"other case", head + `, "Format": 1}`, "Format: unknown field"},
		{"twice", head + `, "seed": "2"}`, "seed: this name stands twice"},
		{"twice in params", head + `, "params": {"a": "1", "a": "2"}}`, "params.a: this name stands twice"},
		{"bare 64-bit number", `{"seed": 1}`, `seed: 1 must be a string: 64-bit values are written as "123"`},
		{"not a number", `{"seed": "x"}`, `seed: "x" is not a decimal number of 64 bits`},
		{"wrong type", `{"format": "1"}`, "format: must be a whole number of 32 bits, found string"},
		{"too large", `{"format": 99999999999}`, "format: must be a whole number of 32 bits"},
		{"param not text", head + `, "params": {"a": 1}}`, "params.a: must be a string, found number"},
		{"object for list", `{"hosts": {}}`, "hosts: must be an array [...], found an object"},
		{"null", `{"scenario": null}`, "scenario: null has no meaning here"},
		{"null list", `{"hosts": null}`, "hosts: must be an array [...], found null"},
		{"no format", `{"scenario": "toy"}`, "format: missing"},
		{"newer format", `{"format": 2}`, "format: 2 is not known"},
		{"cut short", `{"format": 1,`, "the document ends too early"},
		{"empty", ``, "the document ends too early"},
		{"rubbish", `hello`, "not JSON"},
		{"text behind", head + `} {}`, "there is more text after the end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := plan.Decode([]byte(c.text))
			require.ErrorIs(t, err, plan.ErrInput)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
	_, err := plan.Decode([]byte("{\n  \"format\": 1,\n  \"colour\": 1}"))
	require.ErrorContains(t, plan.InFile("p.json", err), "p.json:3:")
}

func TestValidateNamesTheField(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(p *plan.Plan)
		want string
	}{
		{"no scenario", func(p *plan.Plan) { p.Scenario = "" }, "scenario: missing"},
		{"no host", func(p *plan.Plan) { p.Hosts = nil }, "hosts: missing"},
		{"host twice", func(p *plan.Plan) { p.Hosts[1].ID = "n1" }, `hosts[1].id: "n1" is taken by hosts[0]`},
		{"host without id", func(p *plan.Plan) { p.Hosts[1].ID = "" }, "hosts[1].id: missing"},
		{"host id with space", func(p *plan.Plan) { p.Hosts[1].ID = "n 2" }, `hosts[1].id: "n 2" is not an id`},
		{"host without kind", func(p *plan.Plan) { p.Hosts[0].Kind = "" }, "hosts[0].kind: missing"},
		{"host start", func(p *plan.Plan) { p.Hosts[0].StartUs = -1 }, "hosts[0].start_us: must not be negative"},
		{"drift", func(p *plan.Plan) { p.Hosts[0].DriftPpm = -500_001 }, "hosts[0].drift_ppm: must lie between -500000 and 500000"},
		{"storm", func(p *plan.Plan) { p.StormUs = -1 }, "storm_us: must not be negative"},
		{"rate", func(p *plan.Plan) { p.Network.LossPpm = 1_000_001 }, "network.loss_ppm: 1000001 is more than 1000000"},
		{"negative rate", func(p *plan.Plan) { p.Disk.SyncErrorPpm = -1 }, "disk.sync_error_ppm: must not be negative"},
		{"negative lane", func(p *plan.Plan) { p.Lanes.SpuriousPpm = -1 }, "lanes.spurious_ppm: must not be negative"},
		{"transport", func(p *plan.Plan) { p.Network.Transport = "tcp" }, `network.transport: "tcp" is not known`},
		{"profile", func(p *plan.Plan) { p.Disk.Profile = "ext4" }, `disk.profile: "ext4" is not known: ordered or posix`},
		{"kernel", func(p *plan.Plan) { p.Disk.FailedSync = "retry" }, `disk.failed_sync: "retry" is not known: drop or keep`},
		{"slow link", func(p *plan.Plan) { p.Network.BytesPerSecond = 99 }, "network.bytes_per_second: 99 is less than 100"},
		{"queue of nothing", func(p *plan.Plan) { p.Network.QueueBytes = 99 }, "network.queue_bytes: needs network.bytes_per_second"},
		{"rack", func(p *plan.Plan) { p.Hosts[0].Rack = "r 1" }, `hosts[0].rack: "r 1" is not an id`},
		{"loss of a stream", func(p *plan.Plan) { p.Network.LossPpm = 1 }, `network.loss_ppm: needs network.transport "datagram"`},
		{"duplicates of a stream", func(p *plan.Plan) { p.Network.DuplicatePpm, p.Network.Transport = 1, "stream" }, "network.duplicate_ppm: needs"},
		{"reordered stream", func(p *plan.Plan) { p.Network.ReorderPpm = 1 }, "network.reorder_ppm: needs"},
		{"action in the calm", func(p *plan.Plan) { p.Actions[0].AtUs = p.StormUs }, "actions[0].at_us: 5s is not before the end of the storm: storm_us is 5s"},
		{"workload kind", func(p *plan.Plan) { p.Workload[0].Kind = "x" }, `workload[0].kind: no workload is called "x"`},
		{"workload param", func(p *plan.Plan) { delete(p.Workload[0].Params, "every") }, "workload[0].params.every: missing"},
		{"action twice", func(p *plan.Plan) { p.Actions[1].ID = "a1" }, `actions[1].id: "a1" is taken by actions[0]`},
		{"action time", func(p *plan.Plan) { p.Actions[0].AtUs = -1 }, "actions[0].at_us: must not be negative"},
		{"action kind", func(p *plan.Plan) { p.Actions[0].Kind = "cuts" }, `actions[0].kind: no action is called "cuts": use one of crash, cut`},
		{"unknown param", func(p *plan.Plan) { p.Actions[0].Params["x"] = "1" }, "actions[0].params.x: cut has no such parameter: it takes from, to, for"},
		{"missing param", func(p *plan.Plan) { delete(p.Actions[0].Params, "to") }, "actions[0].params.to: missing: cut needs it (receivers)"},
		{"unknown host", func(p *plan.Plan) { p.Actions[0].Params["to"] = "n1,n9" }, `actions[0].params.to: no host is called "n9": use one of n1, n2, leader`},
		{"bad duration", func(p *plan.Plan) { p.Actions[0].Params["for"] = "5" }, `actions[0].params.for: "5" is not a duration`},
		{"bad word", func(p *plan.Plan) { p.Actions[1].Params["how"] = "burn" }, `actions[1].params.how: "burn" is not one of kill, power`},
		{"bad number", func(p *plan.Plan) { p.Actions[1].Params["operation"] = "1.5" }, `actions[1].params.operation: "1.5" is not a whole number`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := small()
			require.NoError(t, plan.Validate(p, registry()))
			c.edit(p)
			err := plan.Validate(p, registry())
			require.ErrorIs(t, err, plan.ErrInput)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "\n")
		})
	}
}

func TestEncodeIsReadable(t *testing.T) {
	data, err := plan.Encode(small())
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(string(data), "{\n  \"format\": 1,\n  \"scenario\": \"toy\",\n  \"seed\": \"17\","))
	require.Contains(t, string(data), `"at_us": "2500000"`)
	require.True(t, strings.HasSuffix(string(data), "}\n"))
}

func FuzzPlan(f *testing.F) {
	data, err := plan.Encode(small())
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"format":1,"hosts":[{"id":"n1"}],"decisions":[{"name":"x","hash":"1","value":"-1"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Decode(data)
		if err != nil {
			require.ErrorIs(t, err, plan.ErrInput)
			return
		}
		_ = plan.Validate(p, registry())
		first, err := plan.Encode(p)
		require.NoError(t, err)
		back, err := plan.Decode(first)
		require.NoError(t, err)
		second, err := plan.Encode(back)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}
