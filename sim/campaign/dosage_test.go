package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

func TestAPlaceIsRedWhereNoCrashLeftAPartOfIt(t *testing.T) {
	for _, c := range []struct {
		parts bool
		site  Site
		want  string
	}{
		{false, Site{}, "no crash struck it"},
		{true, Site{}, "no crash struck it"},
		{true, Site{Before: 3, After: 9}, "no crash struck during it"},
		{true, Site{During: 1}, ""},
		{false, Site{Before: 3}, ""}, // whole or not there: during it is before it or after it
		{false, Site{After: 3}, ""},
	} {
		c.site.judge(&sim.SiteDoc{Name: "x", Parts: c.parts})
		if c.want == "" {
			require.Empty(t, c.site.Red, "%+v", c)
			continue
		}
		require.Contains(t, c.site.Red, c.want, "%+v", c)
	}
}

// Each stage has a counter of its own, and what is counted under another name is told.
func TestSitesSumUpByStage(t *testing.T) {
	tally := newTally("toy")
	for name, n := range map[string]int64{
		sim.SiteStat("segment write", sim.SiteBefore): 1, sim.SiteStat("segment write", sim.SiteDuring): 20,
		sim.SiteStat("segment write", sim.SiteAfter): 300, sim.SiteStat("segment write", "afterwards"): 4_000,
		sim.SiteStat("segmnt write", sim.SiteAfter): 50_000, "crashes": 9,
	} {
		tally.Stats[name] = n
	}
	c := &campaign{Config: Config{Catalogue: &sim.Catalogue{Sites: []sim.SiteDoc{{Name: "segment write"}}}}, tallies: []*Tally{tally, tally}}
	list := c.sites(10)
	require.Equal(t, Site{Name: "segment write", Before: 2, During: 40, After: 600}, list[0])
	require.Len(t, list, 3)
	require.Equal(t, "site segment write afterwards", list[1].Name)
	require.Contains(t, list[1].Red, "counted 8000 times, and no place has that name")
	require.Equal(t, "site segmnt write after", list[2].Name)
}

func TestADosageThatIsMissedIsRed(t *testing.T) {
	for _, c := range []struct {
		ppm, hits, runs int64
		red             bool
	}{
		{500_000, 100, 200, false},
		{500_000, 99, 200, true},
		{500_000, 0, 200, true},
		{500_000, 0, 199, false}, // too few to say
		{0, 0, 10_000, false},    // no dosage
		{200_000, 1_999, 10_000, true},
	} {
		require.Equal(t, c.red, shortOf(c.ppm, c.hits, c.runs) != "", "%+v", c)
	}
}
