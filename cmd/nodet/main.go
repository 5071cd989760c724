// Command nodet runs the determinism analyzer of package internal/nodet over packages of this module.
//
// The analyzer itself knows which packages and files are deterministic rooms, so the whole module is a good argument. It
// prints one finding per line and ends with a status other than 0 when there is any, or when a package does not load:
//
//	go run ./cmd/nodet ./...
//	go run ./cmd/nodet ./raft/... ./metadata/...
//
// It is a vet tool as well, which is quicker on repeated runs, since the go command caches what it finds:
//
//	go build -o nodet ./cmd/nodet && go vet -vettool=./nodet ./...
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/kraftsim/kraftsim/internal/nodet"
)

func main() { singlechecker.Main(nodet.Analyzer) }
