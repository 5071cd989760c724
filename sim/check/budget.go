// Package check keeps the account of what a run may break: the fault budget.
//
// A consensus protocol promises something as long as fewer than half of the voters lose what they had acknowledged. A
// simulator that damages more than that finds "bugs" that are none; one that damages less never meets the worst case that
// the protocol must survive. So the world keeps an account while it runs, and every action that would lose acknowledged bytes
// asks it first.
//
// # Definitions
//
// A key names one replica: an id and a directory id, or whatever the program under test calls one. A replica is damaged
// from the first byte that it had acknowledged as durable and lost, until it has fetched again everything that it had
// ever acknowledged. The voter sets in force are the committed one and a pending one. The budget holds when in each of them
// the damaged keys are at most floor((n-1)/2), n being the size of the set. Without voter sets nothing may be damaged.
//
// # Use
//
//	b.SetVoters(committed, pending)
//	if why := b.Allow(key); why != "" {
//		return why // the action is refused, the verdict says so
//	}
//	b.Damage(key)   // the bytes are gone
//	...
//	b.Repaired(key) // it fetched past everything that it had acknowledged
//
// A scenario calls it from the handlers of its actions (sim.World.Budget). The faults of the core lose no acknowledged
// durable bytes, since a power loss takes unsynced ones only, so none of them asks.
package check

import (
	"fmt"
	"slices"
)

// Budget is the fault budget of one run. The zero value has no voters and allows nothing; an unrestricted one allows
// everything and keeps the account all the same. Deterministic; every call costs O(keys).
type Budget struct {
	unrestricted bool
	damaged      []string   // in the order in which they were damaged
	sets         [][]string // voter sets in force
}

// Reset forgets everything and starts another run.
func (b *Budget) Reset(unrestricted bool) {
	*b = Budget{unrestricted: unrestricted, damaged: b.damaged[:0]}
}

// SetVoters tells the voter sets in force: the committed one, and a pending one when there is one. Keys that are damaged
// stay so whatever the sets say.
func (b *Budget) SetVoters(sets ...[]string) {
	b.sets = b.sets[:0]
	for _, s := range sets {
		b.sets = append(b.sets, slices.Clone(s))
	}
}

// Allow says why a key must not be damaged now, or "" when it may. A key that is damaged already may be damaged again.
// Deterministic; changes nothing.
func (b *Budget) Allow(key string) (refused string) {
	if b.unrestricted || b.Damaged(key) {
		return ""
	}
	if len(b.sets) == 0 {
		return "the budget knows no voters yet"
	}
	for _, set := range b.sets {
		if !slices.Contains(set, key) {
			continue
		}
		have, most := b.damagedIn(set), (len(set)-1)/2
		if have+1 > most {
			return fmt.Sprintf("budget: %d of %d voters are damaged, %s would be one more than the %d allowed", have, len(set), key, most)
		}
	}
	return ""
}

// Damage records that the key lost bytes that it had acknowledged as durable. It reports whether the budget still holds.
func (b *Budget) Damage(key string) (within bool) {
	if !b.Damaged(key) {
		b.damaged = append(b.damaged, key)
	}
	return b.Within()
}

// Repaired records that the key has again everything that it had acknowledged.
func (b *Budget) Repaired(key string) {
	if i := slices.Index(b.damaged, key); i >= 0 {
		b.damaged = slices.Delete(b.damaged, i, i+1)
	}
}

// Damaged reports whether the key is damaged.
func (b *Budget) Damaged(key string) bool { return slices.Contains(b.damaged, key) }

// Keys returns the damaged keys in the order in which they were damaged. The slice is good until the next call.
func (b *Budget) Keys() []string { return b.damaged }

// Within reports whether in each voter set in force at most floor((n-1)/2) keys are damaged.
func (b *Budget) Within() bool {
	for _, set := range b.sets {
		if b.damagedIn(set) > (len(set)-1)/2 {
			return false
		}
	}
	return true
}

func (b *Budget) damagedIn(set []string) (n int) {
	for _, key := range b.damaged {
		if slices.Contains(set, key) {
			n++
		}
	}
	return n
}
