package sim

import "github.com/kraftsim/kraftsim/sim/digest"

// poison is the debug mode that catches programs which change memory after they gave it away, or keep memory that they
// only borrowed. Every buffer handed to a write and every message handed to a send is digested there and once more when
// its effect is committed; the Input is overwritten when the handler returns. It changes no hash of a correct program.
type poison struct {
	on      bool
	buffers []given
}

type given struct {
	bytes []byte
	hash  uint64
	op    int64
	host  int32
}

func (p *poison) reset(on bool) {
	clear(p.buffers)
	p.on, p.buffers = on, p.buffers[:0]
}

// gave remembers a buffer that a handler gave to a write.
func (p *poison) gave(host int32, op int64, b []byte) {
	p.buffers = append(p.buffers, given{bytes: b, hash: digest.Bytes(0, b), op: op, host: host})
	if len(p.buffers) > 4096 {
		p.check()
		p.buffers = p.buffers[:copy(p.buffers, p.buffers[2048:])]
	}
}

// check panics if one of the last buffers given away was changed since.
func (p *poison) check() {
	for i := range p.buffers {
		if g := &p.buffers[i]; digest.Bytes(0, g.bytes) != g.hash {
			panic("sim: a buffer given to a disk write was changed afterwards; writes take ownership, copy before you reuse")
		}
	}
}
