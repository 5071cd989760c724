package quorum

// Unknown marks an end offset that a voter has not told yet. It sorts below every offset.
const Unknown int64 = -1

// Majority is the least number of voters out of n that share a member with any other majority of them:
// floor(n/2)+1. n of 0 gives 1, which no empty set reaches.
func Majority(n int32) int32 { return n/2 + 1 }

// CommittedOffset returns the largest offset o such that a majority of the voters hold everything below o, or
// Unknown when fewer than a majority told theirs. endOffsets has one entry for each voter of the current set
// (the leader's own only if it is a member) and is sorted in place, descending. No allocation.
//
// It is the element at index floor(n/2) of the descending order (kraft-protocol 3.5): the caller still has to
// compare it with the start offset of its epoch and with the high watermark so far.
func CommittedOffset(endOffsets []int64) int64 {
	if len(endOffsets) == 0 {
		return Unknown
	}
	// Insertion sort: voter sets are small, and it is free of allocation and of ties that could differ.
	for i := 1; i < len(endOffsets); i++ {
		for j := i; j > 0 && endOffsets[j] > endOffsets[j-1]; j-- {
			endOffsets[j], endOffsets[j-1] = endOffsets[j-1], endOffsets[j]
		}
	}
	return endOffsets[len(endOffsets)/2]
}

// FetchersNeeded is the number of other voters that must have fetched for the leader of n voters to know that a
// majority still follows it; a leader that is a member counts itself (kraft-protocol 3.8). 0 means that there
// is nothing to wait for.
func FetchersNeeded(n int32, leaderIsVoter bool) int32 {
	needed := Majority(n)
	if leaderIsVoter {
		needed--
	}
	return needed
}
