package register

import "github.com/kraftsim/kraftsim/sim"

// Canary is the planted bug for campaigns over other catalogues: a campaign that does not find it in a few runs is broken itself.
func Canary() *sim.Canary {
	return &sim.Canary{
		Scenario: scenario{}.Name(), Catalogue: Catalogue(), Fingerprint: "violation/acknowledged-survives/stale-read",
		Seeds: 20, Actions: 1,
	}
}
