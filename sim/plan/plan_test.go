package plan_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"pgregory.net/rapid"
)

// TestMain pins the seed of rapid, so that every run of the tests draws the same plans. -rapid.seed on the command line wins.
func TestMain(m *testing.M) {
	flag.Parse()
	pinned := true
	flag.Visit(func(f *flag.Flag) { pinned = pinned && f.Name != "rapid.seed" })
	if pinned {
		if err := flag.Set("rapid.seed", "7"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// registry has a kind with every type of parameter.
func registry() *plan.Registry {
	r := new(plan.Registry)
	r.AddAction(plan.Kind{Name: "cut", Doc: "cuts links", Fields: []plan.Field{
		{Name: "from", Type: plan.HostField, Required: true, Doc: "sender"},
		{Name: "to", Type: plan.HostsField, Required: true, Words: []string{"leader"}, Doc: "receivers"},
		{Name: "for", Type: plan.DurationField, Doc: "how long"},
	}})
	r.AddAction(plan.Kind{Name: "crash", Doc: "stops a process", Fields: []plan.Field{
		{Name: "host", Type: plan.HostField, Required: true, Doc: "victim"},
		{Name: "how", Type: plan.WordField, Words: []string{"kill", "power"}, Doc: "kill or power loss"},
		{Name: "operation", Type: plan.NumberField, Doc: "disk operation"},
		{Name: "note", Type: plan.TextField, Doc: "free text"},
	}})
	r.AddWorkload(plan.Kind{Name: "append", Doc: "appends records", Fields: []plan.Field{
		{Name: "every", Type: plan.DurationField, Required: true, Doc: "period"},
	}})
	return r
}

// drawPlan draws a valid plan for the registry above.
func drawPlan(t *rapid.T) *plan.Plan {
	p := &plan.Plan{
		Format: plan.Format, Scenario: rapid.SampledFrom([]string{"toy", "kip1262/draft"}).Draw(t, "scenario"),
		Seed:    plan.Uint64(rapid.Uint64().Draw(t, "seed")),
		StormUs: plan.Int64(rapid.Int64Range(1, 86_400e6).Draw(t, "storm")),
	}
	hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
	for i := range hosts {
		p.Hosts = append(p.Hosts, plan.Host{
			ID: fmt.Sprintf("n%d", i+1), Kind: "controller", DriftPpm: rapid.Int32Range(-900, 900).Draw(t, "drift"),
			OffsetMs: plan.Int64(rapid.Int64Range(-1e9, 1e9).Draw(t, "offset")), Params: drawParams(t),
		})
	}
	host := rapid.Map(rapid.IntRange(1, hosts), func(i int) string { return fmt.Sprintf("n%d", i) })
	p.Network.LatencyUs = rapid.Int64Range(0, 1e6).Draw(t, "latency")
	p.Disk.SyncErrorPpm = rapid.Int64Range(0, 1e6).Draw(t, "sync errors")
	p.Params = drawParams(t)
	for i := range rapid.IntRange(0, 5).Draw(t, "actions") {
		a := plan.Action{ID: fmt.Sprintf("a%d", i), AtUs: plan.Int64(rapid.Int64Range(0, int64(p.StormUs)-1).Draw(t, "at"))}
		if rapid.Bool().Draw(t, "cut") {
			a.Kind, a.Params = "cut", plan.Params{"from": host.Draw(t, "from"), "to": host.Draw(t, "to") + ",leader"}
			if rapid.Bool().Draw(t, "timed") {
				a.Params["for"] = plan.FormatDurationUs(rapid.Int64().Draw(t, "for"))
			}
		} else {
			a.Kind, a.Params = "crash", plan.Params{"host": host.Draw(t, "host"), "note": rapid.String().Draw(t, "note")}
			a.Params["operation"] = fmt.Sprint(rapid.Int64().Draw(t, "operation"))
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

func drawParams(t *rapid.T) plan.Params {
	m := rapid.MapOfN(rapid.StringMatching(`[a-z][a-z_]{0,6}`), rapid.String(), 0, 3).Draw(t, "params")
	if len(m) == 0 {
		return nil
	}
	return m
}

func small() *plan.Plan {
	return &plan.Plan{
		Format: plan.Format, Scenario: "toy", Seed: 17, StormUs: 5_000_000,
		Hosts: []plan.Host{{ID: "n1", Kind: "controller"}, {ID: "n2", Kind: "controller"}},
		Workload: []plan.Workload{
			{ID: "w1", Kind: "append", Params: plan.Params{"every": "10ms"}},
		},
		Actions: []plan.Action{
			{ID: "a1", AtUs: 2_500_000, Kind: "cut", Params: plan.Params{"from": "n1", "to": "n2"}},
			{ID: "a2", AtUs: 20_000, Kind: "crash", Params: plan.Params{"host": "n2", "how": "kill"}},
		},
	}
}
