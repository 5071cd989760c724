// Command simrun runs Kafka's KRaft and metadata bootstrap inside a deterministic simulator. See the README.
package main

import (
	"os"

	"github.com/kraftsim/kraftsim/internal/mutants"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/cli"
)

func main() {
	catalogue := scenarios.Catalogue()
	app := cli.App{Catalogue: catalogue, Extra: mutants.Commands(catalogue), RunHook: fromHook(catalogue)}
	os.Exit(app.Main(os.Args[1:]))
}
