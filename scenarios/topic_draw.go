package scenarios

import (
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// topicScenarios lists runs whose metadata are topics and partitions.
func topicScenarios() []*scenario {
	return []*scenario{
		{name: "metadata/topics", doc: "three controllers under a storm, brokers by records, clients that create, change and delete topics at the same time", draw: drawTopics},
	}
}

// topicProfile is the storm on the controllers: leaders go often, half-way through what they appended.
var topicProfile = func() swarm.Profile {
	f := lightProfile
	f.Name, f.StormUs, f.Actions = "topics", swarm.Range{600_000, 1_200_000}, swarm.Range{2, 8}
	return f
}()

func drawTopics(d dice, p *plan.Plan) {
	controllers(p, 3, 0, 1)
	d.identify(p)
	if level := d.pick("level", "", "", "", "3.5", "3.9", "4.0"); level != "" {
		p.Params["level"] = level
	}
	if per := d.oneOf("records-per-batch", 1, 2, 3, 10_000); per < 10_000 {
		p.Params["records_per_batch"] = number(per)
	}
	d.storm(p, &topicProfile)
	if p.Params["snapshot_batch_bytes"] != "" {
		p.Params["snapshot_append_records"] = "8" // what is appended at once has to fit into a batch
	}
	if p.Params["snapshot_max_bytes"] != "" { // an image of topics is larger than one of configurations
		p.Params["snapshot_max_bytes"] = number(d.between("topic-snapshots", 10_000, 60_000))
	}
	delete(p.Params, "max_batch_bytes") // requests are larger than configurations
	brokers := d.between("topic-brokers", 3, 6)
	for i := range d.between("clients", 1, 3) {
		id := "topics-" + number(i+1)
		p.Workload = append(p.Workload, plan.Workload{ID: id, Kind: topicClientsKind, Params: plan.Params{
			"period": micros(d.between(id+"/period", 2_000, 9_000)), "brokers": number(brokers)}})
	}
	d.periodic(p)
	if d.chance("security", 35) {
		p.Params[bootstrapParam] = number(d.between("security-records", 5, 60))
	}
	d.remote(p, 50, 4)
}

// periodic lets the controller balance leaders, and end partitions without leader, every few tens of milliseconds.
func (d dice) periodic(p *plan.Plan) {
	if d.chance("balance", 50) {
		p.Params["leader_imbalance_check_ms"] = number(d.oneOf("balance-ms", 20, 100, 400))
	}
	if d.chance("unclean", 50) {
		p.Params["unclean_election_check_ms"] = number(d.oneOf("unclean-ms", 20, 100, 400))
	}
}
