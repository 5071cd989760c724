package decide

import (
	"math/bits"
	"slices"
)

// WindowNs is the length of a window in nanoseconds of virtual time.
const WindowNs = 1_000_000_000

// Name identifies one draw.
type Name struct {
	Site, Entity, Kind, Key uint64
	Window                  int64
	Occurrence              uint32
}

// Hash folds the name into 64 bits. It does not depend on the seed.
func (n Name) Hash() uint64 {
	return withOccurrence(base(n.Site, n.Entity, n.Kind, n.Key, n.Window), n.Occurrence)
}

func base(site, entity, kind, key uint64, window int64) uint64 {
	h := mix(site^0xa0761d6478bd642f, entity^0xe7037ed1a0b428db)
	h = mix(h^kind, key^0x8ebc6af09c88c6e3)
	return mix(h^uint64(window), 0x589965cc75374cc3)
}

func withOccurrence(base uint64, occurrence uint32) uint64 {
	return mix(base^uint64(occurrence)*0x9e3779b97f4a7c15, 0x1d8e4e27c47d124f)
}

// Override fixes the value of one name.
type Override struct {
	NameHash uint64
	Value    int64
}

// Reseed gives the source another seed from a window on: the prefix of the run stays, the rest branches.
type Reseed struct {
	FromWindow int64
	Seed       uint64
}

// Drawn is one decision as it was taken, handed to the recorder.
type Drawn struct {
	Name  Name
	Site  *Site
	Hash  uint64
	Value int64
}

// Source draws decisions of one run. The zero value is not usable; call Reset.
type Source struct {
	seed   uint64
	window int64

	windowEndNs int64 // when the next window begins

	reseeds   []Reseed
	overrides []Override // ascending by NameHash
	recorder  func(Drawn)
	explicit  bool
	counting  bool
	forced    forced
	fold      uint64 // running digest of names and values consumed
	draws     int64

	slots []slot // occurrence table, open addressing, power of two
	used  int32
	gen   uint32
}

type slot struct {
	hash  uint64
	gen   uint32
	count uint32
}

