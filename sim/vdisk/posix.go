package vdisk

import "github.com/kraftsim/kraftsim/sim/decide"

// The profile Posix: what only fsync orders. The rules P1 to P3 are in the package comment.

// standsOn reports whether a change of names can survive only with an earlier one: they are about the same name, or one made the
// directory that the other is in, or emptied the one that it removes.
func (c *nameChange) standsOn(earlier *nameChange) bool {
	for _, mine := range [2]string{c.path, c.to} {
		if mine == "" {
			continue
		}
		for _, its := range [2]string{earlier.path, earlier.to} {
			if its == "" {
				continue
			}
			if mine == its || parent(mine) == its || c.kind == OpRemove && parent(its) == mine {
				return true
			}
		}
	}
	return false
}

// in reports whether a change is one in a directory.
func (c *nameChange) in(dir string) bool {
	return isIn(c.path, dir) || c.kind == OpRename && isIn(c.to, dir)
}

// syncNamesAlone makes the changes in a directory durable, with those that they stand on.
func (v *Volume) syncNamesAlone(dir string) {
	n := len(v.journal)
	keep := v.chosen(n)
	for i := n - 1; i >= 0; i-- {
		if c := &v.journal[i]; !keep[i] && c.in(dir) {
			keep[i] = true
		}
		for j := 0; keep[i] && j < i; j++ {
			keep[j] = keep[j] || v.journal[i].standsOn(&v.journal[j])
		}
	}
	rest := 0
	for i := range v.journal {
		if c := &v.journal[i]; keep[i] {
			v.applyName(c)
		} else {
			v.journal[rest] = *c
			rest++
		}
	}
	clear(v.journal[rest:])
	v.journal = v.journal[:rest]
}

// loseSomeNames lets each change of names survive or not, one decision each: any set that has with each change those that it stands on.
func (v *Volume) loseSomeNames(c Chooser) {
	keep, lost := v.chosen(len(v.journal)), false
	for i := range v.journal {
		change := &v.journal[i]
		keep[i] = true
		for j := 0; keep[i] && j < i; j++ {
			keep[i] = keep[j] || !change.standsOn(&v.journal[j])
		}
		if keep[i] {
			keep[i] = !c.Chance(siteLostName, uint64(change.kind), decide.HashString(change.path), evenPpm)
		}
		if keep[i] && lost {
			v.struck.NamesOutOfOrder++
		}
		lost = lost || !keep[i]
	}
	for i := range v.journal {
		if keep[i] {
			v.applyName(&v.journal[i])
		} else {
			v.forgetName(&v.journal[i])
		}
	}
	clear(v.journal)
	v.journal = v.journal[:0]
}

// chosen returns n marks, all false, as scratch memory.
func (v *Volume) chosen(n int) []bool {
	if cap(v.marks) < n {
		v.marks = make([]bool, 2*n)
	}
	v.marks = v.marks[:n]
	clear(v.marks)
	return v.marks
}

// reach returns where the bytes of a write end that can be seen, its extension included: under Posix the data of an extension are a
// choice as those of an overwrite are.
func (s *sampler) reach(c *change, e *entry, visible int64) int64 {
	for t := e.first + 1; t <= min(e.first+e.count, s.kept); t++ {
		if from := max(s.sizes[t-1], c.offset); from < s.low[t] {
			visible = max(visible, min(s.sizes[t], s.low[t]))
		}
	}
	return visible
}
