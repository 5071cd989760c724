package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarnsWhenThereIsNothingToCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		warns bool
	}{
		{"a room", []string{"./sim/check"}, false},
		{"no room", []string{"./reports", "./sim/simtest"}, true},
		{"a room by its comment", []string{"./reports", "./examples/transfer"}, false},
		{"a room of one's own", []string{"-rooms=github.com/kraftsim/kraftsim/reports/...", "./reports"}, false},
		{"in two words", []string{"-rooms", "github.com/kraftsim/kraftsim/reports", "./reports"}, false},
		{"a room that is not among them", []string{"-rooms=example.com/mine", "./sim/check"}, true},
		{"as a vet tool", []string{"vet.cfg"}, false},
		{"what vet asks", []string{"-V=full"}, false},
		{"a package that does not load", []string{"./nowhere"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			warn(&b, "../..", c.args)
			require.Equal(t, c.warns, b.Len() > 0, b.String())
			if c.warns {
				require.Contains(t, b.String(), "nothing was checked")
			}
		})
	}
}
