package story

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// faults chooses a line for each necessary fault, with what it did to the hosts.
func (t *teller) faults() {
	for i := range t.h.Events {
		e := &t.h.Events[i]
		if e.Kind != history.Action || !t.needed[e.Action] {
			continue
		}
		if a := t.action(e.Action); a != nil {
			t.fault(int32(i), a)
		}
	}
	for _, seq := range slices.Sorted(maps.Keys(t.chosen)) { // what an incidental fault did is no part of the story
		p, e := t.chosen[seq], &t.h.Events[seq]
		crash := e.Kind == history.Lost || e.Kind == history.Boot || e.Kind == history.Down && crashed(e)
		if p.text == "" && crash && t.byFault(seq) {
			delete(t.chosen, seq)
		}
	}
	t.ends()
}

// ends chooses how a process ended by itself after a necessary fault that its host knows of, and how it started again: what a disk that fails
// leads to. The end that counts is the last one before what broke.
func (t *teller) ends() {
	for host := range t.claims {
		var down, up int32 = -1, -1
		for _, seq := range t.claims[host] {
			e := &t.h.Events[seq]
			switch {
			case seq >= t.root || !t.past(seq, t.root):
			case e.Kind == history.Down && !crashed(e) && t.suffered(seq):
				down, up = seq, -1
			case down >= 0 && up < 0 && e.Claim.Topic == sim.TopicRecover && t.past(down, seq):
				up = seq
			}
		}
		for _, seq := range []int32{down, up} {
			if seq >= 0 && t.choose(seq, 1) {
				t.chosen[seq].rank = 1
			}
		}
	}
}

// crashed reports whether a process ended by a fault, not by itself.
func crashed(e *history.Event) bool {
	return strings.HasPrefix(e.Text, sim.Killed.String()) || strings.HasPrefix(e.Text, sim.PowerLost.String())
}

// suffered reports whether a necessary fault of a disk came before the end of a process, on its host.
func (t *teller) suffered(down int32) bool {
	for i := range down {
		e := &t.h.Events[i]
		if e.Kind != history.Action || !t.needed[e.Action] || !slices.Contains(t.order.touched[i], t.h.Events[down].Host) {
			continue
		}
		if a := t.action(e.Action); a != nil && strings.HasPrefix(a.Kind, "disk-") {
			return true
		}
	}
	return false
}

// byFault reports whether an action of the plan brought an event about.
func (t *teller) byFault(seq int32) bool {
	for cause := seq; cause >= 0; cause = t.h.Events[cause].Cause {
		switch t.h.Events[cause].Kind {
		case history.Action, history.Undo:
			return true
		case history.Input:
			return false
		}
	}
	return false
}

func (t *teller) action(id string) *plan.Action {
	for i := range t.h.Plan.Actions {
		if t.h.Plan.Actions[i].ID == id {
			return &t.h.Plan.Actions[i]
		}
	}
	return nil
}

// fault chooses the line of an action. It stands where its effect does: a crash at a disk operation comes later than the action.
func (t *teller) fault(at int32, a *plan.Action) {
	downs, lost := t.effects(at, a)
	seq := at
	if lurking(a) && len(downs) > 0 {
		seq = downs[0]
	}
	p := &pick{seq: seq, needed: true, text: t.faultText(a, downs)}
	t.takes(p, lost, len(downs) > 1)
	for _, d := range downs {
		delete(t.chosen, d)
	}
	for _, l := range lost {
		delete(t.chosen, l)
	}
	t.chosen[seq] = p
}

// lurking reports whether an action waits for its moment: it strikes with a crash when something happens.
func lurking(a *plan.Action) bool {
	return a.Params["how"] == "kill" || a.Params["how"] == "power" || strings.HasPrefix(a.Kind, "crash-") ||
		a.Kind == "ambush" || a.Kind == "id-step" || a.Kind == "tear"
}

