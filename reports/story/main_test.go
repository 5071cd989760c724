package story

import (
	"flag"
	"os"
	"testing"
)

// TestMain pins rapid's seed and the number of its checks, so that a run is repeatable and short; give -rapid.seed or
// -rapid.checks for others.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, pinned := range map[string][2]string{"rapid.seed": {"0", "20261130"}, "rapid.checks": {"100", "12"}} {
		if f := flag.Lookup(name); f != nil && f.Value.String() == pinned[0] {
			_ = f.Value.Set(pinned[1])
		}
	}
	os.Exit(m.Run())
}
