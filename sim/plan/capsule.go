package plan

// DrawnDecision is one decision as a run took it.
type DrawnDecision struct {
	Hash   uint64 // of its name
	Value  int64
	Benign bool
	Name   string // readable, only where it was not benign
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
	// Decisions are all decisions: 8 bytes name hash, 4 bytes value each, little endian, base64.
	Decisions []byte   `json:"decisions,omitempty"`
	Verdict   *Verdict `json:"verdict"`
}
