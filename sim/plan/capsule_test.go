package plan_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func failing() *plan.Verdict {
	return &plan.Verdict{
		Outcome: plan.Violation, TraceHash: 0x1234, BehaviourHash: 0xfedcba9876543210, Events: 5,
		Broken: []plan.Broken{
			{Invariant: "one-leader", Evidence: "two", Detail: "n1 and n2 lead epoch 3", AtUs: 7, Event: 4},
			{Invariant: "cluster-id", Evidence: "none", Hazard: "late-id"},
		},
		Stats: map[string]int64{"elections": 3},
	}
}

func decisions(n int) []plan.DrawnDecision {
	drawn := make([]plan.DrawnDecision, n)
	for i := range drawn {
		h := decide.HashString(string(rune('a'+i%26)) + string(rune(i)))
		drawn[i] = plan.DrawnDecision{Hash: h, Value: int64(h % 2000), Benign: i%4 != 0, Name: "net/latency n1>n2"}
	}
	return drawn
}

func TestCapsuleRoundTrip(t *testing.T) {
	c := plan.NewCapsule("1", small(), failing(), decisions(100), "")
	require.Equal(t, "violation/one-leader/two", c.Fingerprint)
	require.Len(t, c.Unusual, 25)
	data, err := plan.EncodeCapsule(c)
	require.NoError(t, err)
	back, err := plan.DecodeCapsule(data)
	require.NoError(t, err)
	require.Equal(t, c, back)

	file := filepath.Join(t.TempDir(), "deep", "capsule.json")
	require.NoError(t, outfile.Write(file, data))
	read, err := plan.ReadCapsuleFile(file, registry())
	require.NoError(t, err)
	require.Equal(t, c, read)
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file stays")
}

func TestDecisionsTakeAtMostTwelveBytes(t *testing.T) {
	for _, n := range []int{100, 1_000, 20_000} {
		drawn := decisions(n)
		block := plan.PackDecisions(drawn)
		require.LessOrEqual(t, len(block), 12*n)
		if n >= 1_000 { // even as base64 in the file
			require.LessOrEqual(t, len(block)*4/3, 12*n)
		}
		back, err := plan.UnpackDecisions(block)
		require.NoError(t, err)
		require.Len(t, back, n)
		require.Equal(t, int64(n), plan.Matched(drawn, back))
		drawn[0].Value++
		require.Equal(t, int64(n-1), plan.Matched(back, drawn))
	}
}

func TestPackRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := rapid.SliceOf(rapid.Custom(func(t *rapid.T) plan.DrawnDecision {
			return plan.DrawnDecision{Hash: rapid.Uint64().Draw(t, "hash"), Value: rapid.Int64().Draw(t, "value")}
		})).Draw(t, "drawn")
		back, err := plan.UnpackDecisions(plan.PackDecisions(drawn))
		require.NoError(t, err)
		slices.SortStableFunc(drawn, func(a, b plan.DrawnDecision) int { return cmp.Compare(a.Hash, b.Hash) })
		require.True(t, slices.Equal(drawn, back))
	})
}

