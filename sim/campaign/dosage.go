package campaign

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kraftsim/kraftsim/sim"
)

// Site is how often crashes struck one place at which the program changes a disk: as the next operation, during it, and after it.
type Site struct {
	Name   string `json:"name"`
	Before int64  `json:"before"`
	During int64  `json:"during"`
	After  int64  `json:"after"`
	Red    string `json:"red,omitempty"`
}

// dosageRuns is how many runs of all scenarios must have struck every place. The usual campaign has ten thousand.
const dosageRuns = 5_000

// judge says what is red: a place that no crash struck, and one of which no crash may have left a part although it could have.
func (s *Site) judge(doc *sim.SiteDoc) {
	switch {
	case s.Before+s.During+s.After == 0:
		s.Red = "no crash struck it: nobody tested what a start makes of that"
	case doc.Parts && s.During == 0:
		s.Red = "no crash struck during it: nobody tested what a start makes of a part"
	}
}

// sites sums up the dosage, and judges it when every scenario ran, often enough. What was counted under a name that no place or no stage has
// is red at once: it is missing from the counts of some place.
func (c *campaign) sites(runs int64) (list []Site) {
	unknown := make(map[string]int64)
	for _, t := range c.tallies {
		for name, n := range t.Stats {
			if sim.IsSiteStat(name) {
				unknown[name] += n
			}
		}
	}
	for _, doc := range c.Catalogue.Sites {
		for _, when := range []string{sim.SiteBefore, sim.SiteDuring, sim.SiteAfter} {
			delete(unknown, sim.SiteStat(doc.Name, when))
		}
		s := Site{Name: doc.Name}
		for _, t := range c.tallies {
			s.Before += t.Stats[sim.SiteStat(doc.Name, sim.SiteBefore)]
			s.During += t.Stats[sim.SiteStat(doc.Name, sim.SiteDuring)]
			s.After += t.Stats[sim.SiteStat(doc.Name, sim.SiteAfter)]
		}
		if runs >= dosageRuns && c.complete("") {
			s.judge(&doc)
		}
		list = append(list, s)
	}
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		list = append(list, Site{Name: name, Red: fmt.Sprintf("counted %d times, and no place has that name: correct the name, or list the place", unknown[name])})
	}
	return list
}
