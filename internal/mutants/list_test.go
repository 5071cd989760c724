package mutants

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// A list tells of patches, and nothing of kills: none was tried.
func TestListIsAList(t *testing.T) {
	r := &Report{Rows: []*Row{{Patch: &Patch{ID: "KB-01", Name: "Reinit", Scenarios: []string{"a/b", "c"}, Invariants: []string{"roles"}, Rule: "a rule"}, Status: Listed}}}
	var out bytes.Buffer
	require.NoError(t, r.list(&out))
	require.Equal(t, "id     mutant  scenarios  invariants  rule broken\nKB-01  Reinit  a/b c      roles       a rule\n\n1 mutant; every patch applies\n", out.String())
}
