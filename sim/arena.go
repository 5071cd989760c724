package sim

// arena hands out memory that lives as long as the run and is reused by the next.
type arena struct {
	chunks [][]byte
	chunk  int
	used   int
}

const arenaChunk = 1 << 18

func (a *arena) reset() { a.chunk, a.used = 0, 0 }

// alloc returns n zeroed bytes with no spare capacity, so that an append can't run into a neighbour.
func (a *arena) alloc(n int) []byte {
	if n > arenaChunk/4 {
		return make([]byte, n)
	}
	if a.chunk < len(a.chunks) && a.used+n > arenaChunk {
		a.chunk++
		a.used = 0
	}
	if a.chunk == len(a.chunks) {
		a.chunks = append(a.chunks, make([]byte, arenaChunk))
		a.used = 0
	}
	b := a.chunks[a.chunk][a.used : a.used+n : a.used+n]
	a.used += n
	clear(b)
	return b
}
