package sim_test

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

var printRegress = flag.Bool("print-regress", false, "print the table of pinned hashes instead of checking it")

// Do NOT edit the hashes: they are the promise that a plan gives the same run for ever, on each architecture. A change of
// behaviour that is meant needs a new sim.EngineVersion and an entry in CHANGELOG.md; `go test ./sim -v -run
// Regress -print-regress` prints the table.
var pinned = []struct {
	scenario  string
	seed      uint64
	trace     plan.Hex64
	behaviour plan.Hex64
	outcome   plan.Outcome
}{
	{"register/broken", 1, 0xf632b59626b4b56c, 0x41783ead8cc94d73, "violation"},
	{"register/broken", 2, 0xfcb7b72f19c77a5c, 0x691e269b096506cc, "violation"},
	{"register/broken", 3, 0x94b49da5af267c61, 0xbe335157f2ede54b, "violation"},
	{"register/broken", 4, 0xbaf68e09794bcd0a, 0x03f44fa5e5c52eee, "ok"},
	{"register/broken", 5, 0xecfaefb497db43d0, 0x9c34e0c310729404, "violation"},
	{"register/broken", 6, 0xb2b9dbc3997702d6, 0x659fd9c19a926715, "violation"},
	{"register/broken", 7, 0xf4cf63fa7f644c53, 0x16feaf132f36771c, "violation"},
	{"register/broken", 8, 0x2b518cd7b4875fd4, 0x48f2154a7abe8d39, "ok"},
	{"register/fixed", 1, 0x3b0639de2aca1152, 0x97ab8d7b7f8710b7, "ok"},
	{"register/fixed", 2, 0x7277ba9c1a37e67e, 0x2cbb08a88907d9c0, "ok"},
	{"register/fixed", 3, 0x80e3f3c18c38a3d0, 0x721f6c10bc452d1c, "ok"},
	{"register/fixed", 4, 0x22a586a99dd69603, 0x10b4ee01fc6672b3, "ok"},
	{"register/fixed", 5, 0x9e80b5b501a2c866, 0xcdd3a0dfe57d7cd4, "ok"},
	{"register/fixed", 6, 0x4fc792e1722e3dad, 0x5a63e8ff5434ec4f, "ok"},
	{"register/fixed", 7, 0x143a743eb60917a0, 0x8de8796003f55eed, "ok"},
	{"register/fixed", 8, 0x8ddc994475cf517a, 0x48f2154a7abe8d39, "ok"},
	{"mesh", 1, 0x997f5256208117b2, 0x23ef81f7655e6ce0, "ok"},
	{"mesh", 2, 0x3473ddf4e0ff0455, 0x9b38c69b99cac196, "ok"},
	{"mesh", 3, 0x5c8df0877ed68a52, 0x03428c7048f0e7cd, "ok"},
	{"mesh", 4, 0xe838de9bbee01ba2, 0x1018956d58e4326c, "ok"},
	{"mesh", 5, 0xb29ab1a301012ce9, 0xad8aa7073788cd11, "ok"},
	{"mesh", 6, 0x0227e83d6a86593f, 0x8da5db1af54a3ee8, "ok"},
	{"mesh", 7, 0xe03aefa912e43055, 0x178a46b68d1c28c4, "ok"},
	{"mesh", 8, 0x4dad8b0c1243accb, 0x488e152d97ef3546, "ok"},
}

func TestRegressHashes(t *testing.T) {
	e := sim.NewEngine(everything())
	if *printRegress {
		for _, s := range everything().Scenarios {
			for seed := uint64(1); seed <= 8; seed++ {
				r, err := e.Run(s.Draw(seed), sim.Options{})
				require.NoError(t, err)
				v := r.Verdict
				fmt.Printf("\t{%q, %d, 0x%016x, 0x%016x, %q},\n", s.Name(), seed, uint64(v.TraceHash), uint64(v.BehaviourHash), v.Outcome)
			}
		}
		return
	}
	require.Len(t, pinned, 24)
	for _, want := range pinned {
		r, err := e.Run(everything().Scenario(want.scenario).Draw(want.seed), sim.Options{})
		require.NoError(t, err)
		require.Equal(t, want.trace, r.Verdict.TraceHash, "%s:%d", want.scenario, want.seed)
		require.Equal(t, want.behaviour, r.Verdict.BehaviourHash, "%s:%d", want.scenario, want.seed)
		require.Equal(t, want.outcome, r.Verdict.Outcome, "%s:%d", want.scenario, want.seed)
	}
}
