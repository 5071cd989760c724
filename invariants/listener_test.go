package invariants

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// checkpoint is a checkpoint file with these data records.
func checkpoint(values ...records.Record) []byte {
	var frames [][]byte
	for _, r := range values {
		frames = append(frames, records.Append(nil, r, 0))
	}
	return record.AppendBatch(nil, record.BatchSpec{}, frames...)
}

func TestListenerOrder(t *testing.T) {
	t.Run("a gap", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.noOp(1)
		l.commit(one, 1, 2)
		one.noOp(1)
		l.commit(one, 1, 2)
		one.deliver("loader", 0)
		one.deliver("loader", 2)
		l.breaks("listener-order/not-contiguous")
	})
	t.Run("the bootstrap checkpoint again", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.bootstrapDelivered(l.node(2).r, "loader")
		l.core.bootstrapDelivered(l.node(2).r, "loader")
		l.breaks("listener-order/bootstrap-again")
	})
	t.Run("the bootstrap checkpoint late", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).deliver("loader", 0)
		l.core.bootstrapDelivered(l.node(1).r, "loader")
		l.breaks("listener-order/bootstrap-late")
	})
	t.Run("leadership on an empty log", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.node(1).lead(1, 2)
		l.core.leaderDelivered(l.node(1).r, "controller", 1, 1)
		l.breaks("listener-order/leads-too-early")
	})
	t.Run("leadership while resigned after a restart", func(t *testing.T) {
		l := threeUp(t, Config{})
		one := l.node(1)
		one.crash(false)
		one.boot()
		one.role(raft.Resigned, 1, 1)
		l.core.leaderDelivered(one.r, "controller", 1, 1)
		l.breaks("listener-order/not-leading")
	})
	t.Run("as it should be, and again in the next life", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		l.core.bootstrapDelivered(one.r, "controller")
		l.core.leaderDelivered(one.r, "controller", -1, 1)
		one.deliver("controller", 0)
		l.core.leaderDelivered(one.r, "controller", 1, 1)
		l.core.leaderDelivered(two.r, "loader", 1, 1)
		two.deliver("loader", 0)
		two.crash(false)
		two.boot()
		l.core.bootstrapDelivered(two.r, "loader")
		two.deliver("loader", 0)
		l.clean()
		l.evaluated("listener-order", "state-machine-safety")
	})
}

func TestStateMachineSafety(t *testing.T) {
	t.Run("not committed", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.node(2).copyFrom(l.node(1), 2)
		l.node(2).deliver("loader", 0)
		l.node(2).deliver("loader", 1)
		l.breaks("state-machine-safety/not-committed")
	})
	t.Run("another batch", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.noOp(1)
		two.lead(2, 3)
		two.replicate(three, 2)
		one.deliver("loader", 0)
		one.deliver("loader", 1)
		l.breaks("state-machine-safety/other-batch")
	})
	t.Run("a delivery on a leader is what exposes", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: 2})
		require.EqualValues(t, 1, l.core.exposed.end)
		one.deliver("loader", 0)
		one.deliver("loader", 1)
		require.EqualValues(t, 2, l.core.exposed.end)
		l.clean()
	})
	t.Run("a lagging listener of a new leader", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		one, two, three := l.node(1), l.node(2), l.node(3)
		one.lead(1, 2)
		two.follow(1, 1)
		two.copyFrom(one, 1)
		two.fetch(one, 1, -1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: 1}) // shown to nobody
		two.lead(2, 3)
		three.copyFrom(two, 2)
		three.fetch(two, 2, -1)
		two.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 2, Offset: 2})
		two.deliver("loader", 0) // below the start of its epoch
		two.deliver("loader", 1)
		l.clean()
	})
	t.Run("a deposed leader delivers what it had committed", func(t *testing.T) {
		l := threeUp(t, Config{})
		one, two := l.node(1), l.node(2)
		one.noOp(1)
		two.copyFrom(one, 2)
		two.fetch(one, 1, 1)
		one.event(raft.Event{Kind: raft.HighWatermarkAdvanced, Role: raft.Leader, Epoch: 1, Offset: 2})
		one.quorum(2, -1, -1)
		one.role(raft.Unattached, 2, -1)
		one.deliver("loader", 0)
		one.deliver("loader", 1)
		l.clean()
	})
}

