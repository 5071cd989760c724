package vdisk

import "slices"

// sampler computes what a power loss leaves of one file, by rules R4 to R8 of the package comment, or by P2 and P3. It holds scratch
// memory.
type sampler struct {
	sizes   []int64 // length after 0, 1, ... size steps, from the durable length on
	low     []int64 // low[i]: smallest length between step i and the surviving one: the bytes that both know
	entries []entry
	pieces  []piece
	order   []int32 // of pieces, by sector
	image   []byte
	kept    int32 // size steps that survive
	posix   bool
	holes   int64 // sectors below the surviving length whose extension is lost (P2)
}

// entry is where a pending change stands: steps [first, first+count) are its size steps, before which the file had length
// size.
type entry struct {
	first, count int32
	size         int64
}

// piece is what one write overwrites in one sector, as far as it can be seen at the end. An extension that surviving
// brings its sector to the disk is a piece too, without bytes, that forces the pieces before it.
type piece struct {
	sector, from, to int64
	entry            int32
	forces, kept     bool
}

// sample returns the surviving bytes, valid until the next call.
func (s *sampler) sample(n *inode, c Chooser, key uint64, p Profile) []byte {
	s.posix, s.holes = p == Posix, 0
	s.steps(n)
	steps := int32(len(s.sizes) - 1)
	s.kept = steps - int32(c.Choose(siteLostSize, 0, key, int64(steps)+1))
	s.lowest()
	s.cut(n)
	s.chooseSectors(c, key)
	s.build(n)
	return s.image
}

// steps lists the size steps: one for each truncation that changes the length, one for each sector that a write extends.
func (s *sampler) steps(n *inode) {
	size := int64(len(n.platter()))
	s.sizes, s.entries = append(s.sizes[:0], size), s.entries[:0]
	for i := range n.pending {
		c := &n.pending[i]
		e := entry{first: int32(len(s.sizes) - 1), size: size}
		if c.data == nil {
			if c.size != size {
				size = c.size
				s.sizes = append(s.sizes, size)
			}
		} else {
			for end := c.offset + int64(len(c.data)); size < end; {
				size = min(sectorStart(max(size, c.offset))+SectorSize, end)
				s.sizes = append(s.sizes, size)
			}
		}
		e.count = int32(len(s.sizes)-1) - e.first
		s.entries = append(s.entries, e)
	}
}

func (s *sampler) lowest() {
	s.low = append(s.low[:0], s.sizes...)
	for i := s.kept - 1; i >= 0; i-- {
		s.low[i] = min(s.low[i], s.low[i+1])
	}
	for i := int(s.kept) + 1; i < len(s.low); i++ {
		s.low[i] = min(s.low[i], s.low[i-1])
	}
}

// cut makes the pieces, in program order.
func (s *sampler) cut(n *inode) {
	s.pieces = s.pieces[:0]
	for i := range n.pending {
		c, e := &n.pending[i], &s.entries[i]
		if c.data == nil {
			continue
		}
		visible := min(c.offset+int64(len(c.data)), s.low[e.first])
		if s.posix {
			visible = s.reach(c, e, visible)
		}
		for from := c.offset; from < visible; {
			to := min(sectorStart(from)+SectorSize, visible)
			s.pieces = append(s.pieces, piece{sector: sectorStart(from), from: from, to: to, entry: int32(i)})
			from = to
		}
		if s.posix {
			continue
		}
		for t := e.first + 1; t <= min(e.first+e.count, s.kept); t++ {
			if from := max(s.sizes[t-1], c.offset); from < s.low[t] {
				s.pieces = append(s.pieces, piece{sector: sectorStart(from), entry: int32(i), forces: true})
			}
		}
	}
}

// chooseSectors decides, for each sector, how many of the last overwrites in it are lost.
func (s *sampler) chooseSectors(c Chooser, key uint64) {
	s.order = s.order[:0]
	for i := range s.pieces {
		s.order = append(s.order, int32(i))
	}
	slices.SortStableFunc(s.order, func(a, b int32) int {
		if d := s.pieces[a].sector - s.pieces[b].sector; d != 0 {
			return int(min(max(d, -1), 1))
		}
		return int(a - b)
	})
	for from := 0; from < len(s.order); {
		sector := s.pieces[s.order[from]].sector
		to, free := from, int64(0)
		for ; to < len(s.order) && s.pieces[s.order[to]].sector == sector; to++ {
			if free++; s.pieces[s.order[to]].forces {
				free = 0
			}
		}
		lost := c.Choose(siteLostSector, 0, key^uint64(sector), free+1)
		for i := from; i < to-int(lost); i++ {
			s.pieces[s.order[i]].kept = true
		}
		from = to
	}
}

// build replays what survives on the durable bytes.
func (s *sampler) build(n *inode) {
	s.image = append(s.image[:0], n.platter()...)
	next := 0
	for i := range n.pending {
		c, e := &n.pending[i], &s.entries[i]
		if c.data == nil {
			if e.count > 0 && e.first < s.kept {
				s.image = resize(s.image, c.size)
			}
			continue
		}
		if last := min(e.first+e.count, s.kept); s.posix && last > e.first {
			s.image = resize(s.image, s.sizes[last])
		}
		for ; next < len(s.pieces) && s.pieces[next].entry == int32(i); next++ {
			if p := &s.pieces[next]; p.kept && !p.forces {
				copy(s.image[p.from:p.to], c.data[p.from-c.offset:])
			} else if s.posix && p.to > e.size {
				s.holes++
			}
		}
		if s.posix {
			continue
		}
		if last := min(e.first+e.count, s.kept); last > e.first {
			from := max(e.size, c.offset)
			s.image = put(s.image, c.data[from-c.offset:s.sizes[last]-c.offset], from)
		}
	}
}
