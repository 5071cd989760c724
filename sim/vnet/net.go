package vnet

import "github.com/kraftsim/kraftsim/sim/decide"

// Payload is what a packet carries; vnet looks at its name only.
type Payload interface {
	Kind() uint32
	Key() uint64
}

// Corruptible is a payload that travels as bytes, of which a bit may flip under way. TCP's checksum lets one in some ten thousand
// damaged segments pass.
type Corruptible interface {
	Payload
	// Bits is how many bits may flip; 0: none.
	Bits() int64
	// Flip returns the payload with a bit flipped; the payload itself stays as it is.
	Flip(bit int64) Payload
}

// Scheduler is told when a packet will arrive. The caller hands the packet back to Arrive at that time. entity (the link)
// and key (what the message calls itself) name the decision that orders it among events of the same instant; packet is a
// slot of a pool and names nothing.
type Scheduler interface {
	Schedule(atNs int64, packet int32, entity, key uint64)
}

// Side is an end of a connection.
type Side uint8

// The sides.
const (
	Client Side = iota
	Server
)

func (s Side) other() Side { return 1 - s }

// Delivery is what a packet turns into at its arrival.
type Delivery struct {
	Kind    DeliveryKind
	To      int32 // host
	Boot    int32 // incarnation of the receiver
	Lane    int32
	Conn    int64
	From    int32 // host of the sender
	Refused bool
	Payload Payload
	Cause   int64
	Number  int32 // Net.Number as the payload was sent
}

// DeliveryKind says what arrives.
type DeliveryKind uint8

// What arrives.
const (
	Nothing DeliveryKind = iota
	Data
	Opened
	Closed
)

// Net is the network of one run. The zero value needs Reset.
type Net struct {
	model   Model
	weights int64 // sum of the model's
	calmNs  int64 // in the calm no packet takes longer; 0: storm
	source  *decide.Source
	sched   Scheduler
	hosts   []host
	links   []link // from*len(hosts)+to
	conns   []conn // index: id-1
	packs   []packet
	free    []int32
	filters []filter
	narrow  []throttle
	size    func(p Payload) int64 // in bytes; nil: nothing has a size
	// Number is what the next payload sent is numbered: it comes back with its deliveries, for traces. It names nothing.
	Number int32
	Faults Counters
}

// Counters say how often each fault struck. Held are packets of connections that wait behind a cut or a filter, Lost are
// datagrams that met a cut, Losses those that the loss rate took.
type Counters struct {
	Resets, Losses, Lost, Duplicates, Reorders, Tails, Held, Refused, HalfOpen, Filtered, Clogged, Dropped, Corrupted int64
	Queued, Overflows, Crossed                                                                                        int64
}

type host struct {
	hash    uint64
	boot    int32 // 0: no process
	powered bool
	listen  []listener
}

type listener struct {
	port, lane int32
}

type link struct {
	cuts    int32 // how many cuts are in force
	clogNs  int64
	drops   func(p Payload) bool // what vanishes; nil: nothing
	hash    uint64
	lastAny int64
	rate    int64 // bytes per second, 0: no limit
	queue   int64 // bytes that may wait
	freeAt  int64 // when what is before it has left
	far     bool  // leads to another rack
}

type packet struct {
	kind    packetKind
	side    Side // receiving side
	refused bool
	conn    int64
	from    int32
	to      int32
	port    int32
	number  int32
	cause   int64
	payload Payload
}

type packetKind uint8

const (
	packetOpen   packetKind = iota // towards the server
	packetOpened                   // towards the client
	packetData                     // on a connection
	packetClose                    // the sender closed or died: orderly, after the data
	packetDatagram
)

