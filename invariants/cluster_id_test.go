package invariants

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
)

// The records of bootstraps and upgrades.
func level(l int16) records.Record {
	return &records.FeatureLevelRecord{Name: metadataVersion, FeatureLevel: l}
}

func begin() records.Record {
	name := bootstrapTransaction
	return &records.BeginTransactionRecord{Name: &name}
}

func end() records.Record               { return &records.EndTransactionRecord{} }
func abort() records.Record             { return &records.AbortTransactionRecord{} }
func clusterID(s string) records.Record { return &records.ClusterIdRecord{ClusterId: s} }

// commit replicates what the leader wrote to others and exposes it.
func (l *lab) commit(leader *member, epoch int32, others ...int32) {
	for _, id := range others {
		leader.replicate(l.node(id), epoch)
	}
}

func TestMvImpliesClusterID(t *testing.T) {
	t.Run("bootstrap without an id", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		l.node(1).append(1, begin(), level(34), end())
		l.commit(l.node(1), 1, 2)
		l.breaks("mv-implies-cluster-id/stable-log", "level-with-cluster-id/alone")
	})
	t.Run("an empty id", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		l.node(1).append(1, begin(), level(34), clusterID(""), end())
		l.commit(l.node(1), 1, 2)
		l.breaks("mv-implies-cluster-id/stable-log")
	})
	t.Run("upgrade with the id in a batch of its own", func(t *testing.T) {
		l := threeUp(t, Config{Variant: FinalMar})
		one := l.node(1)
		one.append(1, begin(), level(33), end())
		one.append(1, level(34))
		one.append(1, clusterID("x"))
		l.commit(one, 1, 2)
		l.breaks("mv-implies-cluster-id/stable-log", "level-with-cluster-id/alone")
	})
	t.Run("bootstrap checkpoint", func(t *testing.T) {
		l := newLab(t, 3, Config{Variant: FinalMar})
		two := l.node(2)
		two.crash(false)
		two.v.Load(testPartition+"/"+bootstrapName, checkpoint(level(34)))
		two.boot()
		l.breaks("mv-implies-cluster-id/checkpoint")
	})
	t.Run("not on open transactions, not below the level, not in released", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin())
		one.append(1, level(34))
		l.commit(one, 1, 2)
		one.append(1, clusterID("x"))
		one.append(1, end())
		l.commit(one, 1, 2)
		l.clean()
		require.EqualValues(t, 34, l.core.stable.now.version)
		l.evaluated("mv-implies-cluster-id", "no-early-cluster-id", "bootstrap-once", "one-cluster-id")

		l = threeUp(t, Config{Variant: Released})
		l.node(1).append(1, begin(), level(33), end())
		l.commit(l.node(1), 1, 2)
		l.clean()
		require.Zero(t, *l.seen["mv-implies-cluster-id"])
	})
	t.Run("an aborted bootstrap, and another one", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one, two := l.node(1), l.node(2)
		one.append(1, begin(), level(34))
		one.append(1, clusterID("x"))
		l.commit(one, 1, 2, 3)
		two.lead(2, 3)
		two.append(2, abort(), begin(), level(34), clusterID("y"), end())
		two.replicate(l.node(3), 2)
		l.clean()
		require.Equal(t, "y", l.core.ledger.texts[l.core.stable.now.clusterID])
		require.EqualValues(t, 1, l.core.stable.now.bootstraps)
		require.Positive(t, *l.seen["bootstrap-aborted-by-next-leader"])
	})
}

func TestNoEarlyClusterID(t *testing.T) {
	l := threeUp(t, Config{Variant: Draft})
	l.node(1).append(1, begin(), level(33), clusterID("x"), end())
	l.commit(l.node(1), 1, 2)
	l.breaks("no-early-cluster-id/stable-log")
}

