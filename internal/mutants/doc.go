// Package mutants proves that the invariants see something: it plants one known bug at a time into raft or metadata, runs the
// stock scenarios on that build, and says which invariant noticed, and when.
//
// The problem: a campaign without findings is what a correct product gives, and also what blind checkers give. So mutants/
// at the module root holds one patch per known bug of Kafka or of its relatives (docs/mutants.md lists them), and
// `simrun mutants` is a table that says for each which invariant must catch it, and whether it did.
//
// Guarantees:
//
//   - The tree is never written. A patched copy of each touched file goes to a temporary directory, and the build reads it
//     through an overlay; the product has no switches.
//   - A kill is a broken invariant that the patch's header names: a safety rule, a liveness bound or an image comparison.
//     A panic, a dead process or a failed build is none.
//   - The number of seeds to the kill is the same on every machine, however many workers hunt: seed 1 of all scenarios of
//     the header, then seed 2, and so on.
//   - The clean build runs the same seeds and must be green.
//   - A patch that does not apply is an error that names patch and hunk. Line numbers may be off as long as context and
//     deleted lines have one place in the file.
//
// Smallest example, in a main:
//
//	cli.Main(catalogue, os.Args[1:], mutants.Commands(catalogue)...)
//
// Refused: switches or build tags in the product (they rot, and the product would know of its tests), mutation by generated
// edits (most are equivalent or trivial; a catalogue of bugs that somebody really shipped says more), one shared binary with
// all bugs (two bugs at once hide each other).
package mutants
