package history_test

import (
	"fmt"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
)

// What every host knew when the invariant broke.
func ExampleCursor() {
	catalogue := register.Catalogue()
	recorded, err := history.Record(sim.NewEngine(catalogue), catalogue.Scenario("register/broken").Draw(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	c := history.NewCursor(recorded)
	for c.Next() && c.Event().Kind != history.Violation {
	}
	fmt.Println(c.Event().Text)
	for i := range c.Hosts {
		fmt.Println(recorded.Hosts[i], "boot", c.Hosts[i].Boot, "value", c.Hosts[i].Value("value"))
	}
	// Output:
	// acknowledged-survives: n2 answered 1 although n1 had acknowledged 6
	// n1 boot 1 value 10
	// n2 boot 2 value 1
}
