package campaign

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/sim"
)

func TestAPlaceIsRedWhereNoCrashLeftAPartOfIt(t *testing.T) {
	for _, c := range []struct {
		parts bool
		site  Site
		want  string
	}{
		{false, Site{}, "no crash struck it"},
		{true, Site{}, "no crash struck it"},
		{true, Site{Before: 3, After: 9}, "no crash struck during it"},
		{true, Site{During: 1}, ""},
		{false, Site{Before: 3}, ""}, // whole or not there: during it is before it or after it
		{false, Site{After: 3}, ""},
	} {
		c.site.judge(&sim.SiteDoc{Name: "x", Parts: c.parts})
		if c.want == "" {
			require.Empty(t, c.site.Red, "%+v", c)
			continue
		}
		require.Contains(t, c.site.Red, c.want, "%+v", c)
	}
}
