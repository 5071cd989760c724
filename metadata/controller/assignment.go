package controller

import (
	"fmt"
	"slices"
	"sort"

	"github.com/kraftsim/kraftsim/metadata/image"
	"github.com/kraftsim/kraftsim/raft/record"
)

// SiteTopics draws the 32-bit halves of the seed that the ids and the placement of one request's topics follow from; keys
// are made of epoch and offset.
const SiteTopics Site = 2

// generator is a stream of pseudo-random numbers (splitmix64) that only its seed decides.
type generator uint64

func (g *generator) next() uint64 {
	*g += 0x9e3779b97f4a7c15
	z := uint64(*g)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1; 0 for n = 0.
func (g *generator) below(n int) int {
	if n <= 1 {
		return 0
	}
	return int(g.next() % uint64(n))
}

// uuid returns a random uuid, version 4: never a reserved one. Its text may begin with "-", as a topic's may.
func (g *generator) uuid() record.UUID {
	id := record.UUIDFromHalves(g.next(), g.next())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

// drawSeed asks the surroundings for the seed of one request.
func (c *Controller) drawSeed() generator {
	key := uint64(uint32(c.claimedEpoch))<<40 + uint64(c.nextWrite)<<1
	high := c.deps.Chooser.Choose(SiteTopics, key, 1<<32)
	return generator(uint64(high)<<32 | uint64(c.deps.Chooser.Choose(SiteTopics, key+1, 1<<32)))
}

// stripe is a list of brokers that is walked around in a circle, from one place further for each partition.
type stripe struct {
	brokers   []int32
	offset    int
	taken     int // in this round
	partition int32
}

func (s *stripe) next(partition int32) (broker int32, ok bool) {
	if s.partition != partition {
		s.partition, s.taken = partition, 0
		if n := len(s.brokers); n > 0 {
			s.offset = (s.offset + 1) % n
		}
	}
	if s.taken == len(s.brokers) {
		return nobody, false
	}
	broker = s.brokers[(s.offset+s.taken)%len(s.brokers)]
	s.taken++
	return broker, true
}

// rackStripes are the brokers of one rack; those without rack are one too.
type rackStripes struct {
	name             string
	unfenced, fenced stripe
}

func (r *rackStripes) next(partition int32) (broker int32, ok bool) {
	if broker, ok = r.unfenced.next(partition); ok {
		return broker, true
	}
	return r.fenced.next(partition)
}

// placer spreads replicas as Kafka's striped placer does: the racks take turns, within one partition and from one partition to
// the next; within a rack the brokers do. The first replica is never on a fenced broker. Everything random comes from the
// seed.
type placer struct {
	racks     []rackStripes
	offset    int // of the rack that begins
	partition int32
	brokers   int32
	unfenced  int32
}

// newPlacer takes in all brokers that may get replicas: those in controlled shutdown, or with all directories cordoned (KIP-1066), may
// not.
func newPlacer(img *image.Image, random *generator) placer {
	var p placer
	for b := range img.Brokers() {
		if b.InControlledShutdown || cordoned(b) {
			continue
		}
		name := ""
		if b.HasRack {
			name = "r" + b.Rack // the rack "" is one, and not the same as none
		}
		at := sort.Search(len(p.racks), func(i int) bool { return p.racks[i].name >= name })
		if at == len(p.racks) || p.racks[at].name != name {
			p.racks = slices.Insert(p.racks, at, rackStripes{name: name})
		}
		p.brokers++
		if b.Fenced {
			p.racks[at].fenced.brokers = append(p.racks[at].fenced.brokers, b.ID)
			continue
		}
		p.unfenced++
		p.racks[at].unfenced.brokers = append(p.racks[at].unfenced.brokers, b.ID)
	}
	for i := len(p.racks) - 1; i > 0; i-- {
		k := random.below(i + 1)
		p.racks[i], p.racks[k] = p.racks[k], p.racks[i]
	}
	p.offset = random.below(len(p.racks))
	for i := range p.racks {
		r := &p.racks[i]
		r.unfenced.offset, r.fenced.offset = random.below(len(r.unfenced.brokers)), random.below(len(r.fenced.brokers))
	}
	return p
}

func cordoned(b *image.Broker) bool {
	for _, d := range b.LogDirs {
		if !slices.Contains(b.CordonedLogDirs, d) {
			return false
		}
	}
	return len(b.LogDirs) > 0
}

// check says why there can be no partitions with that many replicas, "" if there can.
func (p *placer) check(replicas int16) string {
	switch {
	case replicas <= 0:
		return fmt.Sprintf("replication factor %d is not positive", replicas)
	case p.unfenced == 0:
		return "all brokers are fenced or in controlled shutdown"
	case int32(replicas) > p.brokers:
		return fmt.Sprintf("replication factor %d is more than the %d brokers that may get replicas", replicas, p.brokers)
	}
	return ""
}

// place returns the replicas of the next partition. check found nothing wrong before.
func (p *placer) place(replicas int16) []int32 {
	p.partition++
	list := make([]int32, 0, replicas)
	at := p.offset
	for {
		broker, ok := p.racks[at].unfenced.next(p.partition)
		if ok {
			list = append(list, broker)
			break
		}
		at = (at + 1) % len(p.racks)
	}
	for int16(len(list)) < replicas {
		at = (at + 1) % len(p.racks)
		if broker, ok := p.racks[at].next(p.partition); ok {
			list = append(list, broker)
		}
	}
	p.offset = (p.offset + 1) % len(p.racks)
	return list
}
