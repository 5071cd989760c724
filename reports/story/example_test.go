package story_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// From a seed to a story. The words are those of the program: register.message says what it claims (sim.Describer), and its
// catalogue what a file holds (sim.Catalogue.Decode).
func ExampleTell() {
	catalogue := register.Catalogue()
	engine := sim.NewEngine(catalogue)
	failing := catalogue.Scenario("register/broken").Draw(1)
	found, err := engine.Run(failing, sim.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	target := found.Verdict.Fingerprint()
	small, _ := shrink.Shrink(engine, failing, target, 300, nil)
	parts := shrink.Necessary(engine, small, target, shrink.Parts(small))
	recorded, err := history.Record(engine, small)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(story.Tell(recorded, parts))
	// Output:
	//  1. n1 acknowledges 7
	//  2. at 0.050s n2 loses power and loses what it had written to register (value 7), not flushed (necessary)
	//  3. n2 starts again
	//  4. n2 answered 2 although n1 had acknowledged 7: acknowledged-survives is broken
}
