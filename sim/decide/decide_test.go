package decide

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	siteA = NewSite("test/a", "a choice", 0)
	siteB = NewSite("test/b", "another choice", 0)
)

// Deleting some draws must leave the value of every name that both runs draw unchanged.
func TestNamesAreIndependentOfOtherDraws(t *testing.T) {
	full := drawAll(func(i int) bool { return true })
	thin := drawAll(func(i int) bool { return i%3 != 0 })
	require.Greater(t, len(thin), 300)
	for name, v := range thin {
		require.Equal(t, full[name], v)
	}
}

func drawAll(keep func(i int) bool) map[Name]int64 {
	var s Source
	s.Reset(7, nil, nil)
	got := map[Name]int64{}
	s.Record(func(d Drawn) { got[d.Name] = d.Value })
	for i := range 1000 {
		s.Advance(int64(i) * 10_000_000)
		if keep(i) {
			s.Choose(siteA, uint64(i%5), 1, uint64(i), 1000)
			s.Choose(siteA, uint64(i%5), 1, uint64(i), 1000) // a repeat: occurrence 1
		}
		s.Chance(siteB, 3, 2, uint64(i), 250_000)
	}
	return got
}

func TestChooseIsUniformAndInDomain(t *testing.T) {
	var s Source
	s.Reset(1, nil, nil)
	var seen [10]int
	for i := range 100_000 {
		seen[s.Choose(siteA, 0, 0, uint64(i), 10)]++
	}
	for v, n := range seen {
		require.InDelta(t, 10_000, n, 500, "value %d", v)
	}
	hits := 0
	for i := range 100_000 {
		if s.Chance(siteB, 0, 0, uint64(i), 30_000) {
			hits++
		}
	}
	require.InDelta(t, 3_000, hits, 300)
}

func TestOccurrenceStartsAgainInEachWindow(t *testing.T) {
	var s Source
	s.Reset(1, nil, nil)
	var names []Name
	s.Record(func(d Drawn) { names = append(names, d.Name) })
	s.Choose(siteA, 1, 1, 1, 5)
	s.Choose(siteA, 1, 1, 1, 5)
	s.Advance(WindowNs)
	s.Choose(siteA, 1, 1, 1, 5)
	require.Equal(t, []uint32{0, 1, 0}, []uint32{names[0].Occurrence, names[1].Occurrence, names[2].Occurrence})
	require.Equal(t, names[1].Hash(), Name{siteA.Hash(), 1, 1, 1, 0, 1}.Hash())
}

func TestOverrideReplacesOneValue(t *testing.T) {
	target := Name{siteA.Hash(), 1, 1, 9, 0, 0}.Hash()
	var s Source
	s.Reset(1, []Override{{target, 77}}, nil)
	require.Equal(t, int64(77), s.Choose(siteA, 1, 1, 9, 1000))
	var plain Source
	plain.Reset(1, nil, nil)
	require.Equal(t, plain.Choose(siteA, 1, 1, 10, 1000), s.Choose(siteA, 1, 1, 10, 1000))
}

func TestReseedKeepsThePrefix(t *testing.T) {
	run := func(r []Reseed) (values []int64) {
		var s Source
		s.Reset(1, nil, r)
		for w := range int64(10) {
			s.Advance(w * WindowNs)
			values = append(values, s.Choose(siteA, 1, 1, 1, 1<<40))
		}
		return values
	}
	a, b := run(nil), run([]Reseed{{FromWindow: 5, Seed: 99}})
	require.Equal(t, a[:5], b[:5])
	for i := 5; i < 10; i++ {
		require.NotEqual(t, a[i], b[i])
	}
}

func TestTableGrowsWithoutLosingCounts(t *testing.T) {
	var s Source
	s.Reset(1, nil, nil)
	for i := range 5000 {
		s.Choose(siteA, 1, 1, uint64(i), 5)
	}
	var last Name
	s.Record(func(d Drawn) { last = d.Name })
	s.Choose(siteA, 1, 1, 17, 5)
	require.Equal(t, uint32(1), last.Occurrence)
}

// Pinned values: capsules on disk depend on them. Do not edit; a change needs a CHANGELOG entry.
func TestRegressValues(t *testing.T) {
	var s Source
	s.Reset(42, nil, nil)
	got := []int64{s.Choose(siteA, 1, 2, 3, 1<<30), s.Choose(siteA, 1, 2, 3, 1<<30), s.Choose(siteB, 1, 2, 3, 1<<30)}
	fold, draws := s.Digest()
	require.Equal(t, regressValues, got)
	require.Equal(t, regressFold, fold)
	require.Equal(t, int64(3), draws)
}

func BenchmarkChoose(b *testing.B) {
	var s Source
	s.Reset(1, nil, nil)
	b.ReportAllocs()
	for i := range b.N {
		s.Advance(int64(i) * 100_000)
		s.Choose(siteA, 1, 1, uint64(i), 1000)
	}
}

var spread = NewSpread("test/spread", "a delay")

// An explicit source draws no fault that no override names, whatever the rates; a spread comes from the seed as ever.
func TestExplicitDrawsOnlyWhatIsNamed(t *testing.T) {
	run := func(explicit bool, overrides []Override) (drawn []Drawn) {
		var s Source
		s.Reset(3, overrides, nil)
		if explicit {
			s.Explicit()
		}
		s.Record(func(d Drawn) { drawn = append(drawn, d) })
		for i := range 200 {
			s.Advance(int64(i) * 20_000_000)
			s.Chance(siteB, 1, 2, uint64(i%7), 300_000)
			s.Choose(siteA, 1, 2, uint64(i), 9)
			s.Choose(spread, 1, 2, uint64(i), 1000)
		}
		return drawn
	}
	seeded := run(false, nil)
	var faults []Override
	for _, d := range seeded {
		if !d.Site.Spread() && d.Value != d.Site.Benign() {
			faults = append(faults, Override{NameHash: d.Hash, Value: d.Value})
		}
	}
	require.Greater(t, len(faults), 150)
	require.Equal(t, seeded, run(true, faults), "naming all of them draws the same")
	kept := faults[:40]
	left, spreads := map[uint64]int64{}, 0
	for i, d := range run(true, kept) {
		if d.Site.Spread() {
			require.Equal(t, seeded[i], d)
			spreads++
		} else if d.Value != d.Site.Benign() {
			left[d.Hash] = d.Value
		}
	}
	require.Equal(t, 200, spreads)
	require.Len(t, left, len(kept))
	for _, o := range kept {
		require.Equal(t, o.Value, left[o.NameHash])
	}
}

// TestIdleChancesCount: where rates change within a run a chance has the same name whether the rate was zero before or not, so that what one run
// drew can be played in another.
func TestIdleChancesCount(t *testing.T) {
	for _, counting := range []bool{false, true} {
		var s Source
		s.Reset(1, nil, nil)
		if counting {
			s.CountIdle()
		}
		var drawn []Drawn
		s.Record(func(d Drawn) { drawn = append(drawn, d) })
		site := NewSite("idle", "a rate that changes", 0)
		require.False(t, s.Chance(site, 1, 2, 3, 0))
		require.True(t, s.Chance(site, 1, 2, 3, 1_000_000))
		require.Len(t, drawn, 1)
		var again Source
		again.Reset(1, []Override{{NameHash: drawn[0].Hash, Value: 1}}, nil)
		first, second := again.Chance(site, 1, 2, 3, 0), again.Chance(site, 1, 2, 3, 0)
		require.Equal(t, []bool{!counting, counting}, []bool{first, second})
	}
}
