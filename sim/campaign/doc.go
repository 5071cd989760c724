// Package campaign runs many seeds in many processes, and checks that runs repeat.
//
// A campaign answers one question: is there a schedule among these that breaks a promise? It must answer even when the
// program under test ends its process, never returns from a handler, or eats all memory. So each worker is a child process of
// the same binary with one World that is reset between runs, and the parent holds nothing but sums:
//
//	parent                                   child (hidden command "worker")
//	  {"do":"batch","scenario":...} -------->  stdin
//	  stdout <--------------------------------  kraftsim1 {"id":1,"batch":{...}}
//	  progress file <-------------------------  24 bytes before each run: request, run, seed
//
// A child that dies is a finding with the plan of the seed that the progress file names; so is one that stays on a seed
// longer than the limit, or whose heap outgrows its bound. The child is replaced, the rest of its batch runs in the next one.
// Lines that do not carry the mark are ignored, so a scenario that prints does no harm.
//
// What a campaign reports depends on which seeds ran, never on how many workers ran them or in which order they finished: sums,
// medians over all runs, the lowest seed of each fingerprint. Which seeds run is exact with a number of seeds given; the
// default campaign shares its time over the scenarios by measured cost.
//
// A campaign survives its own death, too. What a stage is to run is decided before its first run and handed to a Store (package
// ledger has one), and so is every batch that is done; Past brings both back. A batch is there whole or not at all, and what a kill
// takes is run again, so that the totals are those of one campaign that ran through. The same holds for machines that share one:
// a Shard is a function of the number of seeds, and Merge takes the batches of all.
//
// Before the first run the canary sings: a planted bug that worker, tally, shrinking and capsule must bring to light, or no result
// of theirs is worth anything.
//
// Refused: goroutines in one process, because one fatal error would end the campaign; a work queue on disk, because what is still
// to be run follows from what was decided and what is done.
package campaign
