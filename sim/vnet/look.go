package vnet

// Route is the link on which a scheduled packet travels.
func (n *Net) Route(packet int32) (from, to int32) { return n.packs[packet].from, n.packs[packet].to }

// Content names what a scheduled packet is: its own kind, and kind and key of its payload.
func (n *Net) Content(packet int32) uint64 {
	p := &n.packs[packet]
	v := uint64(p.kind)<<56 ^ uint64(p.side)<<55
	if p.payload != nil {
		v ^= uint64(p.payload.Kind())<<40 ^ p.payload.Key()
	}
	return v
}

// Payload is what a scheduled packet carries, nil for what opens or closes a connection.
func (n *Net) Payload(packet int32) Payload { return n.packs[packet].payload }

// IsCut reports whether nothing passes from one host to another.
func (n *Net) IsCut(from, to int32) bool { return n.link(from, to).cuts > 0 }

// Lose takes a scheduled packet out of the network: a datagram alone, a packet of a connection together with the connection, whose ends
// learn. It must not be handed to Arrive any more.
func (n *Net) Lose(nowNs int64, packet int32, cause int64) {
	p := n.packs[packet]
	n.release(packet)
	if p.kind == packetDatagram {
		n.Faults.Losses++
		return
	}
	n.Break(nowNs, p.conn, cause)
}
