package scenarios

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// topicClientsKind is the workload of clients that create, change and delete topics, beside brokers that come, restart and go. The brokers are no
// processes: what they would ask the controller for is asked in their names, so that each interleaving is cheap. Nobody waits for
// an answer before the next request, and leaders' requests arrive late, as a request does whose connection broke.
const topicClientsKind = "topics"

// foreignCluster is the id of no cluster of any run.
const foreignCluster = "of another cluster"

// leastDelayNs and mostDelayNs bound how late the request of a leader arrives, mostTopics how many topics there are.
const (
	leastDelayNs = 100_000
	mostDelayNs  = 60_000_000
	mostTopics   = 24
	// eligibleSince is the metadata.version that eligible leader replicas need.
	eligibleSince int16 = 23
	// cordonsSince is the metadata.version that has cordoned log directories (KIP-1066).
	cordonsSince int16 = 30
)

// topicClients is all clients of a run, and what they know of what they asked for.
type topicClients struct {
	k       *workload
	brokers int32
	loaded  int32              // topics that a client fills the cluster with
	names   []string           // of topics, in the order in which somebody asked for them
	counts  map[string][]int32 // by name: the numbers of partitions that operations asked for
	wishes  map[int64]*controller.AlterPartitionRequest
	foreign map[int64]bool // operations that register a broker of another cluster
	shown   []*image.Image // by host: the image that its loader published last in this life
	whole   *int64
	current *int64
}

// topicClient is one stream of requests.
type topicClient struct {
	all    *topicClients
	entity uint64
	period int64
	seed   uint64
}

// topicDice draws what one step does. Step i draws the same whatever happened before.
type topicDice struct{ base, n uint64 }

func (d *topicDice) below(n int64) int64 {
	d.n++
	return int64((decide.Combine(d.base, d.n) >> 33) % uint64(n))
}

func (d *topicDice) chance(percent int64) bool { return d.below(100) < percent }

func topicsWorkload() plan.Kind {
	return plan.Kind{Name: topicClientsKind, Doc: "clients create, change and delete topics, and brokers register, restart and go, without waiting for answers",
		Fields: []plan.Field{
			{Name: "period", Type: plan.DurationField, Min: 100, Max: dayUs, Required: true, Doc: "time between two requests"},
			{Name: "brokers", Type: plan.NumberField, Min: 1, Max: 1000, Required: true, Doc: "how many there are"},
		}}
}

// build adds one client of a plan.
func (t *topicClients) build(k *workload, w *plan.Workload) error {
	period := parseNs(w.Params["period"])
	brokers, err := strconv.ParseInt(w.Params["brokers"], 10, 32)
	if err != nil || brokers < 1 || period < 100_000 {
		return fmt.Errorf("plan: workload %q needs a period of at least 100us and a number of brokers", w.ID)
	}
	if t.k == nil {
		*t = topicClients{k: k, counts: map[string][]int32{}, wishes: map[int64]*controller.AlterPartitionRequest{}, foreign: map[int64]bool{}, shown: make([]*image.Image, len(k.c.w.Hosts())),
			whole: k.c.w.Evaluated(wholeOperations.Name), current: k.c.w.Evaluated(currentIncarnations.Name)}
		k.c.w.Add(t)
	}
	t.brokers = int32(brokers)
	c := &topicClient{all: t, entity: decide.HashString(w.ID), period: period,
		seed: decide.Combine(uint64(k.c.w.Plan().Seed), decide.HashString(w.ID))}
	c.after(0)
	return nil
}

func (c *topicClient) after(i int64) {
	w, period := c.all.k.c.w, c.period
	if w.Calm() || c.all.filled() {
		period *= calmPace
	}
	w.At(w.NowNs()+period, c.entity, uint64(i), func() {
		if h := c.all.k.active(0); h != nil {
			c.step(h, i, &topicDice{base: decide.Combine(c.seed, uint64(i))})
		}
		c.after(i + 1)
	})
}

