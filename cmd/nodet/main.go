// Command nodet runs the determinism analyzer of package internal/nodet over packages of this module.
//
// Without arguments it checks the whole module; the analyzer itself knows which packages and files are deterministic
// rooms. It prints one finding per line and ends with status 1 when there is any, 2 when a package does not load:
//
//	go run ./cmd/nodet
//	go run ./cmd/nodet ./raft/... ./metadata/...
//
// It is a vet tool as well, which is quicker on repeated runs, since the go command caches what it finds:
//
//	go build -o nodet ./cmd/nodet && go vet -vettool=./nodet ./...
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/kraftsim/kraftsim/internal/nodet"
	"github.com/kraftsim/kraftsim/internal/nodet/driver"
)

func main() {
	args := os.Args[1:]
	if calledByVet(args) {
		unitchecker.Main(nodet.Analyzer)
	}
	for _, arg := range args {
		if strings.HasPrefix(arg, "-") {
			fmt.Fprintln(os.Stderr, "usage: nodet [package pattern ...]")
			os.Exit(2)
		}
	}
	if len(args) == 0 {
		args = []string{"./..."}
	}
	findings, err := driver.Run(nodet.Analyzer, ".", args...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "nodet:", err)
		os.Exit(2)
	}
	for _, finding := range findings {
		fmt.Println(finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// calledByVet recognises the three ways in which `go vet -vettool` runs its tool: asking for its version, for its
// flags, and handing it a configuration file.
func calledByVet(args []string) bool {
	for _, arg := range args {
		if strings.HasPrefix(arg, "-V=") || arg == "-flags" || strings.HasSuffix(arg, ".cfg") {
			return true
		}
	}
	return false
}
