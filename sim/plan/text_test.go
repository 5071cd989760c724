package plan_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestDurationText(t *testing.T) {
	for _, c := range []struct {
		us   int64
		text string
	}{
		{0, "0s"}, {7, "7us"}, {999, "999us"}, {1_000, "1ms"}, {1_500, "1.5ms"}, {20_000, "20ms"}, {999_999, "999.999ms"},
		{1_000_000, "1s"}, {12_500_000, "12.5s"}, {1_000_001, "1.000001s"}, {-3_000_000, "-3s"}, {-7, "-7us"},
		{3_600_000_000, "3600s"},
	} {
		require.Equal(t, c.text, plan.FormatDurationUs(c.us))
		us, err := plan.ParseDurationUs(c.text)
		require.NoError(t, err)
		require.Equal(t, c.us, us)
	}
	for text, want := range map[string]int64{"1m": 60_000_000, "1.5m": 90_000_000, "0.0000005m": 30, "1.50s": 1_500_000, "00ms": 0} {
		us, err := plan.ParseDurationUs(text)
		require.NoError(t, err, text)
		require.Equal(t, want, us, text)
	}
	for _, bad := range []string{"", "5", "s", "-s", ".5s", "1.s", "1.5us", "0.0000001s", "1e3s", "+1s", "--1s", "1 s", "1h",
		"9223372036855s", "99999999999999999999us", "1.0000000000001m"} {
		_, err := plan.ParseDurationUs(bad)
		require.Error(t, err, bad)
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		us := rapid.Int64Range(-1<<63+1, 1<<63-1).Draw(t, "us")
		back, err := plan.ParseDurationUs(plan.FormatDurationUs(us))
		require.NoError(t, err)
		require.Equal(t, us, back)
	})
}

func TestActionText(t *testing.T) {
	r := registry()
	for _, line := range []string{
		"12.5s cut from=n1 to=n2,n3",
		"12.5s cut from=n1 to=leader for=20ms #a4",
		`0s crash host=n2 how=power operation=-3 note="two words" #x/y`,
		`7us crash host=n2 note=""`,
		`7us crash host=n2 note="a \"quote\" and # and ="`,
	} {
		a, err := r.ParseAction(line)
		require.NoError(t, err, line)
		require.Equal(t, line, r.FormatAction(&a))
	}
	a, err := r.ParseAction("  1000ms   cut  to=n2   from=n1 ")
	require.NoError(t, err)
	require.Equal(t, "1s cut from=n1 to=n2", r.FormatAction(&a), "other forms print in the canonical one")

	for line, want := range map[string]string{
		"":                             "an action is a time, a kind",
		"12s":                          "an action is a time, a kind",
		"12 cut from=n1 to=n2":         "is not a duration",
		"1s cuts from=n1":              `no action is called "cuts"`,
		"1s cut from=n1":               "params.to: missing",
		"1s cut from=n1 to=n2 from=n1": "from stands twice",
		"1s cut from=n1 to=n2 x":       `"x" is not name=value`,
		"1s cut from=n1 to=n2 x=1":     "cut has no such parameter",
		`1s cut from=n1 to="n2`:        "a quote is not closed",
		`1s crash host=n1 note=a"b"`:   "quote a value",
		`1s crash host=n1 note="a"b`:   "is not a quoted text",
		"1s cut #a from=n1 to=n2":      `"#a" is not name=value`,
		"1s cut from=n1 to=n2 #":       "is not an id",
		"-1s cut from=n1 to=n2":        "must not be negative",
	} {
		_, err := r.ParseAction(line)
		require.ErrorContains(t, err, want, line)
		require.ErrorIs(t, err, plan.ErrInput)
	}
}

func TestActionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		for i := range p.Actions {
			for _, r := range []*plan.Registry{registry(), nil} {
				line := r.FormatAction(&p.Actions[i])
				back, err := r.ParseAction(line)
				require.NoError(t, err, line)
				require.Equal(t, p.Actions[i], back)
				require.Equal(t, line, r.FormatAction(&back))
			}
		}
	})
}

func FuzzAction(f *testing.F) {
	f.Add("12.5s cut from=n1 to=n2,n3 #a1")
	f.Add(`0s crash host=n2 note="two words"`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, r := range []*plan.Registry{registry(), nil} {
			a, err := r.ParseAction(line)
			if err != nil {
				require.ErrorIs(t, err, plan.ErrInput)
				continue
			}
			printed := r.FormatAction(&a)
			back, err := r.ParseAction(printed)
			require.NoError(t, err)
			require.Equal(t, a, back)
			require.Equal(t, printed, r.FormatAction(&back))
		}
	})
}
