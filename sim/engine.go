package sim

import (
	"errors"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// EngineVersion names the behaviour of the engine: same plan and same version, same verdict. It changes whenever a pinned
// hash changes, together with an entry in CHANGELOG.md.
const EngineVersion = "1"

// Scenario draws plans and furnishes worlds with them.
type Scenario interface {
	// Name is the scenario's id, with slashes for families: "kip1262/draft".
	Name() string
	// Doc is one sentence for `simrun list`.
	Doc() string
	// Draw makes the plan of a seed. Pure: same seed, same plan.
	Draw(seed uint64) *plan.Plan
	// Build puts hosts, processes, workloads and checkers into a world that was just reset for the plan. It returns an
	// error, naming the field, for a plan that the scenario can't run.
	Build(w *World, p *plan.Plan) error
}

// Judge is a Scenario that has something to say when a run is over and no event can come any more, outside of the deterministic rooms:
// a check that searches, for example. It may add to Evaluated and Stats, and may turn an outcome that is no finding into a violation, with
// what is broken, or into unknown. The same world must get the same words, whatever runs beside it. No hash has them.
type Judge interface {
	Judge(w *World, v *plan.Verdict)
}

// InvariantDoc describes one invariant for `simrun list`.
type InvariantDoc struct {
	Name   string
	Source string // KIP, paper, or page that it comes from
	Doc    string
}

// SometimesDoc describes one condition that campaigns must reach now and then.
type SometimesDoc struct {
	Name     string
	Scenario string // the scenario family in which it is due, see InFamily
	// DuePerMillion is how often among a million runs of that family it is expected at least. A campaign large enough to
	// expect twenty hits that has none is red.
	DuePerMillion int64
	// SharePerMillion is the dosage: of a million runs of that family at least so many meet it. A campaign of 200 such runs or more that
	// falls short is red. 0: any share will do.
	SharePerMillion int64
	Doc             string
}

// InFamily reports whether a scenario belongs to a family: a prefix of scenario names, or several with commas between. Everything
// belongs to the family "".
func InFamily(family, scenario string) bool {
	for prefix := range strings.SplitSeq(family, ",") {
		if strings.HasPrefix(scenario, prefix) {
			return true
		}
	}
	return false
}

// HazardDoc is a declared hazard or documented loss: what may break, in which scenarios, and why that is no bug of ours.
type HazardDoc struct {
	ID        string
	Invariant string
	Scenario  string // family of scenarios in which it may be met, see InFamily
	Fault     string // fault class that it needs, "" for none
	Doc       string
	// DuePerMillion is how often among a million runs it is met at least; a campaign large enough to expect twenty that
	// meets none is red.
	DuePerMillion int64
	// DueIn is the family of scenarios whose runs count for that, where others may meet it and need not; "" for Scenario.
	DueIn string
}

// Catalogue is what a program built on the simulator offers: its scenarios and their documentation. The command line
// (sim/cli) takes one.
type Catalogue struct {
	Program   string // name of the binary, as people type it: "simrun"
	Scenarios []Scenario
	// Large are scenarios whose runs take so long that a campaign draws them only when it is asked for all, or for one by its whole
	// name. Everything else finds them as it finds the others.
	Large []Scenario
	// Registry has the kinds of action and workload that plans may use. It is required: NewRegistry() makes one with the
	// core's faults, to which a program adds kinds of its own.
	Registry *plan.Registry
	// Invariants and Sometimes document the names that World.Violate and World.Sometimes may use. A list that is empty
	// allows any name; otherwise a name that is not in it is a programmer's error, since nobody would ever see it listed.
	Invariants []InvariantDoc
	Sometimes  []SometimesDoc
	Hazards    []HazardDoc
	// Sites are the places at which the program changes a disk, for the dosage of campaigns.
	Sites []SiteDoc
	// Profiles are the swarm profiles that `list profiles` shows, and of which a Profiled scenario takes any in place of its own.
	Profiles []*swarm.Profile
	// Decode says what the first bytes of a file hold, unit after unit, as far as they are whole; nil for a file that it does not
	// know. It serves viewers and may be nil.
	Decode func(path string, data []byte) []Decoded
	// Contents is a message in full, in lines. It serves viewers and may be nil: then a message is what it says of itself.
	Contents func(m Message) []string
	// MessageName is what people call the messages of a kind, in the plural: "Fetch requests"; "" for a kind that it does not know. It
	// serves viewers and may be nil: then a kind is its number.
	MessageName func(kind uint32) string
	// NodeOf is the number by which the processes of a plan know a host of it, by its index, when it has one, and within which group
	// of hosts it does: several clusters may number alike. It serves viewers and may be nil.
	NodeOf func(p *plan.Plan, host int) (node int32, group string, ok bool)
	// Canary is the planted bug that campaigns must find; nil for none.
	Canary *Canary
}

// Check returns an error that says what a catalogue lacks to be run at all, nil when it is complete.
func (c *Catalogue) Check() error {
	if c == nil {
		return errors.New("sim: Catalogue is nil: an engine needs one")
	}
	if c.Registry == nil {
		return errors.New("sim: Catalogue.Registry is required: sim.NewRegistry()")
	}
	return nil
}

// Scenario returns the scenario with that name, or nil. A name such as "raft/storm-3@disk" is that of a scenario under a profile.
func (c *Catalogue) Scenario(name string) Scenario {
	if base, profile, found := CutProfile(name); found {
		return c.Under(c.Scenario(base), profile)
	}
	for _, list := range [2][]Scenario{c.Scenarios, c.Large} {
		for _, s := range list {
			if s.Name() == name {
				return s
			}
		}
	}
	if own := c.of(name); own != c {
		return own.Scenario(name)
	}
	return nil
}

// TraceLine is one line of the full trace.
type TraceLine struct {
	ID     int64 // of the event
	Cause  int64 // id of the event that caused it, -1 for the plan
	AtUs   int64
	Host   string // "" for the world itself
	Lane   string
	Boot   int32  // incarnation of the process, from 1
	What   string // "input", "send", "disk", "protocol", "down", "boot", "action", "undo", "refused", "calm", "violation", ...
	Text   string
	Digest uint64 // running trace hash after the line's event

	Peer string `json:",omitempty"` // the other host of a message or a connection
	// Number of a message, from 1. A send and the inputs that it became have the same; 0: none. Posts count too.
	Number int32  `json:",omitempty"`
	Action string `json:",omitempty"` // id of the plan's action that "action", "undo" and "refused" are about
	// What the line was made of, for those who look inside. It is good during the call; nil where there is none.
	Of      *Host        `json:"-"`
	Message Message      `json:"-"`
	Seen    Observation  `json:"-"`
	Disk    *vdisk.Op    `json:"-"`
	Input   InputKind    `json:"-"` // of "input"
	Down    DownKind     `json:"-"` // of "down"
	Broken  *plan.Broken `json:"-"` // of "violation" and "hazard"
}

// Options choose how much a run tells. None of them changes a hash.
type Options struct {
	// Trace receives every line of the full trace, in order.
	Trace func(TraceLine)
	// RecordDecisions keeps every decision for a capsule.
	RecordDecisions bool
	// Poison copies each buffer at each boundary and scribbles over the original, to catch programs that reuse memory
	// they gave away.
	Poison bool
	// Choice is told of every choice of the scheduler uniform and returns the option that is taken, Leave or Stop. It is the one option that
	// changes a run: what it returns stands for decisions of the plan, and is recorded like them.
	Choice func(c *Choice) int64
	// MostEvents gives a run up that takes more events, as Verdict.Events counts them, 0: only the limit of every run does. Run returns ErrGivenUp then, and no verdict. Who
	// shortens a failure has no use for runs that go on for long after the time at which it showed.
	MostEvents int64
	// Digests receives (event id, running trace hash) after every event; verify uses it to name the first that differs.
	Digests func(event int64, digest uint64)
}

// ErrGivenUp is returned for a run that took more than Options.MostEvents events.
var ErrGivenUp = errors.New("sim: the run was given up: it takes more events than were asked for")

// Result is a verdict with what the options asked for.
type Result struct {
	Verdict   *plan.Verdict
	Decisions []plan.DrawnDecision // RecordDecisions
	// Coverage lists the combinations that the run came to, and Workload names the kinds of its clients ("" for none). They are in no hash,
	// and valid until the engine's next run.
	Coverage []Covered
	Workload string
}
