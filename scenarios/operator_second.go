package scenarios

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorSecondCases is the question about a node that somebody starts twice.
func operatorSecondCases() []operatorCase {
	refused := "the second process is refused and names the directory; nothing on the disk changes, and nobody notices"
	return []operatorCase{{id: secondProcessKind, doc: "a node is started while its process runs already, on the same directories", rows: []operatorRow{{
		name: "beside a voter", expect: refused, judge: lockedOut("c1", "dir0"),
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 1, 1500)
			d.startTwice(p, "c1", apartMs)
		},
	}, {
		name: "beside the leader, three times", expect: refused, judge: lockedOut("", "dir0", "dir0", "dir0"),
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 1, 1500)
			for _, later := range []int64{0, 3, 250} {
				d.startTwice(p, targetLeader, apartMs+later)
			}
		},
	}, {
		name: "beside a broker with two directories", expect: refused, judge: lockedOut("b1", "dir0"),
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 1, 1500)
			hostIn(p, "b1").Params["dirs"] = "2"
			d.startTwice(p, "b1", apartMs)
		},
	}, {
		name: "beside a broker that stands still", expect: "the second process is refused: the first one lives, and still has its lock", judge: lockedOut("b1", "dir0"),
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 1, 1500)
			act(p, "still", "pause", apartMs*1000, "host", "b1", "for", "300ms")
			d.startTwice(p, "b1", apartMs+150)
		},
	}, {
		name: "after the first was killed", expect: "nothing is locked by who is dead: the node starts again and catches up",
		judge: func(o *operatorWitness) (string, string) {
			seen, evidence := together("c1", "c2", "c3", "b1")(o)
			answers, boots := o.c.tools.answers, o.of("c1").boots
			return saw(number(int64(boots)-2)+" more start of c1; "+seen, len(answers) == 0, "answered", boots == 3, "not-started", evidence == "", evidence)
		},
		draw: func(d dice, p *plan.Plan) {
			d.trio(p, 1, 1500)
			act(p, "kill", "kill", apartMs*1000, "host", "c1", "down", "200ms")
			act(p, "second", secondProcessKind, (apartMs+100)*1000, "host", "c1")
		},
	}}}}
}

// startTwice starts a node a second time, which is declared to be refused.
func (d dice) startTwice(p *plan.Plan, host string, ms int64) {
	act(p, "second-"+host+"-"+number(ms), secondProcessKind, ms*1000+d.roll("second-us", 2_000), "host", host, "expect", saysLocked)
}

// lockedOut is the judgement of rows whose second processes end on their own, each at the lock of a directory. host "" is any.
func lockedOut(host string, dirs ...string) func(o *operatorWitness) (string, string) {
	return func(o *operatorWitness) (string, string) {
		seen, evidence := together("c1", "c2", "c3", "b1")(o)
		answers := o.c.tools.answers
		named := len(answers) == len(dirs)
		for i := 0; named && i < len(dirs); i++ {
			said := answers[i].Lines[0]
			named = strings.Contains(said, saysLocked) && strings.HasSuffix(said, "/"+dirs[i]) && (host == "" || answers[i].Host == host)
		}
		once := true
		for i := range o.hosts { // the format tool and the node
			once = once && (o.w.Hosts()[i].Up() && o.hosts[i].boots == 2)
		}
		return saw(number(int64(len(answers)))+" refused; "+seen, named, "not-refused", once, "restarted", o.electionsSince(apartMs) == 0, "disturbed",
			evidence == "", evidence)
	}
}

// drawSeconds lets somebody start nodes twice in a storm, in a fifth of its plans.
func (d dice) drawSeconds(p *plan.Plan) {
	if !d.chance(secondProcessKind, 20) {
		return
	}
	for i := range d.between("seconds", 1, 3) {
		name := "second-" + number(i)
		host := p.Hosts[d.roll(name+"/host", int64(len(p.Hosts)))].ID
		act(p, name, secondProcessKind, d.between(name+"/at", 100_000, int64(p.StormUs)*9/10), "host", host)
	}
}
