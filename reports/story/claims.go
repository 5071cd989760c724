package story

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// teller is a story in the making.
type teller struct {
	h      *history.History
	order  *order
	parts  []shrink.Part
	needed map[string]bool // actions that are necessary
	story  *Story
	root   int32                // the event that the story ends with
	broken string               // what it breaks, with its sentence
	claims [][]int32            // events with a claim, by host
	extra  map[int32]*sim.Claim // claims that the story itself makes
	chosen map[int32]*pick
	told   map[int32]bool // ends of processes that are told with a fault
}

// claim is what an event claims, nil when nothing.
func (t *teller) claim(seq int32) *sim.Claim {
	if c := t.extra[seq]; c != nil {
		return c
	}
	return t.h.Events[seq].Claim
}

// pick is an event that may become a line.
type pick struct {
	seq      int32
	distance int      // premises between it and the violation
	rank     int      // that it is kept by, low first: 0 for faults
	folds    []fold   // claims that are told in the same line
	notes    []string // clauses that follow
	text     string   // of a fault; "" for a claim
	needed   bool
}

// fold is a premise and who fulfils it.
type fold struct {
	form  string
	hosts []int32
	seqs  []int32
}

// limits of the search behind the violation.
const (
	maxDistance = 7
	maxChosen   = 80
)

// necessary notes which actions the failure needs, and counts what it does not.
func (t *teller) necessary() {
	t.needed = map[string]bool{}
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case !p.Fault():
		case !p.Necessary:
			t.story.Incidental++
		case p.Kind == shrink.ActionPart:
			t.needed[p.ID] = true
		}
	}
}

// index lists the claims of each host.
func (t *teller) index() {
	t.told = map[int32]bool{}
	t.chosen, t.extra = map[int32]*pick{}, map[int32]*sim.Claim{}
	t.claims = make([][]int32, len(t.h.Hosts))
	for i := range t.h.Events {
		if e := &t.h.Events[i]; e.Claim != nil && e.Host >= 0 {
			t.claims[e.Host] = append(t.claims[e.Host], int32(i))
		}
	}
	for host := range t.claims { // lanes are concurrent: which comes first must not depend on the schedule
		slices.SortStableFunc(t.claims[host], func(a, b int32) int {
			return cmp.Or(cmp.Compare(t.order.depth[a], t.order.depth[b]), cmp.Compare(t.h.Events[a].Lane, t.h.Events[b].Lane))
		})
	}
}

// findRoot finds the violation, or the hazard that the verdict is about.
func (t *teller) findRoot() bool {
	t.story.Target = target(t.h.Verdict)
	t.root = -1
	for i := range t.h.Events {
		e := &t.h.Events[i]
		if e.Kind == history.Violation {
			t.root, t.broken = int32(i), e.Text
			return true
		}
		if e.Kind == history.Hazard && t.root < 0 && strings.HasPrefix("hazard/"+e.Text, t.story.Target+":") {
			t.root, t.broken = int32(i), "hazard "+e.Text
		}
	}
	if t.h.Verdict.Outcome.Finding() { // what it is about is not the hazard
		t.root = -1
	}
	return t.root >= 0
}

// past reports whether an event happened before another one, or in one step with it.
func (t *teller) past(seq, of int32) bool {
	return t.order.before(seq, of) || seq != of && t.h.Events[seq].ID == t.h.Events[of].ID && seq < of
}

// follow chooses the claims that the violation stands on, and those that they stand on, breadth first.
func (t *teller) follow() {
	queue := t.named()
	for len(queue) > 0 && len(t.chosen) < maxChosen {
		at := queue[0]
		queue = queue[1:]
		p := t.chosen[at]
		if p.distance >= maxDistance {
			continue
		}
		claim := t.claim(at)
		for i := range claim.Because {
			queue = append(queue, t.stand(p, at, &claim.Because[i])...)
		}
		if claim.Topic == sim.TopicDown && t.h.Events[at].Kind == history.Down {
			if seq := t.carrier(at); seq >= 0 && t.choose(seq, p.distance+1) {
				queue = append(queue, seq)
			}
		}
	}
}

// choose makes a claim a candidate for a line. It returns false when it was one already.
func (t *teller) choose(seq int32, distance int) bool {
	if _, have := t.chosen[seq]; have {
		return false
	}
	t.chosen[seq] = &pick{seq: seq, distance: distance, rank: 2*distance + 2 - int(t.h.Events[seq].Weight)}
	return true
}

// stand resolves a premise of a chosen claim.
func (t *teller) stand(p *pick, at int32, need *sim.Premise) (next []int32) {
	var f fold
	for _, seq := range t.resolve(at, need) {
		if need.Durable && (t.aboutFlushing() || need.Host != sim.Self && t.aboutLoss()) {
			switch {
			case t.noteUnflushed(seq, at):
				next = append(next, seq)
			case t.aboutFlushing() && t.flushed(sim.TopicFlush, seq, at):
				next = append(next, t.noteEarlier(seq, at)...)
			}
		}
		if need.Fold == "" {
			if t.choose(seq, p.distance+1) {
				next = append(next, seq)
			}
			continue
		}
		who := t.h.Events[seq].Host
		if about := t.h.Events[seq].Claim.About; need.Host == sim.Self && about != "" {
			who = int32(slices.Index(t.h.Hosts, about))
		}
		f.hosts, f.seqs = append(f.hosts, who), append(f.seqs, seq)
		claim := t.h.Events[seq].Claim
		for i := range claim.Because {
			next = append(next, t.stand(p, seq, &claim.Because[i])...)
		}
	}
	if len(f.hosts) > 0 {
		f.form = need.Fold
		p.folds = append(p.folds, f)
	}
	return next
}

// resolve finds the claims that a premise of the claim at an event means.
func (t *teller) resolve(at int32, need *sim.Premise) (found []int32) {
	own := t.h.Events[at].Host
	for host := range t.h.Hosts {
		switch need.Host {
		case sim.Self:
			if int32(host) != own {
				continue
			}
		case sim.Others:
			if int32(host) == own {
				continue
			}
		default:
			if t.h.Hosts[host] != need.Host {
				continue
			}
		}
		found = append(found, t.latest(int32(host), at, need)...)
	}
	return found
}

// latest is the last claim of a host before an event that matches; with Fold and Self, the last about each other host.
func (t *teller) latest(host, at int32, need *sim.Premise) (found []int32) {
	list := t.claims[host]
	var about []string
	for i := len(list) - 1; i >= 0; i-- {
		seq := list[i]
		if !t.past(seq, at) || !t.matches(seq, at, need) {
			continue
		}
		if need.Fold == "" || need.Host != sim.Self {
			return append(found, seq)
		}
		if who := t.h.Events[seq].Claim.About; !slices.Contains(about, who) {
			about, found = append(about, who), append(found, seq)
		}
	}
	return found
}

func (t *teller) matches(seq, at int32, need *sim.Premise) bool {
	c := t.h.Events[seq].Claim
	about := need.About
	if about == sim.Self {
		about = t.h.Hosts[t.h.Events[at].Host]
	}
	return listed(need.Topics, c.Topic) && (about == "" || about == c.About) && (need.Epoch == 0 || need.Epoch == c.Epoch) &&
		(need.Offset < 0 || covers(c, need.Offset))
}

func covers(c *sim.Claim, offset int64) bool { return c.From <= offset && offset < c.To }