func TestCapsuleRefusals(t *testing.T) {
	good, err := plan.EncodeCapsule(plan.NewCapsule("1", small(), failing(), decisions(3), ""))
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		edit func(c *plan.Capsule)
		want string
	}{
		{"format", func(c *plan.Capsule) { c.Format = 9 }, "format: 9 is not known"},
		{"no plan", func(c *plan.Capsule) { c.Plan = nil }, "plan:"},
		{"plan format", func(c *plan.Capsule) { c.Plan.Format = 0 }, "plan.format: missing"},
		{"no verdict", func(c *plan.Capsule) { c.Verdict = nil }, "verdict:"},
		{"no engine", func(c *plan.Capsule) { c.Engine = "" }, "engine: missing"},
		{"outcome", func(c *plan.Capsule) { c.Verdict.Outcome = "fine" }, `verdict.outcome: "fine" is not one of ok, violation`},
		{"no outcome", func(c *plan.Capsule) { c.Verdict.Outcome = "" }, "verdict.outcome:"},
		{"negative events", func(c *plan.Capsule) { c.Verdict.Events = -1 }, "verdict.events: must not be negative"},
		{"negative time", func(c *plan.Capsule) { c.Verdict.VirtualUs = -1 }, "verdict.virtual_us: must not be negative"},
		{"negative decisions", func(c *plan.Capsule) { c.Verdict.Decisions = -1 }, "verdict.decisions: must not be negative"},
		{"negative statistic", func(c *plan.Capsule) { c.Verdict.Stats["elections"] = -3 }, "verdict.stats.elections: must not be negative"},
		{"negative condition", func(c *plan.Capsule) { c.Verdict.Sometimes = map[string]int64{"rain": -1} }, "verdict.sometimes.rain: must"},
		{"before the start", func(c *plan.Capsule) { c.Verdict.Broken[1].AtUs = -1 }, "verdict.broken[1].at_us: must not be negative"},
		{"unusual, no hash", func(c *plan.Capsule) { c.Unusual = []string{"x"} }, `unusual[0]: "x" is no decision`},
		{"unusual, empty", func(c *plan.Capsule) { c.Unusual = append(c.Unusual, "") }, `]: "" is no decision`},
		{"unusual, control character", func(c *plan.Capsule) { c.Unusual = []string{"\x00 [0123456789abcdef]"} }, "unusual[0]: "},
		{"unusual, hash alone", func(c *plan.Capsule) { c.Unusual = []string{" [0123456789abcdef]"} }, "unusual[0]: "},
		{"decisions cut", func(c *plan.Capsule) { c.Decisions = c.Decisions[:len(c.Decisions)-3] }, "decisions: "},
		{"decisions version", func(c *plan.Capsule) { c.Decisions[0] = 7 }, "decisions: plan: decision block of version 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			capsule, err := plan.DecodeCapsule(good)
			require.NoError(t, err)
			c.edit(capsule)
			data, err := plan.EncodeCapsule(capsule)
			require.NoError(t, err)
			_, err = plan.DecodeCapsule(data)
			require.ErrorIs(t, err, plan.ErrInput)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err = plan.ReadCapsuleFile(filepath.Join(t.TempDir(), "none.json"), nil)
	require.ErrorIs(t, err, plan.ErrInput)
	require.ErrorContains(t, err, "none.json")
}

// What may never end, or cannot be a plan, is refused before it fills the memory.
func TestInputIsARegularFileOfBoundedSize(t *testing.T) {
	large := filepath.Join(t.TempDir(), "large.json")
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, plan.MaxFileBytes+1))
	for file, want := range map[string]string{
		large: "is larger than 64 MiB", os.DevNull: "is not a regular file", t.TempDir(): "is a directory",
	} {
		_, err := plan.ReadFile(file, nil)
		require.ErrorIs(t, err, plan.ErrInput)
		require.ErrorContains(t, err, file+": "+want)
		_, err = plan.ReadCapsuleFile(file, nil)
		require.ErrorIs(t, err, plan.ErrInput)
		require.ErrorContains(t, err, file+": "+want)
	}
	require.NoError(t, os.Truncate(large, plan.MaxFileBytes))
	data, err := plan.Input(large)
	require.NoError(t, err)
	require.Len(t, data, plan.MaxFileBytes)
}

func TestCapsuleIsConsistent(t *testing.T) {
	for target, want := range map[string]bool{
		"violation/one-leader/two": true, "hazard/late-id": true, "violation/one-leader/three": false, "hazard/other": false,
	} {
		c := plan.NewCapsule("1", small(), failing(), nil, target)
		require.Equal(t, want, c.Consistent(), target)
	}
	require.False(t, (&plan.Capsule{Verdict: &plan.Verdict{Outcome: plan.OK}}).Consistent(), "a capsule without a fingerprint is about nothing")
}

func TestWriteFileLeavesTheOldFileOnFailure(t *testing.T) {
	dir := t.TempDir()
	target := filepath.Join(dir, "taken")
	require.NoError(t, os.MkdirAll(filepath.Join(target, "full"), 0o755))
	require.Error(t, outfile.Write(target, []byte("x")), "a folder that is not empty cannot be replaced")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
}

