package vnet

// Bandwidth: a link with a rate carries one packet after the other. What comes while it is busy waits in its queue; what finds the queue
// full is dropped there, which loses a datagram for good, and costs a packet of a connection a retransmission and all behind it the wait.

// throttle limits one direction between two hosts for a while.
type throttle struct {
	id          int64
	from, to    int32
	rate, queue int64
}

// SetSize says how many bytes a payload takes on a link. Without it bandwidths limit nothing.
func (n *Net) SetSize(size func(p Payload) int64) { n.size = size }

// SetRacks says in which rack each host stands, by a hash; 0: in none. Packets between two racks take Model.CrossRackNs longer.
func (n *Net) SetRacks(racks []uint64) {
	for from := range n.hosts {
		for to := range n.hosts {
			a, b := racks[from], racks[to]
			n.link(int32(from), int32(to)).far = a != b && a != 0 && b != 0 && n.model.CrossRackNs > 0
		}
	}
}

// Throttle limits what passes from one host to another, in bytes per second and in bytes that may wait (0: DefaultQueueBytes), until
// Unthrottle with the same id. Of several limits the narrowest rate counts, with its queue.
func (n *Net) Throttle(id int64, from, to int32, rate, queue int64) {
	n.narrow = append(n.narrow, throttle{id, from, to, rate, queueOf(queue)})
	n.limit(from, to)
}

// Unthrottle ends what Throttle began with that id. What waits already keeps its place.
func (n *Net) Unthrottle(id int64) {
	kept := 0
	for i := range n.narrow {
		if n.narrow[i].id != id {
			n.narrow[kept] = n.narrow[i]
			kept++
		}
	}
	n.narrow = n.narrow[:kept]
	for from := range n.hosts {
		for to := range n.hosts {
			n.limit(int32(from), int32(to))
		}
	}
}

// limit computes the limit of a link anew. In the calm there is none.
func (n *Net) limit(from, to int32) {
	l := n.link(from, to)
	if n.calmNs > 0 {
		return
	}
	l.rate, l.queue = n.model.BytesPerSecond, queueOf(n.model.QueueBytes)
	for i := range n.narrow {
		if t := &n.narrow[i]; t.from == from && t.to == to && (l.rate == 0 || t.rate < l.rate) {
			l.rate, l.queue = t.rate, t.queue
		}
	}
}

func queueOf(bytes int64) int64 {
	if bytes == 0 {
		return DefaultQueueBytes
	}
	return bytes
}

// transmit is how long a packet waits for its link and takes to get onto it; full when the queue has no room for it, which an empty
// queue always has.
func (n *Net) transmit(nowNs int64, l *link, m Payload) (waitNs int64, full bool) {
	if l.rate == 0 || m == nil || n.size == nil {
		return 0, false
	}
	const second, micro = 1_000_000_000, 1_000
	size := n.size(m)
	takes := size * second / l.rate
	start := max(nowNs, l.freeAt)
	if waiting := (start - nowNs) / micro * l.rate / (second / micro); waiting > 0 {
		n.Faults.Queued++
		if waiting+size > l.queue {
			n.Faults.Overflows++
			return takes, true
		}
	}
	l.freeAt = start + takes
	return l.freeAt - nowNs, false
}
