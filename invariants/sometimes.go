package invariants

import "github.com/kraftsim/kraftsim/sim"

// times counts the states that campaigns have to reach now and then, and statistics.
type times struct {
	leaderWroteID, directoriesApart, bootstrapAborted, divergedEpochs, resigned, preVoteRefused, twoCandidates, tornTail,
	powerLostBytes, observerJoined, upgraded, truncations *int64

	elections, batches *int64
}

func (t *times) bind(sometimes, stat Counters) {
	t.leaderWroteID = sometimes("leader-without-cluster-id-bootstraps")
	t.directoriesApart = sometimes("crash-between-two-meta-properties")
	t.bootstrapAborted = sometimes("bootstrap-aborted-by-next-leader")
	t.divergedEpochs = sometimes("divergence-of-several-epochs")
	t.resigned = sometimes("leader-resigned")
	t.preVoteRefused = sometimes("pre-vote-refused-by-follower")
	t.twoCandidates = sometimes("two-candidates-in-one-epoch")
	t.tornTail = sometimes("recovery-cut-a-torn-tail")
	t.powerLostBytes = sometimes("power-loss-took-log-bytes")
	t.observerJoined = sometimes("observer-found-the-leader")
	t.upgraded = sometimes("upgrade-committed-with-cluster-id")
	t.truncations = sometimes("follower-truncated")
	t.elections = stat("elections")
	t.batches = stat("batches")
}

// SometimesDocs lists the conditions that the checkers count. The rates are those of scenario families with the stock fault
// profiles; a scenario that cannot reach one names another family in a list of its own.
func SometimesDocs() []sim.SometimesDoc {
	return []sim.SometimesDoc{
		{Name: "leader-without-cluster-id-bootstraps", Scenario: "kip1262/draft", DuePerMillion: 100_000,
			Doc: "a leader without a cluster id writes one with the bootstrap records, at level 34"},
		{Name: "crash-between-two-meta-properties", Scenario: "kip1262", DuePerMillion: 200,
			Doc: "a process ends while some of its directories have the cluster id and some don't"},
		{Name: "bootstrap-aborted-by-next-leader", Scenario: "kip1262", DuePerMillion: 200,
			Doc: "a bootstrap transaction that the leader left open is aborted by the next one"},
		{Name: "divergence-of-several-epochs", Scenario: "", DuePerMillion: 200,
			Doc: "a follower cuts a tail that spans more than one epoch"},
		{Name: "leader-resigned", Scenario: "", DuePerMillion: 20_000,
			Doc: "a leader resigns, mostly because it lost its majority"},
		{Name: "pre-vote-refused-by-follower", Scenario: "", DuePerMillion: 1_000,
			Doc: "a follower that has fetched from its leader refuses a pre-vote"},
		{Name: "two-candidates-in-one-epoch", Scenario: "", DuePerMillion: 2_000,
			Doc: "two replicas are candidates of one epoch"},
		{Name: "recovery-cut-a-torn-tail", Scenario: "", DuePerMillion: 2_000,
			Doc: "recovery at start cuts the end of a log"},
		{Name: "power-loss-took-log-bytes", Scenario: "", DuePerMillion: 5_000,
			Doc: "a power loss takes batches that were written and not flushed"},
		{Name: "observer-found-the-leader", Scenario: "", DuePerMillion: 5_000,
			Doc: "a replica that is no voter becomes a follower"},
		{Name: "upgrade-committed-with-cluster-id", Scenario: "kip1262", DuePerMillion: 5_000,
			Doc: "an upgrade to the level of the record is committed with the ClusterIdRecord in its batch"},
		{Name: "follower-truncated", Scenario: "", DuePerMillion: 10_000,
			Doc: "a follower cuts its log on a diverging answer"},
	}
}
