package vnet

import "github.com/kraftsim/kraftsim/sim/decide"

// Model is how every link behaves. Times in nanoseconds, rates per million.
type Model struct {
	Datagram     bool
	LatencyNs    int64
	JitterNs     int64   // uniform, added to the latency; with Weights: the step between two latencies
	Weights      []int64 // nil: uniform; else weight i is the share of LatencyNs + i*JitterNs
	TailPpm      int64
	TailNs       int64
	ResetPpm     int64 // stream
	LossPpm      int64 // datagram, as the rest
	DuplicatePpm int64
	ReorderPpm   int64
	ReorderNs    int64
	CorruptPpm   int64 // payloads that are Corruptible: a bit flips

	BytesPerSecond int64 // what a link carries, 0: everything at once
	QueueBytes     int64 // what may wait for a link; 0: DefaultQueueBytes
	CrossRackNs    int64 // added between hosts of different racks
}

// DefaultQueueBytes is what waits for a link that has a bandwidth and no queue of its own; RetransmitNs is after how long a connection
// sends again what found the queue full, Linux's shortest retransmission timer.
const (
	DefaultQueueBytes = 256 << 10
	RetransmitNs      = 200_000_000
)

// MinimumLatencyNs is what the fastest packet takes.
const MinimumLatencyNs = 1_000

// The decision sites of the network.
var (
	SiteLatency   = decide.NewSpread("net/latency", "microseconds of jitter added to a packet's latency")
	SiteWeighted  = decide.NewSpread("net/weighted-latency", "which share of a table of latencies a packet falls into")
	SiteTail      = decide.NewSite("net/tail", "a packet takes the long tail", 0)
	SiteReset     = decide.NewSite("net/reset", "a message resets its connection", 0)
	SiteLoss      = decide.NewSite("net/loss", "a datagram is lost", 0)
	SiteDuplicate = decide.NewSite("net/duplicate", "a datagram arrives twice", 0)
	SiteCorrupt   = decide.NewSite("net/corrupt", "a bit of a frame flips under way", 0)
	SiteBit       = decide.NewSite("net/corrupt-bit", "which bit of a frame flips", 0)
	SiteReorder   = decide.NewSite("net/reorder", "a datagram is held back so that later ones overtake it", 0)
)

// Sites lists them all, for documentation.
func Sites() []*decide.Site {
	return []*decide.Site{SiteLatency, SiteWeighted, SiteTail, SiteReset, SiteLoss, SiteDuplicate, SiteReorder, SiteCorrupt, SiteBit}
}
