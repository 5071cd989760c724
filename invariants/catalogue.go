package invariants

import "github.com/kraftsim/kraftsim/sim"

// catalogue lists the documentation of all rules, in the order of rules.each.
func catalogue() [52]*sim.InvariantDoc {
	return [...]*sim.InvariantDoc{
		&electionSafetyDoc, &oneVoteDoc, &voteGrantedDoc, &epochMonotonicDoc, &rolesDoc, &preVoteHarmlessDoc, &noDisruptionDoc,
		&twoLeadersBoundedDoc, &logMatchingDoc, &leaderCompletenessDoc, &stateMachineSafetyDoc, &leaderAppendOnlyDoc,
		&noWriteAfterLeadDoc, &truncationDoc, &hwMonotonicDoc, &hwDurableDoc, &ownEpochCommitDoc, &acknowledgedSurvivesDoc,
		&listenerOrderDoc, &snapshotFitDoc, &snapshotContentDoc, &voterChangeDoc, &voterAnswerDoc, &votersFollowLogDoc, &kraftVersionDoc, &lastVoterDoc,
		&mvImpliesClusterIDDoc, &noEarlyClusterIDDoc, &oneClusterIDDoc,
		&leaderWritesClusterIDDoc, &persistedIsStableDoc, &upgradeKeepsIDDoc, &levelWithIDDoc, &bootstrapKeepsIDDoc, &ownIDInRequestsDoc, &publishedIDDoc,
		&directoryIDFirstDoc, &bootstrapOnceDoc,
		&clusterIDServedDoc, &idDiscoveredDoc, &imagesEqualDoc, &publishedOnceDoc, &partitionsDoc, &noUnexpectedStopDoc, &clustersApartDoc, &leaderExistsDoc,
		&highWatermarkMovesDoc, &nodesCatchUpDoc, &voterChangesEndDoc, &votersRegisteredDoc, &bootstrapStableDoc, &describeQuorumDoc,
	}
}

// Docs lists all invariants of the package.
func Docs() []sim.InvariantDoc {
	list := catalogue()
	docs := make([]sim.InvariantDoc, 0, len(list))
	for _, d := range list {
		docs = append(docs, *d)
	}
	return docs
}

// All returns the checkers of all invariants, for World.Add. They share one set of mirrors, so they come as one checker.
func All(cfg Config) []sim.Checker { return []sim.Checker{New(cfg)} }
