package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/sim/explore"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestSearchScript: profiles on the command line, and a search that is stopped, goes on and ends with the counts of one run through.
func TestSearchScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files: []string{filepath.Join("testdata", "script", "search.txt")},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// Example: counts one.json two.json
			"counts": func(ts *testscript.TestScript, _ bool, args []string) {
				var docs [2]struct{ Report explore.Report }
				for i := range docs {
					ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[i])), &docs[i]))
				}
				if a, b := fmt.Sprint(docs[0].Report), fmt.Sprint(docs[1].Report); a != b {
					ts.Fatalf("%s\n%s", a, b)
				}
			},
		},
	})
}
