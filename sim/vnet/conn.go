package vnet

// conn is one connection between incarnations.
type conn struct {
	open bool // the client knows that it is open
	host [2]int32
	boot [2]int32
	lane [2]int32
	gone [2]bool    // that side's process closed it or died, or was told of the end
	last [2]int64   // arrival time of the last packet towards that side: FIFO
	held [2][]int32 // packets towards that side that a cut or a filter holds back
}

func (n *Net) resetConns() {
	for i := range n.conns {
		c := &n.conns[i]
		a, b := c.held[0][:0], c.held[1][:0]
		*c = conn{}
		c.held[0], c.held[1] = a, b
	}
	n.conns = n.conns[:0]
}

func (n *Net) newConn() (*conn, int64) {
	if k := len(n.conns); k < cap(n.conns) {
		n.conns = n.conns[:k+1] // keeps the held slices of the run before
	} else {
		n.conns = append(n.conns, conn{})
	}
	return &n.conns[len(n.conns)-1], int64(len(n.conns))
}

// Reserve gives a connection its id, for a lane of the host's process. Nothing leaves the host before Open.
func (n *Net) Reserve(from, boot, lane int32) int64 {
	c, id := n.newConn()
	c.host, c.boot, c.lane = [2]int32{from, from}, [2]int32{boot, 0}, [2]int32{lane, 0}
	c.gone[Server] = true
	return id
}

// Open starts to open a reserved connection to a port of another host; to < 0 means that the name did not resolve. The
// outcome arrives as Opened or Closed{Refused}, or never when the target has no power.
func (n *Net) Open(nowNs, id int64, to, port int32, cause int64) {
	c := &n.conns[id-1]
	from := c.host[Client]
	if to < 0 {
		n.Faults.Refused++
		p := n.alloc(packet{kind: packetClose, side: Client, conn: id, from: from, to: from, refused: true, cause: cause})
		n.schedule(nowNs+MinimumLatencyNs, n.link(from, from), p)
		return
	}
	c.host[Server], c.gone[Server] = to, false
	n.push(nowNs, packet{kind: packetOpen, side: Server, conn: id, from: from, to: to, port: port, cause: cause})
}

// Send puts a message on a connection. side is the sender's. It is lost silently when the connection is down.
func (n *Net) Send(nowNs int64, id int64, side Side, m Payload, cause int64) {
	c := &n.conns[id-1]
	if c.gone[side] {
		return
	}
	l := n.link(c.host[side], c.host[side.other()])
	if rate := n.rate(n.model.ResetPpm); (rate > 0 || n.source.Overridden()) && n.source.Chance(SiteReset, l.hash, uint64(m.Kind()), m.Key(), rate) {
		n.Faults.Resets++
		n.reset(nowNs, id, cause)
		return
	}
	if l.drops != nil && l.drops(m) {
		n.Faults.Dropped++
		return
	}
	m = n.corrupt(l, m)
	n.push(nowNs, packet{kind: packetData, side: side.other(), conn: id, from: c.host[side], to: c.host[side.other()], payload: m, cause: cause, number: n.Number})
}

// reset breaks a connection in the middle: both sides learn, what is in flight still arrives before.
func (n *Net) reset(nowNs int64, id int64, cause int64) {
	c := &n.conns[id-1]
	for s := Client; s <= Server; s++ {
		if !c.gone[s] {
			n.push(nowNs, packet{kind: packetClose, side: s, conn: id, from: c.host[s.other()], to: c.host[s], cause: cause})
		}
	}
}

// Break resets a connection: whoever still holds an end of it learns, and what is in flight arrives before.
func (n *Net) Break(nowNs int64, id, cause int64) {
	if c := &n.conns[id-1]; !c.gone[Client] || !c.gone[Server] {
		n.Faults.Resets++
		n.reset(nowNs, id, cause)
	}
}

// Close ends a connection from one side, orderly: the other learns after what was sent before.
func (n *Net) Close(nowNs int64, id int64, side Side, cause int64) {
	c := &n.conns[id-1]
	if c.gone[side] {
		return
	}
	c.gone[side] = true
	if !c.gone[side.other()] {
		n.push(nowNs, packet{kind: packetClose, side: side.other(), conn: id, from: c.host[side], to: c.host[side.other()], cause: cause})
	}
}

// push schedules a packet, or holds it back behind a cut, a filter, or what is held already.
func (n *Net) push(nowNs int64, p packet) {
	c := &n.conns[p.conn-1]
	l := n.link(p.from, p.to)
	i := n.alloc(p)
	filtered := n.filtered(&p)
	if len(c.held[p.side]) > 0 || l.cuts > 0 || filtered {
		if filtered {
			n.Faults.Filtered++
		}
		n.Faults.Held++
		c.held[p.side] = append(c.held[p.side], i)
		return
	}
	n.send(nowNs, c, l, i)
}

func (n *Net) send(nowNs int64, c *conn, l *link, i int32) {
	p := &n.packs[i]
	var kind uint32
	var key uint64
	if p.payload != nil {
		kind, key = p.payload.Kind(), p.payload.Key()
	}
	wait, full := n.transmit(nowNs, l, p.payload)
	if full { // the sender's kernel sends it again
		wait += RetransmitNs
	}
	at := max(nowNs+wait+n.latency(l, kind, key), c.last[p.side]+1)
	c.last[p.side] = at
	n.schedule(at, l, i)
}

