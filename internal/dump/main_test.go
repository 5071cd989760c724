package dump_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain pins the seed of the property tests, so that a run can be repeated.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20260801")
	}
	os.Exit(m.Run())
}
