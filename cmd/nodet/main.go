// Command nodet runs the determinism analyzer of package internal/nodet over packages.
//
// The analyzer itself knows which packages and files of this module are deterministic rooms, so the whole module is a good
// argument. It prints one finding per line and ends with a status other than 0 when there is any, or when a package does not
// load:
//
//	go run ./cmd/nodet ./...
//	go run ./cmd/nodet ./raft/... ./metadata/...
//
// Another module says which of its packages run inside the simulator, with -rooms or with the comment //nodet:room above the
// package clause of a file. When none of the packages is a room there is nothing to check; nodet then warns and ends with
// status 0:
//
//	go run github.com/kraftsim/kraftsim/cmd/nodet -rooms=example.com/mine/protocol/... ./...
//
// It is a vet tool as well, which is quicker on repeated runs, since the go command caches what it finds:
//
//	go build -o nodet ./cmd/nodet && go vet -vettool=./nodet ./...
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/singlechecker"
	"golang.org/x/tools/go/packages"

	"github.com/kraftsim/kraftsim/internal/nodet"
)

func main() {
	warn(os.Stderr, "", os.Args[1:])
	singlechecker.Main(nodet.Analyzer)
}

// warn says so when no package among the arguments has a room. It is silent about packages that do not load, which the
// analyzer reports, and for a call by go vet, which names a .cfg file.
func warn(w io.Writer, dir string, args []string) {
	rooms, patterns := "", []string{}
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			patterns = append(patterns, args[i])
		case name == "rooms" && given:
			rooms = value
		case name == "rooms" && i+1 < len(args):
			i++
			rooms = args[i]
		}
	}
	if len(patterns) == 0 || strings.HasSuffix(patterns[0], ".cfg") {
		return
	}
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedFiles, Dir: dir}, patterns...)
	if err != nil || len(loaded) == 0 {
		return
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 || nodet.Covers(rooms, p.PkgPath, p.Name, p.GoFiles) {
			return
		}
	}
	fmt.Fprintf(w, "nodet: warning: none of the %d packages is a deterministic room, so nothing was checked: "+
		"name yours with -rooms=IMPORT/PATH/... or write //nodet:room above a file's package clause\n", len(loaded))
}
