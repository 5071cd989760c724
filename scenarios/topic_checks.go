package scenarios

import (
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/metadata/loader"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
)

var wholeOperations = sim.InvariantDoc{
	Name:   "whole-operations",
	Source: "KAFKA-12376; KAFKA-14204; known-bugs KB-29",
	Doc:    "No published image holds half of an atomic operation: each topic has as many partitions as one of the requests about it asked for.",
}

var currentIncarnations = sim.InvariantDoc{
	Name:   "current-incarnations",
	Source: "KIP-903; KAFKA-14139; known-bugs KB-34",
	Doc: "A change of in-sync replicas that a leader asked for takes in the incarnations of brokers that it named, and none that " +
		"registered since.",
}

// topicCheckDocs documents what the topic clients check.
var topicCheckDocs = [...]sim.InvariantDoc{wholeOperations, currentIncarnations}

// Attach implements sim.Checker.
func (t *topicClients) Attach(*sim.World) {}

// OnBoot implements sim.LifeChecker.
func (t *topicClients) OnBoot(h *sim.Host) { t.shown[h.Index()] = nil }

// OnDown implements sim.LifeChecker.
func (t *topicClients) OnDown(h *sim.Host, _ sim.DownKind, _ error) { t.shown[h.Index()] = nil }

// OnProtocol implements sim.ProtocolChecker.
func (t *topicClients) OnProtocol(h *sim.Host, x sim.Observation) {
	switch o := x.(type) {
	case *invariants.LoaderObservation:
		if n := nodeOf(h); o.E.Kind == loader.ImagePublished && n != nil && n.loader != nil {
			t.published(h, n.loader.Image())
		}
	case *invariants.MetadataObservation:
		if o.E.Kind == controller.OpAppended && o.E.Image != nil {
			t.appended(h, o.E.OpID, o.E.Image)
			if t.foreign[o.E.OpID] {
				t.k.c.w.Violate(memberCheckDocs[5].Name, "foreign", h.ID()+" registers a broker "+foreignCluster)
			}
		}
	}
}

// published looks at the topics whose partitions are not what they were in the image before.
func (t *topicClients) published(h *sim.Host, img *image.Image) {
	before := t.shown[h.Index()]
	if before == nil {
		before = image.New()
	}
	t.shown[h.Index()] = img
	var delta image.Delta
	delta.Between(before, img)
	var last record.UUID
	for change := range delta.Partitions() {
		if change.New == nil || change.Key.TopicID == last {
			continue
		}
		last = change.Key.TopicID
		*t.whole++
		name, count := img.TopicByID(last).Name, img.PartitionCount(last)
		if !slices.Contains(t.counts[name], count) {
			t.k.c.w.Violate(wholeOperations.Name, "half-a-topic", h.ID()+" publishes topic "+name+" with "+number(int64(count))+
				" partitions, which nobody asked for")
		}
	}
}

// appended looks at what an AlterPartition did. It wrote something, so the wish was granted.
func (t *topicClients) appended(h *sim.Host, op int64, img *image.Image) {
	q := t.wishes[op]
	if q == nil {
		return
	}
	*t.current++
	for _, r := range q.Partitions[0].Isr {
		if b := img.Broker(r.BrokerID); r.Epoch != -1 && (b == nil || b.Epoch != r.Epoch) { // -1: a leader that knows no epoch
			t.k.c.w.Violate(currentIncarnations.Name, "another-incarnation", h.ID()+" takes broker "+number(int64(r.BrokerID))+
				" into the in-sync replicas, and the leader meant epoch "+number(r.Epoch))
		}
	}
}
