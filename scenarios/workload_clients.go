package scenarios

import (
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/invariants/linearizable"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// clients are processes beside the cluster that ask its controllers for things, each one operation at a time and all of them at once. A
// client gives up at its timeout, without knowing what came of it, and asks again or for something else. What they do follows from the
// plan's seed alone. Their history is judged when the run is over (history.go).
type clients struct {
	c       *cluster
	list    []client
	history []linearizable.Operation
	seed    uint64
	done    *int64
	open    *int64
}

// client is one of them.
type client struct {
	id        int32
	entity    uint64
	left      int64 // operations
	asked     int64
	thinkNs   int64
	timeoutNs int64
	keys      int64
	weights   [clientKinds]int64

	op      int64 // under way, 0: none
	pending linearizable.Operation
}

// What clients do.
const (
	doWrite = iota
	doRead
	doCreate
	doDelete
	doRaise
	doLower
	clientKinds
)

var clientWords = [clientKinds]string{"write", "read", "create", "delete", "raise", "lower"}

// clientFeature is what clients raise and lower: no level of it changes metadata.
const clientFeature = features.GroupVersion

const clientsKind = "clients"

// clientsWorkload is the kind.
func clientsWorkload() plan.Kind {
	return plan.Kind{Name: clientsKind, Doc: "clients with concurrent requests, timeouts and retries, whose history is checked when the run is over", Fields: []plan.Field{
		{Name: "clients", Type: plan.NumberField, Min: 1, Max: 64, Required: true, Doc: "how many"},
		{Name: "operations", Type: plan.NumberField, Min: 1, Max: million, Required: true, Doc: "of each"},
		{Name: "keys", Type: plan.NumberField, Min: 1, Max: 1000, Doc: "configurations and topics that they share; absent: 1"},
		{Name: "think", Type: plan.DurationField, Max: dayUs, Doc: "pause between two operations, up to twice as long; absent: 5ms"},
		{Name: "timeout", Type: plan.DurationField, Min: 100, Max: dayUs, Doc: "after which a client gives up; absent: 50ms"},
		{Name: "weights", Type: plan.TextField, Doc: "of write, read, create, delete, raise and lower, as write:4 read:2; absent: write:2 read:1"},
		{Name: "any", Type: plan.WordField, Words: []string{"no", "yes"}, Doc: "whether reads go to any controller, the active one or not; absent: no"}}}
}

// parseWeights reads the weights.
func parseWeights(text string) (w [clientKinds]int64, ok bool) {
	if text == "" {
		text = "write:2 read:1"
	}
	sum := int64(0)
	for _, part := range strings.Fields(text) {
		name, value, _ := strings.Cut(part, ":")
		n, err := strconv.ParseInt(value, 10, 32)
		found := false
		for i := range clientWords {
			if clientWords[i] == name && err == nil && n >= 0 {
				w[i], found = n, true
			}
		}
		if !found {
			return w, false
		}
		sum += n
	}
	return w, sum > 0
}

// begin adds the clients of a workload of the plan; an error names the field.
func (k *clients) begin(w *plan.Workload) string {
	weights, ok := parseWeights(w.Params["weights"])
	if !ok {
		return "weights"
	}
	n := func(name string, absent int64) int64 {
		v, err := w.Params.Int64(name, absent)
		if err != nil {
			return absent
		}
		return v
	}
	d := func(name string, absentNs int64) int64 {
		if v := parseNs(w.Params[name]); v > 0 {
			return v
		}
		return absentNs
	}
	for i := range n("clients", 1) {
		id := int32(len(k.list))
		k.list = append(k.list, client{id: id, entity: decide.Combine(decide.HashString(w.ID), uint64(i)), left: n("operations", 1), keys: max(1, n("keys", 1)),
			thinkNs: d("think", 5*million), timeoutNs: d("timeout", 50*million), weights: weights})
		k.later(id, k.list[id].thinkNs)
	}
	return ""
}

// draw is a number below n for the operation that a client is about to do.
func (k *clients) draw(x *client, what string, n int64) int64 {
	h := decide.Combine(decide.Combine(k.seed^x.entity, uint64(x.asked)), decide.HashString(what))
	return int64((h >> 33) % uint64(n))
}

func (k *clients) later(id int32, afterNs int64) {
	x := &k.list[id]
	k.c.w.At(k.c.w.NowNs()+afterNs, x.entity, uint64(x.asked), func() { k.ask(id) })
}

// pause is the time until the next operation.
func (k *clients) pause(x *client) int64 { return x.thinkNs/2 + k.draw(x, "think", 3*x.thinkNs/2+1) }

// ask begins an operation, when there is somebody to ask.
func (k *clients) ask(id int32) {
	x := &k.list[id]
	if x.left == 0 {
		return
	}
	x.asked++
	kind := k.kind(x)
	h := k.c.work.active(0)
	if kind == doRead && k.draw(x, "any", 2) == 0 {
		h = k.anyController(x)
	}
	if h == nil {
		k.later(id, k.pause(x))
		return
	}
	x.left--
	op := k.operation(x, kind)
	x.op = k.c.work.next + 1 // the answer may come before this returns
	x.pending.ID, x.pending.Client, x.pending.CallNs, x.pending.ReturnNs, x.pending.Offset = x.op, id, k.c.w.NowNs(), linearizable.Open, -1
	x.pending.Server = h.ID() + "/" + strconv.Itoa(int(h.Boot()))
	asked := x.op
	k.c.work.submit(h, op)
	k.c.w.At(k.c.w.NowNs()+x.timeoutNs, x.entity, uint64(x.asked)|1<<63, func() { k.giveUp(id, asked) })
}

// kind picks what to do by the weights.
func (k *clients) kind(x *client) int {
	sum := int64(0)
	for _, w := range x.weights {
		sum += w
	}
	roll := k.draw(x, "kind", sum)
	for i, w := range x.weights {
		if roll < w {
			return i
		}
		roll -= w
	}
	return doWrite
}

// anyController is a controller that runs, active or not.
func (k *clients) anyController(x *client) *sim.Host {
	var list []*sim.Host
	for _, h := range k.c.w.Hosts() {
		if n := nodeOf(h); n != nil && n.control != nil && !h.Booting() {
			list = append(list, h)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[k.draw(x, "who", int64(len(list)))]
}

// operation is a request, with its entry in the history.
func (k *clients) operation(x *client, kind int) controller.Op {
	key := number(k.draw(x, "key", x.keys))
	switch kind {
	case doWrite:
		value := number(int64(x.id)) + "." + number(x.asked)
		x.pending = linearizable.Operation{Kind: linearizable.Set, Key: clientConfig + key, Value: value}
		return controller.Op{Kind: controller.AppendConfig, Name: clientConfig + key, Value: value}
	case doRead:
		x.pending = linearizable.Operation{Kind: linearizable.Read, Key: clientConfig + key}
		return controller.Op{Kind: controller.ReadConfig, Name: clientConfig + key}
	case doCreate:
		x.pending = linearizable.Operation{Kind: linearizable.Create, Key: clientTopic + key}
		return controller.Op{Kind: controller.CreateTopics, Request: &controller.CreateTopicsRequest{Topics: []controller.NewTopic{{
			Name: clientTopic + key, Partitions: 1, ReplicationFactor: 1}}}}
	case doDelete:
		x.pending = linearizable.Operation{Kind: linearizable.Delete, Key: clientTopic + key}
		return controller.Op{Kind: controller.DeleteTopics, Request: &controller.DeleteTopicsRequest{Names: []string{clientTopic + key}}}
	}
	level := int16(k.draw(x, "level", 2))
	update := controller.FeatureUpdate{Feature: clientFeature, Level: level, UpgradeType: controller.Upgrade}
	x.pending = linearizable.Operation{Kind: linearizable.Raise, Key: clientFeature, Level: int32(level)}
	if kind == doLower {
		update.UpgradeType, x.pending.Kind = controller.SafeDowngrade, linearizable.Lower
	}
	return controller.Op{Kind: controller.UpdateFeatures, Updates: []controller.FeatureUpdate{update}}
}

// The names of what clients work on.
const (
	clientConfig = "client.config."
	clientTopic  = "client-topic-"
)

// answered hears the outcome of an operation, which may be a client's.
func (k *clients) answered(op int64, r *controller.Result) {
	for i := range k.list {
		if x := &k.list[i]; x.op == op {
			k.end(x, r)
			return
		}
	}
}

// end enters an operation into the history. A refusal is none: it says nothing about what comes. NOT_CONTROLLER may be said of what is
// already in the log, and so may an error of a kind that nobody foresaw.
func (k *clients) end(x *client, r *controller.Result) {
	o := x.pending
	x.op = 0
	code := r.Code
	if list, ok := r.Answer.([]controller.TopicResult); ok && code == controller.None {
		code = list[0].Code
	}
	switch {
	case code == controller.None && o.Kind == linearizable.Read:
		o.Value, o.ReturnNs = r.Value, k.c.w.NowNs()
		k.history = append(k.history, o)
	case code == controller.None && r.Offset >= 0:
		o.ReturnNs, o.Offset = k.c.w.NowNs(), r.Offset
		k.history = append(k.history, o)
	case code == controller.NotController || code == controller.UnknownServerError:
		if o.Kind != linearizable.Read {
			k.history = append(k.history, o)
			*k.open++
		}
	}
	*k.done++
	k.later(x.id, k.pause(x))
}

// servedBy notes which process answered an operation: over the network it may be a later one than who was there when it was asked.
func (k *clients) servedBy(op int64, host string, boot int32) {
	for i := range k.list {
		if x := &k.list[i]; x.op == op {
			x.pending.Server = host + "/" + strconv.Itoa(int(boot))
		}
	}
}

// giveUp is the client's timeout.
func (k *clients) giveUp(id int32, op int64) {
	x := &k.list[id]
	if x.op != op {
		return
	}
	if x.pending.Kind != linearizable.Read {
		k.history = append(k.history, x.pending)
		*k.open++
	}
	x.op = 0
	k.later(id, k.pause(x))
}

// build makes them ready for a run.
func (k *clients) build(c *cluster, p *plan.Plan) {
	*k = clients{c: c, list: k.list[:0], history: k.history[:0], seed: uint64(p.Seed), done: c.w.Stat("client-answers"), open: c.w.Stat("client-unknown")}
}

// complete is the history, with what is still under way.
func (k *clients) complete() []linearizable.Operation {
	list := append([]linearizable.Operation{}, k.history...)
	for i := range k.list {
		if x := &k.list[i]; x.op != 0 && x.pending.Kind != linearizable.Read {
			list = append(list, x.pending)
		}
	}
	return list
}