func TestOneClusterID(t *testing.T) {
	t.Run("two values", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		l.node(1).append(1, begin(), level(34), clusterID("x"), end())
		l.node(1).append(1, clusterID("y"))
		l.commit(l.node(1), 1, 2)
		l.breaks("one-cluster-id/second-id")
	})
	t.Run("the same again", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"), end())
		l.commit(one, 1, 2)
		one.properties(testData, "x")
		one.append(1, level(34), clusterID("x"))
		l.commit(one, 1, 2)
		l.clean()
		l.evaluated("upgrade-keeps-id", "persisted-is-stable")
	})
}

func TestBootstrapOnce(t *testing.T) {
	l := threeUp(t, Config{Variant: Draft})
	l.node(1).append(1, begin(), level(34), clusterID("x"), end())
	l.node(1).append(1, begin(), level(34), clusterID("x"), end())
	l.commit(l.node(1), 1, 2)
	l.breaks("bootstrap-once/second-bootstrap")
}

func TestLeaderWithoutClusterIDWritesIt(t *testing.T) {
	activate := func(t *testing.T, cfg Config, group ...records.Record) *lab {
		l := threeUp(t, cfg)
		one := l.node(1)
		first := one.end
		l.core.activationCompleted(one.r, 1, first, first+int64(len(group))-1, 34)
		one.append(1, group...)
		return l
	}
	t.Run("no id", func(t *testing.T) {
		l := activate(t, Config{Variant: Draft}, begin(), level(34), end())
		l.breaks("leader-without-cluster-id-writes-it/no-cluster-id")
	})
	t.Run("before the features", func(t *testing.T) {
		l := activate(t, Config{Variant: Draft}, begin(), clusterID("x"), level(34), end())
		l.breaks("leader-without-cluster-id-writes-it/before-features")
	})
	t.Run("after the end", func(t *testing.T) {
		l := activate(t, Config{Variant: Draft}, begin(), level(34), end(), clusterID("x"))
		l.breaks("leader-without-cluster-id-writes-it/after-end")
	})
	t.Run("empty, and twice", func(t *testing.T) {
		l := activate(t, Config{Variant: Draft}, begin(), level(34), clusterID(""), end())
		l.breaks("leader-without-cluster-id-writes-it/empty-cluster-id")
		l = activate(t, Config{Variant: Draft}, begin(), level(34), clusterID("x"), clusterID("x"), end())
		l.breaks("leader-without-cluster-id-writes-it/several-cluster-ids")
	})
	t.Run("nothing at all", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		l.core.activationCompleted(l.node(1).r, 1, -1, -1, 34)
		l.breaks("leader-without-cluster-id-writes-it/no-records")
	})
	t.Run("as it should be", func(t *testing.T) {
		l := activate(t, Config{Variant: Draft}, abort(), begin(), level(34), clusterID("x"), end())
		l.clean()
		l.evaluated("leader-without-cluster-id-writes-it", "leader-without-cluster-id-bootstraps")
	})
	t.Run("not applicable", func(t *testing.T) {
		for _, v := range []Variant{Released, FinalMar} {
			l := activate(t, Config{Variant: v}, begin(), level(34), end())
			l.clean()
			require.Zero(t, *l.seen["leader-without-cluster-id-writes-it"])
		}
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(33), end())
		l.core.activationCompleted(one.r, 1, -1, -1, 34) // the version is known
		l.clean()
		require.Zero(t, *l.seen["leader-without-cluster-id-writes-it"])
	})
	t.Run("formatted: the tool wrote the id", func(t *testing.T) {
		l := newLab(t, 3, Config{Variant: Draft})
		one := l.node(1)
		one.crash(false)
		one.v.Load(testData+"/"+propertiesName, []byte(propertiesText(1, one.dir, "x")))
		one.boot()
		l.core.activationCompleted(one.r, 1, -1, -1, 34)
		l.clean()
	})
}

