package explore_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/sim/explore"
)

// Three voters, of which one may die: there is a schedule in which two lead. It is found, and it is a plan.
func ExampleSearch() {
	e, p := engine(true)
	report, err := explore.New(e, p, explore.Bounds{Depth: 10, Deviations: -1, Faults: 1}).Run(func(r *explore.Report) bool {
		return len(r.Findings) > 0
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Covered)
	fmt.Println(report.Findings[0].Fingerprint, report.Complete)
	// Output:
	// all schedules to depth 10 with at most 1 faults, from 0s
	// violation/one-leader/two false
}
