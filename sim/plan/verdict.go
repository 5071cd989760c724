package plan

// Outcome is how a run ended.
type Outcome string

// The outcomes. Violation, Stuck, Spin and Panic are findings; the others are not.
const (
	OK                Outcome = "ok"
	Violation         Outcome = "violation"          // an invariant was broken
	Stuck             Outcome = "stuck"              // the calm ran out and an obligation is still unmet
	LegitimatelyStuck Outcome = "legitimately-stuck" // no healthy core was left that could have met it
	Spin              Outcome = "spin"               // a lane woke itself without end
	Unknown           Outcome = "unknown"            // a history too wide to check
	Panic             Outcome = "panic"              // a defect of the program under test or of the simulator
)

// known reports whether the outcome is one of those above.
func (o Outcome) known() bool {
	return o == OK || o == LegitimatelyStuck || o == Unknown || o.Finding()
}

// Finding reports whether the outcome is something to look into.
func (o Outcome) Finding() bool { return o == Violation || o == Stuck || o == Spin || o == Panic }

// Broken is one invariant seen broken: a finding, or a declared hazard.
type Broken struct {
	Invariant string `json:"invariant"`
	Detail    string `json:"detail"`             // one sentence with offsets, epochs, hosts
	Evidence  string `json:"evidence,omitempty"` // kind of evidence, a fixed word: part of the fingerprint
	AtUs      Int64  `json:"at_us"`
	Event     Int64  `json:"event"`            // id of the event after which it showed
	Hazard    string `json:"hazard,omitempty"` // id of the declaration that covers it; empty: a finding
	// Stack is where a panic came from, innermost first: function (file:line). It is for people and part of no comparison.
	Stack []string `json:"stack,omitempty"`
}

// Verdict is what a run comes to. It holds no wall time and nothing that depends on the machine.
type Verdict struct {
	Outcome Outcome  `json:"outcome"`
	Broken  []Broken `json:"broken,omitempty"` // the first finding first, then hazards by time
	// Waiting says who waits for whom when the outcome is stuck or legitimately stuck.
	Waiting []string `json:"waiting,omitempty"`

	TraceHash     Hex64 `json:"trace_hash"`
	BehaviourHash Hex64 `json:"behaviour_hash"`

	Events    Int64            `json:"events"`
	VirtualUs Int64            `json:"virtual_us"`
	Decisions Int64            `json:"decisions"`
	Stats     map[string]int64 `json:"stats,omitempty"`     // elections, crashes, crashes-in-handler, fsyncs, ...
	Sometimes map[string]int64 `json:"sometimes,omitempty"` // how often each condition held
	Evaluated map[string]int64 `json:"evaluated,omitempty"` // how often each invariant was evaluated
	Refused   []Refused        `json:"refused,omitempty"`
	Resolved  []Resolved       `json:"resolved,omitempty"`
	Stopped   []Stopped        `json:"stopped,omitempty"`
}

// Resolved is what an action came to that names no host, or no time, by itself: the actions that would have done the same.
type Resolved struct {
	Action string   `json:"action"`
	As     []Action `json:"as,omitempty"`
}

// Refused is an action that the fault budget did not allow, or that made no sense when its time came.
type Refused struct {
	Action string `json:"action"`
	Reason string `json:"reason"`
}

// Stopped is a process that ended by itself: refused to start, or met an error that Kafka calls fatal.
type Stopped struct {
	Host   string `json:"host"`
	AtUs   Int64  `json:"at_us"`
	AtBoot bool   `json:"at_boot"`
	Error  string `json:"error"`
}

// Fingerprint names the kind of failure: outcome, invariant, kind of evidence. Shrinking keeps it, campaigns group by it.
// It is empty for a run without a finding.
func (v *Verdict) Fingerprint() string {
	if !v.Outcome.Finding() {
		return ""
	}
	for _, b := range v.Broken {
		if b.Hazard == "" {
			return string(v.Outcome) + "/" + b.Invariant + "/" + b.Evidence
		}
	}
	return string(v.Outcome)
}

// HazardFingerprints lists the declared hazards met, as "hazard/<id>", each once, in order of appearance.
func (v *Verdict) HazardFingerprints() (ids []string) {
next:
	for _, b := range v.Broken {
		if b.Hazard == "" {
			continue
		}
		for _, have := range ids {
			if have == "hazard/"+b.Hazard {
				continue next
			}
		}
		ids = append(ids, "hazard/"+b.Hazard)
	}
	return ids
}
