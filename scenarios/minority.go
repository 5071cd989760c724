package scenarios

import (
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim"
)

// A calm that heals every voter says nothing about fault tolerance: a commit rule that needs all voters passes. So some plans
// name hosts that stay as they are, down, through the calm (params calm_without), and the majority has to do without.

// core is the sim.Liveness core: every host but those that the plan leaves out, as long as a majority of the voters is left.
func (c *cluster) core() (core []*sim.Host, ok bool, why string) {
	if why := c.decay.hopeless(); why != "" {
		return nil, false, why
	}
	if why := c.kip.hopeless(); why != "" {
		return nil, false, why
	}
	c.liveness.BoundNs = c.decay.patienceNs(c.liveness.BoundNs)
	c.w.SetLiveness(c.liveness)
	voters, left := make([]int, len(c.quorums)), make([]int, len(c.quorums))
	for i, h := range c.w.Hosts() {
		out := slices.Contains(c.without, h.ID())
		if c.hosts[i].kind == kindController {
			voters[c.hosts[i].cluster]++
			if !out {
				left[c.hosts[i].cluster]++
			}
		}
		if !out {
			core = append(core, h)
		}
	}
	for k := range voters {
		if left[k] <= voters[k]/2 {
			return nil, false, "the plan leaves no majority of the voters in the calm: params calm_without is " + strings.Join(c.without, ",")
		}
	}
	return core, true, ""
}
