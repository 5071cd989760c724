// Command simrun runs Kafka's KRaft and metadata bootstrap inside a deterministic simulator. See the README.
package main

import (
	"os"

	"github.com/kraftsim/kraftsim/scenarios"
	"github.com/kraftsim/kraftsim/sim/cli"
)

func main() { os.Exit(cli.Main(scenarios.Catalogue(), os.Args[1:])) }
