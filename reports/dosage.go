package reports

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// writeDosage prints where crashes struck.
func writeDosage(b *strings.Builder, s *campaign.Summary) {
	if len(s.Dosage) == 0 {
		return
	}
	rows := [][]string{{"crashes at", ">before", ">during", ">after", ""}}
	for i := range s.Dosage {
		d := &s.Dosage[i]
		rows = append(rows, []string{d.Name, Count(d.Before), Count(d.During), Count(d.After), red(d.Red)})
	}
	b.WriteByte('\n')
	_ = Table(b, rows) // a strings.Builder accepts every write
}
