package invariants

import "github.com/kraftsim/kraftsim/sim"

// times counts the states that campaigns have to reach now and then, and statistics.
type times struct {
	leaderWroteID, directoriesApart, bootstrapAborted, divergedEpochs, resigned, preVoteRefused, twoCandidates, tornTail,
	powerLostBytes, observerJoined, upgraded, truncations *int64

	sentToSnapshot, downloaded, downloadBroken, snapshots, snapshotInChange, prefixDeleted, voterAdded, voterRemoved, voterUpdated,
	joinedByItself, changeRolledBack, removedResigned, kraftUpgraded, wiped *int64

	refusedOther, otherClustersDisk, foreignEpoch, twoLeaders *int64

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
	t.sentToSnapshot = sometimes("follower-sent-to-snapshot")
	t.downloaded = sometimes("snapshot-replaced-the-log")
	t.downloadBroken = sometimes("snapshot-download-broken-off")
	t.snapshotInChange = sometimes("snapshot-during-voter-change")
	t.prefixDeleted = sometimes("log-prefix-deleted")
	t.voterAdded = sometimes("voter-added")
	t.voterRemoved = sometimes("voter-removed")
	t.voterUpdated = sometimes("voter-updated")
	t.joinedByItself = sometimes("voter-joined-by-itself")
	t.changeRolledBack = sometimes("voter-change-rolled-back")
	t.removedResigned = sometimes("removed-leader-resigned")
	t.kraftUpgraded = sometimes("kraft-version-upgraded")
	t.wiped = sometimes("disk-replaced")
	t.refusedOther = sometimes("request-of-another-cluster-refused")
	t.otherClustersDisk = sometimes("disk-of-another-cluster")
	t.foreignEpoch = sometimes("epoch-of-another-cluster-told")
	t.twoLeaders = sometimes("two-leaders-at-once")
	t.snapshots = stat("snapshots")
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
		{Name: "follower-sent-to-snapshot", Scenario: "raft/snapshots", DuePerMillion: 300_000,
			Doc: "a leader answers a Fetch with the id of a snapshot"},
		{Name: "snapshot-replaced-the-log", Scenario: "raft/snapshots", DuePerMillion: 300_000,
			Doc: "a downloaded snapshot takes the place of a log"},
		{Name: "snapshot-download-broken-off", Scenario: "raft/snapshots", DuePerMillion: 20_000,
			Doc: "a follower stops, leaves its leader or is sent elsewhere in the middle of a download"},
		{Name: "log-prefix-deleted", Scenario: "raft/snapshots", DuePerMillion: 300_000,
			Doc: "retention deletes segments that a snapshot covers"},
		{Name: "snapshot-during-voter-change", Scenario: "reconfig/churn", DuePerMillion: 20_000,
			Doc: "a snapshot gets its name while the newest voter set is not committed"},
		{Name: "voter-added", Scenario: "kafka/d1", DuePerMillion: 500_000,
			Doc: "a voter set with one voter more is committed"},
		{Name: "voter-removed", Scenario: "kafka/d2", DuePerMillion: 500_000,
			Doc: "a voter set with one voter less is committed"},
		{Name: "voter-updated", Scenario: "reconfig/churn", DuePerMillion: 20_000,
			Doc: "a voter set that changes endpoints or versions only is committed"},
		{Name: "voter-joined-by-itself", Scenario: "reconfig/auto-join", DuePerMillion: 200_000,
			Doc: "an observer that asked to join by itself is committed as voter"},
		{Name: "voter-change-rolled-back", Scenario: "reconfig/churn", DuePerMillion: 20_000,
			Doc: "a voter set is cut from a log before it was committed"},
		{Name: "removed-leader-resigned", Scenario: "kafka/d2", DuePerMillion: 30_000,
			Doc: "a leader that is no voter any more resigns"},
		{Name: "kraft-version-upgraded", Scenario: "reconfig/kraft-upgrade", DuePerMillion: 200_000,
			Doc: "the upgrade of a static quorum to kraft.version 1 is committed"},
		{Name: "disk-replaced", Scenario: "reconfig/replaced-disk", DuePerMillion: 300_000,
			Doc: "a disk is wiped: its host comes back as another replica"},
		{Name: "request-of-another-cluster-refused", Scenario: "raft/two-clusters", DuePerMillion: 500_000,
			Doc: "a request reaches a node of another cluster, which refuses it for its cluster id"},
		{Name: "disk-of-another-cluster", Scenario: "raft/two-clusters", DuePerMillion: 20_000,
			Doc: "a node starts on a disk that belongs to a host of another cluster"},
		{Name: "epoch-of-another-cluster-told", Scenario: "raft/two-clusters", DuePerMillion: 500,
			Doc: "the refusal of an UpdateRaftVoter carries the higher epoch of another cluster"},
		{Name: "two-leaders-at-once", Scenario: "", DuePerMillion: 10_000,
			Doc: "a leader is elected while the leader of an earlier epoch does not know yet"},
	}
}