// flush lets go what was held back and no longer has a reason to be.
func (n *Net) flush(nowNs int64) {
	for k := range n.conns {
		c := &n.conns[k]
		for s := Client; s <= Server; s++ {
			if len(c.held[s]) == 0 {
				continue
			}
			done := 0
			for _, i := range c.held[s] {
				p := &n.packs[i]
				if n.link(p.from, p.to).cuts > 0 || n.filtered(p) {
					break
				}
				n.send(nowNs, c, n.link(p.from, p.to), i)
				done++
			}
			c.held[s] = append(c.held[s][:0], c.held[s][done:]...)
		}
	}
}

// Arrive turns a scheduled packet into a delivery, in place; Nothing when nobody is there to take it.
func (n *Net) Arrive(nowNs int64, i int32, d *Delivery) {
	p := &n.packs[i]
	if p.kind == packetData {
		n.arriveData(nowNs, i, d)
		return
	}
	own := *p
	n.release(i)
	*d = n.arriveOdd(nowNs, &own)
}

// arriveData is Arrive for what a process sent over a connection.
func (n *Net) arriveData(nowNs int64, i int32, d *Delivery) {
	p := &n.packs[i]
	c := &n.conns[p.conn-1]
	side := p.side & 1
	if c.gone[side] || n.hosts[p.to].boot != c.boot[side] {
		own := *p
		n.release(i)
		n.answerReset(nowNs, &own, c)
		d.Kind = Nothing
		return
	}
	d.Kind, d.To, d.Boot, d.Lane, d.Conn, d.From = Data, p.to, c.boot[side], c.lane[side], p.conn, p.from
	d.Refused, d.Payload, d.Cause, d.Number = false, p.payload, p.cause, p.number
	n.release(i)
}

// arriveOdd is Arrive for the packets that open and close connections, and for datagrams.
func (n *Net) arriveOdd(nowNs int64, p *packet) Delivery {
	if p.kind == packetDatagram {
		return n.arriveDatagram(p)
	}
	c := &n.conns[p.conn-1]
	switch p.kind {
	case packetOpen:
		return n.arriveOpen(nowNs, p, c)
	case packetClose:
		if c.gone[p.side] {
			return Delivery{}
		}
		c.gone[p.side] = true
		return Delivery{Kind: Closed, To: p.to, Boot: c.boot[p.side], Lane: c.lane[p.side], Conn: p.conn, From: p.from,
			Refused: p.refused, Cause: p.cause}
	}
	if c.gone[p.side] || n.hosts[p.to].boot != c.boot[p.side] {
		n.answerReset(nowNs, p, c)
		return Delivery{}
	}
	c.open = true
	return Delivery{Kind: Opened, To: p.to, Boot: c.boot[p.side], Lane: c.lane[p.side], Conn: p.conn, From: p.from,
		Payload: p.payload, Cause: p.cause, Number: p.number}
}

func (n *Net) arriveOpen(nowNs int64, p *packet, c *conn) Delivery {
	if !n.hosts[p.to].powered {
		n.Faults.HalfOpen++
		return Delivery{} // silence
	}
	lane, ok := n.listener(p.to, p.port)
	if !ok {
		n.Faults.Refused++
		c.gone[Server] = true
		n.push(nowNs, packet{kind: packetClose, side: Client, conn: p.conn, from: p.to, to: p.from, refused: true, cause: p.cause})
		return Delivery{}
	}
	c.boot[Server], c.lane[Server] = n.hosts[p.to].boot, lane
	n.push(nowNs, packet{kind: packetOpened, side: Client, conn: p.conn, from: p.to, to: p.from, cause: p.cause})
	return Delivery{}
}

// answerReset is the kernel's answer to data for a process that is no more: the sender learns, if there is power and a way.
func (n *Net) answerReset(nowNs int64, p *packet, c *conn) {
	if !n.hosts[p.to].powered {
		n.Faults.HalfOpen++
		return
	}
	if s := p.side.other(); !c.gone[s] {
		n.push(nowNs, packet{kind: packetClose, side: s, conn: p.conn, from: p.to, to: p.from, cause: p.cause})
	}
}

// Down tells that the host's process ended. With power the kernel resets its connections; without, they stay half open.
func (n *Net) Down(nowNs int64, h int32, powered bool, cause int64) {
	boot := n.hosts[h].boot
	if boot == 0 { // no process, no connection of its own
		n.hosts[h].powered = powered
		return
	}
	n.hosts[h].boot = 0
	n.hosts[h].powered = powered
	n.hosts[h].listen = n.hosts[h].listen[:0]
	for k := range n.conns {
		c := &n.conns[k]
		for s := Client; s <= Server; s++ {
			if c.host[s] != h || c.boot[s] != boot || c.gone[s] {
				continue
			}
			if powered {
				n.Close(nowNs, int64(k+1), s, cause)
			} else {
				c.gone[s] = true
			}
		}
	}
}

// SideOf tells which side of the connection that incarnation of the host is, and whether it may still send.
func (n *Net) SideOf(id int64, h, boot, lane int32) (side Side, ok bool) {
	if uint64(id-1) >= uint64(len(n.conns)) {
		return 0, false
	}
	c := &n.conns[id-1]
	if c.host[Client] == h && c.boot[Client] == boot && !c.gone[Client] && (c.host[Server] != h || c.lane[Client] == lane) {
		return Client, true
	}
	return Server, c.host[Server] == h && c.boot[Server] == boot && !c.gone[Server]
}

// Peer returns the host at the other end.
func (n *Net) Peer(id int64, side Side) int32 { return n.conns[id-1].host[side.other()] }