// send submits a request to the controller on h, and returns the number of the operation.
func (t *topicClients) send(h *sim.Host, q controller.Request) int64 {
	t.k.submit(h, controller.Op{Kind: q.Kind(), Request: q})
	return t.k.next
}

// filled tells whether the cluster has the topics that a client fills it with: from then on it lives at an ordinary pace.
func (t *topicClients) filled() bool {
	h := t.k.active(0)
	return t.loaded > 0 && h != nil && nodeOf(h).control.Image().TopicCount() >= t.loaded
}

// fewest is how many active brokers are too few: then they come first. A cluster that is filled keeps most.
func (t *topicClients) fewest() int {
	if t.loaded > 0 {
		return int(t.brokers) - 2
	}
	return 2
}

// restless is how many requests in a thousand are about brokers. Where each moves a thousand partitions they are rare.
func (t *topicClients) restless() int64 {
	if t.loaded > 0 {
		return 2
	}
	return 250
}

// step is one request. With few brokers it brings some.
func (c *topicClient) step(h *sim.Host, i int64, d *topicDice) {
	img := nodeOf(h).control.Image()
	if img.MetadataVersion() == 0 {
		return
	}
	id := int32(1 + d.below(int64(c.all.brokers)))
	up := 0
	for b := range img.Brokers() {
		if b.Active() {
			up++
		}
	}
	if what := d.below(1000); up < c.all.fewest() || what < c.all.restless() {
		c.brokerStep(h, img, id, up, d)
		return
	}
	if d.chance(2) {
		c.level(h, img, d)
		return
	}
	t := c.all.topic(img, d)
	switch what := d.below(100); {
	case t == nil || what < 18 && img.TopicCount() <= mostTopics+c.all.loaded && !c.all.k.c.w.Calm():
		c.create(h, img, i, d)
	case what < 22 || img.TopicCount() > mostTopics+c.all.loaded || c.all.k.c.w.Calm() && what < 50:
		c.remove(h, t, d)
	case what < 34:
		more := img.PartitionCount(t.ID) + 1 + int32(d.below(3))
		q := &controller.CreatePartitionsRequest{Topics: []controller.MorePartitions{{Name: t.Name, Count: more}}}
		if q.ValidateOnly = d.chance(10); !q.ValidateOnly {
			c.all.counts[t.Name] = append(c.all.counts[t.Name], more)
		}
		c.all.send(h, q)
	case what < 42:
		c.all.send(h, &controller.ElectLeadersRequest{Type: int8(d.below(2)), All: d.chance(30), Partitions: []controller.TopicPartition{{Topic: t.Name}}})
	case what < 50:
		c.reassign(h, img, t, d)
	case what < 56:
		c.configure(h, t, d)
	case what < 60:
		if b := img.Broker(id); b != nil {
			c.all.send(h, &controller.AllocateProducerIDsRequest{BrokerID: id, BrokerEpoch: b.Epoch})
		}
	case what < 64:
		c.assign(h, img, t, d)
	default:
		c.alter(img, t, i, d)
	}
}

// assign is a broker that tells where its replica of a partition is: in one of its directories, in one that it has lost, or in none that anybody
// knows.
func (c *topicClient) assign(h *sim.Host, img *image.Image, t *image.Topic, d *topicDice) {
	key := image.PartitionKey{TopicID: t.ID, Partition: int32(d.below(int64(max(1, img.PartitionCount(t.ID)))))}
	if d.chance(50) { // with eligible replicas, where there is one
		for other, x := range img.AllPartitions() {
			if len(x.Elr) > 0 {
				key = other
				break
			}
		}
	}
	p := img.Partition(key.TopicID, key.Partition)
	if p == nil {
		return
	}
	id := p.Replicas[d.below(int64(len(p.Replicas)))]
	if d.chance(5) {
		id = int32(1 + d.below(int64(c.all.brokers)))
	}
	if b := img.Broker(id); b != nil {
		c.all.send(h, &controller.AssignReplicasToDirsRequest{BrokerID: id, BrokerEpoch: b.Epoch, Replicas: []controller.ReplicaDirectory{{Key: key,
			Directory: record.UUIDFromHalves(uint64(id)<<32, uint64(1+d.below(3)))}}})
	}
}