func TestFingerprints(t *testing.T) {
	v := failing()
	require.Equal(t, "violation/one-leader/two", v.Fingerprint())
	require.Equal(t, []string{"hazard/late-id"}, v.HazardFingerprints())
	v.Outcome = plan.LegitimatelyStuck
	require.Empty(t, v.Fingerprint())
	require.Equal(t, "stuck", (&plan.Verdict{Outcome: plan.Stuck}).Fingerprint())
}

func FuzzCapsule(f *testing.F) {
	data, err := plan.EncodeCapsule(plan.NewCapsule("1", small(), failing(), decisions(3), ""))
	require.NoError(f, err)
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := plan.DecodeCapsule(data)
		if err != nil {
			require.ErrorIs(t, err, plan.ErrInput)
			return
		}
		first, err := plan.EncodeCapsule(c)
		require.NoError(t, err)
		back, err := plan.DecodeCapsule(first)
		require.NoError(t, err)
		second, err := plan.EncodeCapsule(back)
		require.NoError(t, err)
		require.Equal(t, string(first), string(second))
	})
}

func FuzzDecisions(f *testing.F) {
	f.Add(plan.PackDecisions(decisions(3)))
	f.Fuzz(func(t *testing.T, block []byte) {
		drawn, err := plan.UnpackDecisions(block)
		if err != nil {
			return
		}
		back, err := plan.UnpackDecisions(plan.PackDecisions(drawn))
		require.NoError(t, err)
		require.True(t, slices.Equal(drawn, back))
	})
}

// A bare capsule keeps what its plan does not imply, reads back, and still shows its fingerprint.
func TestBareCapsule(t *testing.T) {
	v := &plan.Verdict{Outcome: plan.Violation, TraceHash: 5, BehaviourHash: 6, Events: 7, Stats: map[string]int64{"boots": 3},
		Broken: []plan.Broken{{Invariant: "x", Evidence: "e", Detail: "d", AtUs: 9, Event: 4, Stack: []string{"f (a.go:1)"}}}}
	p := &plan.Plan{Format: plan.Format, Scenario: "s", Hosts: []plan.Host{{ID: "n1", Kind: "node"}}}
	full := plan.NewCapsule("1", p, v, []plan.DrawnDecision{{Hash: 1, Value: 2, Name: "net/reset a"}}, "")
	bare := full.Bare()
	data, err := plan.EncodeCapsule(bare)
	require.NoError(t, err)
	back, err := plan.DecodeCapsule(data)
	require.NoError(t, err)
	require.True(t, back.Consistent())
	require.Equal(t, []plan.Broken{{Invariant: "x", Evidence: "e", Detail: "d", AtUs: 9}}, back.Verdict.Broken)
	require.Zero(t, back.TraceHash+back.BehaviourHash)
	require.Empty(t, back.Unusual)
	require.Empty(t, back.Decisions)
	require.Empty(t, back.Verdict.Stats)
	require.Equal(t, plan.Hex64(5), full.TraceHash, "the capsule given stays as it is")
	require.Equal(t, []string{"f (a.go:1)"}, v.Broken[0].Stack)
}

// The first unknown decision is told by its readable name: those of the plan first, then those of the run, in their order.
func TestFirstUnknownDecision(t *testing.T) {
	p := &plan.Plan{Decisions: []plan.Decision{{Name: "disk/cut-op n1 = 1", NameHash: 11}, {Name: "net/reset n1>n2 = 1", NameHash: 12}}}
	c := plan.NewCapsule("1", p, &plan.Verdict{}, []plan.DrawnDecision{{Hash: 11, Value: 1, Name: "disk/cut-op n1 = 1"}, {Hash: 13, Value: 7, Name: "net/tail = 1"}}, "")
	drawn := func(hashes ...uint64) (list []plan.DrawnDecision) {
		for _, h := range hashes {
			list = append(list, plan.DrawnDecision{Hash: h})
		}
		return list
	}
	require.Empty(t, c.FirstUnknown(drawn(13, 12, 11, 99)))
	require.Equal(t, "disk/cut-op n1 = 1", c.FirstUnknown(nil))
	require.Equal(t, "net/reset n1>n2 = 1", c.FirstUnknown(drawn(11, 13)))
	require.Equal(t, "net/tail = 1", c.FirstUnknown(drawn(11, 12)))
}
