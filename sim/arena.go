package sim

// arena hands out memory that lives as long as the run and is reused by the next.
type arena struct {
	chunks [][]byte
	next   int    // chunk that is begun next
	rest   []byte // of the one before
}

const arenaChunk = 1 << 18

func (a *arena) reset() { a.next, a.rest = 0, nil }

// alloc returns n zeroed bytes with no spare capacity, so that an append can't run into a neighbour.
func (a *arena) alloc(n int) []byte {
	if n > len(a.rest) {
		if n > arenaChunk/4 {
			return make([]byte, n)
		}
		a.begin()
	}
	b := a.rest[:n:n]
	a.rest = a.rest[n:]
	clear(b)
	return b
}

// begin takes the next chunk.
func (a *arena) begin() {
	if a.next == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, arenaChunk))
	}
	a.rest = a.chunks[a.next]
	a.next++
}
