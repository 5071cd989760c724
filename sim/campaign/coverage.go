package campaign

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/kraftsim/kraftsim/sim"
)

// coverBound is how many combinations of a scenario are kept. Up to there counts are exact, above they are estimates from those with the
// smallest hashes (a bottom-k sketch): within about 1/sqrt(512), four percent.
const coverBound = 512

// Coverage is the set of combinations (state, fault, workload) that runs of one scenario came to, each with the lowest seed that did.
// Which combinations it keeps depends on the set alone, so that merging in any order gives the same.
type Coverage struct {
	// cut: every combination whose hash is below it is kept, none other. 1<<32 while all are.
	cut      uint64
	from, to uint64 // lowest and highest seed
	any      bool   // a seed was counted
	points   map[uint32]coverPoint
}

// coverCell is a fault in force under a kind of workload.
type coverCell struct{ fault, workload string }

func (c coverCell) compare(o coverCell) int {
	return cmp.Or(cmp.Compare(c.fault, o.fault), cmp.Compare(c.workload, o.workload))
}

type coverPoint struct {
	cell coverCell
	seed uint64
}

const coverAll = 1 << 32

// add counts what one run came to.
func (c *Coverage) add(seed uint64, r *sim.Result) {
	c.seeds(seed, seed)
	for i := range r.Coverage {
		c.put(r.Coverage[i].State, coverPoint{coverCell{r.Coverage[i].Fault, r.Workload}, seed})
	}
	c.settle(2 * coverBound) // seldom, while runs are added one by one
}

func (c *Coverage) seeds(from, to uint64) {
	if c.points == nil {
		c.points, c.cut = make(map[uint32]coverPoint), coverAll
	}
	if !c.any {
		c.from, c.to, c.any = from, to, true
	}
	c.from, c.to = min(c.from, from), max(c.to, to)
}

func (c *Coverage) put(hash uint32, p coverPoint) {
	if uint64(hash) >= c.cut {
		return
	}
	if have, ok := c.points[hash]; ok {
		p.seed = min(p.seed, have.seed)
		if have.cell.compare(p.cell) < 0 { // two combinations of one hash: always the same one of them
			p.cell = have.cell
		}
	}
	c.points[hash] = p
}

// settle lowers the cut when more than so many are kept, to where coverBound are.
func (c *Coverage) settle(most int) {
	if len(c.points) <= most {
		return
	}
	hashes := c.hashes()
	c.cut = uint64(hashes[coverBound])
	for _, hash := range hashes[coverBound:] {
		delete(c.points, hash)
	}
}

func (c *Coverage) hashes() []uint32 {
	hashes := make([]uint32, 0, len(c.points))
	for hash := range c.points {
		hashes = append(hashes, hash)
	}
	slices.Sort(hashes)
	return hashes
}

// merge adds the combinations of other seeds of the same scenario.
func (c *Coverage) merge(o *Coverage) {
	if !o.any {
		return
	}
	c.seeds(o.from, o.to)
	o.settle(coverBound)
	c.cut = min(c.cut, o.cut)
	for hash := range c.points {
		if uint64(hash) >= c.cut {
			delete(c.points, hash)
		}
	}
	for hash, p := range o.points {
		c.put(hash, p)
	}
	c.settle(coverBound)
}

// coverageJSON is a Coverage on its way between processes, and in files of results.
type coverageJSON struct {
	Cut   uint64          `json:"cut,omitempty"` // absent: all are kept
	From  uint64          `json:"from"`
	To    uint64          `json:"to"`
	Cells []coverCellJSON `json:"cells"`
}

type coverCellJSON struct {
	Fault    string `json:"fault,omitempty"`
	Workload string `json:"workload,omitempty"`
	Points   string `json:"points"` // base64; each is a hash of 4 bytes and the seed behind From as 4 bytes, little endian, by hash
}

const coverPointBytes = 8

// MarshalJSON is json.Marshaler.
func (c *Coverage) MarshalJSON() ([]byte, error) {
	c.settle(coverBound)
	doc := coverageJSON{From: c.from, To: c.to, Cells: []coverCellJSON{}}
	if c.any && c.cut < coverAll {
		doc.Cut = c.cut
	}
	bytes := make(map[coverCell][]byte)
	for _, hash := range c.hashes() {
		p := c.points[hash]
		b := binary.LittleEndian.AppendUint32(bytes[p.cell], hash)
		bytes[p.cell] = binary.LittleEndian.AppendUint32(b, uint32(min(p.seed-c.from, math.MaxUint32)))
	}
	cells := make([]coverCell, 0, len(bytes))
	for cell := range bytes {
		cells = append(cells, cell)
	}
	slices.SortFunc(cells, coverCell.compare)
	for _, cell := range cells {
		doc.Cells = append(doc.Cells, coverCellJSON{cell.fault, cell.workload, base64.StdEncoding.EncodeToString(bytes[cell])})
	}
	return json.Marshal(&doc)
}

