package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim"
)

// compareDifference is the rows in which two neighbouring variants were not the same.
type compareDifference struct {
	Variants [2]string `json:"variants"`
	Rows     []string  `json:"rows"`
}

// notes adds what the cells do not show at a glance: in which rows neighbours differ, and which declared hazards of the cases no run met,
// as those that take more plans than were drawn.
func (s *compareSheet) notes(hazards []sim.HazardDoc) {
	for i := 1; i < len(s.Variants); i++ {
		d := compareDifference{Variants: [2]string{s.Variants[i-1], s.Variants[i]}, Rows: []string{}}
		for r := range s.Rows {
			if s.Rows[r].Cells[i-1].text() != s.Rows[r].Cells[i].text() {
				d.Rows = append(d.Rows, s.Rows[r].Name)
			}
		}
		s.Differences = append(s.Differences, d)
	}
	met := map[string]bool{}
	for r := range s.Rows {
		for _, c := range s.Rows[r].Cells {
			for _, e := range c.Shortest {
				met[e.Target] = true
			}
		}
	}
	s.NotMet = []string{}
	for _, h := range hazards {
		if !met["hazard/"+h.ID] && slices.ContainsFunc(scenarios.KIPRows(), func(r scenarios.CompareRow) bool { return r.Case(h.Scenario) }) {
			s.NotMet = append(s.NotMet, fmt.Sprintf("%s (%s; at least %d of a million runs meet it)", h.ID, h.Scenario, h.DuePerMillion))
		}
	}
}

func (s *compareSheet) printNotes(w io.Writer) error {
	for _, d := range s.Differences {
		rows := strings.Join(d.Rows, " ")
		if rows == "" {
			rows = "none"
		}
		if _, err := fmt.Fprintf(w, "%s and %s differ in: %s\n", d.Variants[0], d.Variants[1], rows); err != nil {
			return err
		}
	}
	for _, h := range s.NotMet {
		if _, err := fmt.Fprintf(w, "declared hazard that no run met: %s\n", h); err != nil {
			return err
		}
	}
	return nil
}
