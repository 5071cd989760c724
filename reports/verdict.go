package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// maxFrames is how many frames of a panic's stack are printed; the JSON has them all.
const maxFrames = 6

// Verdict prints a verdict for people.
func Verdict(w io.Writer, v *plan.Verdict) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", v.Outcome)
	if f := v.Fingerprint(); f != "" {
		fmt.Fprintf(&b, "  [%s]", f)
	}
	b.WriteByte('\n')
	for i := range v.Broken {
		broken := &v.Broken[i]
		kind := "broken"
		if broken.Hazard != "" {
			kind = "hazard " + broken.Hazard
		}
		fmt.Fprintf(&b, "  %s: %s, at %ss, event %d: %s\n", kind, broken.Invariant, clock(int64(broken.AtUs)), broken.Event,
			broken.Detail)
		for _, frame := range broken.Stack[:min(len(broken.Stack), maxFrames)] {
			fmt.Fprintf(&b, "    at %s\n", frame)
		}
	}
	for _, line := range v.Waiting {
		fmt.Fprintf(&b, "  waiting: %s\n", line)
	}
	for _, s := range v.Stopped {
		at := ""
		if s.AtBoot {
			at = " while it booted"
		}
		fmt.Fprintf(&b, "  stopped: %s at %ss%s: %s\n", s.Host, clock(int64(s.AtUs)), at, s.Error)
	}
	for _, r := range v.Refused {
		fmt.Fprintf(&b, "  refused: action %s: %s\n", r.Action, r.Reason)
	}
	fmt.Fprintf(&b, "%s in %ss of virtual time, %s\n", Plural(int64(v.Events), "event"), clock(int64(v.VirtualUs)),
		Plural(int64(v.Decisions), "decision"))
	if line := counts(v.Stats); line != "" {
		fmt.Fprintf(&b, "counts: %s\n", line)
	}
	if line := counts(v.Sometimes); line != "" {
		fmt.Fprintf(&b, "sometimes: %s\n", line)
	}
	fmt.Fprintf(&b, "hashes: trace %s, behaviour %s\n", v.TraceHash, v.BehaviourHash)
	_, err := io.WriteString(w, b.String())
	return err
}

// counts prints the values of a map that are not zero, by name.
func counts(m map[string]int64) string {
	names := make([]string, 0, len(m))
	for name, n := range m {
		if n != 0 && !sim.IsSiteStat(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = Count(m[name]) + " " + name
	}
	return strings.Join(names, ", ")
}
