// Package plan holds the data that goes into a run and comes out of it: Plan, Verdict, Capsule.
//
// A failure that can only be described by the seed of a program dies with the next version of that program. Here everything
// that a run depends on is a document, which people read, edit, shorten and send to each other:
//
//	p, err := plan.ReadFile("plan.json", registry) // or plan.Decode, or a Scenario's Draw
//	p.Actions = p.Actions[:1]                      // one fault instead of four
//	err = plan.Validate(p, registry)
//	text, err := plan.Encode(p)
//
// A Verdict is what a run of it came to; a Capsule holds a plan, the decisions that its run drew, and the hashes that a replay
// has to reach.
//
// # Guarantees
//
// The same plan on the same engine version gives the same verdict to the last bit. Hosts and actions carry stable string ids,
// and decisions are keyed by those ids, never by an index, so that a deleted line moves no other. 64-bit values are strings in
// JSON, which has no such numbers. An absent field means the benign value, for ever; an unknown field is an error that names it,
// and wraps ErrInput as every other error about a document does. Encode and Decode are inverse, and so are FormatAction and
// ParseAction. What is read is at most MaxFileBytes long and comes from a regular file.
//
// The package knows no scenario: scenarios register kinds of action (Registry), each with typed parameters, a one-line
// text form that prints back exactly, and documentation. So a plan can be validated by a program that does not understand it.
//
// # Refused
//
// A language with expressions (a plan that computes cannot be shortened line by line), YAML (three ways to write a number),
// and the seed alone with the version of the program (nothing in it can be edited).
package plan

import (
	"cmp"
	"slices"
)

// Format is the version of the plan document that this engine writes. It reads this one only.
const Format = 1

// Plan is one run as data. See the package comment.
type Plan struct {
	Format   int32  `json:"format"`
	Scenario string `json:"scenario"`
	Seed     Uint64 `json:"seed"`
	// Profile is the name of the swarm profile from which the storm was drawn. It is for people and for drawing the plan again; no run
	// depends on it.
	Profile  string     `json:"profile,omitempty"`
	Hosts    []Host     `json:"hosts"`
	Network  Network    `json:"network,omitzero"`
	Disk     Disk       `json:"disk,omitzero"`
	Lanes    Lanes      `json:"lanes,omitzero"`
	Params   Params     `json:"params,omitempty"` // of the scenario: timeouts, sizes, variant
	Workload []Workload `json:"workload,omitempty"`
	Actions  []Action   `json:"actions,omitempty"`
	// StormUs is the length of the storm in microseconds of virtual time; the calm begins then.
	StormUs Int64 `json:"storm_us"`
	// Unrestricted switches the fault budget off: what the faults break must then be a declared outcome.
	Unrestricted bool `json:"unrestricted,omitempty"`
	// Scheduler says which of the pending events is next; absent: the earliest.
	Scheduler Scheduler `json:"scheduler,omitzero"`
	// Decisions override single draws; empty in a plan that was drawn and never materialised.
	Decisions []Decision `json:"decisions,omitempty"`
	// Explicit: no decision is a fault but those listed, whatever the rates. A materialised plan is explicit.
	Explicit bool `json:"explicit,omitempty"`
}

// Scheduler is a policy that lets events be late, by no more than a window, so that others come first. docs/sim.md has the semantics.
type Scheduler struct {
	Policy   string `json:"policy"`              // pct, uniform
	WindowUs int64  `json:"window_us,omitempty"` // how late an event may be
	Depth    int64  `json:"depth,omitempty"`     // pct: of the bugs that it aims at; absent: 1
	Steps    int64  `json:"steps,omitempty"`     // pct: choices among which the changes of priority are drawn; absent: 1
	Faults   int64  `json:"faults,omitempty"`    // uniform: kills, cuts and lost messages that may take the place of events
	Power    bool   `json:"power,omitempty"`     // uniform: losses of power are among them, each of which takes all that was not flushed
	FromUs   Int64  `json:"from_us,omitzero"`    // uniform: before that time there are no choices
}

