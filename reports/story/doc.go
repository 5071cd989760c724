// Package story tells a failure in at most twelve lines: who believed what, on what grounds, which fault made the difference, and which
// invariant broke.
//
// A trace of a failure has thousands of lines, all of them true. What somebody wants to know in the morning are five or ten: the claims
// that the violation stands on, what these stand on, and so on until a fault of the plan or the beginning. A story is that:
//
//	s := story.Tell(h, parts) // a history of package history, parts of package shrink with Necessary set
//	fmt.Print(s.String())
//
// It begins at the violation: what its sentence names (hosts, epochs, offsets) are the first claims to look for. Each claim names its
// premises (sim.Claim.Because); of those that match, a story takes the latest in the causal past. Faults are named when the run does
// not fail without them, and only then (shrink.Necessary).
//
// Guarantees: every line follows from the happened-before order and the claims alone, so that two runs which differ in the order of
// concurrent events tell the same; a line comes after every line that happened before it; twelve lines at most; the last one is the
// invariant. Same history and parts, same text.
//
// Refused: a story by time (two runs of one cause would tell differently); a slice of the trace (what may have influenced the
// violation is nearly everything); a language model (a story must be true, and the same each time).
package story
