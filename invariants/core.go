package invariants

// core is the state of all checkers over one run. It knows nothing of the world: suite.go feeds it what left the processes,
// tests feed it by hand.
type core struct {
	cfg    Config
	report Reporter
	nowNs  int64
	calm   bool

	ledger       ledger
	replicas     []*replica
	leaders      []leadership // ascending by epoch
	exposed      exposedLog
	stable       stableView
	state        committedState
	snapshot     snapshotRecords // scratch
	wire         wire
	images       imageTable
	acked        ackedAppends
	wishes       []voterWish     // changes of the voter set that somebody asked for
	oldReach     []reach         // how far replicas fetched, in epochs before their last
	goneDisks    []fetchPoint    // where replicas were whose disk was replaced
	questions    []voterQuestion // requests for such changes that have no answer yet
	calmFrom     calmState
	loss         string // evidence of a declared loss that has happened, "" for none
	rules        rules
	times        times
	registration Registration // scratch
	others       []*core      // the other clusters of the run
}

// rules holds every invariant of the package.
type rules struct {
	electionSafety, oneVote, voteGranted, epochMonotonic, roles, preVoteHarmless, noDisruption, twoLeadersBounded rule

	logMatching, leaderCompleteness, stateMachineSafety, leaderAppendOnly, noWriteAfterLead, truncation, hwMonotonic,
	hwDurable, ownEpochCommit, acknowledgedSurvives, listenerOrder, snapshotFit, snapshotContent, voterChange, voterAnswer,
	votersFollowLog, kraftVersion, lastVoter rule

	mvImpliesClusterID, noEarlyClusterID, oneClusterID, leaderWritesClusterID, persistedIsStable, upgradeKeepsID,
	levelWithID, bootstrapKeepsID, ownIDInRequests, publishedID,
	directoryIDFirst, bootstrapOnce, clusterIDServed, idDiscovered rule

	imagesEqual, publishedOnce, partitions, noUnexpectedStop, clustersApart rule

	leaderExists, highWatermarkMoves, nodesCatchUp, voterChangesEnd, votersRegistered, bootstrapStable, describeQuorum rule
}

// each calls f with every rule and its documentation, in the order of the catalogue.
func (r *rules) each(f func(x *rule, i int32)) {
	for i, x := range []*rule{
		&r.electionSafety, &r.oneVote, &r.voteGranted, &r.epochMonotonic, &r.roles, &r.preVoteHarmless, &r.noDisruption,
		&r.twoLeadersBounded, &r.logMatching, &r.leaderCompleteness, &r.stateMachineSafety, &r.leaderAppendOnly,
		&r.noWriteAfterLead, &r.truncation, &r.hwMonotonic, &r.hwDurable, &r.ownEpochCommit, &r.acknowledgedSurvives,
		&r.listenerOrder, &r.snapshotFit, &r.snapshotContent, &r.voterChange, &r.voterAnswer, &r.votersFollowLog, &r.kraftVersion, &r.lastVoter,
		&r.mvImpliesClusterID, &r.noEarlyClusterID, &r.oneClusterID,
		&r.leaderWritesClusterID, &r.persistedIsStable, &r.upgradeKeepsID, &r.levelWithID, &r.bootstrapKeepsID, &r.ownIDInRequests, &r.publishedID, &r.directoryIDFirst, &r.bootstrapOnce,
		&r.clusterIDServed, &r.idDiscovered, &r.imagesEqual, &r.publishedOnce, &r.partitions, &r.noUnexpectedStop, &r.clustersApart, &r.leaderExists,
		&r.highWatermarkMoves, &r.nodesCatchUp, &r.voterChangesEnd, &r.votersRegistered, &r.bootstrapStable, &r.describeQuorum,
	} {
		f(x, int32(i))
	}
}

// reset makes the core ready for a run. Memory of the run before is used again.
func (c *core) reset(cfg Config, report Reporter, evaluated, sometimes, stat Counters) {
	c.cfg, c.report, c.nowNs, c.calm = cfg.withDefaults(), report, 0, false
	c.ledger.reset()
	c.ledger.foreign, c.others = nil, c.others[:0]
	c.replicas, c.leaders = c.replicas[:0], c.leaders[:0]
	c.exposed.reset()
	c.stable.reset()
	c.state.reset()
	c.wire.reset(0)
	c.images.reset()
	c.acked.reset()
	c.wishes, c.oldReach, c.questions, c.goneDisks = c.wishes[:0], c.oldReach[:0], c.questions[:0], c.goneDisks[:0]
	c.calmFrom = calmState{}
	c.loss = ""
	docs := catalogue()
	c.rules.each(func(x *rule, i int32) {
		*x = rule{doc: docs[i], count: evaluated(docs[i].Name), core: c}
	})
	c.times.bind(sometimes, stat)
}

// addReplica adds a host. Hosts are added in plan order, before the first event.
func (c *core) addReplica(r *replica, id string, d disk) *replica {
	r.reset(int32(len(c.replicas)), id, d)
	r.static = &c.cfg.static
	c.replicas = append(c.replicas, r)
	c.wire.reset(int32(len(c.replicas)))
	return r
}

// booted is the start of a process.
func (c *core) booted(r *replica, boot int32) {
	r.fsyncForgotten()
	r.endLife()
	r.up, r.boot, r.server = true, boot, false
	c.reload(r)
	c.closeWindow(r)
	r.idAtBoot = r.knownClusterID() != 0
	r.knowsID = r.idAtBoot
	c.bootChecks(r)
}

// crashed is called when a volume went through a crash: the mirrors are read again.
func (c *core) crashed(r *replica) {
	end := r.log.end
	r.fsyncForgotten()
	c.openWindow(r)
	c.reload(r)
	c.closeWindow(r)
	if r.log.end < end {
		*c.times.powerLostBytes++
	}
}

// byVoter returns the replica with a node id and directory id, nil when there is none; a zero directory id fits any.
func (c *core) byVoter(k *voterKey) *replica {
	for _, r := range c.replicas {
		if r.nodeID == k.id && (k.dir.IsZero() || r.directoryID == k.dir) {
			return r
		}
	}
	return nil
}