// level asks for some level of some feature, up or down, whether it makes sense or not: mostly next to the one in force, where the checks of
// 5.2 and 5.3 have their borders. What the answer must be is for the invariant answers to say.
func (c *topicClient) level(h *sim.Host, img *image.Image, d *topicDice) {
	if img.FeatureLevel(features.EligibleLeaderReplicas) == 0 && img.MetadataVersion() >= eligibleSince && d.chance(40) {
		c.all.k.submit(h, controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{{
			Feature: features.EligibleLeaderReplicas, Level: 1, UpgradeType: controller.Upgrade}}})
		return
	}
	if img.FeatureLevel(features.EligibleLeaderReplicas) > 0 && d.chance(25) { // off, with the lists that there are
		c.all.k.submit(h, controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{{
			Feature: features.EligibleLeaderReplicas, Level: 0, UpgradeType: controller.SafeDowngrade}}})
		return
	}
	feature := [...]string{features.MetadataVersion, features.MetadataVersion, features.GroupVersion, features.TransactionVersion, features.EligibleLeaderReplicas}[d.below(5)]
	u := controller.FeatureUpdate{Feature: feature, Level: int16(d.below(3)), UpgradeType: int8(1 + d.below(3))}
	if feature == features.MetadataVersion {
		u.Level = img.MetadataVersion() + int16(d.below(5)) - 2
	}
	op := controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{u}, ValidateOnly: d.chance(20)}
	if d.chance(30) && feature == features.MetadataVersion { // both or none
		op.Updates = append(op.Updates, controller.FeatureUpdate{Feature: features.GroupVersion, Level: int16(d.below(2)), UpgradeType: int8(1 + d.below(2))})
	}
	c.all.k.submit(h, op)
}

// topic picks one that the image has, nil for none.
func (t *topicClients) topic(img *image.Image, d *topicDice) *image.Topic {
	if len(t.names) == 0 {
		return nil
	}
	for range 4 {
		if x := img.TopicByName(t.names[d.below(int64(len(t.names)))]); x != nil {
			return x
		}
	}
	return nil
}

// byHand is an operator who places the partitions: on brokers that are there, in any order, and now and then on none that is, on one twice, or
// on fewer than those of the other partitions.
func byHand(img *image.Image, t *controller.NewTopic, brokers int32, d *topicDice) {
	var there []int32
	for b := range img.Brokers() {
		there = append(there, b.ID)
	}
	if len(there) == 0 {
		return
	}
	for n := range t.Partitions {
		a := controller.ReplicaAssignment{Partition: n}
		for k := range int(t.ReplicationFactor) {
			a.Brokers = append(a.Brokers, there[(int(d.below(2))+k+int(n))%len(there)])
		}
		switch {
		case d.chance(3):
			a.Brokers[0] = brokers + 7
		case d.chance(3):
			a.Brokers = a.Brokers[1:]
		}
		if d.chance(50) {
			slices.Reverse(a.Brokers)
		}
		t.Assignments = append(t.Assignments, a)
	}
	t.Partitions, t.ReplicationFactor = -1, -1
}

// remove deletes a topic, by name or by id, at times one that is not there or one twice.
func (c *topicClient) remove(h *sim.Host, t *image.Topic, d *topicDice) {
	q := &controller.DeleteTopicsRequest{Names: []string{t.Name}}
	switch what := d.below(100); {
	case what < 30:
		q.Names, q.IDs = nil, []record.UUID{t.ID}
	case what < 33:
		q.IDs = []record.UUID{t.ID}
	case what < 36:
		q.IDs = []record.UUID{record.UUIDFromHalves(7, 7)}
	}
	c.all.send(h, q)
}

