package invariants

// AfterDamage is the evidence of a declared loss: a bit flipped at rest, and a recovery cut the log there though it had been
// acknowledged (KB-44), or a bit flipped where no checksum looks. Whoever knows where bits flipped tells the suite.
const AfterDamage = "after-damage"

// Damaged says that from now on what goes wrong may follow from a damage. An earlier loss keeps its own evidence.
func (s *Suite) Damaged() {
	for _, c := range s.cores[:s.count] {
		if c.loss == "" {
			c.loss = AfterDamage
		}
	}
}
