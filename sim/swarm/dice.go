package swarm

import "github.com/kraftsim/kraftsim/sim/decide"

// Dice draws the parameters of a plan from its seed. Each draw has a name and depends on nothing else.
type Dice struct{ Seed uint64 }

// Roll returns an integer in [0, n); n must be positive.
func (d Dice) Roll(name string, n int64) int64 {
	h := decide.Combine(d.Seed^0x5851f42d4c957f2d, decide.HashString(name))
	return int64((h >> 33) % uint64(n))
}

// Between returns an integer in [low, high].
func (d Dice) Between(name string, low, high int64) int64 { return low + d.Roll(name, high-low+1) }

// Within returns an integer of a range.
func (d Dice) Within(name string, r Range) int64 { return d.Between(name, r[0], r[1]) }

// Chance is true with a probability of percent per cent.
func (d Dice) Chance(name string, percent int64) bool { return d.Roll(name, 100) < percent }

// OneOf picks one of the values.
func (d Dice) OneOf(name string, values ...int64) int64 {
	return values[d.Roll(name, int64(len(values)))]
}

// Pick picks one of the words.
func (d Dice) Pick(name string, words ...string) string {
	return words[d.Roll(name, int64(len(words)))]
}