// Reset prepares the network for a run, keeping memory. hostHashes are the identities of the hosts.
func (n *Net) Reset(model Model, source *decide.Source, sched Scheduler, hostHashes []uint64) {
	n.model, n.calmNs, n.source, n.sched = model, 0, source, sched
	n.weights = 0
	for _, w := range model.Weights {
		n.weights += w
	}
	n.hosts = n.hosts[:0]
	n.links = n.links[:0]
	for _, h := range hostHashes {
		n.hosts = append(n.hosts, host{hash: h})
	}
	for _, a := range hostHashes {
		for _, b := range hostHashes {
			n.links = append(n.links, link{hash: decide.Combine(a, b), rate: model.BytesPerSecond, queue: queueOf(model.QueueBytes)})
		}
	}
	n.narrow, n.size = n.narrow[:0], nil
	clear(n.packs)
	n.packs, n.free = n.packs[:0], n.free[:0]
	n.resetConns()
	n.filters = n.filters[:0]
	n.Faults = Counters{}
}

func (n *Net) link(from, to int32) *link { return &n.links[int(from)*len(n.hosts)+int(to)] }

// PowerOn and PowerOff tell whether the host's kernel answers.
func (n *Net) PowerOn(h int32) { n.hosts[h].powered = true }

// Boot tells that a process of that incarnation runs on the host.
func (n *Net) Boot(h, boot int32) {
	n.hosts[h].boot = boot
	n.hosts[h].powered = true
	n.hosts[h].listen = n.hosts[h].listen[:0]
}

// Listen makes the host's process accept connections and datagrams on a port; they go to the lane.
func (n *Net) Listen(h, port, lane int32) {
	n.hosts[h].listen = append(n.hosts[h].listen, listener{port, lane})
}

func (n *Net) listener(h, port int32) (lane int32, ok bool) {
	for _, l := range n.hosts[h].listen {
		if l.port == port && n.hosts[h].boot != 0 {
			return l.lane, true
		}
	}
	return 0, false
}

// latency draws how long a packet takes on a link.
func (n *Net) latency(l *link, kind uint32, key uint64) int64 {
	d := n.model.LatencyNs
	if n.weights > 0 {
		d += n.model.JitterNs * n.weighted(n.source.Choose(SiteWeighted, l.hash, uint64(kind), key, n.weights))
	} else if n.model.JitterNs > 0 {
		d += n.source.Choose(SiteLatency, l.hash, uint64(kind), key, n.model.JitterNs/1000+1) * 1000
	}
	if n.source.Chance(SiteTail, l.hash, uint64(kind), key, n.model.TailPpm) {
		d += n.model.TailNs
		n.Faults.Tails++
	}
	if l.clogNs > 0 {
		d += l.clogNs
		n.Faults.Clogged++
	}
	if l.far {
		d += n.model.CrossRackNs
		n.Faults.Crossed++
	}
	if n.calmNs > 0 && d > n.calmNs {
		d = n.calmNs
	}
	if d < MinimumLatencyNs {
		d = MinimumLatencyNs
	}
	return d
}

// weighted returns the latency step that a draw among all weights falls into.
func (n *Net) weighted(draw int64) (step int64) {
	for i, w := range n.model.Weights {
		if draw -= w; draw < 0 {
			return int64(i)
		}
	}
	return int64(len(n.model.Weights)) - 1
}

func (n *Net) alloc(p packet) int32 {
	if k := len(n.free); k > 0 {
		i := n.free[k-1]
		n.free = n.free[:k-1]
		n.packs[i] = p
		return i
	}
	n.packs = append(n.packs, p)
	return int32(len(n.packs) - 1)
}

// schedule hands a packet on, under its name.
func (n *Net) schedule(at int64, l *link, i int32) {
	p := &n.packs[i]
	key := uint64(p.kind) << 56
	if p.payload != nil {
		key ^= uint64(p.payload.Kind())<<32 ^ p.payload.Key()
	}
	n.sched.Schedule(at, i, l.hash, key)
}

func (n *Net) release(i int32) {
	n.packs[i].payload = nil
	n.free = append(n.free, i)
}