// UnmarshalJSON is json.Unmarshaler.
func (c *Coverage) UnmarshalJSON(data []byte) error {
	var doc coverageJSON
	if err := json.Unmarshal(data, &doc); err != nil {
		return fmt.Errorf("campaign: coverage: %w", err)
	}
	*c = Coverage{}
	if doc.From == 0 && doc.To == 0 && len(doc.Cells) == 0 {
		return nil
	}
	c.seeds(doc.From, doc.To)
	if doc.Cut != 0 {
		c.cut = doc.Cut
	}
	for _, cell := range doc.Cells {
		points, err := base64.StdEncoding.DecodeString(cell.Points)
		if err != nil || len(points)%coverPointBytes != 0 {
			return fmt.Errorf("campaign: coverage: points of %q are damaged", cell.Fault)
		}
		for ; len(points) > 0; points = points[coverPointBytes:] {
			seed := doc.From + uint64(binary.LittleEndian.Uint32(points[4:]))
			c.put(binary.LittleEndian.Uint32(points), coverPoint{coverCell{cell.Fault, cell.Workload}, seed})
		}
	}
	return nil
}

// Tenths is into how many parts the seeds of a scenario are cut to tell how many new combinations each brought.
const Tenths = 10

// CoverageSummary says how much of what a scenario can come to its runs came to.
type CoverageSummary struct {
	// Combinations of a protocol state, a fault in force and a kind of workload that were met; an estimate unless Exact.
	Combinations int64 `json:"combinations"`
	Exact        bool  `json:"exact"`
	// New says how many of them each tenth of the seeds met first. While the last tenth still brings many, more seeds bring more.
	New   [Tenths]int64  `json:"new"`
	Cells []CoverageCell `json:"cells"` // by fault, then workload
}

// CoverageCell is how many protocol states were met while one kind of fault was in force, under one kind of workload.
type CoverageCell struct {
	Fault    string `json:"fault"`    // kind of action, "" for none
	Workload string `json:"workload"` // kinds of workload, joined by "+", "" for none
	States   int64  `json:"states"`
}

// LastTenth is the share of all combinations that the last tenth of the seeds met first, 0 of none.
func (s *CoverageSummary) LastTenth() float64 {
	if s.Combinations == 0 {
		return 0
	}
	return float64(s.New[Tenths-1]) / float64(s.Combinations)
}

// extent changes whenever a combination is met that was not met before: more are kept, or fewer hashes are looked at.
func (c *Coverage) extent() [2]uint64 { return [2]uint64{uint64(len(c.points)), c.cut} }

func (c *Coverage) summary() *CoverageSummary {
	if len(c.points) == 0 {
		return nil // nothing was counted, or runs of a program that tells nothing
	}
	c.settle(coverBound)
	scale := float64(coverAll) / float64(c.cut)
	scaled := func(n int64) int64 { return int64(math.Round(float64(n) * scale)) }
	s := &CoverageSummary{Exact: c.cut == coverAll, Combinations: scaled(int64(len(c.points))), Cells: []CoverageCell{}}
	cells := make(map[coverCell]int64)
	span := c.to - c.from + 1
	for _, p := range c.points {
		cells[p.cell]++
		s.New[tenth(p.seed-c.from, span)]++
	}
	for i := range s.New {
		s.New[i] = scaled(s.New[i])
	}
	for cell, n := range cells {
		s.Cells = append(s.Cells, CoverageCell{cell.fault, cell.workload, scaled(n)})
	}
	slices.SortFunc(s.Cells, func(a, b CoverageCell) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Workload, b.Workload))
	})
	return s
}

// tenth is the one in which the nth of so many seeds lies, from 0. The last seed lies in the last tenth, of fewer than ten seeds too: else nothing
// would lie there, and the campaign would seem to have seen all.
func tenth(nth, seeds uint64) uint64 { return min(((nth+1)*Tenths-1)/max(seeds, 1), Tenths-1) }

// sumCoverage adds up what scenarios came to: a state of one is none of another.
func sumCoverage(list []ScenarioSummary) *CoverageSummary {
	total := &CoverageSummary{Exact: true, Cells: []CoverageCell{}}
	cells := make(map[coverCell]int64)
	found := false
	for i := range list {
		s := list[i].Coverage
		if s == nil {
			continue
		}
		found = true
		total.Combinations += s.Combinations
		total.Exact = total.Exact && s.Exact
		for k := range s.New {
			total.New[k] += s.New[k]
		}
		for _, cell := range s.Cells {
			cells[coverCell{cell.Fault, cell.Workload}] += cell.States
		}
	}
	if !found {
		return nil
	}
	for cell, n := range cells {
		total.Cells = append(total.Cells, CoverageCell{cell.fault, cell.workload, n})
	}
	slices.SortFunc(total.Cells, func(a, b CoverageCell) int {
		return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Workload, b.Workload))
	})
	return total
}
