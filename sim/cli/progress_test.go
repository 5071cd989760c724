package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/require"
)

// A plain line tells the runs while they run, and afterwards what is shrunk.
func TestPlainLinesNameThePhase(t *testing.T) {
	var out bytes.Buffer
	l := newLines(&out, time.Hour)
	defer l.finish()
	l.Planned("toy/clean", 20)
	l.Phase("runs")
	l.Ran("toy/clean", 12, 1)
	l.print()
	l.Phase(campaign.Shrinking + ", findings: 1, declared hazards: 3")
	l.print()
	require.Equal(t, "0s runs: 12 of 20 runs, 1 finding\n0s shrinking, findings: 1, declared hazards: 3; before that 12 runs, 1 finding\n", out.String())
}
