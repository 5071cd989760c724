// Package decide makes every choice of a run a named integer.
//
// A simulator that draws from one random stream has a hidden order: delete one action, and every later draw moves. Here a
// draw is a pure function of the seed and of a name, so two runs that both draw a name read the same raw value, whatever
// else differs between them. Shrinking, replay on newer code and A/B runs of two protocol variants all stand on that.
//
// # Definitions
//
// A site is a kind of choice ("net/loss"), registered once at package level with NewSite; it is identified by the hash of
// its string, never by code position or registration order. An entity is who the choice is about (a host or a link),
// identified by the hash of its id in the plan. Kind and key say what the protocol calls the thing: a message declares its
// kind and a 64-bit key, a disk operation its file and offset. The window is the second of virtual time in which the
// choice falls. The occurrence counts repeats of (site, entity, kind, key) within one window; there is no counter that
// runs over the life of a link or a process.
//
// The name is the six of them; Name.Hash folds them into 64 bits, which is what overrides and capsules store.
//
// # Guarantees
//
// Choose and Chance are deterministic, draw no floats, allocate nothing once the occurrence table has grown to the size
// of the busiest window, and cost a few nanoseconds. An override replaces the value of one name; a reseed changes the seed
// from a virtual time on, for branching.
//
//	var siteLoss = decide.NewSite("net/loss", "a datagram is lost", 0)
//	...
//	if src.Chance(siteLoss, link, kind, key, 50_000) { // five per cent
//
// # Refused
//
// A stream per entity (a PRNG in each link) still shifts when one message more is sent. A call-site key (file and line)
// dies with each refactoring. A counter per link over the whole run is a stream in disguise.
package decide
