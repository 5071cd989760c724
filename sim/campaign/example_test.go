package campaign_test

import (
	"context"
	"fmt"
	"os"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// A campaign over a catalogue of one's own. command starts this same binary as a worker, whose whole life is serveRegister;
// package cli does both for a program.
func ExampleRun() {
	summary, err := campaign.Run(context.Background(), campaign.Config{
		Catalogue: register.Catalogue(), Command: command("register"), Seeds: 40, Workers: 2,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range summary.Scenarios {
		fmt.Println(s.Name, s.Runs, "runs,", s.Outcomes[plan.OK], "of them ok")
	}
	for _, bucket := range summary.Findings {
		fmt.Println(bucket.Fingerprint, "first seed", bucket.Example.Seed)
		fmt.Println("shortest plan:", bucket.Shortest.Token, bucket.Shortest.Actions)
	}
	// Output:
	// register/broken 20 runs, 5 of them ok
	// register/fixed 20 runs, 20 of them ok
	// violation/acknowledged-survives/stale-read first seed 1
	// shortest plan: register/broken:12 [360ms power hosts=n2 down=8ms #power-0]
}

// serveRegister is the life of a worker process. It returns when the parent closes its end.
func serveRegister() error {
	catalogue := register.Catalogue()
	return campaign.Serve(campaign.WorkerConfig{
		Catalogue: catalogue, NewRunner: func() campaign.Runner { return sim.NewEngine(catalogue) },
		In: os.Stdin, Out: os.Stdout, Progress: os.Getenv("KRAFTSIM_TEST_PROGRESS"), MemoryBytes: 256 << 20,
	})
}