func (c *topicClient) create(h *sim.Host, img *image.Image, i int64, d *topicDice) {
	t := controller.NewTopic{Name: fmt.Sprintf("t-%x-%d", c.entity&0xffff, i), Partitions: int32(1 + d.below(4)), ReplicationFactor: int16(1 + d.below(3))}
	if d.chance(1) { // more than one request may ask for: refused before anything is drawn, and nobody fails over (KAFKA-14204)
		c.all.send(h, &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{Name: t.Name, Partitions: int32(10_001 + d.below(2_000)), ReplicationFactor: 1}}})
		return
	}
	if d.chance(1) {
		t.Name = "__cluster_metadata"
	}
	if d.chance(8) { // one of a few names of which two at a time look the same in metrics
		t.Name = "t" + [...]string{".", "_"}[d.below(2)] + number(d.below(4)) + [...]string{".", "_"}[d.below(2)] + "x"
	}
	if len(c.all.names) > 0 && d.chance(10) {
		t.Name = c.all.names[d.below(int64(len(c.all.names)))]
	} else if !slices.Contains(c.all.names, t.Name) {
		c.all.names = append(c.all.names, t.Name)
	}
	q := &controller.CreateTopicsRequest{ValidateOnly: d.chance(5)}
	if d.chance(12) {
		byHand(img, &t, c.all.brokers, d)
	}
	if d.chance(15) {
		value := number(d.below(3)) // 0 is none
		t.Configs = []controller.ConfigEntry{{Name: "min.insync.replicas", Value: &value}}
	}
	c.all.counts[t.Name] = append(c.all.counts[t.Name], t.Partitions, int32(len(t.Assignments)))
	if q.Topics = []controller.NewTopic{t}; d.chance(2) {
		q.Topics = append(q.Topics, t)
	}
	if d.chance(4) {
		q.Quota = &controller.MutationQuota{Partitions: d.below(4)}
	}
	c.all.send(h, q)
}

func (c *topicClient) reassign(h *sim.Host, img *image.Image, t *image.Topic, d *topicDice) {
	var to []int32
	for b := range img.Brokers() {
		if d.chance(40) {
			to = append(to, b.ID)
		}
	}
	number := int32(d.below(2))
	p := img.Partition(t.ID, number)
	switch {
	case p != nil && len(p.AddingReplicas)+len(p.RemovingReplicas) > 0 && d.chance(40):
		to = nil // back
	case d.chance(4):
		to = append(to, c.all.brokers+7) // that nobody knows
	case len(to) > 0 && d.chance(4):
		to = append(to, to[0])
	}
	c.all.send(h, &controller.AlterPartitionReassignmentsRequest{Partitions: []controller.Reassignment{{
		TopicPartition: controller.TopicPartition{Topic: t.Name, Partition: number}, Replicas: to}}})
}

func (c *topicClient) configure(h *sim.Host, t *image.Topic, d *topicDice) {
	change := controller.ConfigChange{Name: "min.insync.replicas"}
	value := number(1 + d.below(3))
	if d.chance(50) {
		change.Name, value = "unclean.leader.election.enable", strconv.FormatBool(d.chance(50))
	}
	if d.chance(10) { // no value of either
		value = "0x"
	}
	if change.Value = &value; d.chance(20) {
		change.Operation = controller.ConfigDelete
	} else if d.chance(5) {
		change.Operation = controller.ConfigAppend + int8(d.below(2)) // to what is no list
	}
	if d.chance(40) {
		value = [...]string{"compact", "delete", "compact,delete", "delete,delete"}[d.below(4)]
		change.Name, change.Operation = "cleanup.policy", int8(d.below(4))
	}
	validate := d.chance(8)
	if d.chance(25) { // of all brokers, or of one
		resource := controller.ConfigResource{Type: image.BrokerResource}
		if d.chance(50) {
			resource.Name = number(1 + d.below(int64(c.all.brokers)+2))
		}
		c.all.send(h, &controller.IncrementalAlterConfigsRequest{ValidateOnly: validate, Resources: []controller.ResourceChange{{Resource: resource, Changes: []controller.ConfigChange{change}}}})
		return
	}
	c.all.send(h, &controller.IncrementalAlterConfigsRequest{ValidateOnly: validate, Resources: []controller.ResourceChange{{
		Resource: controller.ConfigResource{Type: image.TopicResource, Name: t.Name}, Changes: []controller.ConfigChange{change}}}})
}

