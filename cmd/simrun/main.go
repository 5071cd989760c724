// Command simrun runs Kafka's KRaft and metadata bootstrap inside a deterministic simulator. See the README.
package main

import (
	"os"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/internal/mutants"
	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/cli"
)

func main() { os.Exit(app().Main(os.Args[1:])) }

// app is sim/cli over the catalogue, with the commands and flags that know Kafka.
func app() *cli.App {
	catalogue := scenarios.Catalogue()
	catalogue.Canary = register.Canary()
	return &cli.App{Catalogue: catalogue, Extra: append(mutants.Commands(catalogue), dumpCommand(), formatCommand(), featuresCommand(catalogue), compareCommand(catalogue)), RunHook: fromHook(catalogue)}
}
