package invariants

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// placed judges a partition that was made in an operation (metadata-bootstrap 7.6): in sync are those of its replicas that are active, the first of
// them leads, and each lies in the one directory of its broker, or in one that the broker will tell. by is where an operator wanted it, nil where
// the controller chose: then nobody is chosen who shuts down or has all its directories cordoned (KIP-1066), nobody fenced comes first, and racks take
// turns, so that as many racks as there are replicas have one each.
func (j *judgement) placed(name string, number int32, p *image.Partition, by []int32) {
	j.wrong(hasTwice(p.Replicas), "topic", "partition %s-%d has a replica twice", name, number)
	j.wrong(by != nil && !slices.Equal(p.Replicas, by), "topic", "partition %s-%d is on %v, asked for was %v", name, number, p.Replicas, by)
	var active []int32
	for at, id := range p.Replicas {
		b := j.before.Broker(id)
		if j.wrong(b == nil, "placement", "partition %s-%d is on broker %d, which is not registered", name, number, id); b == nil {
			return
		}
		if b.Active() {
			active = append(active, id)
		}
		j.wrong(len(b.LogDirs) == 1 && j.before.MetadataVersion() >= 17 && p.Directories[at] != b.LogDirs[0], "placement",
			"partition %s-%d is not in the one directory of broker %d", name, number, id)
		if by != nil {
			continue
		}
		j.wrong(b.InControlledShutdown, "placement", "partition %s-%d is on broker %d, which shuts down", name, number, id)
		j.wrong(at == 0 && b.Fenced, "placement", "the first replica of partition %s-%d is on broker %d, which is fenced", name, number, id)
		j.wrong(allCordoned(b), "placement", "partition %s-%d is on broker %d, whose directories are all cordoned", name, number, id)
	}
	j.wrong(!slices.Equal(p.Isr, active) || len(active) > 0 && p.Leader != active[0], "placement", "partition %s-%d has %v in sync and leader %d, active are %v", name, number,
		p.Isr, p.Leader, active)
	if by == nil {
		j.racks(name, number, p)
	}
}

func allCordoned(b *image.Broker) bool {
	return len(b.LogDirs) > 0 && !slices.ContainsFunc(b.LogDirs, func(d record.UUID) bool { return !slices.Contains(b.CordonedLogDirs, d) })
}

// racks counts those of the brokers that may get replicas, and of a partition; brokers without a rack are one together.
func (j *judgement) racks(name string, number int32, p *image.Partition) {
	rackOf := func(b *image.Broker) string {
		if b.HasRack {
			return "r" + b.Rack
		}
		return ""
	}
	var all, used []string
	for b := range j.before.Brokers() {
		if r := rackOf(b); !b.InControlledShutdown && !allCordoned(b) && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	for _, id := range p.Replicas {
		if r := rackOf(j.before.Broker(id)); !slices.Contains(used, r) {
			used = append(used, r)
		}
	}
	j.wrong(len(used) < min(len(all), len(p.Replicas)), "placement", "partition %s-%d is on %v: %d racks of %d", name, number, p.Replicas, len(used), len(all))
}

// assignmentOf is where an operator wants a partition of a new topic, nil where the controller chooses.
func assignmentOf(t *controller.NewTopic, number int32) []int32 {
	for i := range t.Assignments {
		if t.Assignments[i].Partition == number {
			return t.Assignments[i].Brokers
		}
	}
	return nil
}

// unevenly tells whether an assignment by hand cannot be: a broker that is not registered or is named twice, none at all, or other numbers of replicas.
func (j *judgement) unevenly(t *controller.NewTopic) bool {
	for i := range t.Assignments {
		list := t.Assignments[i].Brokers
		if len(list) == 0 || len(list) != len(t.Assignments[0].Brokers) || j.impossible(list) {
			return true
		}
	}
	return false
}

// impossible tells whether nobody can place replicas like this.
func (j *judgement) impossible(replicas []int32) bool {
	return hasTwice(replicas) || slices.ContainsFunc(replicas, func(id int32) bool { return j.before.Broker(id) == nil })
}