func TestPersistedIsStable(t *testing.T) {
	t.Run("before it is stable", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"))
		l.commit(one, 1, 2)
		one.properties(testData, "x")
		l.breaks("persisted-is-stable/not-stable")
	})
	t.Run("changed", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"), end())
		l.commit(one, 1, 2)
		one.properties(testData, "x")
		one.properties(testData, "y")
		l.breaks("persisted-is-stable/changed")
	})
	t.Run("stable, then another directory, then a start that completes them", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"), end())
		l.commit(one, 1, 2)
		one.properties(testData, "x")
		one.crash(true)
		one.boot()
		require.NoError(t, one.files.MkdirAll("/data/dir1"))
		one.properties("/data/dir1", "x")
		l.clean()
	})
	t.Run("the operator's format tool", func(t *testing.T) {
		l := newLab(t, 3, Config{Variant: FinalMar})
		one := l.node(1)
		one.r.server = false
		require.NoError(t, one.files.MkdirAll("/data/dir1"))
		one.properties("/data/dir1", "x")
		l.clean()
	})
	t.Run("a crash between two directories is counted", func(t *testing.T) {
		l := newLab(t, 3, Config{Variant: FinalMar})
		one := l.node(1)
		one.r.server = false
		require.NoError(t, one.files.MkdirAll("/data/dir1"))
		one.properties("/data/dir1", "x")
		one.crash(false)
		require.Positive(t, *l.seen["crash-between-two-meta-properties"])
	})
}

func TestUpgradeKeepsID(t *testing.T) {
	l := threeUp(t, Config{Variant: FinalMar})
	one := l.node(1)
	one.crash(false)
	one.v.Load(testData+"/"+propertiesName, []byte(propertiesText(1, one.dir, "x")))
	one.boot()
	one.follow(1, 2)
	one.lead(2, 3)
	one.append(2, level(33))
	one.append(2, level(34), clusterID("z"))
	l.breaks("upgrade-keeps-id/other-id")

	l.found = nil
	one.append(2, level(34), clusterID("x"))
	l.clean()
}

func TestDirectoryIDFirst(t *testing.T) {
	l := newLab(t, 3, Config{})
	one := l.node(1)
	require.NoError(t, one.files.Remove(testData+"/"+propertiesName))
	tmp := testData + "/" + propertiesName + ".tmp"
	fd, err := one.files.Open(tmp, true)
	require.NoError(t, err)
	one.dir[0] = 7
	require.NoError(t, one.files.WriteAt(fd, []byte(propertiesText(1, one.dir, "")), 0))
	require.NoError(t, one.files.Sync(fd))
	require.NoError(t, one.files.Rename(tmp, testData+"/"+propertiesName))
	one.fetch(l.node(2), 0, -1)
	l.breaks("directory-id-first/not-durable")

	l.found = nil
	require.NoError(t, one.files.SyncDir(testData))
	one.fetch(l.node(2), 0, -1)
	l.clean()
}

func TestClusterIDServed(t *testing.T) {
	ask := func(l *lab, known bool, id string) {
		l.next++
		l.core.onFetchRequest(l.node(2).r, l.node(1).r, &raft.FetchRequest{
			Header: raft.Header{Correlation: l.next}, ReplicaID: 2, CurrentLeaderEpoch: 1, FetchOffset: 1, HighWatermark: -1,
			ClusterID: raft.ClusterID{Known: known, ID: id},
		})
		l.node(1).answer(l.node(2), 1, max(1, l.core.leadershipAt(1).told))
	}
	l := threeUp(t, Config{Variant: Draft})
	ask(l, true, "y") // the server does not know its id yet
	one := l.node(1)
	one.append(1, begin(), level(34), clusterID("x"), end())
	l.commit(one, 1, 2, 3)
	one.properties(testData, "x")
	ask(l, true, "y") // it is on disk, and the replica was not told yet
	one.r.knowsID = true
	ask(l, false, "")
	ask(l, true, "x")
	l.clean()
	ask(l, true, "")
	l.breaks("cluster-id-served/foreign-served")
}
