// Package explore tries all schedules of a small cluster, within bounds.
//
// Seeds sample schedules; of a protocol's core one may want to know that none was left out. The search takes a plan, and at every choice
// of the scheduler uniform (which of the events that are due comes next) tries each option, and beside them a bounded number of faults: a
// process dies and starts again, a message is lost with its connection, a link is cut for good, and with Bounds.Power a host loses power and all
// that it has not flushed. A handler that is under way may be cut at each of its disk operations, by a death or by a loss of power. The engine
// is a pure function of the plan, so a branch is taken by running again with another prefix of choices: no state is saved or restored.
//
//	s := explore.New(sim.NewEngine(catalogue), p, explore.Bounds{Depth: 12, Faults: 1})
//	report, err := s.Run(nil)
//
// What it promises: when Report.Complete is set, every schedule within the bounds was run, or is equal to one that was as far as the
// reductions can tell. The reductions are named in Report.Reductions:
//
//   - local steps first: the completion of what a handler has issued is not ordered against the events of other hosts;
//   - states: two states with equal protocol views, equal disks, messages and cuts, at the same virtual time but for Bounds.QuantumUs, are one
//     (sim.Choice.State); two that differ in a timer or a counter alone are taken for one;
//   - sleep sets: of two events that concern different hosts only one order is run.
//
// Bounds.Depth is the length of the prefix within which there are choices, Bounds.Deviations, when not negative, how many of them may be
// another than the earliest event: that is delay-bounded scheduling (Emmi et al., POPL 2011), which reaches deeper for the same number of
// runs. With it sleep sets are off, since an equal schedule may need more deviations.
//
// A finding is an ordinary plan: explicit, with the choices as decisions. It can be replayed, shrunk and told like any other. A search goes on
// where a saved one was: Save writes a file that is there whole or not at all.
//
// Refused: symmetry of voters as a reduction: they are not symmetric, since their ids decide who is asked first and who succeeds whom, and their
// timers and starts differ by plan, so that two states with voters exchanged have different futures; choosing what a loss of power takes
// (it takes all that it may, the worst for a promise; seeds sample the rest); saving and restoring worlds (every process would have to be copied), and random restarts (then nothing is known to be complete).
//
// The order of the search is fixed: the same plan and bounds give the same counts, however often it was interrupted.
package explore
