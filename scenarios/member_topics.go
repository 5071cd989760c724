package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// memberTopics is what clients and leading brokers of a cluster with members do to partitions: topics come and go, and a leader asks
// for the replicas that are out of sync, as it saw them a period ago: with epochs that may be those of a former incarnation by then
// (KIP-903). No broker keeps a partition's log here: who is asked for has caught up.
type memberTopics struct {
	c      *cluster
	wishes []controller.Op // that were made a period ago
}

// keptTopics is how many topics there are at a time.
const keptTopics = 6

// calmPace is how many times as seldom clients that wait for no answer ask in the calm: a cluster that is asked for more than it can commit
// never comes to rest.
const calmPace = 20

func topicsKind() plan.Kind {
	return plan.Kind{Name: "member-topics", Doc: "clients make topics and delete old ones, leading brokers ask for replicas that are out of sync; where nodes register",
		Fields: []plan.Field{{Name: "period", Type: plan.DurationField, Min: 1000, Max: dayUs, Required: true, Doc: "time between two topics"}}}
}

// turn does what is due and comes again.
func (t *memberTopics) turn(entity uint64, period, i int64) {
	t.c.w.At(t.c.w.NowNs()+period, entity, uint64(i), func() {
		if h := t.c.work.active(0); h != nil {
			for k := range t.wishes {
				t.c.work.submit(h, t.wishes[k])
			}
			t.wishes = t.wishes[:0]
			img := nodeOf(h).control.Image()
			t.wish(img)
			t.place(h, img)
			if !t.c.w.Calm() || i%calmPace == 0 {
				t.comeAndGo(h, img, i)
			}
		}
		t.turn(entity, period, i+1)
	})
}

// comeAndGo makes a topic and deletes the oldest one when there are more than enough. Nobody waits for an answer, and with segments of a few
// records a follower gets a batch in a round trip: at the storm's pace what is not committed yet would grow through the calm, too.
func (t *memberTopics) comeAndGo(h *sim.Host, img *image.Image, i int64) {
	t.c.work.submit(h, controller.Op{Kind: controller.CreateTopics, Request: &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{
		Name: "t" + number(i), Partitions: 2, ReplicationFactor: int16(1 + i%3)}}}})
	if old := t.oldest(img); old != nil && img.TopicCount() > keptTopics {
		t.c.work.submit(h, controller.Op{Kind: controller.DeleteTopics, Request: &controller.DeleteTopicsRequest{IDs: []record.UUID{old.ID}}})
	}
}

// oldest is the topic that was made first: names count up.
func (t *memberTopics) oldest(img *image.Image) (old *image.Topic) {
	for x := range img.Topics() {
		if old == nil || len(x.Name) < len(old.Name) || len(x.Name) == len(old.Name) && x.Name < old.Name {
			old = x
		}
	}
	return old
}

// place tells for brokers with several log directories where their replicas are, as they do when they have made them (KIP-858): a few at a time.
func (t *memberTopics) place(h *sim.Host, img *image.Image) {
	left := 8
	for key, p := range img.AllPartitions() {
		for i, id := range p.Replicas {
			b := img.Broker(id)
			if b == nil || len(b.LogDirs) < 2 || p.Directories[i] != record.DirectoryUnassigned {
				continue
			}
			if left--; left < 0 {
				return
			}
			dir := b.LogDirs[(int(key.Partition)+int(key.TopicID[0])+i)%len(b.LogDirs)]
			t.c.work.submit(h, controller.Op{Kind: controller.AssignReplicasToDirs, Request: &controller.AssignReplicasToDirsRequest{BrokerID: id, BrokerEpoch: b.Epoch,
				Replicas: []controller.ReplicaDirectory{{Key: key, Directory: dir}}}})
		}
	}
}

// wish is what the leaders of partitions ask for, by the incarnations that are registered now.
func (t *memberTopics) wish(img *image.Image) {
	for key, p := range img.AllPartitions() {
		l := img.Broker(p.Leader)
		if l == nil || len(p.Isr) == len(p.Replicas) {
			continue
		}
		isr := make([]controller.InSyncReplica, 0, len(p.Replicas))
		for _, id := range p.Replicas {
			if b := img.Broker(id); slices.Contains(p.Isr, id) || b != nil && b.Active() {
				epoch := int64(-1)
				if b != nil {
					epoch = b.Epoch
				}
				isr = append(isr, controller.InSyncReplica{BrokerID: id, Epoch: epoch})
			}
		}
		if len(isr) == len(p.Isr) {
			continue
		}
		t.wishes = append(t.wishes, controller.Op{Kind: controller.AlterPartition, Request: &controller.AlterPartitionRequest{
			BrokerID: p.Leader, BrokerEpoch: l.Epoch, Partitions: []controller.PartitionWish{{
				Key: key, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch, Isr: isr, Recovering: p.Recovering}}}})
	}
}
