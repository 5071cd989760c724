package scenarios

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/invariants/linearizable"
	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// linearizableDoc judges what clients were told, over a whole run.
var linearizableDoc = sim.InvariantDoc{
	Name: "linearizable", Source: "invariants, operations; metadata-bootstrap 7.1",
	Doc: "Acknowledged operations of clients that wrote records have a linear order that fits their offsets, real time, and the committed log at " +
		"the end; reads show committed states that never go back within a process. Histories wider than the bounds are unknown.",
}

// Judge is sim.Judge: the history of the run's clients. A run that met a declared loss claims nothing.
func (s *scenario) Judge(w *sim.World, v *plan.Verdict) {
	k := &s.cluster.clients
	if len(k.list) == 0 || v.Outcome != plan.OK || len(v.Broken) > 0 {
		return
	}
	h := s.cluster.historyOf(k.complete())
	if h == nil {
		return
	}
	r := linearizable.Check(h, linearizable.DefaultBounds)
	if v.Evaluated == nil {
		v.Evaluated = map[string]int64{}
	}
	v.Evaluated[linearizableDoc.Name]++
	switch r.Verdict {
	case linearizable.Unknown:
		v.Outcome, v.Waiting = plan.Unknown, append(v.Waiting, r.Detail)
	case linearizable.Illegal:
		v.Outcome = plan.Violation
		v.Broken = []plan.Broken{{Invariant: linearizableDoc.Name, Evidence: r.Evidence, Detail: r.Detail, AtUs: plan.Int64(w.NowNs() / 1000),
			Event: plan.Int64(w.EventID())}}
	}
}

// historyOf adds the committed log to a history; nil when nobody leads whose log could be read.
func (c *cluster) historyOf(operations []linearizable.Operation) *linearizable.History {
	leader := c.ops.leader(0)
	if leader == nil {
		return nil
	}
	mark, known := nodeOf(leader).replica.HighWatermark()
	if !known {
		return nil
	}
	h := &linearizable.History{Operations: operations, Initial: map[string]int32{}}
	state := map[string]*linearizable.State{}
	for i := range operations {
		if o := &operations[i]; o.Kind != linearizable.Read && state[o.Key] == nil {
			state[o.Key] = &linearizable.State{Key: o.Key}
		}
	}
	whole := c.replay(leader, mark, h, state)
	if !whole { // a snapshot has taken the place of what was read, in ways that only a loader knows
		h.Committed = nil
		return h
	}
	for _, key := range slices.Sorted(maps.Keys(state)) {
		h.Final = append(h.Final, *state[key])
	}
	return h
}

// replay reads the committed log from its beginning; false when it does not begin at 0.
func (c *cluster) replay(leader *sim.Host, mark int64, h *linearizable.History, state map[string]*linearizable.State) bool {
	prefix, next, whole := bootstrap.PartitionPath(c.hosts[leader.Index()].metadataDir)+"/", int64(0), true
	topics := map[record.UUID]string{}
	h.Committed = []linearizable.Write{}
	read := func(data []byte, control bool) {
		var it record.Iterator
		var r record.Record
		for len(data) > 0 {
			batch, rest, err := record.NextFileBatch(data)
			if err != nil || len(batch) == 0 || !control && batch.BaseOffset() >= mark {
				return
			}
			if data = rest; !control {
				whole, next = whole && batch.BaseOffset() == next, batch.NextOffset()
			}
			for it.Reset(batch); !batch.IsControl() && it.Next(&r); {
				if decoded, _, err := records.Decode(r.Value); err == nil {
					apply(decoded, r.Offset, control, h, state, topics)
				}
			}
		}
	}
	leader.Volume().Walk(func(name string, data []byte) {
		if name == bootstrap.CheckpointPath(c.hosts[leader.Index()].metadataDir) {
			read(data, true)
		}
	})
	leader.Volume().Walk(func(name string, data []byte) { // names sort by their first offset
		if strings.HasPrefix(name, prefix) && path.Ext(name) == ".log" {
			read(data, false)
		}
	})
	return whole
}

// apply takes a committed record into the states of the keys that clients work on. Transactions are those of bootstraps: no client's.
func apply(decoded records.Record, offset int64, initial bool, h *linearizable.History, state map[string]*linearizable.State, topics map[record.UUID]string) {
	switch x := decoded.(type) {
	case *records.ConfigRecord:
		value := ""
		if x.Value != nil {
			value = *x.Value
		}
		if !strings.HasPrefix(x.Name, clientConfig) {
			return
		}
		h.Committed = append(h.Committed, linearizable.Write{Key: x.Name, Value: value, Offset: offset})
		if s := state[x.Name]; s != nil {
			s.Value = value
		}
	case *records.FeatureLevelRecord:
		if s := state[x.Name]; s != nil {
			s.Level = int32(x.FeatureLevel)
		}
		if initial {
			h.Initial[x.Name] = int32(x.FeatureLevel)
		}
	case *records.TopicRecord:
		topics[x.TopicId] = x.Name
		if s := state[x.Name]; s != nil {
			s.Exists = true
		}
	case *records.RemoveTopicRecord:
		if s := state[topics[x.TopicId]]; s != nil {
			s.Exists = false
		}
	}
}
