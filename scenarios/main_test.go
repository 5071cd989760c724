package scenarios

import (
	"flag"
	"os"
	"runtime/debug"
	"testing"
)

// update makes TestRegress write its table anew.
var update = flag.Bool("update", false, "write testdata/regress.txt anew instead of comparing with it")

// TestMain pins rapid's seed and the number of its checks, so that a run is repeatable and short; give -rapid.seed or
// -rapid.checks for others.
func TestMain(m *testing.M) {
	flag.Parse()
	for name, pinned := range map[string][2]string{"rapid.seed": {"0", "20261130"}, "rapid.checks": {"100", "40"}} {
		if f := flag.Lookup(name); f != nil && f.Value.String() == pinned[0] {
			_ = f.Value.Set(pinned[1])
		}
	}
	debug.SetGCPercent(collectorPercent) // as in the workers of a campaign
	os.Exit(m.Run())
}