// alter is what the leader of a partition asks for, of what it knows now; the request arrives later.
func (c *topicClient) alter(img *image.Image, t *image.Topic, i int64, d *topicDice) {
	key := image.PartitionKey{TopicID: t.ID, Partition: int32(d.below(int64(max(1, img.PartitionCount(t.ID)))))}
	p := img.Partition(key.TopicID, key.Partition)
	if p == nil || !p.HasLeader() {
		return
	}
	wish := controller.PartitionWish{Key: key, LeaderEpoch: p.LeaderEpoch, PartitionEpoch: p.PartitionEpoch}
	for _, id := range p.Replicas {
		b := img.Broker(id)
		if b != nil && (id == p.Leader || d.chance(75)) {
			wish.Isr = append(wish.Isr, controller.InSyncReplica{BrokerID: id, Epoch: b.Epoch})
		}
	}
	if d.chance(12) {
		oddWish(&wish, p, d)
	}
	q := &controller.AlterPartitionRequest{BrokerID: p.Leader, BrokerEpoch: img.Broker(p.Leader).Epoch, Partitions: []controller.PartitionWish{wish}}
	if other := p.Replicas[d.below(int64(len(p.Replicas)))]; d.chance(6) && img.Broker(other) != nil { // somebody who does not lead
		q.BrokerID, q.BrokerEpoch = other, img.Broker(other).Epoch
	}
	w := c.all.k.c.w
	w.At(w.NowNs()+leastDelayNs+d.below(mostDelayNs), c.entity, uint64(i)|1<<63, func() {
		if h := c.all.k.active(0); h != nil {
			c.all.wishes[c.all.send(h, q)] = q
		}
	})
}

// oddWish makes of a wish one that a leader in order does not have: each breaks, or may break, one row of metadata-bootstrap 7.7.
func oddWish(wish *controller.PartitionWish, p *image.Partition, d *topicDice) {
	switch d.below(6) {
	case 0: // an unclean election that was worked off, or never was, is not worked off
		wish.Recovering, wish.Isr = true, []controller.InSyncReplica{{BrokerID: p.Leader, Epoch: -1}}
	case 1: // more are in sync, and it is not worked off
		wish.Recovering = true
	case 2: // the leader leaves itself out
		wish.Isr = slices.DeleteFunc(wish.Isr, func(r controller.InSyncReplica) bool { return r.BrokerID == p.Leader })
	case 3: // one twice
		wish.Isr = append(wish.Isr, wish.Isr[0])
	case 4: // one that is no replica
		wish.Isr = append(wish.Isr, controller.InSyncReplica{BrokerID: 1 + slices.Max(p.Replicas), Epoch: -1})
	case 5: // by a controller that is ahead
		wish.LeaderEpoch++
	}
}

// brokerStep is a step in the life of one broker.
func (c *topicClient) brokerStep(h *sim.Host, img *image.Image, id int32, up int, d *topicDice) {
	b := img.Broker(id)
	switch {
	case b == nil:
		c.register(h, id, -1, d)
	case b.Fenced && d.chance(80):
		back := &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64}
		if len(b.LogDirs) > 1 && d.chance(15) { // it comes back without one of its disks
			back.OfflineLogDirs = []record.UUID{b.LogDirs[d.below(int64(len(b.LogDirs)))]}
		}
		if d.chance(10) { // it has not read its own registration, and would be let in all the same
			back.CurrentMetadataOffset = b.Epoch - 1
		}
		c.beat(h, back)
	case b.Fenced && d.chance(10):
		c.all.k.submit(h, controller.Op{Kind: controller.UnregisterBroker, NodeID: id})
	case b.Fenced:
		c.register(h, id, b.Epoch, d)
	case d.chance(8): // its first answer was lost
		c.again(h, b)
	case img.MetadataVersion() >= cordonsSince && d.chance(15):
		cordoned := []record.UUID{}
		for _, dir := range b.LogDirs {
			if d.chance(60) {
				cordoned = append(cordoned, dir)
			}
		}
		c.beat(h, &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64, CordonedLogDirs: cordoned, WantShutDown: b.InControlledShutdown})
	case b.InControlledShutdown:
		c.beat(h, &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64, WantShutDown: true})
	case up <= c.all.fewest():
	case len(b.LogDirs) > 1 && d.chance(40): // one of its disks fails
		c.beat(h, &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64,
			OfflineLogDirs: []record.UUID{b.LogDirs[d.below(int64(len(b.LogDirs)))]}})
	case d.chance(40):
		c.beat(h, &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64, WantFence: true})
	case d.chance(40):
		c.register(h, id, b.Epoch, d) // killed, and back at once
	case d.chance(40):
		c.beat(h, &controller.BrokerHeartbeat{BrokerID: id, BrokerEpoch: b.Epoch, CurrentMetadataOffset: math.MaxInt64, WantShutDown: true})
	}
}

