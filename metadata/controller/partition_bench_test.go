package controller

import (
	"fmt"
	"testing"

	"github.com/kraftsim/kraftsim/raft"
)

// BenchmarkCreateTopics creates topics with 3 partitions of 3 replicas on 20 brokers: one op is one topic, on a controller that has
// as many as the name says already. The cost should not depend on it.
func BenchmarkCreateTopics(b *testing.B) {
	for _, have := range []int{0, 2000, 20000} {
		b.Run(fmt.Sprintf("beside-%d", have), func(b *testing.B) {
			g, n := brokersUp(b, 33, make([]stand, 20))
			n.group.nodes = n.group.nodes[:1]
			q := &CreateTopicsRequest{Topics: make([]NewTopic, 1)}
			id := int64(0)
			create := func() {
				id++
				q.Topics[0] = NewTopic{Name: fmt.Sprintf("topic-%d", id), Partitions: 3, ReplicationFactor: 3}
				if err := n.ctl.Submit(0, &Op{ID: id, Kind: CreateTopics, Request: q}); err != nil {
					b.Fatal(err)
				}
				if id%100 == 0 {
					forget(g, n)
				}
			}
			for range have {
				create()
			}
			b.ReportAllocs()
			for b.Loop() {
				create()
			}
			if int(n.ctl.Image().TopicCount()) != int(id) {
				b.Fatalf("%d topics of %d", n.ctl.Image().TopicCount(), id)
			}
		})
	}
}

// forget lets the controller hear that everything is committed, without the rest of the harness.
func forget(g *group, n *node) {
	if err := n.ctl.HandleCommit(0, g.uncommitted); err != nil {
		panic(err)
	}
	g.committed = append(g.committed[:0], g.uncommitted...)
	g.uncommitted = g.uncommitted[:0]
	n.results, n.events = map[int64]Result{}, n.events[:0]
}

// BenchmarkFence fences and unfences a broker of 20 in a cluster of 2,000 topics with 3 partitions of 3 replicas: 900 of them have
// it in sync.
func BenchmarkFence(b *testing.B) {
	g, n := brokersUp(b, 33, make([]stand, 20))
	n.group.nodes = n.group.nodes[:1]
	for i := range int64(2000) {
		q := &CreateTopicsRequest{Topics: []NewTopic{{Name: fmt.Sprintf("topic-%d", i), Partitions: 3, ReplicationFactor: 3}}}
		if err := n.ctl.Submit(0, &Op{ID: i + 1, Kind: CreateTopics, Request: q}); err != nil {
			b.Fatal(err)
		}
	}
	forget(g, n)
	img := n.ctl.Image()
	b.ReportAllocs()
	for b.Loop() {
		if len(AppendTransition(nil, img, &n.ctl.cfg.Defaults, 7, BrokerFenced)) < 500 {
			b.Fatal("too few changes")
		}
	}
}

// BenchmarkLoadSnapshot loads a snapshot of 20 brokers and 2,000 topics with 3 partitions of 3 replicas, as a controller does that starts.
func BenchmarkLoadSnapshot(b *testing.B) {
	g, n := brokersUp(b, 33, make([]stand, 20))
	n.group.nodes = n.group.nodes[:1]
	for i := range int64(2000) {
		q := &CreateTopicsRequest{Topics: []NewTopic{{Name: fmt.Sprintf("topic-%d", i), Partitions: 3, ReplicationFactor: 3}}}
		if err := n.ctl.Submit(0, &Op{ID: i + 1, Kind: CreateTopics, Request: q}); err != nil {
			b.Fatal(err)
		}
	}
	end := g.end()
	forget(g, n)
	content := snapshotOf(b, n)
	late := &node{t: b, id: 1, cfg: n.cfg, group: g}
	b.ReportAllocs()
	for b.Loop() {
		late.boot()
		if err := late.ctl.HandleLoadSnapshot(0, raft.OffsetAndEpoch{Offset: end, Epoch: 1}, content); err != nil {
			b.Fatal(err)
		}
	}
	if late.ctl.Image().Digest() != n.ctl.Image().Digest() {
		b.Fatal("not what was written")
	}
}
