package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// Comparison prints what became of the failures of a campaign.
func Comparison(w io.Writer, c *campaign.Comparison) error {
	var b strings.Builder
	writeComparison(&b, c)
	_, err := io.WriteString(w, b.String())
	return err
}

func writeComparison(b *strings.Builder, c *campaign.Comparison) {
	fmt.Fprintf(b, "Against %s: %d new, %d ongoing, %d gone\n", compared(&c.Before), c.Count(campaign.NewFailure),
		c.Count(campaign.OngoingFailure), c.Count(campaign.GoneFailure))
	if c.Before.Engine != c.After.Engine {
		fmt.Fprintf(b, "  engine %s then, engine %s now: the same seeds run differently\n", c.Before.Engine, c.After.Engine)
	}
	for i := range c.Changes {
		change := &c.Changes[i]
		fmt.Fprintf(b, "  %-7s %s", change.Change, change.Fingerprint)
		if change.Before.OutOf > 0 || change.After.OutOf > 0 {
			fmt.Fprintf(b, ": %s, then %s", Rate(change.Before), Rate(change.After))
		}
		if change.Token != "" && change.Change != campaign.GoneFailure {
			fmt.Fprintf(b, "; %s", change.Token)
		}
		b.WriteByte('\n')
		if change.Change != campaign.OngoingFailure && change.Chance > 0.05 && change.Chance < 1 {
			fmt.Fprintf(b, "          may be chance: at that rate one campaign in %s misses it\n", Count(int64(1/change.Chance)))
		}
	}
}

func compared(c *campaign.Compared) string {
	name := "the earlier campaign"
	if c.ID != 0 {
		name = fmt.Sprintf("campaign %d", c.ID)
	}
	if c.When != "" {
		name += " of " + c.When
	}
	return fmt.Sprintf("%s (%s from seed %d)", name, Plural(c.Runs, "run"), c.First)
}
