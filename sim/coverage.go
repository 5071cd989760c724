package sim

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/digest"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Classed is a Process that can say in which class of states it is: what it is, and how it stands to its log and its peers, without
// epochs, offsets or ids, so that a campaign meets the same class again and again. role is a coarse part of that, 0 to 14: of the other
// hosts only counts which roles none, one or several of them have. It is asked after each protocol event once Boot is
// complete, and must be cheap and change nothing. A Process without it counts as one class.
type Classed interface {
	CoverageClass() (class uint64, role uint8)
}

// Covered is one combination that a run came to: a state of the cluster, a fault that was in force, and the kind of its workload.
//
// The state is the class of the host that something happened to, and of the roles whether no host, one or several have it, as a hash of
// 32 bits that has fault and workload in it. (All classes of all hosts would be a state that no second run comes to.)
// A fault is in force from its action to its end, and one that strikes in an instant for 20 ms after. Fault is the kind of action, ""
// for none; of several in force at once each makes a combination of its own.
type Covered struct {
	State uint32
	Fault string
}

// coverage collects the combinations of a run. It is part of the result and of no hash; after the first runs it allocates nothing.
type coverage struct {
	workload string  // kinds of workload of the plan, joined by "+"
	base     uint64  // hash of the workload
	role     []uint8 // by host
	count    [16]int32
	struck   []int64 // by action: since when it is in force, -1: not
	last     uint64  // state and faults at the last sample
	found    []Covered
	table    []uint32 // open addressing: index into found plus 1
}

const (
	aftermathNs  = 20_000_000 // how long a fault without an end counts as in force
	coverageSize = 4096       // of the table, a power of two
	mostCovered  = coverageSize * 3 / 4
)

// The classes of a host without a process, of a process that boots, and of one without classes; and the role of the first two.
const (
	classDown    = 1 << 63
	classBooting = 1 << 62
	classQuiet   = 1 << 61
	roleDown     = 15
)

func (c *coverage) reset(p *plan.Plan) {
	if c.table == nil {
		c.table = make([]uint32, coverageSize)
	}
	if len(c.found) > 0 {
		clear(c.table)
	}
	c.found, c.role, c.struck = c.found[:0], c.role[:0], c.struck[:0]
	c.count, c.last = [16]int32{}, 0
	c.workload = workloadKinds(p)
	c.base = digest.String(0, c.workload)
}

// workloadKinds names what the clients of a plan do: the kinds of its workloads, each once, in order of the plan.
func workloadKinds(p *plan.Plan) string {
	if len(p.Workload) == 1 {
		return p.Workload[0].Kind
	}
	var kinds []string
next:
	for i := range p.Workload {
		for _, have := range kinds {
			if have == p.Workload[i].Kind {
				continue next
			}
		}
		kinds = append(kinds, p.Workload[i].Kind)
	}
	return strings.Join(kinds, "+")
}

// cover takes a sample after something that host h did or suffered.
func (w *World) cover(h *Host) {
	c := &w.coverage
	for len(c.role) < len(w.hosts) {
		c.role = append(c.role, roleDown)
		c.count[roleDown]++
	}
	class, role := uint64(classQuiet), uint8(0)
	if !h.up {
		class, role = classDown, roleDown
	} else if h.Booting() {
		class, role = classBooting, roleDown // it may be half made
	} else if p, ok := h.process.(Classed); ok {
		class, role = p.CoverageClass()
	}
	c.count[c.role[h.index]]--
	c.role[h.index] = min(role, roleDown)
	c.count[c.role[h.index]]++
	roles := h.kindHash
	for _, n := range c.count {
		roles = roles<<2 ^ roles>>62 ^ uint64(min(n, 2))
	}
	state := digest.Word(digest.Word(c.base, roles), class)
	force := uint64(0)
	for i := range w.actions {
		if w.inForce(i) {
			force = digest.Word(force, uint64(i)+1)
		}
	}
	if at := digest.Word(state, force); at != c.last {
		c.last = at
		w.found(state, force != 0)
	}
}

// inForce reports whether a fault of the plan works now.
func (w *World) inForce(i int) bool {
	c := &w.coverage
	for len(c.struck) <= i {
		c.struck = append(c.struck, -1)
	}
	a := &w.actions[i]
	switch {
	case !a.on:
		c.struck[i] = -1
		return false
	case a.handler.Undo != nil:
		return true
	case c.struck[i] < 0:
		c.struck[i] = w.now
	}
	return w.now < c.struck[i]+aftermathNs
}

// found adds a combination for each kind of fault in force, or one for none.
func (w *World) found(state uint64, faults bool) {
	if !faults {
		w.coverage.add(uint32(state>>32), "")
		return
	}
	for i := range w.actions {
		if w.inForce(i) {
			kind := w.actions[i].act.Kind
			w.coverage.add(uint32(digest.String(state, kind)>>32), kind)
		}
	}
}

func (c *coverage) add(state uint32, fault string) {
	if len(c.found) >= mostCovered {
		return // no run comes to so many; if one did, its first ones would do
	}
	for at := state & (coverageSize - 1); ; at = (at + 1) & (coverageSize - 1) {
		i := c.table[at]
		if i == 0 {
			c.found = append(c.found, Covered{state, fault})
			c.table[at] = uint32(len(c.found))
			return
		}
		if c.found[i-1].State == state {
			return
		}
	}
}
