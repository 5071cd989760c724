// Package digest stands in for the one of the simulator.
package digest

// Word folds one word into a running digest.
func Word(h, v uint64) uint64 { return h ^ v }
