package scenarios

import "github.com/kraftsim/kraftsim/raft"

// The scripts of the nine scenarios. HW stands for high watermark in the names of phases.

func begin(more ...phase) []phase {
	return append([]phase{
		{name: "start all, agree on a leader", until: untilAgreed()},
		{name: "some HW above 10", until: untilSome(10)},
	}, more...)
}

func scriptElect() []phase {
	return []phase{
		{name: "start all, agree on a leader", until: untilAgreed()},
		{name: "all HW 10", until: untilAll(10)},
	}
}

// scriptFailover ends the leader, gracefully or not, and starts it again.
func scriptFailover(graceful bool) []phase {
	return begin(
		phase{name: "the leader goes", do: func(p *play) {
			p.first = p.latestLeader()
			if h := p.byID(p.first).h; graceful {
				p.w.Stop(h, (counterShutdownMs+100)*million)
			} else {
				p.w.PowerOff(h)
			}
		}, until: untilAll(20)},
		phase{name: "it comes back", do: func(p *play) {
			p.offset = p.highest(nil)
			p.w.Start(p.byID(p.first).h)
		}, until: condition{text: "every node's high watermark to catch up, the one that was gone included",
			met:  func(p *play) bool { return p.byID(p.first).up && p.allAt(p.offset+10, nil) },
			late: func(p *play, n *shown) bool { return n.highWatermark < p.offset+10 }}},
	)
}

func scriptAllKilled() []phase {
	return begin(
		phase{name: "all killed, a majority starts", do: func(p *play) {
			p.offset = p.highest(nil)
			voters := 0
			for i := range p.nodes {
				p.w.PowerOff(p.nodes[i].h)
				if p.nodes[i].voter {
					voters++
				}
			}
			for id := range int32(voters/2 + 1) {
				p.w.Start(p.byID(id).h)
			}
		}, until: untilAllReach(1, 10)},
	)
}

func scriptCutOff() []phase {
	return begin(
		phase{name: "the leader is cut off", do: func(p *play) { p.first = p.latestLeader(); p.cutAll(p.first) },
			until: untilAllOf("all others", 20, func(p *play, n *shown) bool { return n.id != p.first })},
	)
}

// minority and majority are the sides of S5; observers belong to none.
func minority(n *shown) bool { return n.voter && n.id < 2 }
func majority(n *shown) bool { return n.voter && n.id >= 2 }

func scriptMajorityReachable() []phase {
	return begin(
		phase{name: "{0,1} cut from {2,3,4}", do: func(p *play) {
			p.offset = p.longest()
			p.split(func(a, b int32) bool { return (a < 2) == (b < 2) })
		}, until: untilSomeAbove(2, 0)},
		phase{name: "links restored", do: func(p *play) {
			p.checks.majorityAhead(p.highest(majority), p.highest(minority))
			p.heal()
			p.offset = p.longest()
		}, until: untilAllReach(2, 0)},
	)
}

func scriptTwoCutOff() []phase {
	return begin(
		phase{name: "the leader is cut off", do: func(p *play) { p.first = p.latestLeader(); p.cutAll(p.first) }, until: untilOtherLeader()},
		phase{name: "it is back, the next leader is cut off", do: func(p *play) {
			p.second = p.latestLeader()
			p.restore(p.first)
			p.cutAll(p.second)
			p.offset = p.highest(nil)
		}, until: untilSomeAbove(1, 10)},
	)
}

func scriptDataLost() []phase {
	return []phase{
		{name: "some HW above 10", until: untilSome(10)},
		{name: "one node loses its log and quorum state", do: func(p *play) {
			running := []*shown{}
			for i := range p.nodes {
				if p.nodes[i].up {
					running = append(running, &p.nodes[i])
				}
			}
			n := running[p.victim%int64(len(running))]
			p.first = n.id
			p.w.Wipe(n.h, p.k.partition(n.h))
			n.logEnd = 0
		}, until: untilAgreedWithout()},
		{name: "it starts", do: func(p *play) {
			p.offset = p.highest(nil)
			p.w.Start(p.byID(p.first).h)
		}, until: condition{text: "every node's high watermark to catch up, the one that lost its data included",
			met:  func(p *play) bool { return p.byID(p.first).up && p.allAt(p.offset+10, nil) },
			late: func(p *play, n *shown) bool { return n.highWatermark < p.offset+10 }}},
	}
}

// The links of S8 that stay up.
var linksOfS8 = [][2]int32{{0, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}}

func cutS8(p *play) { p.split(func(a, b int32) bool { return linked(linksOfS8, a, b) }) }

func scriptOneLeaderOnly() []phase {
	return []phase{
		{name: "start all, agree on a leader", until: untilAgreed()},
		{name: "HW 20 at those that reach the leader", do: func(p *play) {
			p.first, _ = p.agreed()
			p.checks.leaderAmong(p.first, 2, 3, 4)
		}, until: untilAllOf("those that reach the leader", 20, func(p *play, n *shown) bool {
			return n.voter && (n.id == p.first || linked(linksOfS8, n.id, p.first))
		})},
	}
}

func scriptLeaderStays() []phase {
	return []phase{
		{name: "start all, agree on a leader", until: untilAgreed()},
		{name: "all HW 5", until: untilAll(5)},
		{name: "the leader keeps three of four links", do: func(p *play) {
			l := p.latestLeader()
			a, b, d, e := (l+1)%5, (l+2)%5, (l+3)%5, (l+4)%5
			p.first, p.second = l, b
			links := [][2]int32{{a, l}, {b, d}, {l, d}, {l, e}, {d, e}}
			p.split(func(x, y int32) bool { return linked(links, x, y) })
		}, until: untilAllOf("the leader and those it reaches", 20, func(p *play, n *shown) bool { return n.voter && n.id != p.second })},
	}
}

// linked reports whether a link is in a list, in either direction.
func linked(links [][2]int32, a, b int32) bool {
	for _, l := range links {
		if l == [2]int32{a, b} || l == [2]int32{b, a} {
			return true
		}
	}
	return false
}

// split drops requests between voters that have no link. Responses pass: they answer what came before. Observers keep all their
// links.
func (p *play) split(link func(a, b int32) bool) {
	for i := range p.nodes {
		for k := range p.nodes {
			if a, b := &p.nodes[i], &p.nodes[k]; i != k && a.voter && b.voter && !link(a.id, b.id) {
				p.drop(a.id, b.id, isRequest)
			}
		}
	}
}

// heal ends all drops.
func (p *play) heal() {
	for i := range p.nodes {
		p.restore(p.nodes[i].id)
	}
}

// isRequest: kinds are Kafka's API key times two, plus one for a response.
func isRequest(m raft.Message) bool { return m.Kind()&1 == 0 }
