package vdisk

import (
	"flag"
	"os"
	"testing"

	"github.com/kraftsim/kraftsim/sim/decide"
)

// The seeds of rapid are pinned, so that a run of the tests is repeatable; histories are cheap, so there are many.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"rapid.seed": "20261", "rapid.checks": "3000", "rapid.nofailfile": "true"} {
		_ = flag.Set(name, value)
	}
	flag.Parse()
	os.Exit(m.Run())
}

// script is a Chooser that reads its decisions from a list, benign behind its end, and counts through all lists.
type script struct {
	values  []int64
	domains []int64
	next    int
}

func (s *script) Choose(_ *decide.Site, _, _ uint64, n int64) int64 {
	if n == 1 {
		return 0
	}
	if s.next == len(s.values) {
		s.values = append(s.values, 0)
		s.domains = append(s.domains, 0)
	}
	s.domains[s.next] = n
	s.next++
	return s.values[s.next-1]
}

func (s *script) Chance(site *decide.Site, kind, key uint64, ppm int64) bool {
	return ppm > 0 && s.Choose(site, kind, key, 2) == 1
}

// advance moves to the next list of decisions; false after the last one.
func (s *script) advance() bool {
	for i := s.next - 1; i >= 0; i-- {
		if s.values[i]+1 < s.domains[i] {
			s.values[i]++
			s.values, s.domains = s.values[:i+1], s.domains[:i+1]
			s.next = 0
			return true
		}
	}
	s.next, s.values, s.domains = 0, s.values[:0], s.domains[:0]
	return false
}

// lane is a Host that draws from a source and commits when told.
type lane struct {
	src    *decide.Source
	issued []OpID
	costs  []int64
	armed  OpID
	commit bool // at once
}

func newLane(seed uint64) *lane {
	l := &lane{src: &decide.Source{}}
	l.src.Reset(seed, nil, nil)
	return l
}

func (l *lane) Choose(site *decide.Site, kind, key uint64, n int64) int64 {
	return l.src.Choose(site, 1, kind, key, n)
}

func (l *lane) Chance(site *decide.Site, kind, key uint64, ppm int64) bool {
	return l.src.Chance(site, 1, kind, key, ppm)
}

func (l *lane) Issue(v *Volume, op OpID, costNs int64) {
	l.costs = append(l.costs, costNs)
	if op == NoOp {
		return
	}
	if v.ArmedAt(op) {
		l.armed = op
	}
	if l.commit {
		v.Commit(op)
	} else {
		l.issued = append(l.issued, op)
	}
}

// commitAll commits what is in flight, in order.
func (l *lane) commitAll(v *Volume) {
	for _, op := range l.issued {
		v.Commit(op)
	}
	l.issued = l.issued[:0]
}
