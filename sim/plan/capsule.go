package plan

import (
	"fmt"
	"strconv"
	"strings"
)

// DrawnDecision is one decision as a run took it.
type DrawnDecision struct {
	Hash   uint64 // of its name
	Value  int64
	Benign bool
	Spread bool   // of a site whose values always differ, as delays do: no fault, whatever the value
	Name   string // readable, with the value; only where it was not benign
}

// Capsule is a failure on disk: all that replay needs, on this code or on newer code.
type Capsule struct {
	Format        int32  `json:"format"`
	Engine        string `json:"engine"`
	Plan          *Plan  `json:"plan"`
	Fingerprint   string `json:"fingerprint"`
	TraceHash     Hex64  `json:"trace_hash"`
	BehaviourHash Hex64  `json:"behaviour_hash"`
	// Unusual lists the decisions that were not benign, readable, one a line.
	Unusual []string `json:"unusual,omitempty"`
	// Decisions are all decisions as PackDecisions packs them, in base64.
	Decisions []byte   `json:"decisions,omitempty"`
	Verdict   *Verdict `json:"verdict"`
	// Rate says how often the failure came up where the capsule was found; nil where nobody counted.
	Rate *FailureRate `json:"rate,omitempty"`
}

// FailureRate counts runs of one scenario, or of the scenarios of one hunt, and those among them that failed in the same way. A hunt ends
// at the first, so it counts one.
type FailureRate struct {
	Failures Int64 `json:"failures"`
	Runs     Int64 `json:"runs"`
}

// NewCapsule packs a run. target is the fingerprint that the capsule is about; "" takes the verdict's own.
func NewCapsule(engine string, p *Plan, v *Verdict, drawn []DrawnDecision, target string) *Capsule {
	if target == "" {
		target = v.Fingerprint()
	}
	c := &Capsule{
		Format: Format, Engine: engine, Plan: p, Fingerprint: target,
		TraceHash: v.TraceHash, BehaviourHash: v.BehaviourHash, Verdict: v,
	}
	for i := range drawn {
		if d := &drawn[i]; !d.Benign {
			c.Unusual = append(c.Unusual, fmt.Sprintf("%s [%016x]", d.Name, d.Hash))
		}
	}
	if len(drawn) > 0 {
		c.Decisions = PackDecisions(drawn)
	}
	return c
}

// Bare returns a capsule that holds what can't be made again from its plan: without the lists of decisions, the hashes and the counters of
// the run. It is for capsules that live beside the sources, where hashes would have to follow each change of behaviour: the fingerprint is
// what they are compared by, and the decisions that matter are in the plan.
func (c *Capsule) Bare() *Capsule {
	bare, v := *c, *c.Verdict
	bare.TraceHash, bare.BehaviourHash, bare.Unusual, bare.Decisions = 0, 0, nil, nil
	bare.Verdict = &Verdict{Outcome: v.Outcome, Broken: append([]Broken(nil), v.Broken...), Waiting: v.Waiting}
	for i := range bare.Verdict.Broken {
		bare.Verdict.Broken[i].Stack, bare.Verdict.Broken[i].Event = nil, 0
	}
	return &bare
}

// Stored unpacks the decisions of the capsule; those that its plan lists when it is a bare one.
func (c *Capsule) Stored() ([]DrawnDecision, error) {
	stored, err := UnpackDecisions(c.Decisions)
	if err != nil || len(stored) > 0 {
		return stored, err
	}
	for i := range c.Plan.Decisions {
		stored = append(stored, DrawnDecision{Hash: uint64(c.Plan.Decisions[i].NameHash), Value: int64(c.Plan.Decisions[i].Value)})
	}
	return stored, nil
}

// Fixed returns the capsule's plan with the stored decisions as overrides, for a run on code that may draw otherwise. What the plan itself
// lists counts before them.
func (c *Capsule) Fixed(stored []DrawnDecision) *Plan {
	p := c.Plan.Clone()
	have := make(map[Uint64]bool, len(p.Decisions)+len(stored))
	for i := range p.Decisions {
		have[p.Decisions[i].NameHash] = true
	}
	fixed := make([]Decision, 0, len(stored)+len(p.Decisions))
	for i := range stored {
		if hash := Uint64(stored[i].Hash); !have[hash] {
			have[hash] = true
			fixed = append(fixed, Decision{NameHash: hash, Value: Int64(stored[i].Value)})
		}
	}
	p.Decisions = append(fixed, p.Decisions...)
	return p
}

// FirstUnknown returns the readable name of the first decision of the capsule that a run did not draw, in the order of the plan and then
// in that of the capsule's own run: where a replay on other code left the path. It is "" when all came up, with this or another value.
func (c *Capsule) FirstUnknown(drawn []DrawnDecision) string {
	known := make(map[uint64]bool, len(drawn))
	for i := range drawn {
		known[drawn[i].Hash] = true
	}
	for i := range c.Plan.Decisions {
		if d := &c.Plan.Decisions[i]; !known[uint64(d.NameHash)] {
			return d.Name
		}
	}
	for _, line := range c.Unusual {
		name, rest, _ := strings.Cut(line, " [")
		hash, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 16, 64)
		if err == nil && !known[hash] {
			return name
		}
	}
	return ""
}

// EncodeCapsule writes a capsule as indented JSON with a newline at the end.
func EncodeCapsule(c *Capsule) ([]byte, error) { return encode(c) }

// DecodeCapsule reads a capsule as strictly as Decode reads a plan.
func DecodeCapsule(data []byte) (*Capsule, error) {
	c := new(Capsule)
	if err := otherFormat(data); err != nil {
		return nil, err
	}
	if err := decodeStrict(data, c); err != nil {
		return nil, err
	}
	if err := checkFormat("format", c.Format); err != nil {
		return nil, err
	}
	if c.Plan == nil {
		return nil, &FieldError{Field: "plan", Problem: "missing: a capsule holds the plan that failed"}
	}
	if r := c.Rate; r != nil && (r.Failures < 0 || r.Runs < r.Failures) {
		return nil, &FieldError{Field: "rate", Problem: fmt.Sprintf("%d failures in %d runs", r.Failures, r.Runs)}
	}
	if err := checkFormat("plan.format", c.Plan.Format); err != nil {
		return nil, err
	}
	if c.Engine == "" {
		return nil, &FieldError{Field: "engine", Problem: "missing: a capsule names the version of the engine that ran it"}
	}
	if c.Verdict == nil {
		return nil, &FieldError{Field: "verdict", Problem: "missing: a capsule holds the verdict of its run"}
	}
	if err := c.Verdict.check(); err != nil {
		return nil, err
	}
	if err := c.checkUnusual(); err != nil {
		return nil, err
	}
	if _, err := UnpackDecisions(c.Decisions); err != nil {
		return nil, &FieldError{Field: "decisions", Problem: err.Error()}
	}
	return c, nil
}

// ReadFile reads and validates a plan file.
func ReadFile(file string, r *Registry) (*Plan, error) {
	data, err := Input(file)
	if err != nil {
		return nil, err
	}
	p, err := Decode(data)
	if err == nil {
		err = Validate(p, r)
	}
	if err != nil {
		return nil, InFile(file, err)
	}
	return p, nil
}

// ReadCapsuleFile reads a capsule file and validates the plan in it.
func ReadCapsuleFile(file string, r *Registry) (*Capsule, error) {
	data, err := Input(file)
	if err != nil {
		return nil, err
	}
	c, err := DecodeCapsule(data)
	if err == nil {
		err = Validate(c.Plan, r)
	}
	if err != nil {
		return nil, InFile(file, err)
	}
	return c, nil
}
