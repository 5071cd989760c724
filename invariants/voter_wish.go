package invariants

import "github.com/kraftsim/kraftsim/raft/record"

// voterWish is a change of the voter set as a request has it.
type voterWish struct {
	key voterKey
	add bool
}

// asked notes a request that was sent.
func (c *core) asked(w voterWish) {
	for i := range c.wishes {
		if c.wishes[i] == w {
			return
		}
	}
	c.wishes = append(c.wishes, w)
}

// reach is how far a replica fetched from the leader of an epoch.
type reach struct {
	dir   record.UUID
	epoch int32
	end   int64
}

// reached notes the offset of a Fetch that was sent.
func (c *core) reached(r *replica, dir record.UUID, epoch int32, offset int64) {
	if x := &r.reach; x.epoch != epoch || x.dir != dir {
		if x.end > 0 {
			c.oldReach = append(c.oldReach, *x)
		}
		*x = reach{dir: dir, epoch: epoch}
	}
	r.reach.end = max(r.reach.end, offset)
}

// reachedIn returns the furthest offset that a replica with that directory id fetched at in an epoch.
func (c *core) reachedIn(epoch int32, dir record.UUID) (end int64) {
	for _, r := range c.replicas {
		if r.reach.epoch == epoch && r.reach.dir == dir {
			end = max(end, r.reach.end)
		}
	}
	for i := range c.oldReach {
		if x := &c.oldReach[i]; x.epoch == epoch && x.dir == dir {
			end = max(end, x.end)
		}
	}
	return end
}

// changeWanted checks where a change of one voter comes from. Who is added must have had, at some Fetch in this epoch, all that the leader had
// at the Fetch before; the leader had the first batch of its epoch from its first turn on.
func (c *core) changeWanted(b *batch, change string, old, set *voterSet, start int64) {
	rule := &c.rules.voterChange
	for i := range set.keys {
		k := &set.keys[i]
		if old.has(k) || k.dir.IsZero() {
			continue
		}
		if !c.wanted(voterWish{*k, true}) {
			rule.fail("not-asked-for", change+", and nobody asked for "+number(int64(k.id))+":"+k.dir.String()+" to be added")
		} else if end := c.reachedIn(b.epoch, k.dir); end <= start {
			rule.fail("not-caught-up", change+", and the new voter fetched up to "+number(end)+" in this epoch, which begins at "+number(start))
		}
	}
	for i := range old.keys {
		if k := &old.keys[i]; !set.has(k) && !k.dir.IsZero() && !c.wanted(voterWish{key: *k}) {
			rule.fail("not-asked-for", change+", and nobody asked for "+number(int64(k.id))+":"+k.dir.String()+" to be removed")
		}
	}
}

func (c *core) wanted(w voterWish) bool {
	for i := range c.wishes {
		if c.wishes[i] == w {
			return true
		}
	}
	return false
}