func (c *topicClient) beat(h *sim.Host, b *controller.BrokerHeartbeat) {
	c.all.k.submit(h, controller.Op{Kind: controller.Heartbeat, Heartbeat: b})
}

// again introduces the incarnation that is registered.
func (c *topicClient) again(h *sim.Host, b *image.Broker) {
	r := &controller.BrokerRegistration{BrokerID: b.ID, ClusterID: nodeOf(h).control.ClusterID(), Version: 4, PreviousBrokerEpoch: -1, IncarnationID: b.IncarnationID,
		Listeners: b.Listeners, Features: b.Features, LogDirs: b.LogDirs}
	if b.HasRack {
		r.Rack = &b.Rack
	}
	c.all.k.submit(h, controller.Op{Kind: controller.RegisterBroker, Broker: r})
}

// register introduces a new incarnation. With some luck it proves that the one before it, of the given epoch, ended in order.
func (c *topicClient) register(h *sim.Host, id int32, before int64, d *topicDice) {
	n := nodeOf(h)
	r := &controller.BrokerRegistration{
		BrokerID: id, ClusterID: n.control.ClusterID(), Version: 4, PreviousBrokerEpoch: -1,
		IncarnationID: record.UUIDFromHalves(uint64(d.below(math.MaxInt32))+1, uint64(d.below(math.MaxInt32))),
		Listeners:     []image.Endpoint{{Name: "PLAINTEXT", Host: "b" + number(int64(id)), Port: 9092}},
		LogDirs:       []record.UUID{record.UUIDFromHalves(uint64(id)<<32, 1)},
	}
	if d.chance(50) {
		r.PreviousBrokerEpoch = before
	}
	if d.chance(60) {
		rack := "rack-" + number(d.below(3))
		r.Rack = &rack
	}
	if d.chance(30) {
		r.LogDirs = append(r.LogDirs, record.UUIDFromHalves(uint64(id)<<32, 2))
	}
	if d.chance(4) { // a directory of somebody else, a disk that was moved
		r.LogDirs = append(r.LogDirs, record.UUIDFromHalves(uint64(1+d.below(int64(c.all.brokers)))<<32, 1))
	}
	if d.chance(3) { // a broker of another cluster
		r.ClusterID = foreignCluster
	}
	for _, name := range append(n.h.release.FeatureNames(), features.MetadataVersion) {
		if d.chance(1) {
			continue // software that does not know the feature
		}
		if lowest, highest, ok := n.h.release.Range(name, n.h.unstable); ok {
			r.Features = append(r.Features, image.FeatureRange{Name: name, Minimum: lowest, Maximum: highest})
		}
	}
	slices.SortStableFunc(r.Features, func(a, b image.FeatureRange) int { return compareText(a.Name, b.Name) })
	c.all.k.submit(h, controller.Op{Kind: controller.RegisterBroker, Broker: r})
	if r.ClusterID == foreignCluster {
		c.all.foreign[c.all.k.next] = true
	}
}

func compareText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
