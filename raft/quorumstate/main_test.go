package quorumstate_test

import (
	"flag"
	"os"
	"testing"

	_ "pgregory.net/rapid" // its flags
)

// TestMain pins the seed of the property tests, so that two runs draw the same.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		_ = flag.Set("rapid.seed", "2")
	}
	os.Exit(m.Run())
}
