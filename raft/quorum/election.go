package quorum

// Result says whether an election is decided.
type Result uint8

// The results of an election.
const (
	Undecided Result = iota // answers still missing could decide it either way
	Won                     // a majority granted
	Lost                    // even if everybody else granted, no majority would
)

// String returns the result in lower case.
func (r Result) String() string {
	switch r {
	case Won:
		return "won"
	case Lost:
		return "lost"
	}
	return "undecided"
}

// Outcome judges an election among n voters of which granted said yes and rejected said no (kraft-protocol
// 1.8). Its argument order is the order in which the answers usually come.
func Outcome(granted, rejected, n int32) Result {
	majority := Majority(n)
	if granted >= majority {
		return Won
	}
	if n-rejected < majority {
		return Lost
	}
	return Undecided
}

// UpToDate reports whether a log that ends at (epoch, endOffset) may lead a voter whose own log ends at
// (ownEpoch, ownEndOffset): the epoch decides, then the length (kraft-protocol 1.7).
func UpToDate(epoch int32, endOffset int64, ownEpoch int32, ownEndOffset int64) bool {
	if epoch != ownEpoch {
		return epoch > ownEpoch
	}
	return endOffset >= ownEndOffset
}

// SuccessorBackoffMs is how long the voter at position p of a resigning leader's list of n preferred
// candidates waits before it starts an election, with the configured maximum in milliseconds (kraft-protocol
// 2.7). The first does not wait, nor does anybody when the list is empty; whoever is not on it (p >= n) waits
// the maximum; each place in between waits twice as long as the one before.
func SuccessorBackoffMs(p, n int32, maxMs int64) int64 {
	if p <= 0 || n <= 0 {
		return 0
	}
	if p >= n {
		return maxMs
	}
	// Shifts are bounded because a list longer than 62 would shift everything away (or overflow).
	shift := min(n-1, 62)
	return min(maxMs, shiftLeft(maxMs>>shift, min(p-1, 62)))
}

// shiftLeft is v << s without wrapping around.
func shiftLeft(v int64, s int32) int64 {
	const limit = int64(1)<<62 - 1
	if v > limit>>s {
		return limit
	}
	return v << s
}