// Reset prepares the source for a run. Overrides need not be sorted; of two with one name the later counts.
func (s *Source) Reset(seed uint64, overrides []Override, reseeds []Reseed) {
	s.seed = mix(seed^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	s.window, s.windowEndNs = 0, WindowNs
	s.reseeds = append(s.reseeds[:0], reseeds...)
	s.overrides = append(s.overrides[:0], overrides...)
	slices.SortStableFunc(s.overrides, func(a, b Override) int {
		if a.NameHash < b.NameHash {
			return -1
		}
		if a.NameHash > b.NameHash {
			return 1
		}
		return 0
	})
	s.recorder, s.explicit, s.counting = nil, false, false
	s.forced = forced{}
	s.fold = 0
	s.draws = 0
	if len(s.slots) == 0 {
		s.slots = make([]slot, 1024)
	}
	s.nextWindow()
}

// Record hands every decision to f as it is drawn, or stops doing so (nil). It changes no value.
func (s *Source) Record(f func(Drawn)) { s.recorder = f }

// Explicit makes overrides the only source of what is not benign: every other draw of a site that is no spread comes out benign, whatever
// its rate. It holds until Reset.
func (s *Source) Explicit() { s.explicit = true }

// CountIdle makes chances with a rate of zero count as occurrences, as they do where a run has overrides. A run in which rates change needs it:
// else the first chance behind such a change would have another name in the run that plays the decisions of this one. It holds until Reset.
func (s *Source) CountIdle() { s.counting = true }

// Overridden reports whether the run has overrides: then a rate of zero is no reason to draw nothing.
func (s *Source) Overridden() bool { return len(s.overrides) > 0 }

// Advance tells the source the virtual time in nanoseconds. Time never goes back.
func (s *Source) Advance(nowNs int64) {
	if nowNs >= s.windowEndNs {
		s.enterWindow(nowNs / WindowNs)
	}
}

func (s *Source) enterWindow(w int64) {
	s.window, s.windowEndNs = w, (w+1)*WindowNs
	s.nextWindow()
	for len(s.reseeds) > 0 && w >= s.reseeds[0].FromWindow {
		s.seed = mix(s.reseeds[0].Seed^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
		s.reseeds = s.reseeds[1:]
	}
}

// Digest returns the running digest of all names and values consumed, and how many there were.
func (s *Source) Digest() (fold uint64, draws int64) { return s.fold, s.draws }

// Choose draws an integer in [0, n), uniformly. n must be positive; n == 1 is not a choice and draws nothing.
func (s *Source) Choose(site *Site, entity, kind, key uint64, n int64) int64 {
	if n <= 1 {
		if n < 1 {
			panic("decide: Choose with an empty domain at " + site.name)
		}
		return 0
	}
	hash, occurrence := s.name(site, entity, kind, key)
	hi, _ := bits.Mul64(mix(hash^s.seed, 0x94d049bb133111eb), uint64(n))
	v := int64(hi)
	if s.explicit && !site.spread {
		v = min(site.benign, n-1)
	}
	if s.forced.site == site && s.forced.is(entity, kind, key) {
		v = min(s.forced.value, n-1)
		s.forced = forced{}
	}
	return s.settle(site, entity, kind, key, occurrence, hash, v, n)
}

// Chance draws true with a probability of ppm millionths. An override of 0 or 1 fixes it whatever the rate; a rate of zero
// draws nothing unless the run has overrides, see also CountIdle.
func (s *Source) Chance(site *Site, entity, kind, key uint64, ppm int64) bool {
	if ppm <= 0 && len(s.overrides) == 0 {
		if s.counting {
			s.name(site, entity, kind, key)
		}
		return false
	}
	hash, occurrence := s.name(site, entity, kind, key)
	hi, _ := bits.Mul64(mix(hash^s.seed, 0x94d049bb133111eb), 1_000_000)
	v := int64(0)
	if s.explicit && !site.spread {
		v = site.benign
	} else if int64(hi) < ppm {
		v = 1
	}
	if s.forced.site == site && s.forced.is(entity, kind, key) {
		v = min(s.forced.value, 1)
		s.forced = forced{}
	}
	return s.settle(site, entity, kind, key, occurrence, hash, v, 2) == 1
}

// forced is a draw whose value an action of the plan fixes.
type forced struct {
	site              *Site
	entity, kind, key uint64
	value             int64
}

func (f *forced) is(entity, kind, key uint64) bool {
	return f.entity == entity && f.kind == kind && f.key == key
}

// Force fixes the value of the next Choose or Chance of that name, whatever its occurrence: what an action of the plan aims at. It is recorded like any
// other value, so that a plan that overrides the decision does without the action. One force at a time: a later one replaces it, and
// an override has the last word.
func (s *Source) Force(site *Site, entity, kind, key uint64, value int64) {
	s.forced = forced{site: site, entity: entity, kind: kind, key: key, value: value}
}

func (s *Source) settle(site *Site, entity, kind, key uint64, occurrence uint32, hash uint64, v, n int64) int64 {
	if len(s.overrides) > 0 {
		if o, ok := s.override(hash); ok && o >= 0 && o < n {
			v = o
		}
	}
	s.draws++
	s.fold = mix(s.fold^hash, uint64(v)^0xd6e8feb86659fd93)
	if s.recorder != nil {
		s.recorder(Drawn{
			Name: Name{Site: site.hash, Entity: entity, Kind: kind, Key: key, Window: s.window, Occurrence: occurrence},
			Site: site, Hash: hash, Value: v,
		})
	}
	return v
}

func (s *Source) override(hash uint64) (int64, bool) {
	lo, hi := 0, len(s.overrides)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.overrides[mid].NameHash <= hash {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo > 0 && s.overrides[lo-1].NameHash == hash {
		return s.overrides[lo-1].Value, true
	}
	return 0, false
}

// name counts the occurrence and returns the name's hash.
func (s *Source) name(site *Site, entity, kind, key uint64) (hash uint64, occurrence uint32) {
	b := base(site.hash, entity, kind, key, s.window)
	mask := uint64(len(s.slots) - 1)
	for i := b & mask; ; i = (i + 1) & mask {
		sl := &s.slots[i]
		if sl.gen != s.gen {
			*sl = slot{hash: b, gen: s.gen, count: 1}
			s.used++
			if int(s.used)*2 > len(s.slots) {
				s.grow()
			}
			return withOccurrence(b, 0), 0
		}
		if sl.hash == b {
			occurrence = sl.count
			sl.count++
			return withOccurrence(b, occurrence), occurrence
		}
	}
}

func (s *Source) nextWindow() {
	s.used = 0
	s.gen++
	if s.gen == 0 { // the generation wrapped: stale entries could look alive
		clear(s.slots)
		s.gen = 1
	}
}

func (s *Source) grow() {
	old := s.slots
	s.slots = make([]slot, 2*len(old))
	mask := uint64(len(s.slots) - 1)
	for _, o := range old {
		if o.gen != s.gen {
			continue
		}
		i := o.hash & mask
		for s.slots[i].gen == s.gen {
			i = (i + 1) & mask
		}
		s.slots[i] = o
	}
}

// Priority draws 32 bits that settle ties. It is a pure function of seed and name, with occurrence 0 and the window of atNs:
// it counts nothing and is not recorded, since equal names at the same instant are settled by order of scheduling.
func (s *Source) Priority(site *Site, entity, kind, key uint64, atNs int64) uint32 {
	h := mix(site.hash^entity, kind^0xe7037ed1a0b428db)
	return uint32(mix(h^key^uint64(atNs/WindowNs), s.seed^0x8ebc6af09c88c6e3) >> 32)
}
