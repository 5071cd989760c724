package sim

// Canary is a bug that was planted in order to be found. Each campaign runs it first through its own workers, tally and shrinking: one
// that does not find it has no ground to say that it found nothing else. No list shows its scenario; it runs by its name.
type Canary struct {
	// Scenario is the name of the scenario with the bug, in Catalogue, whose kinds and invariants are its own.
	Scenario    string
	Catalogue   *Catalogue
	Fingerprint string // of the bug
	// Seeds is how many runs, from seed 1, must show the bug at least once.
	Seeds int64
	// Actions is how many actions the shortened plan has at most.
	Actions int64
}

// of returns the catalogue that a scenario is run with: its canary's for that one, else c itself.
func (c *Catalogue) of(scenario string) *Catalogue {
	if c.Canary != nil && c.Canary.Scenario == scenario {
		return c.Canary.Catalogue
	}
	return c
}
