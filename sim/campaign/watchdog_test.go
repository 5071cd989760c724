package campaign

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestABusyMachineIsNoHang: processor time decides where it is known, and the wall clock has the last word.
func TestABusyMachineIsNoHang(t *testing.T) {
	start := time.Unix(0, 0)
	for _, c := range []struct {
		name      string
		wall, cpu time.Duration
		known     bool
		hung      bool
	}{
		{"computes for too long", 25 * time.Second, 21 * time.Second, true, true},
		{"waits for a processor", 199 * time.Second, 19 * time.Second, true, false},
		{"computes nothing at all", 201 * time.Second, 0, true, true},
		{"no processor time known", 21 * time.Second, 0, false, true},
		{"no processor time known, in time", 19 * time.Second, 0, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			wall, cpu := time.Duration(0), time.Hour // what earlier runs of the process used does not count
			d := watchdog{
				limit: 20 * time.Second,
				cpu:   func() (time.Duration, bool) { return cpu, c.known },
				now:   func() time.Time { return start.Add(wall) },
			}
			at := progress{Request: 1, Run: 1, Seed: 7}
			require.False(t, d.hung(at))
			wall, cpu = c.wall, cpu+c.cpu
			require.Equal(t, c.hung, d.hung(at))
			require.False(t, d.hung(progress{Request: 1, Run: 2, Seed: 8}), "the next run has a time of its own")
		})
	}
}

func TestProcessorTimeIsThatOfTheProcess(t *testing.T) {
	before, ok := cpuTime(os.Getpid())
	if !ok {
		t.Skip("this system does not tell")
	}
	// Work that is counted, not timed: the loop ends when the figure has moved, however long a busy machine takes.
	var sum uint64
	for after := before; after <= before; after, _ = cpuTime(os.Getpid()) {
		for i := range uint64(1 << 20) {
			sum += i * i
		}
	}
	require.NotZero(t, sum)
	_, ok = cpuTime(-1)
	require.False(t, ok)
}
