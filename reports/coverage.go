package reports

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// coverageLine says in a sentence what the seeds covered and what the last of them brought.
func coverageLine(c *campaign.CoverageSummary) string {
	about := ""
	if !c.Exact {
		about = "about "
	}
	return fmt.Sprintf("Covered: %s%s of state, fault and workload; the last tenth of the seeds brought %s of them, %.1f %%.", about,
		Plural(c.Combinations, "combination"), Count(c.New[campaign.Tenths-1]), 100*c.LastTenth())
}

// writeCoverage adds what the seeds covered to the text of a campaign.
func writeCoverage(b *strings.Builder, s *campaign.Summary) {
	if s.Coverage != nil {
		fmt.Fprintf(b, "%s\n", coverageLine(s.Coverage))
	}
}
