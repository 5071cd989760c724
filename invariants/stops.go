package invariants

import "github.com/kraftsim/kraftsim/sim"

var noUnexpectedStopDoc = sim.InvariantDoc{
	Name:   "no-unexpected-stop",
	Source: "known-bugs L6",
	Doc: "No process stops with a fatal error or refuses to start, unless a declared outcome of a fault in the run says so; after a declared " +
		"loss with those errors alone that its rows name.",
}

// stopped follows the end of a process. err is set when it ended by itself with an error.
func (c *core) stopped(r *replica, refused bool, err error) {
	if err != nil {
		rule := &c.rules.noUnexpectedStop
		rule.eval()
		if c.cfg.AllowStop == nil || !c.cfg.AllowStop(r.id, refused, err) {
			evidence := "fatal"
			if refused {
				evidence = "refused-to-start"
			}
			detail := r.id + ": " + err.Error()
			if c.loss != "" && c.cfg.StopFollows != nil && !c.cfg.StopFollows(r.id, c.loss, refused, err) {
				c.report(rule.doc.Name, evidence, detail) // no loss explains it
			} else {
				rule.fail(evidence, detail)
			}
		}
	}
	if r.download >= 0 {
		c.downloadBroken(r)
	}
	if r.directoriesApart() {
		*c.times.directoriesApart++
	}
	r.endLife()
}

// directoriesApart reports whether some directories of a node have a cluster id and some don't.
func (r *replica) directoriesApart() bool {
	with, without := false, false
	for i := range r.directories {
		if d := &r.directories[i]; d.found {
			with = with || d.clusterID != 0
			without = without || d.clusterID == 0
		}
	}
	return with && without
}
