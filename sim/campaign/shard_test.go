package campaign_test

import (
	"testing"

	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/stretchr/testify/require"
)

func TestShards(t *testing.T) {
	index := func(value string) func(string) string {
		return func(name string) string {
			require.Equal(t, "JOB_COMPLETION_INDEX", name)
			return value
		}
	}
	for text, want := range map[string]campaign.Shard{"": {}, "1/1": {Index: 1, Of: 1}, "8/8": {Index: 8, Of: 8}, "auto/4": {Index: 4, Of: 4}} {
		got, err := campaign.ParseShard(text, index("3"))
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for text, problem := range map[string]string{
		"0/3": "must lie between 1 and 3", "4/3": "must lie between 1 and 3", "2": "is no part of a campaign", "2/0": "is no part of a campaign",
		"x/3": `part "x" of 3`, "1/10001": "of at most 10000", "auto/3": "must lie between 0 and 2", "1/3/4": "is no part of a campaign",
	} {
		_, err := campaign.ParseShard(text, index("3"))
		require.ErrorContains(t, err, problem, text)
	}
	_, err := campaign.ParseShard("auto/3", index(""))
	require.ErrorContains(t, err, "auto/3 needs the variable JOB_COMPLETION_INDEX")
}

// What ParseShard takes is a part, and prints as itself.
func FuzzParseShard(f *testing.F) {
	for _, text := range []string{"", "2/8", "auto/8", "0/1", "-1/2", "9223372036854775807/9223372036854775807", "1//2"} {
		f.Add(text, "5")
	}
	f.Fuzz(func(t *testing.T, text, index string) {
		s, err := campaign.ParseShard(text, func(string) string { return index })
		if err != nil || text == "" {
			require.Zero(t, s)
			return
		}
		require.GreaterOrEqual(t, s.Index, int64(1))
		require.LessOrEqual(t, s.Index, s.Of)
		again, err := campaign.ParseShard(s.String(), nil)
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
