package scenarios

import (
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// largeScenarios lists runs on a cluster of real size. Each takes seconds.
func largeScenarios() []sim.Scenario {
	return []sim.Scenario{&scenario{name: "raft/tiny", doc: "three voters and nothing else, for explore", draw: drawTiny},
		&scenario{name: "metadata/large", doc: "three controllers, 20 brokers by records, 2,000 topics with 3 partitions each, restarts from snapshots",
			draw: drawLarge}}
}

// topicLoadKind is the workload that fills a cluster: requests of many topics each, one after the other, until all are there.
const topicLoadKind = "topic-load"

// perLoad is how many topics one request asks for.
const perLoad = 50

func topicLoadWorkload() plan.Kind {
	return plan.Kind{Name: topicLoadKind, Doc: "a client creates topics, many with each request, until there are enough; beside a workload of topics",
		Fields: []plan.Field{
			{Name: "period", Type: plan.DurationField, Min: 100, Max: dayUs, Required: true, Doc: "time between two requests"},
			{Name: "topics", Type: plan.NumberField, Min: 1, Max: 100_000, Required: true, Doc: "how many there are to be"},
		}}
}

// load asks for the next topics that the active controller does not have.
func (t *topicClients) load(entity uint64, period, topics, i int64) {
	w := t.k.c.w
	w.At(w.NowNs()+period, entity, uint64(i), func() {
		from := int64(0)
		if h := t.k.active(0); h != nil {
			img := nodeOf(h).control.Image()
			enough := img.BrokerCount() >= t.brokers-t.brokers/5 // one whose registration was refused comes back later
			q := &controller.CreateTopicsRequest{}
			for ; from < topics && len(q.Topics) < perLoad && enough; from++ {
				name := fmt.Sprintf("load-%05d", from)
				if img.TopicByName(name) != nil {
					from += perLoad - 1
					continue
				}
				t.counts[name] = []int32{3}
				q.Topics = append(q.Topics, controller.NewTopic{Name: name, Partitions: 3, ReplicationFactor: 3})
			}
			if len(q.Topics) > 0 {
				t.send(h, q)
			}
		}
		if from < topics {
			t.load(entity, period, topics, i+1)
		}
	})
}

// drawLarge fills the cluster in the first second, then restarts controllers while clients go on; snapshots are taken at intervals that
// make each restart read one.
func drawLarge(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 1)
	d.identify(p)
	p.StormUs = 4_000_000
	p.Params["snapshot_max_bytes"], p.Params["snapshot_interval_ms"] = number(1_000_000), "0"
	p.Params["election_timeout_ms"], p.Params["fetch_timeout_ms"] = "100", "200"
	p.Network.LatencyUs, p.Network.JitterUs = 200, 300
	p.Disk.WriteNs, p.Disk.SyncNs, p.Disk.MetadataNs, p.Disk.JitterPercent = 2_000, 100_000, 10_000, 50
	for i := range int64(4) {
		at := 2_000_000 + i*450_000 + d.roll("restart/"+number(i), 100_000)
		p.Actions = append(p.Actions, plan.Action{ID: "r" + number(i), AtUs: plan.Int64(at), Kind: "kill", Params: plan.Params{
			"host": p.Hosts[(d.roll("first", 3)+i)%3].ID, "down": "50ms"}})
	}
	p.Workload = append(p.Workload, plan.Workload{ID: "topics", Kind: topicClientsKind, Params: plan.Params{"period": "2ms", "brokers": "20"}},
		plan.Workload{ID: "load", Kind: topicLoadKind, Params: plan.Params{"period": "20ms", "topics": "2000"}})
}

// buildLoad begins the filling. It comes behind a workload of topics in the plan, whose brokers it fills.
func (t *topicClients) buildLoad(w *plan.Workload) error {
	if t.k == nil {
		return fmt.Errorf("plan: workload %q stands before one of kind %s", w.ID, topicClientsKind)
	}
	period, topics := parseNs(w.Params["period"]), int64(0)
	if _, err := fmt.Sscanf(w.Params["topics"], "%d", &topics); err != nil || period < 100_000 || topics < 1 {
		return fmt.Errorf("plan: workload %q needs a period of at least 100us and a number of topics", w.ID)
	}
	t.loaded = int32(topics)
	t.load(decide.HashString(w.ID), period, topics, 0)
	return nil
}
