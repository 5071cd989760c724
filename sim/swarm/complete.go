package swarm

import (
	"slices"
	"strconv"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Words are the words that Complete knows beside the names of the core's kinds, and what they stand for.
func Words() [][2]string {
	return [][2]string{
		{"power-all", "power of all hosts"}, {"cut-one", "cut in one direction between two hosts"},
		{"cut-out", "cut between a host and all others, in one direction"}, {"power-rack", "power of a rack that some host of the plan names"},
	}
}

func number(v int64) string { return strconv.FormatInt(v, 10) }

func micros(v int64) string { return plan.FormatDurationUs(v) }

// Complete draws the parameters of an action whose kind is one of the core's, or one of Words. It reports false when the plan has too few
// hosts for it, or none that it could mean. It panics for a word that it does not know: profiles are part of a program.
func Complete(d Dice, p *plan.Plan, a *plan.Action, name string) bool {
	c := completion{d: d, p: p, a: a, name: name}
	c.host = p.Hosts[d.Roll(name+"/host", int64(len(p.Hosts)))].ID
	c.down = micros(d.OneOf(name+"/down", 1_000, 15_000, 60_000, 200_000))
	c.lasts = micros(d.OneOf(name+"/for", 10_000, 60_000, 150_000, 350_000))
	if !c.process() && !c.network() && !c.disk() {
		panic("swarm: no fault is called " + a.Kind)
	}
	if c.nothing {
		return false
	}
	return len(p.Hosts) > 1 || !slices.Contains([]string{"cut", "clog", "filter", "isolate", "throttle", "flap", "split"}, a.Kind)
}

// completion is one action on its way.
type completion struct {
	d                 Dice
	p                 *plan.Plan
	a                 *plan.Action
	name              string
	host, down, lasts string
	nothing           bool // the draw means nothing in this plan
}

// other draws a host, which may be the first one again.
func (c *completion) other(what string) string {
	return c.p.Hosts[c.d.Roll(c.name+what, int64(len(c.p.Hosts)))].ID
}

// process completes faults of processes and clocks.
func (c *completion) process() bool {
	d, a := c.d, c.a
	switch a.Kind {
	case "kill", "stop":
		a.Params["host"], a.Params["down"] = c.host, c.down
	case "power":
		a.Params["hosts"], a.Params["down"] = c.host, c.down
		if len(c.p.Hosts) > 2 && d.Chance(c.name+"/two", 40) {
			if other := c.other("/other"); other != c.host {
				a.Params["hosts"] = c.host + "," + other
			}
		}
	case "power-all":
		a.Kind, a.Params["hosts"], a.Params["down"] = "power", Others(c.p, ""), c.down
	case "power-rack":
		a.Kind, a.Params["rack"], a.Params["down"] = "power", c.rack(), c.down
		c.nothing = a.Params["rack"] == ""
	case "crash-op":
		a.Params["host"], a.Params["down"] = c.host, c.down
		a.Params["n"] = number(1 + d.Roll(c.name+"/n", d.OneOf(c.name+"/reach", 3, 12, 60)))
		a.Params["how"] = d.Pick(c.name+"/how", "kill", "power")
	case "pause":
		a.Params["host"], a.Params["for"] = c.host, c.lasts
	case "jump":
		a.Params["host"], a.Params["by"] = c.host, micros(d.OneOf(c.name+"/by", -50_000, -5_000, 5_000, 50_000, 500_000))
	default:
		return false
	}
	return true
}

// rack picks one of the racks that hosts stand in, "" when there are none.
func (c *completion) rack() string {
	var racks []string
	for i := range c.p.Hosts {
		if r := c.p.Hosts[i].Rack; r != "" && !slices.Contains(racks, r) {
			racks = append(racks, r)
		}
	}
	if len(racks) == 0 {
		return ""
	}
	return racks[c.d.Roll(c.name+"/rack", int64(len(racks)))]
}

// network completes faults of links and names.
func (c *completion) network() bool {
	d, a := c.d, c.a
	switch a.Kind {
	case "cut-one": // one direction between two hosts
		a.Kind, a.Params["for"] = "cut", c.lasts
		a.Params["from"], a.Params["to"] = c.host, c.other("/other")
	case "cut-out": // nothing reaches the host, or nothing leaves it
		a.Kind, a.Params["for"] = "cut", c.lasts
		a.Params["from"], a.Params["to"] = c.host, Others(c.p, c.host)
		if d.Chance(c.name+"/in", 50) {
			a.Params["from"], a.Params["to"] = a.Params["to"], a.Params["from"]
		}
	case "isolate":
		a.Params["host"], a.Params["for"] = c.host, c.lasts
	case "clog":
		a.Params["for"], a.Params["from"], a.Params["to"] = c.lasts, c.host, Others(c.p, c.host)
		a.Params["add"] = micros(d.OneOf(c.name+"/add", 2_000, 20_000, 80_000))
	case "split":
		a.Params["hosts"], a.Params["for"] = c.host, c.lasts
	case "flap":
		a.Params["from"], a.Params["to"], a.Params["for"] = c.host, Others(c.p, c.host), micros(d.OneOf(c.name+"/flap-for", 100_000, 300_000, 600_000))
		a.Params["period"] = micros(d.OneOf(c.name+"/period", 2_000, 10_000, 50_000, 100_000))
		a.Params["phase"], a.Params["down"] = number(d.Roll(c.name+"/phase", 100)), number(d.OneOf(c.name+"/share", 20, 50, 80, 95))
	case "filter": // a program knows its kinds of messages: it completes this word itself
		c.nothing = true
	case "names":
		c.names()
	case "throttle":
		a.Params["for"], a.Params["from"], a.Params["to"] = c.lasts, c.host, Others(c.p, c.host)
		a.Params["bytes_per_second"] = number(d.OneOf(c.name+"/rate", 2_000, 10_000, 60_000))
		a.Params["queue"] = number(d.OneOf(c.name+"/queue", 500, 3_000, 20_000))
	default:
		return false
	}
	return true
}

func (c *completion) names() {
	d, a := c.d, c.a
	a.Params["host"], a.Params["for"], a.Params["how"] = c.host, c.lasts, d.Pick(c.name+"/how", "never", "other", "late")
	if d.Chance(c.name+"/one", 50) {
		a.Params["seen"] = c.other("/seen")
	}
	switch a.Params["how"] {
	case "other":
		a.Params["to"] = c.other("/other")
		c.nothing = a.Params["to"] == c.host
	case "late":
		a.Params["add"] = micros(d.OneOf(c.name+"/late", 5_000, 50_000, 400_000))
	}
}

// disk completes faults of disks.
func (c *completion) disk() bool {
	d, a := c.d, c.a
	a.Params["host"], a.Params["for"] = c.host, c.lasts
	switch a.Kind {
	case "disk-slow":
		a.Params["percent"] = number(d.OneOf(c.name+"/percent", 300, 2_000, 10_000))
	case "disk-stuck":
		a.Params["on"] = d.Pick(c.name+"/on", "read", "write", "sync", "names", "all")
	case "disk-full":
		a.Params["free"] = number(d.OneOf(c.name+"/free", 0, 100, 1_000))
	case "read-only":
	case "lost-write", "misdirected-write":
		a.Params["sectors"] = number(d.OneOf(c.name+"/sectors", 1, 1, 3))
	case "restore":
		delete(a.Params, "for")
		a.Params["down"], a.Params["copied"] = c.down, micros(d.Roll(c.name+"/copied", max(1, int64(a.AtUs))))
	case "clone":
		a.Params["of"], a.Params["down"] = c.other("/of"), c.down
		c.nothing = a.Params["of"] == c.host
	case "disk-error":
		a.Params["on"] = d.Pick(c.name+"/on", "read", "write", "sync")
		a.Params["ppm"] = number(d.OneOf(c.name+"/ppm", 10_000, 200_000, 1_000_000))
	default:
		return false
	}
	return true
}

// Others lists all hosts but one, comma separated.
func Others(p *plan.Plan, but string) string {
	s := ""
	for i := range p.Hosts {
		if p.Hosts[i].ID == but {
			continue
		}
		if s != "" {
			s += ","
		}
		s += p.Hosts[i].ID
	}
	return s
}
