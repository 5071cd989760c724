package register

import (
	"flag"
	"os"
	"testing"
)

// The seeds of rapid are pinned, so that a run of the tests is repeatable.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20264")
	}
	os.Exit(m.Run())
}
