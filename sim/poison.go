package sim

import (
	"slices"

	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/vnet"
)

// poison is the debug mode that catches programs which change memory after they gave it away, or keep memory that they
// only borrowed.
//
// What is given away: a write's buffer is copied, the volume gets the copy, and the original is compared with its digest
// again and again until the run ends. A message is sealed with its digest, which must still be true when it arrives and
// after the handler that got it. What is borrowed: the Input and the buffers of AppendTo and AppendState are overwritten
// when the call is over. A correct program hashes alike with and without.
type poison struct {
	on      bool
	buffers []given
	checked int // rotates through buffers
}

type given struct {
	bytes []byte
	hash  uint64
}

const (
	poisonKept    = 4096 // buffers that are watched
	poisonAtATime = 32   // compared after each event
)

func (p *poison) reset(on bool) {
	clear(p.buffers)
	p.on, p.buffers, p.checked = on, p.buffers[:0], 0
}

// gave remembers a buffer that a handler gave to a write, and returns the copy for the volume.
func (p *poison) gave(b []byte) []byte {
	if len(p.buffers) == poisonKept {
		p.checkAll()
		p.buffers = slices.Delete(p.buffers, 0, poisonKept/2)
	}
	p.buffers = append(p.buffers, given{bytes: b, hash: digest.Bytes(0, b)})
	return slices.Clone(b)
}

// check compares some of the buffers given away: the latest ones always, the others in turn.
func (p *poison) check() {
	n := len(p.buffers)
	for i := max(0, n-poisonAtATime); i < n; i++ {
		p.buffers[i].verify()
	}
	for range min(n, poisonAtATime) {
		p.checked = (p.checked + 1) % n
		p.buffers[p.checked].verify()
	}
}

func (p *poison) checkAll() {
	for i := range p.buffers {
		p.buffers[i].verify()
	}
}

func (g *given) verify() {
	if digest.Bytes(0, g.bytes) != g.hash {
		panic("sim: a buffer given to a disk write was changed afterwards: writes take ownership, copy before you reuse")
	}
}

// sealed is a message on its way in the debug mode.
type sealed struct {
	Message
	hash uint64
}

func seal(m Message) Message { return &sealed{m, digest.Bytes(0, m.AppendTo(nil))} }

// unsealed returns the message itself, not what it travels in.
func unsealed(m Message) Message {
	if s, ok := m.(*sealed); ok {
		m = s.Message
	}
	if c, ok := m.(Carrier); ok {
		return c.Carried()
	}
	return m
}

// Bits is vnet.Corruptible: those of the message.
func (s *sealed) Bits() int64 {
	if c, ok := s.Message.(vnet.Corruptible); ok {
		return c.Bits()
	}
	return 0
}

// Flip is vnet.Corruptible.
func (s *sealed) Flip(bit int64) vnet.Payload {
	return seal(s.Message.(vnet.Corruptible).Flip(bit).(Message))
}

// verify panics when the message is no longer what was sent.
func (s *sealed) verify() {
	if digest.Bytes(0, s.AppendTo(nil)) != s.hash {
		panic("sim: " + messageName(s.Message) + " was changed after it was sent: a message is immutable from then on")
	}
}

// scribble overwrites what a program only borrowed.
func scribble(b []byte) {
	b = b[:min(cap(b), len(b)+64)] // what lies further behind was overwritten when it was last used
	for i := range b {
		b[i] = 0xdb
	}
}

// foldObservation adds the bytes in w.scratch to the hash of behaviour and to the trace hash.
func (w *World) foldObservation(h *Host) {
	b := &w.behaviour
	b.hash, w.hash = digest.BytesTwice(digest.Word(b.hash, h.hash), w.hash, w.scratch)
	b.count++
	if w.poison.on {
		scribble(w.scratch)
	}
}

// foldScratch adds the bytes in w.scratch to the trace hash.
func (w *World) foldScratch() {
	w.hash = digest.Bytes(w.hash, w.scratch)
	if w.poison.on {
		scribble(w.scratch)
	}
}
