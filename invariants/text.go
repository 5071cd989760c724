package invariants

import (
	"fmt"
	"strconv"
)

// number is for the sentences of violations, never on the hot path.
func number(v int64) string { return strconv.FormatInt(v, 10) }

// counted is a number with what it counts, for sentences.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return number(n) + " " + what + "s"
}

// isThere says of something whether it is present.
func isThere(there bool) string {
	if there {
		return "is there"
	}
	return "is not there"
}

// firstOfMembers is above the ids of what clients ask. Those of requests of brokers and controllers are above it, and say nothing to a reader.
const firstOfMembers = 1 << 62

// operationName is an operation in a sentence.
func operationName(id int64) string {
	if id >= firstOfMembers {
		return "a request of a member"
	}
	return fmt.Sprintf("operation %d", id)
}
