package invariants

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim"
)

var votersRegisteredDoc = sim.InvariantDoc{
	Name:   "voters-registered",
	Source: "KIP-853, KIP-1186; kraft-protocol 3.2, 5.6, 5.8",
	Doc: "In the calm, at kraft.version 1, the entry of each live voter in the newest voter set has the listeners and the versions with which " +
		"its node is configured, and each live controller that joins by itself is a voter under the directory id of its disk.",
}

// Registration is what the configuration of a node gives its entry in the voter set.
type Registration struct {
	Listeners                        []voters.Endpoint // in the order of the configuration; entries are compared as sets
	MinKRaftVersion, MaxKRaftVersion int16
	Corrects                         bool // the software can correct an entry that is wrong: it knows UpdateRaftVoter
	Joins                            bool // controller.quorum.auto.join.enable, of a controller
}

// roster is a voter set with all that its record says, ascending by id.
type roster struct{ voters []record.VoterEntry }

// rosterOf interns the content of a VotersRecord.
func (l *ledger) rosterOf(m *record.VotersRecord) int32 {
	for i := range l.rosters {
		if slices.EqualFunc(l.rosters[i].voters, m.Voters, equalVoters) {
			return int32(i)
		}
	}
	l.rosters = append(l.rosters, roster{m.Voters})
	return int32(len(l.rosters) - 1)
}

func equalVoters(a, b record.VoterEntry) bool {
	return a.VoterID == b.VoterID && a.VoterDirectoryID == b.VoterDirectoryID && slices.EqualFunc(a.Endpoints, b.Endpoints, equalEndpoints) &&
		a.MinSupportedVersion == b.MinSupportedVersion && a.MaxSupportedVersion == b.MaxSupportedVersion
}

func equalEndpoints(a, b record.VoterEndpoint) bool {
	return a.Name == b.Name && a.Host == b.Host && a.Port == b.Port
}

// rosterInForce returns the newest roster in the log of a replica, nil when there is none: at kraft.version 0, or when the log begins
// with a snapshot from before the run.
func (c *core) rosterInForce(r *replica) *roster {
	if id := r.log.last(); id != noBatch {
		if at := c.ledger.at(id).after.roster; at != noSet {
			return &c.ledger.rosters[at]
		}
	}
	return nil
}

// entry returns the entry of a replica, nil when it is no voter.
func (x *roster) entry(r *replica) *record.VoterEntry {
	for i := range x.voters {
		if v := &x.voters[i]; v.VoterID == r.nodeID && v.VoterDirectoryID == r.directoryID {
			return v
		}
	}
	return nil
}

// unregistered returns a live node whose place in the newest voter set is not what it should be, and what is wrong; nil when all are as
// they should be.
func (c *core) unregistered() (*replica, string) {
	c.rules.votersRegistered.eval()
	l, _ := c.newestLeader()
	if l == nil || c.cfg.Registered == nil || c.kraftVersionOf(l) < 1 {
		return nil, ""
	}
	set := c.rosterInForce(l)
	if set == nil {
		return nil, ""
	}
	own := &c.registration
	for _, r := range c.replicas {
		if !r.up || !r.server || r.frozen || c.refused(r) || !c.cfg.Registered(r.id, own) {
			continue
		}
		v := set.entry(r)
		switch {
		case v == nil && own.Joins:
			return r, "is no voter, and is configured to become one"
		case v != nil && own.Corrects && !own.describes(v):
			return r, "is described in the voter set as it is not: listeners " + endpointsText(v) + ", its own are " + own.text()
		}
	}
	return nil, ""
}

// describes reports whether an entry of the voter set says what the configuration does.
func (g *Registration) describes(v *record.VoterEntry) bool {
	if len(v.Endpoints) != len(g.Listeners) || v.MinSupportedVersion != g.MinKRaftVersion || v.MaxSupportedVersion != g.MaxKRaftVersion {
		return false
	}
	for i := range g.Listeners {
		e := &g.Listeners[i]
		if !slices.ContainsFunc(v.Endpoints, func(o record.VoterEndpoint) bool { return o.Name == e.Name && o.Host == e.Host && o.Port == e.Port }) {
			return false
		}
	}
	return true
}

// endpointsText lists the endpoints of an entry, text those of a configuration.
func endpointsText(v *record.VoterEntry) (t string) {
	for i := range v.Endpoints {
		e := &v.Endpoints[i]
		t += " " + e.Name + "://" + e.Host + ":" + number(int64(e.Port))
	}
	return strings.TrimPrefix(t, " ")
}

func (g *Registration) text() (t string) {
	for i := range g.Listeners {
		e := &g.Listeners[i]
		t += " " + e.Name + "://" + e.Host + ":" + number(int64(e.Port))
	}
	return strings.TrimPrefix(t, " ")
}

func (c *core) waitsForRegistration() string {
	r, what := c.unregistered()
	if r == nil {
		return "voters-registered: nothing"
	}
	return "voters-registered: " + r.id + " (" + r.role.String() + " in epoch " + number(int64(r.roleEpoch)) + ") " + what
}
