package campaign

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of Of equal parts of a campaign, from 1. Its zero value is the whole. A part is a function of the number of seeds
// alone, so that machines that know nothing of each other run each seed once.
type Shard struct {
	Index, Of int64
}

// part returns the shard's part of n seeds: without gaps and overlaps over all shards.
func (s Shard) part(n int64) Range {
	if s.Of <= 1 {
		return Range{Count: n}
	}
	from, to := cut(n, s.Index-1, s.Of), cut(n, s.Index, s.Of)
	return Range{At: from, Count: to - from}
}

// cut is n*i/of without overflow.
func cut(n, i, of int64) int64 { return n/of*i + n%of*i/of }

// maxShards bounds how many parts a campaign is cut into.
const maxShards = 10_000

// AutoShard is the index that a Kubernetes Job with completion mode Indexed is asked for.
const AutoShard = "auto"

// ParseShard reads "2/8", the second of eight, or "auto/8", where the environment names the part, counted from 0 as
// JOB_COMPLETION_INDEX, as in a Kubernetes Job with completion mode Indexed. "" is the whole campaign.
func ParseShard(text string, getenv func(string) string) (Shard, error) {
	if text == "" {
		return Shard{}, nil
	}
	index, of, ok := strings.Cut(text, "/")
	n, err := strconv.ParseInt(of, 10, 64)
	if !ok || err != nil || n < 1 || n > maxShards {
		return Shard{}, fmt.Errorf("campaign: %q is no part of a campaign: write 2/8 for the second of eight, or auto/8, of at most %d",
			text, maxShards)
	}
	shift := int64(0)
	if index == AutoShard {
		const name = "JOB_COMPLETION_INDEX"
		if index = getenv(name); index == "" {
			return Shard{}, fmt.Errorf("campaign: %s needs the variable %s, which a Kubernetes Job with completion mode Indexed sets", text, name)
		}
		shift = 1
	}
	i, err := strconv.ParseInt(index, 10, 64)
	if err != nil || i+shift < 1 || i+shift > n {
		return Shard{}, fmt.Errorf("campaign: part %q of %d: must lie between %d and %d", index, n, 1-shift, n-shift)
	}
	return Shard{Index: i + shift, Of: n}, nil
}

// String prints what ParseShard reads.
func (s Shard) String() string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Index, s.Of)
}
