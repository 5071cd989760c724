package scenarios

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/simtest"
)

// FuzzStorm lets the fuzzer edit storms: bytes are a seed and edits of three bytes each (simtest.Edit).
func FuzzStorm(f *testing.F) { simtest.FuzzEdits(f, Catalogue(), "raft/storm-3") }