// effects are the ends of processes that an action brought about, and what they took from the disks.
func (t *teller) effects(at int32, a *plan.Action) (downs, lost []int32) {
	hosts := t.order.touched[at]
	for i := at + 1; int(i) < len(t.h.Events); i++ {
		e := &t.h.Events[i]
		switch e.Kind {
		case history.Down:
			caused := e.ID == t.h.Events[at].ID
			if lurking(a) {
				caused = crashed(e) && len(downs) == 0 && (len(hosts) == 0 || slices.Contains(hosts, e.Host)) && !t.told[i] && !t.struck(i)
			}
			if caused {
				downs = append(downs, i)
				t.told[i] = true
			}
		case history.Lost:
			if e.ID == t.h.Events[at].ID || len(downs) > 0 && e.ID == t.h.Events[downs[len(downs)-1]].ID {
				lost = append(lost, i)
			}
		}
	}
	return downs, lost
}

// struck reports whether an action brought an event about in the same step.
func (t *teller) struck(seq int32) bool {
	for i := seq; i >= 0 && t.h.Events[i].ID == t.h.Events[seq].ID; i-- {
		if t.h.Events[i].Kind == history.Action {
			return true
		}
	}
	return false
}

// takes says what a crash took; of several hosts, from whom. What lay in several files and went for one reason is told as one range.
func (t *teller) takes(p *pick, lost []int32, several bool) {
	for i := 0; i < len(lost); i++ {
		c := t.h.Events[lost[i]].Claim
		if c == nil {
			continue
		}
		clause, to := c.Clause, c.To
		head, why, _ := strings.Cut(clause, ", ")
		for ; i+1 < len(lost) && strings.HasPrefix(head, "loses offset"); i++ {
			next, e := t.h.Events[lost[i+1]].Claim, &t.h.Events[lost[i+1]]
			if next == nil || e.Host != t.h.Events[lost[i]].Host || next.From != to || !strings.HasSuffix(next.Clause, ", "+why) ||
				!strings.HasPrefix(next.Clause, "loses offset") {
				break
			}
			to = next.To
			clause = fmt.Sprintf("loses offsets %d to %d, %s", c.From, to-1, why)
		}
		who := "it"
		if several {
			who = t.h.Hosts[t.h.Events[lost[i]].Host]
			clause = who + " " + clause
		}
		p.notes = append(p.notes, clause)
		t.losses(p, lost[i], who, c.From, to)
	}
}

// losses says who relied on what a crash took, and makes its writing a candidate.
func (t *teller) losses(p *pick, lost int32, who string, from, to int64) {
	e := &t.h.Events[lost]
	if to == from {
		return
	}
	for _, seq := range t.resolve(lost, &sim.Premise{Topics: sim.TopicAppend, Host: sim.Self, Offset: to - 1}) {
		t.choose(seq, 2)
	}
	name := t.h.Hosts[e.Host]
	for host := range t.h.Hosts {
		found := t.latest(int32(host), lost, &sim.Premise{Topics: sim.TopicHolds, About: name, Offset: from})
		for _, seq := range found {
			note := fmt.Sprintf("though %s counts on %s for offsets below %d", t.h.Hosts[host], who, t.h.Events[seq].Claim.To)
			if !slices.Contains(p.notes, note) {
				p.notes = append(p.notes, note)
			}
		}
	}
}

// seconds is a time of the plan.
//
//nodet:allow float one division, which IEEE 754 rounds alike on every machine
func seconds(us int64) string { return strconv.FormatFloat(float64(us)/1e6, 'f', 3, 64) + "s" }

