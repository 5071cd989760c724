package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// TestUsualValuesAreThoseOfTheReaders: what shrinking takes an absent parameter for is what a run takes it for.
func TestUsualValuesAreThoseOfTheReaders(t *testing.T) {
	s, err := readSettings(&plan.Plan{Hosts: []plan.Host{{ID: "c1", Kind: kindController}}})
	require.NoError(t, err)
	r := Catalogue().Registry
	for name, value := range map[string]int64{
		"fetch_timeout_ms": s.timeouts.fetch, "request_timeout_ms": s.timeouts.request, "fetch_max_wait_ms": s.timeouts.wait,
		"broker_session_timeout_ms": s.members.sessionMs, "broker_heartbeat_interval_ms": s.members.heartbeatMs,
	} {
		require.Equal(t, value, r.PlanParameter("raft/quiet", name).Usual, name)
	}
	for params, want := range map[*plan.Params]int64{
		{}:                                  0,
		{"fetch_timeout_ms": "183"}:         1,
		{"request_timeout_ms": "183"}:       1,
		{"fetch_max_wait_ms": "2500"}:       2,
		{"broker_session_timeout_ms": "90"}: 1,
		{"broker_session_timeout_ms": "90", "broker_heartbeat_interval_ms": "15"}: 0,
		{"fetch_timeout_ms": "183", "fetch_max_wait_ms": "15"}:                    0,
	} {
		require.Equal(t, want, r.Contradictions(&plan.Plan{Scenario: "raft/quiet", Params: *params}), "%v", *params)
	}
}