func TestAcknowledgedSurvives(t *testing.T) {
	t.Run("before it is committed", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.core.appendAcknowledged(l.node(1).r, 1)
		l.breaks("acknowledged-survives/not-committed")
	})
	t.Run("lost", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.commit(l.node(1), 1, 2)
		l.core.appendAcknowledged(l.node(1).r, 1)
		l.node(3).lead(2, 2)
		l.breaks("acknowledged-survives/lost", "leader-completeness/lost-at-election")
	})
	t.Run("kept", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.node(1).noOp(1)
		l.commit(l.node(1), 1, 2)
		l.core.appendAcknowledged(l.node(1).r, 1)
		l.node(2).lead(2, 3)
		l.clean()
	})
}

func TestVotersFollowLog(t *testing.T) {
	for _, x := range []struct {
		name            string
		listed, granted []int32
		broken          string
	}{
		{"a majority granted", []int32{1, 2, 3}, []int32{1, 3}, ""},
		{"all granted", []int32{1, 2, 3}, []int32{1, 2, 3}, ""},
		{"a leader lists others", []int32{1, 2}, []int32{1, 2}, "voters-follow-log/leader-change"},
		{"no majority granted", []int32{1, 2, 3}, []int32{1}, "voters-follow-log/leader-change-granted"},
		{"nobody granted", []int32{1, 2, 3}, nil, "voters-follow-log/leader-change-granted"},
		{"the leader did not grant", []int32{1, 2, 3}, []int32{2, 3}, "voters-follow-log/leader-change-granted"},
		{"a stranger granted", []int32{1, 2, 3}, []int32{1, 2, 4}, "voters-follow-log/leader-change-granted"},
	} {
		t.Run(x.name, func(t *testing.T) {
			l := newLab(t, 3, Config{})
			one := l.node(1)
			one.candidate(1)
			l.node(2).quorum(1, -1, 1)
			l.vote(one, l.node(2), 1, true)
			one.win(1)
			c := record.LeaderChangeMessage{LeaderID: 1}
			for _, id := range x.listed {
				c.Voters = append(c.Voters, record.LeaderChangeVoter{VoterID: id})
			}
			for _, id := range x.granted {
				c.GrantingVoters = append(c.GrantingVoters, record.LeaderChangeVoter{VoterID: id})
			}
			var b record.Builder
			b.Reset(nil, record.BatchSpec{LeaderEpoch: 1, Control: true})
			b.AddControl(record.LeaderChange, c.AppendTo(nil, 0))
			one.write(b.Finish())
			if x.broken == "" {
				l.clean()
				return
			}
			l.breaks(x.broken)
		})
	}
	t.Run("a candidate asks an observer", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		l.add(4)
		l.node(1).candidate(1)
		l.vote(l.node(1), l.node(4), 1, false)
		l.breaks("voters-follow-log/asks-non-voter")
	})
	t.Run("a name that leads to another host", func(t *testing.T) {
		l := newLab(t, 3, Config{})
		four := l.add(4)
		one := l.node(1)
		one.candidate(1)
		l.core.onVoteRequest(one.r, four.r, &raft.VoteRequest{VoterID: 2, ReplicaEpoch: 1, ReplicaID: 1})
		l.clean()
	})
}

func TestImages(t *testing.T) {
	bootstrapped := func(t *testing.T) *lab {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, begin(), level(34), clusterID("x"))
		l.commit(one, 1, 2, 3)
		return l
	}
	t.Run("differ", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.imagePublished(l.node(1).r, 0, 11, nil)
		l.core.imagePublished(l.node(2).r, 0, 12, nil)
		l.breaks("images-equal/published")
	})
	t.Run("the controller's differs", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.imagePublished(l.node(1).r, 0, 11, nil)
		l.core.imageShown(l.node(2).r, 0, 12, nil, "reverted")
		l.breaks("images-equal/reverted")
	})
	t.Run("an open transaction is published", func(t *testing.T) {
		l := bootstrapped(t)
		l.core.imagePublished(l.node(1).r, 3, 11, nil)
		l.breaks("published-once/not-stable")
	})
	t.Run("what is before the Begin, inside of its batch", func(t *testing.T) {
		l := threeUp(t, Config{Variant: Draft})
		one := l.node(1)
		one.append(1, &records.NoOpRecord{}, begin(), level(34))
		l.commit(one, 1, 2)
		l.core.imagePublished(one.r, 1, 11, nil)
		l.clean()
		l.core.imagePublished(one.r, 2, 11, nil)
		l.breaks("published-once/not-stable")
	})
	t.Run("replayed twice", func(t *testing.T) {
		l := threeUp(t, Config{})
		l.core.imageAdvanced(l.node(1).r, -1, 0)
		l.core.imageAdvanced(l.node(1).r, -1, 0)
		l.breaks("published-once/not-contiguous")
	})
	t.Run("before it has caught up", func(t *testing.T) {
		for _, watermarkFirst := range []bool{true, false} {
			l := bootstrapped(t)
			two := l.node(2).r
			if watermarkFirst {
				l.core.watermarkEvent(two, 1, 4, false)
			}
			l.core.imageTold(two, 0)
			l.core.watermarkEvent(two, 1, 4, false)
			l.breaks("published-once/before-caught-up")
		}
	})
	t.Run("when it has caught up, and what is known by then is not asked for", func(t *testing.T) {
		l := bootstrapped(t)
		two := l.node(2)
		l.core.watermarkEvent(two.r, 1, 1, false)
		l.core.watermarkEvent(two.r, 1, 4, false) // the loader looked before that
		l.core.imageTold(two.r, 0)
		l.core.imageTold(two.r, 3)
		two.crash(false)
		two.boot()
		l.core.watermarkEvent(two.r, 1, 4, false) // an image of the life before is none of this one
		l.core.imageTold(two.r, 3)
		l.clean()
	})
	t.Run("in order, and again in the next life", func(t *testing.T) {
		l := bootstrapped(t)
		one, two := l.node(1), l.node(2)
		for _, m := range []*member{one, two} {
			l.core.imageAdvanced(m.r, -1, 0)
			l.core.imagePublished(m.r, 0, 11, nil)
		}
		two.crash(false)
		two.boot()
		l.core.imageAdvanced(two.r, -1, 0)
		l.core.imagePublished(two.r, 0, 11, nil)
		l.core.imageShown(two.r, -1, 99, nil, "controller")
		l.clean()
		l.evaluated("images-equal", "published-once")
	})
}

