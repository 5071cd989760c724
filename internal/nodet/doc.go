// Package nodet refuses, in the deterministic rooms of this module, everything that could make two runs of one plan
// differ.
//
// # The problem
//
// Run(plan) -> verdict is a pure function: same plan, same engine version, same verdict to the last bit, on any
// machine, architecture and GOMAXPROCS. One map iterated in its native order, one wall clock read, one unseeded
// identifier is enough to lose that, and the loss shows up weeks later as a capsule that no longer replays.
// Discipline does not hold over years; an analyzer that fails the test run does.
//
// # Rules
//
// Each finding names its rule in brackets. The rules, their names and what they refuse:
//
//	goroutine  go statements, iter.Pull
//	select     select statements
//	channel    channel types, sends, receives, close, range over a channel
//	clock      time.Now, Sleep, After, timers, local time zones, which time.Unix and time.Parse bring in as well; packages
//	           context, log, log/slog
//	random     math/rand, math/rand/v2, crypto/rand; identifiers that google/uuid draws or reads from a clock
//	recover    the recover builtin
//	float      every expression, field, parameter or constant of a float or complex type (an untyped constant with
//	           an integer value, such as 1e9, is fine: it becomes an integer)
//	integer    int, uint and uintptr where a value is hashed or persisted, see below
//	sort       unstable sorts: sort.Sort, sort.Slice, slices.SortFunc, slices.SortedFunc (slices.Sort is fine: it
//	           sorts basic values, of which equal ones cannot be told apart)
//	sync       packages sync and sync/atomic, hence sync.Pool
//	maphash    package hash/maphash
//	pointer    packages unsafe and weak, uintptr, %p, and fmt calls whose argument would print an address
//	global     writing to a package-level variable outside its declaration and func init, directly or by a call: a method
//	           or function of the same package that changes what it is given, a method of another one whose name says so
//	os         packages os, net, runtime, plugin, testing and those below them, path/filepath, cgo; what package syscall
//	           does (its error numbers are fine); print, println, fmt.Print and fmt.Scan
//	maprange   range over a map, the iterators of package maps, and its functions that call one for each element
//	directive  a directive of this package that is malformed, unknown, without a reason, or of no use
//
// Rule integer is precise on purpose, so that it stays quiet about indexes and lengths. It refuses
//
//   - a field of type int, uint or uintptr (also inside arrays, slices, maps and structs) in a struct whose type has one
//     of the methods AppendState, AppendTo, Encode, EncodeTo: such a value is hashed or persisted;
//   - in a call of package sim/digest, or of a function or method whose name starts with Append, Put, Write, Hash, Mix or
//     Encode (in any case) and that takes or belongs to a []byte, a hash.Hash, or the byte orders of encoding/binary: an
//     argument that converts an int, uint or uintptr, or a local variable that may hold such a conversion. Constants,
//     len(x), range indexes, arithmetic on them and local variables that never hold anything else are fine, they are
//     bounded alike everywhere; cap(x) is not, for append decides it;
//   - binary.NativeEndian, bits.UintSize, strconv.IntSize.
//
// Rule maprange accepts one form, keys (or values) collected and sorted at once:
//
//	keys := make([]int32, 0, len(m))
//	for id := range m {
//		keys = append(keys, id)
//	}
//	slices.Sort(keys)
//
// where the body may hold one if without else whose condition calls nothing, and slices.Sorted(maps.Keys(m)). A sort that
// compares with a function is refused here: what it finds equal stays in the order of the map. Sort the keys, then look up.
//
// # Exceptions
//
// A comment on the line of the finding, or alone on the line above it, lifts one rule, and must say why:
//
//	//nodet:allow maprange the sum does not depend on the order
//
// A directive without a reason, with an unknown rule, or that lifts nothing is itself a finding.
//
// # Rooms
//
// [IsRoom] holds the list of packages. In other packages, such as those of another module, a file becomes part of a room by
// a comment //nodet:room above its package clause. Test files, package main and packages whose name ends in
// test (helpers of tests) are never part of a room.
//
// # Refused
//
// Rewriting the syntax tree or the runtime so that goroutines and maps become deterministic (gosim): it binds the
// project to one toolchain. A list of allowed imports instead of refused constructs: maps, floats and select need no
// import.
package nodet
