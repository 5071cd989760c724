package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestOvertaken: the number of a Fetch that a former process left without an answer may be meant by what comes, one that was answered or is of
// the same process may not.
func TestOvertaken(t *testing.T) {
	waiting := askedFetch{correlation: 2, open: true, peerBoot: 1}
	first := askedFetch{correlation: 1, open: true, peerBoot: 2, leftOver: waiting.by(2)}
	require.True(t, first.leftOver.has(2))
	require.False(t, first.leftOver.has(1))
	first.open = false // answered
	second := askedFetch{correlation: 2, open: true, peerBoot: 2, leftOver: first.by(2)}
	require.True(t, second.leftOver.has(2), "it still waits")
	third := askedFetch{correlation: 1, open: true, peerBoot: 3, leftOver: second.by(3)}
	require.True(t, third.leftOver.has(2))
	require.False(t, third.leftOver.has(0))

	answered := askedFetch{correlation: 2, peerBoot: 1}
	require.Zero(t, answered.by(2))
	require.Zero(t, waiting.by(1), "the same process numbers on")
}

// TestAnswerToAFormerProcess: kip1262/t17:30000056 was flagged for the answer to a Fetch of a process that was gone.
func TestAnswerToAFormerProcess(t *testing.T) {
	c := Catalogue()
	v := verdictOf(t, sim.NewEngine(c), c.Scenario("kip1262/t17").Draw(30000056), sim.Options{})
	require.Equal(t, plan.OK, v.Outcome)
}
