package cli

import (
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/stretchr/testify/require"
)

// Time in which nobody takes the output is not the run's: a pager may wait as long as it likes.
func TestWatchdogWaitsForTheReader(t *testing.T) {
	dog := &watchdog{limit: 150 * time.Millisecond}
	lines := 0
	trace := dog.trace(func(sim.TraceLine) { lines++; time.Sleep(500 * time.Millisecond) })
	result, hung, err := dog.run(func() (sim.Result, error) {
		trace(sim.TraceLine{})
		return sim.Result{Verdict: &plan.Verdict{Outcome: plan.OK}}, nil
	})
	require.NoError(t, err)
	require.False(t, hung)
	require.Equal(t, plan.OK, result.Verdict.Outcome)
	require.Equal(t, 1, lines)
}

// A run that was given up prints nothing any more.
func TestWatchdogSilencesWhatItGaveUp(t *testing.T) {
	dog := &watchdog{limit: 100 * time.Millisecond}
	printed := make(chan bool, 1)
	trace := dog.trace(func(sim.TraceLine) { printed <- true })
	free := make(chan bool)
	result, hung, err := dog.run(func() (sim.Result, error) {
		<-free
		trace(sim.TraceLine{})
		return sim.Result{}, nil
	})
	require.NoError(t, err)
	require.True(t, hung)
	require.Equal(t, "spin/process-lives/hang", result.Verdict.Fingerprint())
	close(free)
	select {
	case <-printed:
		t.Fatal("the run printed after it was given up")
	case <-time.After(50 * time.Millisecond):
	}
}

func TestPlainNamesNoPackage(t *testing.T) {
	for text, want := range map[string]string{
		"cli: plan: x:  y":                   "x: y",
		"kip1262/draft: plan: params.x is 1": "kip1262/draft: params.x is 1",
		"campaign: workers die":              "workers die",
		"the plan: it fails":                 "the plan: it fails",
	} {
		require.Equal(t, want, plain(text))
	}
}
