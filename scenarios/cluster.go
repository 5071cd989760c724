package scenarios

import (
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/invariants"
	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// cluster is the nodes of one world. A scenario keeps one and builds it anew for each run, so that memory is reused.
type cluster struct {
	*settings
	w        *sim.World
	memory   memory
	ready    []bool // by host index: the directories are as the first start finds them
	work     workload
	suite    []sim.Checker
	ops      operations
	tools    tools
	aims     aims
	decay    decay
	judged   judgement
	dosage   dosage
	changing changing
	prompt   prompt
	kip      kipWitness
	// membersOf is what the run has about registered nodes.
	membersOf members
	leaders   leadersBack
	book      procedure
	goal      upgradeGoal
	// liveness is how the calm is judged.
	liveness sim.Liveness
	// scriptedPower: hosts lose power in the course of a script, which no action of the plan tells.
	scriptedPower bool
	hazards       []hazard        // made once
	asked         operatorWitness // what an operator asked
	clients       clients
	answersTo     *invariants.Answers
	triggers      snapshotCheck
}

// build furnishes a world: names, directories, processes, clients, checkers.
func (c *cluster) build(w *sim.World, p *plan.Plan) error {
	s, err := readSettings(p)
	if err != nil {
		return err
	}
	c.settings, c.w = s, w
	c.markSwapped(p)
	c.guardSwaps()
	c.memory.reset()
	c.ready = c.ready[:0]
	for i, h := range w.Hosts() {
		e := &s.hosts[i]
		if w.Host(e.name) == nil {
			w.Name(e.name, h)
		}
		byTool, golden := e.formatted()
		if golden != "" {
			if err := loadGolden(h.Volume(), golden, e.dirs); err != nil {
				return fmt.Errorf("plan: hosts[%d].params.format: %w", i, err)
			}
		}
		if e.format == "tree" {
			if err := loadParams(h.Volume(), h.Spec().Params); err != nil {
				return fmt.Errorf("plan: hosts[%d].params.%w", i, err)
			}
		}
		c.ready = append(c.ready, !byTool)
		w.Install(h, func() sim.Process { return c.process(i) })
	}
	c.ops.build(c, p)
	c.tools.build(c, p)
	c.aims.build(c, p)
	w.SetTargets(c.target)
	w.SetTimeout("election", s.timeouts.election*million)
	w.SetTimeout("fetch", s.timeouts.fetch*million)
	w.SetTimeout("request", s.timeouts.request*million)
	c.prompt.build(c, p)
	w.SetSupervisor(s.timeouts.election * 2_000_000)
	c.liveness = sim.Liveness{SmallestTimeoutNs: s.smallestTimeoutNs(), BoundNs: s.calmBoundNs(p), Core: c.core, Excuse: c.excuse}
	w.SetLiveness(c.liveness)
	w.Add(c)
	config := s.checkerConfig(p)
	config.Registered = c.registered
	config.AllowStop, config.StopFollows = c.mayEnd, c.judged.follows
	c.suite = invariants.All(config)
	c.judged.build(c, p)
	c.decay.build(c, p) // it hears of damage before the others see what came of it
	w.Add(c.suite...)
	w.Add(&c.dosage, &c.changing)
	if c.answersTo == nil {
		c.answersTo = invariants.NewAnswers()
	}
	w.Add(c.answersTo)
	c.triggers.c = c
	w.Add(&c.triggers)
	if c.hasBrokers(p) {
		w.Add(invariants.NewMemberTimes())
	}
	if faultless(p) && len(c.quorums) == 1 {
		w.Add(&needless{voters: c.voterCount(0)})
	}
	if s.timed {
		w.Add(newElectionTimer(s))
	}
	if s.quiet {
		w.Add(&unrest{c: c, evaluated: w.Evaluated(noNeedlessElection.Name)})
	}
	c.declare(p)
	c.kip.build(c, p)
	c.membersOf.build(c)
	c.leaders.build(c)
	c.book.build(c, p)
	c.goal.build(c, p)
	if err := c.asked.build(c, p); err != nil {
		return err
	}
	if p.Params["measure"] == "availability" {
		w.Add(&availability{})
	}
	return c.work.build(c, p)
}

// hasBrokers reports whether brokers are registered in a run, as processes or in the names of some. A cluster that is filled with topics is not
// looked at: it is there for its size.
func (c *cluster) hasBrokers(p *plan.Plan) bool {
	if slices.ContainsFunc(p.Workload, func(w plan.Workload) bool { return w.Kind == topicLoadKind }) {
		return false
	}
	return c.members.register || slices.ContainsFunc(p.Workload, func(w plan.Workload) bool { return w.Kind == topicClientsKind })
}

// process is what a host runs at its next start: the format tool until it has succeeded, then the node.
func (c *cluster) process(i int) sim.Process {
	h := &c.hosts[i]
	if h.requests {
		return &clientMachine{c: c, h: h}
	}
	if h.kind == kindOperator {
		return c.ops.machine(i)
	}
	if !c.ready[i] {
		return &formatStep{c: c, h: h}
	}
	return &node{c: c, h: h}
}

// Attach, OnBoot and OnDown make the cluster a sim.LifeChecker: the operator starts the node when the format is done.
func (c *cluster) Attach(*sim.World) {}

// OnBoot is sim.LifeChecker.
func (c *cluster) OnBoot(*sim.Host) {}

// OnDown is sim.LifeChecker.
func (c *cluster) OnDown(h *sim.Host, kind sim.DownKind, _ error) {
	if kind == sim.Exited && !c.ready[h.Index()] {
		c.ready[h.Index()] = true
		c.tools.finished(h)
		c.w.Start(h)
		return
	}
	c.ops.ended(h)
}

// mayEnd reports whether the end of a process is declared: by a fault, by a case of KIP-1262, by an operator's question.
func (c *cluster) mayEnd(host string, refused bool, err error) bool {
	if c.judged.on {
		return c.judged.allows(host, refused, err)
	}
	return c.allowStop(host, refused, err) || c.kip.allows(host, refused, err) || c.asked.allows(host, refused, err)
}

// smallestTimeoutNs is what bounds latencies in the calm.
func (s *settings) smallestTimeoutNs() int64 {
	return 1_000_000 * max(1, min(s.timeouts.election, s.timeouts.fetch, s.timeouts.request))
}

// checkerConfig is what the invariants are told about the cluster.
func (s *settings) checkerConfig(p *plan.Plan) invariants.Config {
	c := invariants.Config{
		FetchTimeoutNs: s.timeouts.fetch * 1_000_000, PreVoteEverywhere: s.preVoteEverywhere(p),
		Converges: true, Lawless: p.Disk.Profile == "posix", TellsFirst: s.choices.tellFirst, BeginsAnew: s.choices.unidentifiedLog == startup.WipeLog,
	}
	switch s.variant {
	case controller.FinalMar:
		c.Variant = invariants.FinalMar
	case controller.FinalApr:
		c.Variant = invariants.FinalApr
	case controller.Draft:
		c.Variant = invariants.Draft
	}
	c.StaticVoters = s.staticVoters(0)
	if len(s.quorums) > 1 {
		c.Clusters, c.ClusterOf = s.partition()
	}
	c.ClockErrorNs = clockErrorNs(p)
	return c
}

// The node of a host, nil when it is down or being formatted.
func nodeOf(h *sim.Host) *node {
	n, _ := h.Process().(*node)
	return n
}
