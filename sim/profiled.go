package sim

import (
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/swarm"
)

// Profiled is a Scenario whose storm comes from a swarm profile that another one may replace.
type Profiled interface {
	Scenario
	// DrawFrom draws the plan of a seed from a profile. false: in this scenario the storm is its own, and Draw is all there is.
	DrawFrom(seed uint64, f *swarm.Profile) (*plan.Plan, bool)
}

// WithProfile is the name of a scenario whose storms are drawn from a profile: Catalogue.Scenario finds "raft/storm-3@disk", and a token
// may say it too. The plans that it draws name the scenario without the profile.
func WithProfile(scenario, profile string) string { return scenario + profileMark + profile }

// CutProfile is the other way: "raft/storm-3@disk" becomes the two.
func CutProfile(name string) (scenario, profile string, found bool) {
	return strings.Cut(name, profileMark)
}

const profileMark = "@"

// profiled is a scenario under another profile.
type profiled struct {
	Profiled
	f *swarm.Profile
}

// Name is Scenario.
func (s *profiled) Name() string { return WithProfile(s.Profiled.Name(), s.f.Name) }

// Draw is Scenario.
func (s *profiled) Draw(seed uint64) *plan.Plan {
	p, _ := s.DrawFrom(seed, s.f)
	return p
}

// Under returns a scenario whose plans are drawn from a profile of the catalogue, nil when there is no such profile, or when the scenario
// draws from none.
func (c *Catalogue) Under(s Scenario, profile string) Scenario {
	f := swarm.Find(c.Profiles, profile)
	x, ok := s.(Profiled)
	if f == nil || !ok {
		return nil
	}
	if _, ok := x.DrawFrom(1, f); !ok {
		return nil
	}
	return &profiled{Profiled: x, f: f}
}

// DrawnAs is the name under which the catalogue draws a plan again from its seed, as far as the plan tells: its scenario, with the
// profile where that is not the scenario's own.
func (c *Catalogue) DrawnAs(p *plan.Plan) string {
	if s := c.Scenario(p.Scenario); s == nil || p.Profile == "" || s.Draw(uint64(p.Seed)).Profile == p.Profile {
		return p.Scenario
	}
	return WithProfile(p.Scenario, p.Profile)
}
