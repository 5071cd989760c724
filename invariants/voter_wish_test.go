package invariants

import (
	"testing"

	"github.com/kraftsim/kraftsim/raft/record"
)

// TestVoterWishes: a change comes from a request, and who is added has caught up with this leader.
func TestVoterWishes(t *testing.T) {
	two, three := voterKey{2, record.UUIDFromHalves(1, 2)}, voterKey{3, record.UUIDFromHalves(1, 3)}
	begin := func(t *testing.T) *lab {
		l := dynamicUp(t, 2, Config{})
		l.add(3)
		l.alone = true
		return l
	}
	t.Run("removed unasked", func(t *testing.T) {
		l := begin(t)
		l.core.asked(voterWish{key: voterKey{2, record.UUIDFromHalves(7, 2)}}) // another disk
		l.core.asked(voterWish{key: two, add: true})
		l.node(1).setVoters(1, 1)
		l.breaks("voter-change/not-asked-for")
	})
	t.Run("removed", func(t *testing.T) {
		l := begin(t)
		l.core.asked(voterWish{key: two})
		l.node(1).setVoters(1, 1)
		l.clean()
	})
	t.Run("added unasked", func(t *testing.T) {
		l := begin(t)
		l.core.reached(l.node(3).r, three.dir, 1, l.node(1).end)
		l.node(1).setVoters(1, 1, 2, 3)
		l.breaks("voter-change/not-asked-for")
	})
	t.Run("added too early", func(t *testing.T) {
		l := begin(t)
		l.core.asked(voterWish{key: three, add: true})
		l.core.reached(l.node(3).r, three.dir, 0, 99) // it followed another leader
		l.core.reached(l.node(3).r, three.dir, 1, 0)
		l.node(1).setVoters(1, 1, 2, 3)
		l.breaks("voter-change/not-caught-up")
	})
	t.Run("added, and gone on to another epoch", func(t *testing.T) {
		l := begin(t)
		l.core.asked(voterWish{key: three, add: true})
		l.core.reached(l.node(3).r, three.dir, 1, l.node(1).end)
		l.core.reached(l.node(3).r, three.dir, 2, 0)
		l.node(1).setVoters(1, 1, 2, 3)
		l.clean()
	})
}
