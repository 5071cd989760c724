package shrink

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim/decide"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// named is the readable name of a decision, taken apart.
type named struct {
	site, entity string
	name         decide.Name
}

// parseName reads what World.record wrote: "net/reset n1>n2 kind=3 key=17 window=2s #0 = 1". A name that nobody wrote so is not ok.
func parseName(text string, hash plan.Uint64) (n named, ok bool) {
	words := strings.Fields(text)
	if len(words) < 6 {
		return n, false
	}
	n.site, n.entity = words[0], words[1]
	n.name.Site, n.name.Entity = decide.HashString(n.site), decide.HashString(n.entity)
	if from, to, link := strings.Cut(n.entity, ">"); link {
		n.name.Entity = decide.Combine(decide.HashString(from), decide.HashString(to))
	}
	ok = true
	number := func(word, prefix, suffix string) uint64 {
		digits, had := strings.CutPrefix(word, prefix)
		v, err := strconv.ParseUint(strings.TrimSuffix(digits, suffix), 10, 64)
		ok = ok && had && err == nil
		return v
	}
	n.name.Kind, n.name.Key = number(words[2], "kind=", ""), number(words[3], "key=", "")
	n.name.Window, n.name.Occurrence = int64(number(words[4], "window=", "s")), uint32(number(words[5], "#", ""))
	return n, ok && n.name.Hash() == uint64(hash)
}

// at returns the decision under the name that it has in another window.
func (n named) at(window int64, value plan.Int64) plan.Decision {
	n.name.Window = window
	return plan.Decision{NameHash: plan.Uint64(n.name.Hash()), Value: value, Name: fmt.Sprintf("%s %s kind=%d key=%d window=%ds #%d = %d",
		n.site, n.entity, n.name.Kind, n.name.Key, window, n.name.Occurrence, value)}
}

const windowUs = decide.WindowNs / 1000

// moved returns the decisions of a plan when its actions happen at other times: what comes after an action moves with it. A second that
// is torn apart by that has two names then, both are listed, and deletion of single decisions finds the one that counts.
func moved(p *plan.Plan, times []int64) (list []plan.Decision) {
	have := make(map[plan.Uint64]bool, len(p.Decisions))
	add := func(d plan.Decision) {
		if !have[d.NameHash] {
			have[d.NameHash] = true
			list = append(list, d)
		}
	}
	shift := func(us int64) int64 {
		by := int64(0)
		for i := range p.Actions {
			if int64(p.Actions[i].AtUs) <= us {
				by = times[i] - int64(p.Actions[i].AtUs)
			}
		}
		return max(0, us+by)
	}
	for i := range p.Decisions {
		d := &p.Decisions[i]
		n, ok := parseName(d.Name, d.NameHash)
		if !ok {
			add(*d)
			continue
		}
		first := n.name.Window * windowUs
		for _, us := range []int64{first, first + windowUs - 1} {
			add(n.at(shift(us)/windowUs, d.Value))
		}
	}
	return list
}