// faultText is what an action does, in words. Kinds that it has no words for are told as the plan has them.
func (t *teller) faultText(a *plan.Action, downs []int32) string {
	at := seconds(int64(a.AtUs))
	if lurking(a) {
		return t.crashText(a, downs)
	}
	get := func(name string) string { return enumerate(strings.Split(a.Params[name], ",")) }
	lasting := ""
	if d := get("for"); d != "" {
		lasting = " for " + d
	}
	switch host := get("host"); a.Kind {
	case "kill":
		return fmt.Sprintf("at %s %s is killed", at, host)
	case "power":
		if rack := a.Params["rack"]; rack != "" {
			return fmt.Sprintf("at %s the rack %s loses power", at, rack)
		}
		return fmt.Sprintf("at %s %s %s power", at, get("hosts"), verb(a.Params["hosts"], "loses", "lose"))
	case "stop":
		return fmt.Sprintf("at %s %s is asked to stop", at, host)
	case "wipe":
		return fmt.Sprintf("at %s the disk of %s is wiped", at, host)
	case "replace-disk":
		return fmt.Sprintf("at %s %s gets a new, empty disk", at, host)
	case "start":
		return fmt.Sprintf("at %s %s is started", at, host)
	case "flip":
		return fmt.Sprintf("at %s a bit flips on the disk of %s", at, host)
	case "swap":
		return fmt.Sprintf("at %s %s and %s get each other's disks%s", at, host, get("with"), lasting)
	case "pause":
		return fmt.Sprintf("at %s %s stands still%s", at, host, lasting)
	case "jump":
		return fmt.Sprintf("at %s the wall clock of %s jumps by %s", at, host, get("by"))
	case "cut":
		return fmt.Sprintf("from %s on nothing gets from %s to %s%s", at, get("from"), get("to"), lasting)
	case "isolate":
		return fmt.Sprintf("from %s on %s is cut off from everybody%s", at, host, lasting)
	case "clog":
		return fmt.Sprintf("from %s on messages from %s to %s take %s longer%s", at, get("from"), get("to"), get("add"), lasting)
	case "filter":
		return fmt.Sprintf("from %s on %s from %s to %s are held back%s", at, t.caught(a), get("from"), get("to"), lasting)
	case "disk-error":
		chance := "every %s of the disk of %s fails"
		if ppm := get("ppm"); ppm != "" && ppm != "1000000" {
			chance = "a %s of the disk of %s may fail"
		}
		if path := get("path"); path != "" {
			host += " (" + path + ")"
		}
		return fmt.Sprintf("from %s on "+chance+"%s", at, get("on"), host, lasting)
	case "disk-full":
		return fmt.Sprintf("from %s on the disk of %s has room for %s%s", at, host, bytesText(get("free")), lasting)
	case "disk-slow":
		percent, _ := strconv.ParseInt(get("percent"), 10, 64)
		//nodet:allow float one division, as above
		return fmt.Sprintf("from %s on the disk of %s is %s times as slow%s", at, host, strconv.FormatFloat(float64(percent)/100, 'f', -1, 64), lasting)
	case "names":
		switch get("how") {
		case "never":
			return fmt.Sprintf("from %s on the name of %s does not resolve%s", at, host, lasting)
		case "other":
			return fmt.Sprintf("from %s on the name of %s leads to %s%s", at, host, get("to"), lasting)
		}
		return fmt.Sprintf("from %s on the name of %s resolves late%s", at, host, lasting)
	case "disk-stuck":
		return fmt.Sprintf("from %s on the disk of %s hangs (%s)%s", at, host, get("on"), lasting)
	}
	if text := operatorText(a, get); text != "" {
		return fmt.Sprintf("at %s %s", at, text)
	}
	if text := mediumText(a, get, lasting); text != "" {
		return fmt.Sprintf("at %s %s", at, text)
	}
	_, rest, _ := strings.Cut(bareAction(a), " ")
	return fmt.Sprintf("at %s: %s", at, rest)
}

// caught are the messages that a filter catches, by their name where they have one.
func (t *teller) caught(a *plan.Action) string {
	for i := range t.h.Caught {
		if t.h.Plan.Actions[i].ID == a.ID && t.h.Caught[i] != "" {
			return t.h.Caught[i]
		}
	}
	return "messages of kind " + a.Params["kind"]
}

// bareAction is an action as plans have it, without its id.
func bareAction(a *plan.Action) string {
	bare := *a
	bare.ID = ""
	return strings.TrimSuffix((*plan.Registry)(nil).FormatAction(&bare), " #")
}

// crashText is a crash that waited for its moment, in words.
func (t *teller) crashText(a *plan.Action, downs []int32) string {
	if len(downs) == 0 {
		return "a crash is set: " + bareAction(a)
	}
	e := &t.h.Events[downs[0]]
	return fmt.Sprintf("at %s %s %s %s", seconds(e.AtUs), t.h.Hosts[e.Host], e.Claim.Clause, momentText(a))
}

func verb(names, one, many string) string {
	if strings.Contains(names, ",") {
		return many
	}
	return one
}
