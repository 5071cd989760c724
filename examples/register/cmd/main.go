// Command register runs the register example: `go run ./examples/register/cmd campaign`.
package main

import (
	"os"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim/cli"
)

func main() { os.Exit(cli.Main(register.Catalogue(), os.Args[1:])) }
