package swarm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Range is the ends of what may be drawn, both included.
type Range = [2]int64

// Fault is a kind of action that a profile draws, and how often in comparison with the others. Some words stand for a kind with certain
// parameters: see Words.
type Fault struct {
	Kind   string
	Weight int64
}

// Weights reads a list of faults with their weights, as "kill:20 power:16". It panics for what is no such list: it stands in programs.
func Weights(text string) (faults []Fault) {
	for _, word := range strings.Fields(text) {
		kind, number, _ := strings.Cut(word, ":")
		weight, err := strconv.ParseInt(number, 10, 32)
		if err != nil || weight <= 0 || kind == "" {
			panic("swarm: " + word + " is not KIND:WEIGHT")
		}
		faults = append(faults, Fault{Kind: kind, Weight: weight})
	}
	return faults
}

// Profile is a storm as data: which faults, how many, how long, on what network and disks.
type Profile struct {
	Name, Doc string
	StormUs   Range // length of the storm
	Actions   Range // how many faults
	Faults    []Fault
	// PresentPercent is the share of seeds that have a given kind of fault at all; 0 means usualPresence, 100 switches the swarm off.
	PresentPercent int64
	LatencyUs      Range
	JitterUs       Range
	TailPercent    int64 // share of plans with a latency tail
	ResetPpm       int64 // streams: the highest rate of resets; datagrams have LossPpm
	LossPpm        int64 // datagrams: the highest rate of losses, and of repeats and reorderings
	SyncNs         Range
	DiskErrorPpm   int64 // rate of disk errors in the plans that have them
	// TimeoutMs is the range of the program's most important timeout, from which it derives the others.
	TimeoutMs Range
	Lanes     plan.Lanes // the most of each
	// PCTPercent is the share of plans whose events the scheduler pct orders.
	PCTPercent int64
	PeriodUs   int64 // of the workload, where the scenario has one with a period
}

// usualPresence is the share of seeds that have a kind of fault, in per cent.
const usualPresence = 70

// Present returns the faults that a seed has, with the weights that it drew. Of a profile with faults at least one is there.
func (f *Profile) Present(d Dice) []Fault {
	percent := f.PresentPercent
	if percent == 0 {
		percent = usualPresence
	}
	if percent >= 100 {
		return f.Faults
	}
	present := make([]Fault, 0, len(f.Faults))
	for _, x := range f.Faults {
		if d.Chance("swarm/"+x.Kind, percent) {
			x.Weight *= d.OneOf("swarm/"+x.Kind+"/weight", 1, 2, 2, 4)
			present = append(present, x)
		}
	}
	if len(present) == 0 && len(f.Faults) > 0 {
		return f.Faults[d.Roll("swarm/one", int64(len(f.Faults))):][:1]
	}
	return present
}

// Find returns the profile with that name, nil when there is none.
func Find(profiles []*Profile, name string) *Profile {
	if i := slices.IndexFunc(profiles, func(f *Profile) bool { return f.Name == name }); i >= 0 {
		return profiles[i]
	}
	return nil
}
