package decide

import "math/bits"

// Site is one kind of choice. Sites are made at package level with NewSite and never change, so that a comparison of
// pointers is a comparison of sites.
type Site struct {
	name   string
	doc    string
	hash   uint64
	benign int64
	spread bool
}

// NewSite declares a site. name is its identity for ever ("net/loss"); doc is one clause for the reference; benign is the
// value that means "no fault, nothing unusual".
func NewSite(name, doc string, benign int64) *Site {
	return &Site{name: name, doc: doc, hash: HashString(name), benign: benign}
}

// NewSpread declares a site of values that differ from draw to draw in every run and are no fault: a delay within its range, a timeout,
// a random identity. Such draws come from the seed even where a plan lists its faults one by one (Source.Explicit), since there is
// nothing unusual in any of them; how wide a delay may spread is a field of the plan.
func NewSpread(name, doc string) *Site {
	s := NewSite(name, doc, 0)
	s.spread = true
	return s
}

// Spread reports whether the site was declared with NewSpread.
func (s *Site) Spread() bool { return s.spread }

// Name returns the registered string.
func (s *Site) Name() string { return s.name }

// Doc returns the clause that explains the site.
func (s *Site) Doc() string { return s.doc }

// Hash returns the identity of the site as it goes into names.
func (s *Site) Hash() uint64 { return s.hash }

// Benign returns the value that means nothing unusual happens.
func (s *Site) Benign() int64 { return s.benign }

// HashString folds a string into 64 bits (FNV-1a, then a finalizer). Deterministic for ever: names of decisions, hosts
// and sites in stored capsules depend on it.
func HashString(s string) uint64 { return NewStringHash(s).Sum() }

// StringHash is HashString of a text that comes in parts: many paths begin with the same directory.
type StringHash uint64

// NewStringHash begins with s.
func NewStringHash(s string) StringHash { return StringHash(14695981039346656037).Add(s) }

// Add returns the hash with s behind what it has.
func (h StringHash) Add(s string) StringHash {
	for i := 0; i < len(s); i++ {
		h = (h ^ StringHash(s[i])) * 1099511628211
	}
	return h
}

// Sum returns what HashString returns for all parts together.
func (h StringHash) Sum() uint64 { return mix(uint64(h), 0x9e3779b97f4a7c15) }

// Combine folds two identities into one, order mattering: a link is Combine(from, to).
func Combine(a, b uint64) uint64 { return mix(a^0x2d358dccaa6c78a5, b^0x8bb84b93962eacc9) }

// mix multiplies two words to 128 bits and folds the halves: the step of the wyhash family, one multiplication.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
