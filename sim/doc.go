// Package sim runs distributed programs on simulated machines, deterministically.
//
// A distributed program fails when a message is late, a disk forgets or a machine dies at the wrong moment. Tests on real
// machines meet such moments by luck and never twice. Here time, network, disks, clocks and crashes belong to the
// simulator: a seed picks a hostile schedule, thousands of schedules run in a second, and each of them runs again bit for bit.
//
//	Run(plan) -> verdict
//
// A plan is data, and so is a verdict. Run is a pure function of the plan and of EngineVersion: options, earlier runs of the same
// Engine, machine, architecture and GOMAXPROCS change nothing.
//
// docs/sim.md writes a protocol of two nodes step by step; examples/register is a whole program in 150 lines;
// docs/limits.md says what can't be simulated.
//
// # The program under test
//
// A host is a machine: it has an id, a disk, an address (its id), clocks and power, and survives crashes. A Process is what runs
// on it between a boot and a crash; its number on that host is the incarnation (Host.Boot, from 1). A process is a state
// machine: the world calls Boot once and then Input for each input; between two calls it does nothing. What it needs from
// outside it asks from the Env that each call gets: files, network, clocks, chance.
//
//	func (p *pinger) Input(env *sim.Env, in *sim.Input) error {
//		if in.Kind == sim.InWake {
//			env.SendTo("n2", 1, ping{p.next})
//			env.WakeAt(env.MonotonicNs() + 10_000_000)
//		}
//		return nil
//	}
//
// An error from Boot is a refusal to start; an error from Input is fatal. Either ends the process and is on record
// in the verdict. A panic is a defect: the simulator does not recover from it. A process must be deterministic itself: no
// goroutine, wall clock, range over a map or random number but Env.Choose.
//
// # Events and time
//
// Virtual time is in nanoseconds from the start of the run. An event is one input handled by a live process, or one
// committed disk completion; the world's own steps (boots, actions of the plan, calls of World.At) have ids among them.
// Nothing polls, and idle time costs nothing. Events are ordered by time; which of two at the same instant comes first is a
// decision.
//
// The time that a process sees is fixed when its handler starts. Each host has two clocks that run at (1 + drift) of
// true time: WallMs has an offset and jumps, MonotonicNs has neither. WakeAt sets the deadline of a lane on the monotonic
// clock, one per lane, each call in place of the one before. The wake-up may come late, or for nothing, but never early.
//
// # Lanes
//
// A lane is one thread of a process: Env.Lanes names them in Boot, lane 0 ("main") is always there. A lane handles one
// input after the other, first come first served, and is busy until the last effect of its handler, at least a
// microsecond. While one waits for its disk, the others go on. Lanes talk through Env.Post, whose delay is a decision; posts
// to one lane keep their order. No two lanes write one file at a time. A pause of the host stops them all.
//
// A lane that is woken by its own deadlines and posts more than a thousand times in a row, each less than a millisecond
// after the one before and with no other input between, ends the run with the outcome spin.
//
// # Effects and crashes
//
// What a handler does is a list of effects: disk operations, sends, dials, posts, deadlines, observations. Each has a
// completion time: the handler's start plus the cost of the disk operations (and Env.Spend) before it. The handler itself runs
// to its end at once and reads what it wrote; everybody else sees an effect when its time has come: it is committed then.
//
// A crash point lies between any two effects and inside any disk operation. A kill or power loss at time t cuts the list
// there: what is committed has happened, the disk operation at the cut is in progress (it may have happened, not at all or
// in part), and the rest never was. So the order of calls in a handler is the order in which the world may see them:
//
//	files.WriteAt(fd, vote, 0)
//	files.Sync(fd)                 // without it, the vote may be forgotten after it was sent
//	env.Send(candidate, granted)
//
// Bytes given to a write and messages given to a send or a post are immutable from then on. Options.Poison checks that.
//
// # Disk
//
// Each host has a volume (package vdisk), where data, length and names become durable apart. Written bytes are in the page
// cache: a kill leaves them, a power loss may take them. Durable is what Sync (data and length of a file) and SyncDir (the names
// in a directory) have vouched for. A power loss keeps all of that, and of the rest a choice among what a real file system may
// keep.
//
// # Network
//
// Two transports live side by side (package vnet). Env.Dial opens a connection between two incarnations: in order,
// nothing lost while it lives; it is refused when nothing listens, reset when a process dies, and half open after a power loss or
// behind a cut: then nobody learns until somebody sends. Its events are InConnected, InMessage and InDisconnected. Env.SendTo
// sends a datagram, which may be lost, doubled or overtaken when the plan's transport is "datagram". Messages are Go values;
// an arrival is the sender's value itself.
//
// # Decisions
//
// Every choice is an integer in [0, n) with a name: a site (what kind of choice, "net/loss"), an entity (the host or link),
// a kind and key (what the protocol calls the thing: Message.Kind and Message.Key), the second of virtual time, and the number
// of the repeat within that second. The value is a pure function of seed and name. Two runs that both draw a name read the same
// value, whatever else differs between them: deleting an action of the plan, or sending one more message, moves no other
// decision. Shrinking and replay stand on that. Keys should therefore say what a message is (an epoch, an offset), and never
// count.
//
// A program draws with Env.Choose at a site of its own, made once at package level with decide.NewSite.
//
// # Storm, calm, verdict
//
// A run begins with the storm: the actions of the plan (Faults lists the kinds) and the rates of its models. At
// StormUs the calm begins: no new fault starts, every host of the core runs, links pass, disks are quick and right, latencies
// and disk costs are at most a tenth of the smallest timeout; only drift stays, and messages that are late still arrive. The run
// ends as soon as every Obligation is met. When one is not met within Liveness.BoundNs the outcome is stuck, and says who waits
// for whom. Liveness.Core picks the hosts to heal; when it proves that none can go on, the outcome is legitimately stuck.
//
// A Checker watches the run through the On... interfaces, and reports what must never be through World.Violate. It sees what left
// a process: committed effects, never the state inside. The fault budget (World.Budget, package check) keeps an account of
// damage, so that an action beyond what the protocol promises to survive is refused.
//
// The verdict (plan.Verdict) has the outcome, what broke, statistics and two hashes. The trace hash takes every event with its
// cause, host, incarnation and lane, canonical message bytes, disk operations, decisions, and now and then the state of a
// process. The behaviour hash takes observations only, to compare versions of a program.
//
// # Scenarios
//
// A Scenario draws the plan of a seed and builds the world for a plan: which process runs on which host, who makes
// requests, what is checked. A Catalogue of scenarios is all that the shells need: Engine runs plans, sim/simtest runs
// seeds from go test, sim/shrink shortens a failure, sim/cli is the command line.
//
// # Refused
//
// Goroutines under a fake clock: the Go scheduler's choices are not ours to seed. A random stream per run: one more draw moves all
// later ones. A list of outputs that a process returns: it hides the order in which a crash may cut them. Fault points in
// the program under test: a limit or a period that matters is a field of its configuration, and the plan sets it.
package sim
