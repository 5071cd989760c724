package reports

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// Share prints a probability as a percentage with two digits that count, 12%, 0.012%, and near the whole as many nines as there are:
// 99.99%. Only the whole is 100%.
func Share(p float64) string {
	if p <= 0 {
		return "0%"
	}
	percent := 100 * p
	digits := max(1-int(math.Floor(math.Log10(percent))), 0)
	if p < 1 && percent > 99 {
		digits = -int(math.Floor(math.Log10(100 - percent)))
	}
	text := strconv.FormatFloat(percent, 'f', min(digits, 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + "%"
}

// Rate prints how often something was seen, and in which limits its probability lies: 5 of 300 runs, 1.7% (0.54% to 3.8%).
func Rate(r campaign.Rate) string {
	switch {
	case r.OutOf == 0:
		return "no runs"
	case r.Runs == 0:
		return fmt.Sprintf("0 of %s, less than %s", Plural(r.OutOf, "run"), Share(r.High))
	}
	return fmt.Sprintf("%s of %s, %s (%s to %s)", Count(r.Runs), Plural(r.OutOf, "run"), Share(r.Observed()), Share(r.Low), Share(r.High))
}

// writeRates says what the number of findings says about the seeds that did not run.
func writeRates(b *strings.Builder, s *campaign.Summary) {
	if s.FindingRuns.OutOf > 0 {
		fmt.Fprintf(b, "Findings by seed: %s, at 95%% confidence\n", Rate(s.FindingRuns))
	}
	if c := s.Canary; c != nil {
		fmt.Fprintf(b, "Canary: the planted bug of %s was found in %s of %s and shortened to %s, in %d ms\n", c.Scenario,
			Count(c.Runs), Plural(c.OutOf, "run"), Plural(c.Actions, "action"), c.ElapsedMs)
	}
}

// writeEnd says how the campaign ended, where that was not with its last seed.
func writeEnd(b *strings.Builder, s *campaign.Summary) {
	if s.Shard != "" {
		fmt.Fprintf(b, "Part %s of a campaign: `%s merge` sums the parts up\n", s.Shard, s.Program)
	}
	if s.Stopped != "" {
		fmt.Fprintf(b, "Stopped by a rule: %s\n", s.Stopped)
	}
	if s.Missing > 0 {
		fmt.Fprintf(b, "Not run: %s of this campaign\n", Plural(s.Missing, "seed"))
	}
}
