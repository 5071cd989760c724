package scenarios

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestFromAnyDamage: whatever happens to the bytes of a storage, it is refused as input, or a run ends with a verdict that is
// no panic; and when all is said to be well, the files that come out boot again.
func TestFromAnyDamage(t *testing.T) {
	r, v := bootTree(t, formatted(t, "kip1262", 2, standalone), FromOptions{})
	requireUp(t, r, v)
	c := Catalogue()
	e := sim.NewEngine(c)
	rapid.Check(t, func(rt *rapid.T) {
		tree := exported(r)
		for range rapid.IntRange(1, 3).Draw(rt, "damages") {
			f := rapid.SampledFrom(r.Files).Draw(rt, "file")
			tree = with(tree, map[string][]byte{f.Path: damage(rt, f.Content)})
		}
		p, err := PlanFrom(tree, 1, FromOptions{})
		if err != nil {
			require.ErrorIs(rt, err, plan.ErrInput)
			return
		}
		run, err := e.Run(p, sim.Options{})
		require.NoError(rt, err)
		require.NotEqual(rt, plan.Panic, run.Verdict.Outcome)
		result, err := ResultOfFrom(c)
		require.NoError(rt, err)
		if run.Verdict.Outcome == plan.OK && len(result.Missing) == 0 {
			again, err := PlanFrom(exported(result), 2, FromOptions{})
			require.NoError(rt, err)
			run, err = e.Run(again, sim.Options{})
			require.NoError(rt, err)
			require.Equal(rt, plan.OK, run.Verdict.Outcome, "%v", run.Verdict.Broken)
		}
	})
}

// damage flips a byte, cuts the end off, appends something, or removes the file.
func damage(rt *rapid.T, content []byte) []byte {
	out := append([]byte{}, content...)
	at := rapid.IntRange(0, max(0, len(out)-1)).Draw(rt, "at")
	switch kind := rapid.SampledFrom([]string{"flip", "flip", "cut", "append", "remove"}).Draw(rt, "kind"); {
	case kind == "cut":
		return out[:at]
	case kind == "append":
		return append(out, rapid.SliceOfN(rapid.Byte(), 1, 80).Draw(rt, "tail")...)
	case kind == "remove":
		return nil
	case len(out) > 0:
		out[at] ^= rapid.ByteRange(1, 255).Draw(rt, "flip")
	}
	return out
}
