package scenarios

// The scripts of the scenarios with dynamic voters (kraft.version 1), which an unmerged change to Kafka adds. An operator's machine asks
// the leader for the changes, again and again until it says yes.

func anyNode(*play, *shown) bool { return true }

// reachable: all but the nodes that the script cut off.
func reachable(p *play, n *shown) bool { return !n.cut }

// pick returns a voter by the run's random number.
func (p *play) pick(voter bool) (ids []int32) {
	for i := range p.nodes {
		if p.nodes[i].voter == voter {
			ids = append(ids, p.nodes[i].id)
		}
	}
	turn := int(p.victim % int64(len(ids)))
	return append(ids[turn:len(ids):len(ids)], ids[:turn]...)
}

func scriptAddVoter() []phase {
	return begin(phase{name: "an observer becomes a voter", do: func(p *play) {
		p.offset = p.highest(nil)
		p.wish(change{add: true, id: p.pick(false)[0]})
	}, until: untilChanged("all", 10, anyNode)})
}

func scriptRemoveVoter() []phase {
	return begin(phase{name: "a voter becomes an observer", do: func(p *play) {
		p.offset = p.highest(nil)
		p.wish(change{id: p.pick(true)[0]})
	}, until: untilChanged("all", 10, anyNode)})
}

func scriptAddAllRemoveAllButOne() []phase {
	return begin(
		phase{name: "all observers become voters", do: func(p *play) {
			p.offset = p.highest(nil)
			for _, id := range p.pick(false) {
				p.wish(change{add: true, id: id})
			}
		}, until: untilChanged("all", 10, anyNode)},
		phase{name: "all voters but one become observers", do: func(p *play) {
			p.offset = p.highest(nil)
			for _, id := range p.pick(true)[1:] {
				p.wish(change{id: id})
			}
		}, until: untilChanged("all", 10, anyNode)},
	)
}

// cutOff cuts off so many voters.
func (p *play) cutOff(count int) {
	for _, id := range p.pick(true)[:count] {
		p.cutAll(id)
		p.byID(id).cut = true
	}
}

func scriptAddWithMajority() []phase {
	return begin(
		phase{name: "only a majority is reachable", do: func(p *play) {
			p.offset = p.highest(nil)
			p.cutOff((len(p.pick(true)) - 1) / 2)
		}, until: untilAllReachable(10)},
		phase{name: "an observer becomes a voter", do: func(p *play) {
			p.offset = p.highest(nil)
			p.wish(change{add: true, id: p.pick(false)[0]})
		}, until: untilChanged("all that are reachable", 10, reachable)},
	)
}

func scriptSwapVoter() []phase {
	return begin(
		phase{name: "a voter is cut off", do: func(p *play) {
			p.offset = p.highest(nil)
			p.first = p.pick(true)[0]
			p.cutOff(1)
		}, until: untilAllReachable(10)},
		phase{name: "an observer takes its place", do: func(p *play) {
			p.offset = p.highest(nil)
			p.wish(change{add: true, id: p.pick(false)[0]}, change{id: p.first})
		}, until: untilChanged("all that are reachable", 10, reachable)},
		phase{name: "it is back as an observer", do: func(p *play) {
			p.offset = p.highest(nil)
			p.restore(p.first)
			p.byID(p.first).cut = false
		}, until: untilAllReachable(10)},
	)
}

// untilAllReachable waits for the high watermark of all that are not cut off.
func untilAllReachable(plus int64) condition {
	return untilChanged("all that are reachable", plus, reachable)
}
