package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim/campaign"
)

// Fix is what is known about a fix.
type Fix struct {
	Capsule     string `json:"capsule"`
	Scenario    string `json:"scenario"`
	Fingerprint string `json:"fingerprint"`
	Engine      string `json:"capsule_engine"`

	// Replayed: the plan of the capsule was run, with Outcome; Matched of Decisions were drawn again with the same value.
	Replayed bool   `json:"replayed"`
	Outcome  string `json:"outcome,omitempty"`
	// Instead is the fingerprint of another finding that the plan shows now.
	Instead   string `json:"instead,omitempty"`
	Matched   int64  `json:"matched_decisions"`
	Decisions int64  `json:"capsule_decisions"`

	// Shows: the failure is still there, in the capsule's plan or in the run of Token.
	Shows bool   `json:"shows"`
	Token string `json:"token,omitempty"`

	// Before is how often it was seen, nil where nobody knows, and Source who says so. So many seeds it takes to believe a fix if the
	// rate is the one observed, and if it is the lower limit; 0: no number is enough.
	Before         *campaign.Rate `json:"before,omitempty"`
	Source         string         `json:"source,omitempty"`
	Confidence     float64        `json:"confidence"`
	NeededObserved int64          `json:"needed_at_observed_rate,omitempty"`
	NeededLow      int64          `json:"needed_at_lower_limit,omitempty"`

	Seeds int64         `json:"seeds"` // that were to be run
	Runs  int64         `json:"runs"`
	After campaign.Rate `json:"after"`
	// RuledOut is the rate over which the runs rule the failure out at the confidence.
	RuledOut float64 `json:"ruled_out_above"`
	// The confidence that the runs give for either rate, and whether that for the lower limit is what was asked for.
	BelievedObserved float64           `json:"believed_at_observed_rate,omitempty"`
	BelievedLow      float64           `json:"believed_at_lower_limit,omitempty"`
	Believed         bool              `json:"believed"`
	Others           []campaign.Bucket `json:"other_findings,omitempty"`
	Interrupted      bool              `json:"interrupted,omitempty"`
}

// seedsNeeded says how many seeds it takes; 0 is more than anybody can run.
func seedsNeeded(n int64) string {
	if n == 0 {
		return "more seeds than can be run"
	}
	return Plural(n, "seed")
}

// WriteFix says it in words.
func WriteFix(w io.Writer, f *Fix) error {
	var b strings.Builder
	fmt.Fprintf(&b, "failure: %s in %s\n", f.Fingerprint, f.Scenario)
	writeReplayed(&b, f)
	if f.Before != nil {
		fmt.Fprintf(&b, "before: %s (%s)\n", Rate(*f.Before), f.Source)
		fmt.Fprintf(&b, "to believe a fix at %s confidence: %s at the rate observed, %s at its lower limit\n", Share(f.Confidence),
			seedsNeeded(f.NeededObserved), seedsNeeded(f.NeededLow))
	} else {
		b.WriteString("before: no campaign says how often it was seen: run one of the build that fails, or say it with --rate 5/3000\n")
	}
	if f.Runs > 0 {
		writeRuns(&b, f)
	}
	for i := range f.Others {
		fmt.Fprintf(&b, "another finding: %s, %s, first %s\n", f.Others[i].Fingerprint, Rate(f.Others[i].Rate), f.Others[i].Example.Token())
	}
	switch {
	case f.Shows:
		b.WriteString("NOT FIXED\n")
	case f.Interrupted:
		b.WriteString("Interrupted: these are the results so far.\n")
	case f.Believed:
		b.WriteString("fixed, as far as such runs can tell\n")
	case f.Before != nil:
		fmt.Fprintf(&b, "not shown any more, but %s confidence would take more runs\n", Share(f.Confidence))
	default:
		b.WriteString("not shown any more\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeReplayed(b *strings.Builder, f *Fix) {
	switch {
	case !f.Replayed:
		b.WriteString("the capsule's plan: not run here, since it took its process along; workers run its scenario\n")
		return
	case f.Shows && f.Runs == 0:
		fmt.Fprintf(b, "the capsule's plan: still shows it")
	default:
		fmt.Fprintf(b, "the capsule's plan: does not show it any more, and ends with %s", f.Outcome)
	}
	if f.Instead != "" {
		fmt.Fprintf(b, " (ANOTHER FINDING: %s)", f.Instead)
	}
	if f.Decisions > 0 {
		fmt.Fprintf(b, "; %s of %s came up again", Count(f.Matched), Plural(f.Decisions, "decision"))
	}
	b.WriteString("\n")
}

func writeRuns(b *strings.Builder, f *Fix) {
	if f.After.Runs > 0 {
		fmt.Fprintf(b, "after: %s, %s\n", Rate(f.After), f.Token)
		return
	}
	fmt.Fprintf(b, "after: none of %s; a rate over %s is ruled out at %s confidence\n", Plural(f.Runs, "run"), Share(f.RuledOut),
		Share(f.Confidence))
	if f.Before != nil {
		fmt.Fprintf(b, "that is %s confidence for the rate observed, %s for its lower limit\n", Share(f.BelievedObserved), Share(f.BelievedLow))
	}
}
