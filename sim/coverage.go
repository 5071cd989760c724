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
	roles    uint64    // of count, at most two of each
	struck   []int64   // by action: since when it is in force, -1: not
	force    []int32   // the actions in force
	forced   uint64    // hash of force
	until    int64     // when the next of them is over by itself
	stale    bool      // an action struck or ended since
	last     uint64    // state and faults at the last sample, 0: none yet
	seen     [3]uint64 // what it was made of
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
	c.count, c.last, c.roles, c.stale = [16]int32{}, 0, 0, true
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
	} else if h.classed != nil {
		class, role = h.classed.CoverageClass()
	}
	if role = min(role, roleDown); role != c.role[h.index] || c.roles == 0 {
		c.count[c.role[h.index]]--
		c.count[role]++
		c.role[h.index] = role
		c.roles = 1
		for _, n := range c.count {
			c.roles = c.roles<<2 | c.roles>>62 ^ uint64(min(n, 2))
		}
	}
	if c.stale || w.now >= c.until {
		w.lookForFaults()
	}
	if seen := [3]uint64{c.roles ^ h.kindHash, class, c.forced}; seen != c.seen || c.last == 0 {
		c.seen = seen
		w.sample(class, h)
	}
}

// sample counts the combination that the world is in, unless it is that of the sample before.
func (w *World) sample(class uint64, h *Host) {
	c := &w.coverage
	state := digest.Word(digest.Word(c.base, c.roles^h.kindHash), class)
	if at := digest.Word(state, c.forced); at != c.last {
		c.last = at
		w.found(state)
	}
}

// lookForFaults finds the actions that are in force now, and until when they are.
func (w *World) lookForFaults() {
	c := &w.coverage
	c.stale, c.until, c.forced, c.force = false, foreverNs, 0, c.force[:0]
	for len(c.struck) < len(w.actions) {
		c.struck = append(c.struck, -1)
	}
	for i := range w.actions {
		a := &w.actions[i]
		if !a.on {
			c.struck[i] = -1
			continue
		}
		if a.handler.Undo == nil {
			if c.struck[i] < 0 {
				c.struck[i] = w.now
			}
			over := c.struck[i] + aftermathNs
			if w.now >= over {
				continue
			}
			c.until = min(c.until, over)
		}
		c.force = append(c.force, int32(i))
		c.forced = digest.Word(c.forced, uint64(i)+1)
	}
}

// found adds a combination for each kind of fault in force, or one for none.
func (w *World) found(state uint64) {
	c := &w.coverage
	if len(c.force) == 0 {
		c.add(uint32(state>>32), "")
	}
	for _, i := range c.force {
		kind := w.actions[i].act.Kind
		c.add(uint32(digest.String(state, kind)>>32), kind)
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
