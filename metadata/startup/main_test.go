package startup

import (
	"flag"
	"os"
	"testing"
)

// TestMain pins rapid's seed, so that a run is repeatable; give -rapid.seed for another.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = f.Value.Set("20261101")
	}
	os.Exit(m.Run())
}
