package invariants

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/record"
)

// TestVoterAnswer: an answer without an error tells of a change that is committed.
func TestVoterAnswer(t *testing.T) {
	two, three := voterKey{2, record.UUIDFromHalves(1, 2)}, voterKey{3, record.UUIDFromHalves(1, 3)}
	for _, row := range []struct {
		name   string
		wish   voterWish
		voters []int32
		commit bool
		atOnce bool
		code   raft.ErrorCode
		want   string
	}{
		{name: "removed", wish: voterWish{key: two}, voters: []int32{1, 3}, commit: true},
		{name: "removed, not committed", wish: voterWish{key: two}, voters: []int32{1, 3}, want: "voter-answer/not-made"},
		{name: "removal refused", wish: voterWish{key: two}, voters: []int32{1, 3}, code: raft.RequestTimedOut},
		{name: "not removed", wish: voterWish{key: two}, voters: []int32{1, 2}, commit: true, want: "voter-answer/not-made"},
		{name: "added", wish: voterWish{three, true}, voters: []int32{1, 2, 3}, commit: true},
		{name: "added, not committed", wish: voterWish{three, true}, voters: []int32{1, 2, 3}, want: "voter-answer/not-made"},
		{name: "added, without wait", wish: voterWish{three, true}, voters: []int32{1, 2, 3}, atOnce: true},
		{name: "other disk", wish: voterWish{voterKey{3, record.UUIDFromHalves(7, 3)}, true}, voters: []int32{1, 2, 3}, commit: true,
			want: "voter-answer/not-made"},
	} {
		t.Run(row.name, func(t *testing.T) {
			n := int32(3)
			if row.wish.add {
				n = 2
			}
			l := dynamicUp(t, n, Config{})
			if row.wish.add {
				l.add(3)
			}
			one := l.node(1)
			l.core.changeAsked(voterQuestion{asker: 9, asked: 0, correlation: 5, wish: row.wish, atOnce: row.atOnce})
			one.setVoters(1, row.voters...)
			if row.commit {
				for _, id := range row.voters[1:] {
					f := l.node(id)
					f.follow(1, 1)
					one.replicate(f, 1)
				}
			}
			l.core.changeAnswered(one.r, row.wish.add, 9, 0, 5, row.code)
			l.core.changeAnswered(one.r, row.wish.add, 9, 0, 5, raft.None) // answered already
			if row.want == "" {
				l.clean()
			} else {
				l.breaks(row.want)
			}
			if row.code == raft.None && !row.atOnce {
				l.evaluated("voter-answer")
			}
		})
	}
}

// TestQuorumVersionFollowsLog: quorum-state has the version of the log, in both directions.
func TestQuorumVersionFollowsLog(t *testing.T) {
	l := dynamicUp(t, 2, Config{})
	l.node(2).quorum(1, 1, -1)
	l.evaluated("kraft-version")
	l.clean()
	l.node(2).old = true
	l.node(2).quorum(1, 1, -1)
	l.breaks("kraft-version/quorum-state-old")
}
