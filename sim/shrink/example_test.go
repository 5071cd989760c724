package shrink_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// A seed fails under three losses of power. Two of them, and one sector that the second takes, are what it needs.
func Example() {
	catalogue := register.Catalogue()
	engine := sim.NewEngine(catalogue)
	failing := catalogue.Scenario("register/broken").Draw(2)
	found, err := engine.Run(failing, sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	target := found.Verdict.Fingerprint()
	small, stats := shrink.Shrink(engine, failing, target, 300, nil)
	fmt.Println(len(failing.Actions), "actions before,", len(small.Actions), "after; minimal:", stats.Minimal)
	for _, part := range shrink.Necessary(engine, small, target, shrink.Parts(small)) {
		if part.Fault() && part.Necessary {
			fmt.Println(part.Kind, part.Text)
		}
	}
	again, err := engine.Run(small, sim.Options{})
	fmt.Println(again.Verdict.Outcome == plan.Violation, again.Verdict.Fingerprint() == target, err)
	// Output:
	// 3 actions before, 2 after; minimal: true
	// action 20ms power down=2ms hosts=n2 #power-1
	// action 80ms power hosts=n2 #power-0
	// decision disk/lost-sector n2 kind=0 key=15983194352089739325 window=0s #1 = 4
	// true true <nil>
}