// Host is a machine of the simulated cluster. It survives crashes; what runs on it is made from it at each boot.
type Host struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`              // what runs on it, a word of the scenario: "controller", "broker"
	Release string `json:"release,omitempty"` // what its software knows
	// OffsetMs is the error of its wall clock at the start, DriftPpm how fast both its clocks run against true time, at
	// most 500,000 either way.
	OffsetMs Int64 `json:"offset_ms,omitzero"`
	DriftPpm int32 `json:"drift_ppm,omitempty"`
	StartUs  Int64 `json:"start_us,omitzero"` // when it boots first
	// Rack is where it stands: what has one rack in common loses power together (action power), and is near.
	Rack   string `json:"rack,omitempty"`
	Params Params `json:"params,omitempty"`
}

// Network is the model of every link. Rates are per million, times in microseconds.
type Network struct {
	Transport string `json:"transport,omitempty"` // "stream" (default) or "datagram"
	LatencyUs int64  `json:"latency_us,omitempty"`
	JitterUs  int64  `json:"jitter_us,omitempty"` // uniform, added to the latency
	// Weights replace the uniform jitter: weight i is the share of messages that take LatencyUs + i*JitterUs.
	Weights      []int64 `json:"weights,omitempty"`
	TailPpm      int64   `json:"tail_ppm,omitempty"` // messages that take TailUs longer
	TailUs       int64   `json:"tail_us,omitempty"`
	ResetPpm     int64   `json:"reset_ppm,omitempty"` // stream: a message that resets its connection
	LossPpm      int64   `json:"loss_ppm,omitempty"`  // datagram only, as the next three: a stream plan with one is refused
	DuplicatePpm int64   `json:"duplicate_ppm,omitempty"`
	ReorderPpm   int64   `json:"reorder_ppm,omitempty"`
	ReorderUs    int64   `json:"reorder_us,omitempty"`
	CorruptPpm   int64   `json:"corrupt_ppm,omitempty"` // messages that travel as bytes: a bit flips
	// BytesPerSecond is what each link carries, 0 everything; QueueBytes what may wait for one, 0 stands for 256 KiB.
	BytesPerSecond int64 `json:"bytes_per_second,omitempty"`
	QueueBytes     int64 `json:"queue_bytes,omitempty"`
	CrossRackUs    int64 `json:"cross_rack_us,omitempty"` // added between hosts of different racks
}

// Disk is the model of every volume. Costs in nanoseconds, rates per million.
type Disk struct {
	Profile       string `json:"profile,omitempty"`     // "ordered" (default) or "posix"
	FailedSync    string `json:"failed_sync,omitempty"` // what becomes of pages whose fsync failed: "drop" (default) or "keep"
	WriteNs       int64  `json:"write_ns,omitempty"`
	SyncNs        int64  `json:"sync_ns,omitempty"`
	MetadataNs    int64  `json:"metadata_ns,omitempty"` // create, rename, remove, truncate
	JitterPercent int64  `json:"jitter_percent,omitempty"`
	SlowSyncPpm   int64  `json:"slow_sync_ppm,omitempty"`
	SlowSyncNs    int64  `json:"slow_sync_ns,omitempty"`
	ReadErrorPpm  int64  `json:"read_error_ppm,omitempty"`
	WriteErrorPpm int64  `json:"write_error_ppm,omitempty"`
	SyncErrorPpm  int64  `json:"sync_error_ppm,omitempty"`
}

// Lanes is the model of threads: how late a post or a wake-up may be, in microseconds.
type Lanes struct {
	PostJitterUs int64 `json:"post_jitter_us,omitempty"`
	WakeJitterUs int64 `json:"wake_jitter_us,omitempty"`
	// SpuriousPpm is the share of handlers after which the lane is woken once more for nothing.
	SpuriousPpm int64 `json:"spurious_ppm,omitempty"`
}

// Workload is one stream of client requests; Kind and Params are words of the scenario.
type Workload struct {
	ID     string `json:"id"`
	Kind   string `json:"kind"`
	Params Params `json:"params,omitempty"`
}

// Action is something that happens at a time: a fault, an operator's step.
type Action struct {
	ID     string `json:"id"`
	AtUs   Int64  `json:"at_us"` // before storm_us
	Kind   string `json:"kind"`
	Params Params `json:"params,omitempty"`
}

// InOrder returns the plan's actions in the order in which they happen; of two at one time the first of the plan is first. The
// plan stays as it is: an action's place in it means nothing.
func (p *Plan) InOrder() []Action {
	actions := slices.Clone(p.Actions)
	slices.SortStableFunc(actions, func(a, b Action) int { return cmp.Compare(a.AtUs, b.AtUs) })
	return actions
}

// Decision is one override: the readable name is for people, the hash is what counts.
type Decision struct {
	Name     string `json:"name"`
	NameHash Uint64 `json:"hash"`
	Value    Int64  `json:"value"`
}

// Params are the named values of an action, a host or a scenario, as text; the registered kind says what they mean.
type Params map[string]string
