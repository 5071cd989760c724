// Command simrun runs Kafka's KRaft and metadata bootstrap inside a deterministic simulator.
//
//	simrun campaign                    ten thousand schedules, within a minute
//	simrun run kip1262/draft --seed 17 one of them
//	simrun replay CAPSULE              a failure again, with its full trace
//	simrun list                        what there is: scenarios, invariants, faults
//
// It is sim/cli over the catalogue of package scenarios, with the commands that know Kafka: format, features, dump, compare and
// mutants. Every command explains itself with --help; the README has the table of them, and of the exit codes.
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