func TestNoUnexpectedStop(t *testing.T) {
	broken := errors.New("disk on fire")
	l := threeUp(t, Config{AllowStop: func(host string, refused bool, err error) bool { return host == "n2" && !refused }})
	l.core.stopped(l.node(1).r, false, broken)
	l.core.stopped(l.node(2).r, true, broken)
	l.breaks("no-unexpected-stop/fatal", "no-unexpected-stop/refused-to-start")

	l.found = nil
	l.core.stopped(l.node(2).r, false, broken)
	l.core.stopped(l.node(3).r, false, nil)
	l.clean()
}

// A declared loss explains the ends that follow from it, and lends its evidence to no other.
func TestNoUnexpectedStopAfterALoss(t *testing.T) {
	broken := errors.New("disk on fire")
	l := threeUp(t, Config{StopFollows: func(_, loss string, refused bool, err error) bool {
		return loss == AfterDamage && refused && errors.Is(err, broken)
	}})
	l.core.loss = AfterDamage
	l.core.stopped(l.node(1).r, true, broken)
	l.breaks("no-unexpected-stop/" + AfterDamage)
	l.found = nil
	l.core.stopped(l.node(2).r, true, errors.New("another"))
	l.core.stopped(l.node(3).r, false, broken)
	l.breaks("no-unexpected-stop/refused-to-start", "no-unexpected-stop/fatal")
}

func TestObligations(t *testing.T) {
	l := newLab(t, 3, Config{Variant: Draft, Converges: true})
	c := &l.core
	c.beginCalm()
	require.False(t, c.leaderMet())
	require.False(t, c.watermarkMet())
	require.False(t, c.bootstrapMet())
	require.Nil(t, c.ignorant(), "no id is stable yet")
	require.Contains(t, c.waitsForLeader(), "n3 is down in epoch 0")

	one, two, three := l.node(1), l.node(2), l.node(3)
	one.lead(1, 2)
	two.follow(1, 1)
	one.append(1, begin(), level(34), clusterID("x"), end())
	require.True(t, c.leaderMet())
	l.commit(one, 1, 2)
	require.True(t, c.watermarkMet())
	require.True(t, c.bootstrapMet())
	c.calmFrom = calmState{}
	c.beginCalm()
	require.False(t, c.watermarkMet(), "nothing new")
	require.Equal(t, three.r, c.lagging())
	require.Contains(t, c.waitsForNodes(), "n3")
	require.Equal(t, one.r, c.ignorant())
	require.Contains(t, c.waitsForIDs(), "n1")

	three.follow(1, 1)
	one.replicate(three, 1)
	require.Nil(t, c.lagging())
	for _, m := range l.nodes {
		m.properties(testData, "x")
	}
	require.Nil(t, c.ignorant())
	one.noOp(1)
	l.commit(one, 1, 2)
	require.True(t, c.watermarkMet())
	l.clean()

	three.crash(false)
	three.v.Load(testData+"/"+propertiesName, []byte(propertiesText(3, three.dir, "other")))
	three.boot()
	require.True(t, c.refused(three.r))
	require.Nil(t, c.ignorant(), "a refused node is excepted")
}
