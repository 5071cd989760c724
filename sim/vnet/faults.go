package vnet

import "github.com/kraftsim/kraftsim/sim/decide"

// filter catches messages of one kind on one link.
type filter struct {
	id       int64
	from, to int32 // -1: any
	kind     uint32
}

func (n *Net) filtered(p *packet) bool {
	if len(n.filters) == 0 || p.payload == nil {
		return false
	}
	for i := range n.filters {
		f := &n.filters[i]
		if f.kind == p.payload.Kind() && (f.from < 0 || f.from == p.from) && (f.to < 0 || f.to == p.to) {
			return true
		}
	}
	return false
}

// Filter catches messages of a kind from one host to another (-1: any) until Unfilter with the same id.
func (n *Net) Filter(id int64, from, to int32, kind uint32) {
	n.filters = append(n.filters, filter{id, from, to, kind})
}

// Unfilter removes the filters with that id and lets go what they held.
func (n *Net) Unfilter(nowNs int64, id int64) {
	k := 0
	for _, f := range n.filters {
		if f.id != id {
			n.filters[k] = f
			k++
		}
	}
	n.filters = n.filters[:k]
	n.flush(nowNs)
}

// Cut blocks one direction. Cuts count: a link is open again when every cut was mended.
func (n *Net) Cut(from, to int32) { n.link(from, to).cuts++ }

// Mend takes one cut back and lets go what it held.
func (n *Net) Mend(nowNs int64, from, to int32) {
	if l := n.link(from, to); l.cuts > 0 {
		l.cuts--
	}
	n.flush(nowNs)
}

// Drop makes messages on one direction of a link vanish at their sender, those for which drops is true; nil ends it. Unlike a
// cut it tells nobody anything and holds nothing back: the connection lives on with a hole in it, as no real one would. It is
// for simulations of simulations; the calm ends it.
func (n *Net) Drop(from, to int32, drops func(p Payload) bool) { n.link(from, to).drops = drops }

// Clog adds to the latency of one direction; a negative value takes it back.
func (n *Net) Clog(from, to int32, addNs int64) {
	l := n.link(from, to)
	l.clogNs = max(0, l.clogNs+addNs)
}

// Reachable reports whether packets pass in that direction now.
func (n *Net) Reachable(from, to int32) bool { return n.link(from, to).cuts == 0 }

// Calm ends all faults: cuts, clogs, filters and rates. No packet takes longer than latencyNs from now on; late ones still
// arrive. Links of hosts in frozen stay as they are.
func (n *Net) Calm(nowNs, latencyNs int64, frozen []bool) {
	n.calmNs = latencyNs
	n.filters = n.filters[:0]
	for from := range n.hosts {
		for to := range n.hosts {
			if frozen[from] || frozen[to] {
				continue
			}
			l := n.link(int32(from), int32(to))
			l.cuts, l.clogNs, l.drops = 0, 0, nil
			l.rate, l.far = 0, false
			l.lastAny = min(l.lastAny, nowNs) // a late datagram holds no other one up
		}
	}
	n.flush(nowNs)
}

// rate is a fault rate in force: none in the calm.
func (n *Net) rate(ppm int64) int64 {
	if n.calmNs > 0 {
		return 0
	}
	return ppm
}

// corrupt is what is left of a payload on the way over a link.
func (n *Net) corrupt(l *link, m Payload) Payload {
	rate := n.rate(n.model.CorruptPpm)
	if rate == 0 && !n.source.Overridden() {
		return m
	}
	c, ok := m.(Corruptible)
	if !ok {
		return m
	}
	bits := c.Bits()
	if bits == 0 || !n.source.Chance(SiteCorrupt, l.hash, uint64(m.Kind()), m.Key(), rate) {
		return m
	}
	n.Faults.Corrupted++
	return c.Flip(n.source.Choose(SiteBit, l.hash, uint64(m.Kind()), m.Key(), bits))
}

// datagramRate is the rate of a fault that only the datagram transport has.
func (n *Net) datagramRate(ppm int64) int64 {
	if !n.model.Datagram {
		return 0
	}
	return n.rate(ppm)
}

// SendDatagram sends a message on its own to a port of a host; to < 0 means that the name did not resolve. Where a connection
// holds back what a cut or a filter catches, a datagram is lost.
func (n *Net) SendDatagram(nowNs int64, from, to, port int32, m Payload, cause int64) {
	if to < 0 {
		return
	}
	l := n.link(from, to)
	p := packet{kind: packetDatagram, from: from, to: to, port: port, payload: m, cause: cause, number: n.Number}
	kind, key := uint64(m.Kind()), m.Key()
	if n.filtered(&p) {
		n.Faults.Filtered++
		return
	}
	if l.drops != nil && l.drops(m) {
		n.Faults.Dropped++
		return
	}
	if l.cuts > 0 { // nobody sends it again
		n.Faults.Lost++
		return
	}
	if n.source.Chance(SiteLoss, l.hash, kind, key, n.datagramRate(n.model.LossPpm)) {
		n.Faults.Losses++
		return
	}
	p.payload = n.corrupt(l, m)
	wait, full := n.transmit(nowNs, l, m)
	if full { // nobody sends it again
		return
	}
	at := nowNs + wait + n.latency(l, m.Kind(), key)
	if n.source.Chance(SiteReorder, l.hash, kind, key, n.datagramRate(n.model.ReorderPpm)) {
		n.Faults.Reorders++
		at += n.model.ReorderNs
	} else if n.model.ReorderPpm == 0 {
		at = max(at, l.lastAny+1) // no reordering asked for: FIFO per link
	}
	l.lastAny = max(l.lastAny, at)
	n.schedule(at, l, n.alloc(p))
	if n.source.Chance(SiteDuplicate, l.hash, kind, key, n.datagramRate(n.model.DuplicatePpm)) {
		n.Faults.Duplicates++
		n.schedule(at+n.latency(l, m.Kind(), decide.Combine(key, 1)), l, n.alloc(p))
	}
}

func (n *Net) arriveDatagram(p *packet) Delivery {
	lane, ok := n.listener(p.to, p.port)
	if !ok {
		return Delivery{}
	}
	return Delivery{Kind: Data, To: p.to, Boot: n.hosts[p.to].boot, Lane: lane, From: p.from, Payload: p.payload, Cause: p.cause, Number: p.number}
}

// Disturbed reports whether a cut, a clog, a filter or a throttle is in force.
func (n *Net) Disturbed() bool {
	if len(n.filters) > 0 || len(n.narrow) > 0 {
		return true
	}
	for i := range n.links {
		if l := &n.links[i]; l.cuts > 0 || l.clogNs > 0 || l.drops != nil {
			return true
		}
	}
	return false
}
