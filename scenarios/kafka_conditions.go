package scenarios

import "github.com/kraftsim/kraftsim/raft"

// agreed is Kafka's "consistent leader": all running nodes name one leader of one epoch.
func (p *play) agreed() (leader int32, ok bool) {
	leader, epoch := int32(-1), int32(-1)
	for i := range p.nodes {
		n := &p.nodes[i]
		switch {
		case !n.up:
		case n.leader < 0 || epoch >= 0 && (n.epoch != epoch || n.leader != leader):
			return -1, false
		default:
			leader, epoch = n.leader, n.epoch
		}
	}
	return leader, leader >= 0
}

// latestLeader is the leader that running nodes name for the newest epoch that any of them is in, -1 for none.
func (p *play) latestLeader() int32 {
	leader, epoch := int32(-1), int32(-1)
	for i := range p.nodes {
		n := &p.nodes[i]
		switch {
		case !n.up || n.epoch < epoch:
		case n.epoch > epoch:
			leader, epoch = n.leader, n.epoch
		case n.leader >= 0:
			leader = n.leader
		}
	}
	return leader
}

// highest is the highest high watermark of the running nodes that which allows; nil: all.
func (p *play) highest(which func(n *shown) bool) (most int64) {
	for i := range p.nodes {
		if n := &p.nodes[i]; n.up && (which == nil || which(n)) {
			most = max(most, n.highWatermark)
		}
	}
	return most
}

// longest is the longest log end of the running nodes.
func (p *play) longest() (most int64) {
	for i := range p.nodes {
		if n := &p.nodes[i]; n.up {
			most = max(most, n.logEnd)
		}
	}
	return most
}

// allAt reports whether all running nodes that which allows (nil: all) have an offset as high watermark.
func (p *play) allAt(offset int64, which func(n *shown) bool) bool {
	any := false
	for i := range p.nodes {
		n := &p.nodes[i]
		if !n.up || which != nil && !which(n) {
			continue
		}
		if any = true; n.highWatermark < offset {
			return false
		}
	}
	return any
}

// untilAgreed waits for an agreed leader.
func untilAgreed() condition {
	return condition{text: "all running nodes to agree on a leader", met: func(p *play) bool { _, ok := p.agreed(); return ok }}
}

// untilAgreedWithout waits for an agreed leader that is not the first remembered node.
func untilAgreedWithout() condition {
	return condition{text: "the others to agree on a leader of their own",
		met: func(p *play) bool { l, ok := p.agreed(); return ok && l != p.first }}
}

// untilSome waits until some high watermark is above an offset.
func untilSome(offset int64) condition {
	return condition{text: "some high watermark above " + number(offset), met: func(p *play) bool { return p.highest(nil) > offset }}
}

// untilSomeAbove waits until some high watermark is above a multiple of the remembered offset.
func untilSomeAbove(times, plus int64) condition {
	return condition{text: "some high watermark that is high enough", met: func(p *play) bool { return p.highest(nil) > times*p.offset+plus }}
}

// untilAll waits until every running node has an offset as high watermark.
func untilAll(offset int64) condition {
	return condition{text: "every running node's high watermark to reach " + number(offset),
		met:  func(p *play) bool { return p.allAt(offset, nil) },
		late: func(_ *play, n *shown) bool { return n.highWatermark < offset }}
}

// untilAllReach is untilAll for a multiple of the remembered offset.
func untilAllReach(times, plus int64) condition {
	return condition{text: "every running node's high watermark to catch up",
		met:  func(p *play) bool { return p.allAt(times*p.offset+plus, nil) },
		late: func(p *play, n *shown) bool { return n.highWatermark < times*p.offset+plus }}
}

// untilAllOf is untilAll for some nodes.
func untilAllOf(what string, offset int64, which func(p *play, n *shown) bool) condition {
	return condition{text: "the high watermark of " + what + " to reach " + number(offset),
		met:  func(p *play) bool { return p.allAt(offset, func(n *shown) bool { return which(p, n) }) },
		late: func(p *play, n *shown) bool { return which(p, n) && n.highWatermark < offset }}
}

// untilOtherLeader waits until a leader is known that is not the first remembered node.
func untilOtherLeader() condition {
	return condition{text: "another leader to be known",
		met: func(p *play) bool { l := p.latestLeader(); return l >= 0 && l != p.first }}
}

// cutAll drops all traffic of a node, both ways; restore ends it.
func (p *play) cutAll(id int32)  { p.dropAll(id, func(raft.Message) bool { return true }) }
func (p *play) restore(id int32) { p.dropAll(id, nil) }

func (p *play) dropAll(id int32, drops func(m raft.Message) bool) {
	for i := range p.nodes {
		if p.nodes[i].id != id {
			p.drop(id, p.nodes[i].id, drops)
			p.drop(p.nodes[i].id, id, drops)
		}
	}
}
