package campaign

import "github.com/kraftsim/kraftsim/sim"

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

// sites sums up the dosage, and judges it when every scenario ran, often enough.
func (c *campaign) sites(runs int64) (list []Site) {
	for _, doc := range c.Catalogue.Sites {
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
	return list
}
