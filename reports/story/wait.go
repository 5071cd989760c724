package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// wait chooses what a run that is stuck is told by: its necessary faults, and of each host the last thing that happened to it.
func (t *teller) wait() {
	t.root = -1
	waiting := t.read(strings.Join(t.h.Verdict.Waiting, " "))
	for host := range t.h.Hosts {
		_, up := t.facets(int32(host))
		if up && len(waiting.hosts) > 0 && !slices.Contains(waiting.hosts, int32(host)) {
			continue
		}
		list := t.claims[host]
		for i := len(list) - 1; i >= 0; i-- {
			e := &t.h.Events[list[i]]
			if e.Weight >= history.Turning && !listed("boot,snapshot,offer,answer,activation", e.Claim.Topic) {
				t.choose(list[i], 2)
				break
			}
		}
	}
	t.faults()
}

// maxUnmet bounds the obligations that are told one by one.
const maxUnmet = 5

// unmet are the last lines of a run that is stuck: what every host knows, who waits for whom, and what the fault budget makes of it.
func (t *teller) unmet(most int) []Line {
	v := t.h.Verdict
	var lines []Line
	standing := t.standing()
	if standing != "" {
		lines = append(lines, Line{Text: "at the end " + standing, Seq: -1})
	}
	for i, why := range v.Waiting {
		why = beyond(standing, why)
		if i == most-1 && len(v.Waiting) > most {
			lines = append(lines, Line{Text: fmt.Sprintf("unmet: %s; and %d more", why, len(v.Waiting)-i-1), Seq: -1})
			break
		}
		lines = append(lines, Line{Text: "unmet: " + why, Seq: -1})
	}
	switch v.Outcome {
	case plan.LegitimatelyStuck:
		lines = append(lines, Line{Text: "this is legitimate: the faults left nobody who could have brought it about", Seq: -1})
	case plan.Stuck:
		lines = append(lines, Line{Text: "this is a finding: the faults are over and within their budget, so it should have come about", Seq: -1})
	default:
		lines = append(lines, Line{Text: "outcome: " + string(v.Outcome), Seq: -1})
		for i := range v.Broken {
			lines[len(lines)-1].Text = v.Broken[i].Detail + ": " + v.Broken[i].Invariant + " is broken"
			break
		}
	}
	return lines
}

// beyond is what an unmet obligation says, without the clauses that the line before has said.
func beyond(standing, why string) string {
	clauses := strings.Split(why, "; ")
	return strings.Join(slices.DeleteFunc(clauses, func(c string) bool { return standing != "" && strings.Contains(standing, c) }), "; ")
}

// standing says in a few words what each host is at the end.
func (t *teller) standing() string {
	var words []string
	for host, name := range t.h.Hosts {
		facets, up := t.facets(int32(host))
		switch role, epoch := facets["role"], facets["epoch"]; {
		case !up && !t.seen(int32(host)): // nothing is known of it
		case !up:
			words = append(words, name+" is down")
		case role == "": // no node, or none yet
		case facets["leader"] == "" || facets["leader"] == "none" || strings.EqualFold(role, "leader"):
			words = append(words, fmt.Sprintf("%s is %s in epoch %s", name, strings.ToLower(role), epoch))
		case strings.Contains(strings.ToLower(role), "follower"):
			words = append(words, fmt.Sprintf("%s follows %s in epoch %s", name, facets["leader"], epoch))
		default: // who asks for pre-votes still knows whom it followed (KIP-996)
			words = append(words, fmt.Sprintf("%s, which followed %s, is %s in epoch %s", name, facets["leader"], strings.ToLower(role), epoch))
		}
	}
	return enumerate(words)
}

// seen reports whether anything happened on a host.
func (t *teller) seen(host int32) bool {
	return slices.ContainsFunc(t.h.Events, func(e history.Event) bool { return e.Host == host && e.Kind == history.Boot })
}

// facets are those of a host at the end.
func (t *teller) facets(host int32) (facets map[string]string, up bool) {
	facets = map[string]string{}
	for i := range t.h.Events {
		e := &t.h.Events[i]
		if e.Host != host {
			continue
		}
		switch e.Kind {
		case history.Down:
			clear(facets)
			up = false
		case history.Boot:
			up = true
		}
		for _, f := range e.Facets {
			facets[f.Name] = f.Value
		}
	}
	return facets, up
}
