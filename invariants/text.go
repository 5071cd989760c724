package invariants

import "strconv"

// number is for the sentences of violations, never on the hot path.
func number(v int64) string { return strconv.FormatInt(v, 10) }
