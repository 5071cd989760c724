package simtest_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/kraftsim/kraftsim/examples/register"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/simtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("rapid.seed"); f != nil && f.Value.String() == "0" {
		_ = flag.Set("rapid.seed", "20265")
	}
	_ = flag.Set("rapid.nofailfile", "true") // one of the tests fails on purpose
	os.Exit(m.Run())
}

func scenario(name string) sim.Scenario { return register.Catalogue().Scenario(name) }

func TestSeedsRunsEachAsASubtest(t *testing.T) {
	simtest.Seeds(t, register.Catalogue(), "register/fixed", 7, 3)
	require.Equal(t, "register/fixed:7", simtest.Token("register/fixed", 7))
}

// fake takes the place of a test that fails.
type fake struct {
	rapid.TB
	failed string
}

var errStopped = errors.New("stopped")

func (f *fake) Helper() {}
func (f *fake) Fatalf(format string, args ...any) {
	f.failed = fmt.Sprintf(format, args...)
	panic(errStopped)
}

func failure(p *plan.Plan) (text string) {
	f := &fake{}
	defer func() {
		if r := recover(); r != nil && r != errStopped {
			panic(r)
		}
		text = f.failed
	}()
	simtest.Check(f, sim.NewEngine(register.Catalogue()), p)
	return ""
}

func TestCheckFailsAFindingWithItsStory(t *testing.T) {
	text := failure(scenario("register/broken").Draw(2))
	require.Contains(t, text, "acknowledged-survives: n2 answered")
	require.Contains(t, text, "power down=15ms hosts=n2 #power-0")
	require.True(t, strings.HasSuffix(text, "\n  replay with: register replay register/broken:2"), text)
	p := scenario("register/broken").Draw(2)
	p.Hosts = nil
	require.Contains(t, failure(p), "plan: hosts", "a plan that can't run fails as well")
	require.Empty(t, failure(scenario("register/fixed").Draw(2)))
}

// A plan that no seed draws has no token: what fails is in a capsule.
func TestReplayOfAPlanThatNoSeedDraws(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	whole := scenario("register/broken").Draw(2)
	require.Greater(t, len(whole.Actions), 1)
	for stay := range uint64(1 << len(whole.Actions)) {
		text := failure(simtest.Subset(scenario("register/broken").Draw(2), stay))
		if text == "" {
			continue
		}
		p := simtest.Subset(scenario("register/broken").Draw(2), stay)
		if len(p.Actions) == len(whole.Actions) {
			require.Contains(t, text, "replay register/broken:2")
			continue
		}
		require.NotContains(t, text, "register/broken:2")
		_, file, found := strings.Cut(text, "\n  not the plan that seed 2 draws; replay with: register replay ")
		require.True(t, found, text)
		c, err := plan.ReadCapsuleFile(file, register.Catalogue().Registry)
		require.NoError(t, err)
		require.Equal(t, p, c.Plan)
		r, err := sim.NewEngine(register.Catalogue()).Run(c.Plan, sim.Options{})
		require.NoError(t, err)
		require.Equal(t, c.TraceHash, r.Verdict.TraceHash)
		require.Equal(t, c.Fingerprint, r.Verdict.Fingerprint())
		return
	}
	t.Fatal("no part of the plan fails")
}

func TestExplainGoesByTime(t *testing.T) {
	p := scenario("register/broken").Draw(3)
	p.Actions = append(p.Actions, plan.Action{ID: "first", Kind: "start", Params: plan.Params{"host": "n1"}})
	lines := strings.Split(simtest.Explain(p, &plan.Verdict{Outcome: plan.Violation}), "\n")
	require.Len(t, lines, 6)
	require.Equal(t, "  0s start host=n1 #first", lines[1])
	require.Equal(t, "first", p.Actions[len(p.Actions)-1].ID, "the plan stays as it is")
	last := int64(-1)
	for _, line := range lines[1:] {
		a, err := register.Catalogue().Registry.ParseAction(strings.TrimSpace(line))
		require.NoError(t, err)
		require.GreaterOrEqual(t, int64(a.AtUs), last)
		last = int64(a.AtUs)
	}
}

func TestPoisonedRunsEachSeedTwice(t *testing.T) {
	simtest.Poisoned(t, register.Catalogue(), "register/fixed", 3, 2)
}

func TestPlansAreSubsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := simtest.Plans(scenario("register/broken")).Draw(t, "plan")
		full := scenario("register/broken").Draw(uint64(p.Seed))
		require.LessOrEqual(t, len(p.Actions), len(full.Actions))
		require.Subset(t, full.Actions, p.Actions)
		require.Equal(t, full.Hosts, p.Hosts)
	})
}

func TestSubset(t *testing.T) {
	full := scenario("register/broken").Draw(3)
	require.Len(t, full.Actions, 4)
	require.Equal(t, full.Actions[1:3], simtest.Subset(scenario("register/broken").Draw(3), 0b0110).Actions)
	require.Empty(t, simtest.Subset(scenario("register/broken").Draw(3), 0).Actions)
}

func FuzzRegister(f *testing.F) { simtest.Fuzz(f, register.Catalogue(), "register/fixed") }
