package mutants

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/kraftsim/kraftsim/internal/corpus"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// A capsule is to be 1-minimal: without any single action, decision, rate, clock, host or workload of its plan the mutant is not killed.
// Shrinking says whether it came so far; a capsule of a shrinking that was cut short, or of other code, need not be. So `--minimal` runs
// every removal, and with --capsules shortens what is left.

// remote is a runner of plans in the mutant's process, for a limited time. The caller stops its child.
func (x *product) remote(ctx context.Context, catalogue *sim.Catalogue, limit time.Duration) *remote {
	return &remote{ctx: ctx, child: child{binary: x.binary}, catalogue: catalogue, deadline: time.Now().Add(limit),
		clean: campaign.Guard(func() campaign.Runner { return sim.NewEngine(catalogue) })}
}

// removable returns the parts of a capsule's plan that the kill does not need, each by itself, in the words of a plan.
func (x *product) removable(ctx context.Context, c *plan.Capsule, catalogue *sim.Catalogue) (parts []string, err error) {
	r := x.remote(ctx, catalogue, shrinkTime)
	defer r.child.stop()
	for _, part := range shrink.Necessary(r, c.Plan, c.Fingerprint, shrink.Parts(c.Plan)) {
		if !part.Necessary {
			parts = append(parts, part.Text)
		}
	}
	if r.expired {
		return parts, fmt.Errorf("%w: not all parts were tried", errExpired)
	}
	return parts, ctx.Err()
}

// examine asks whether the capsule that killed is minimal, where that is wanted, and shortens it where capsules are written.
func (s *session) examine(ctx context.Context, x *product, e *corpus.Entry, row *Row) error {
	if !s.options.minimal {
		return nil
	}
	parts, err := x.removable(ctx, e.Capsule, s.catalogue)
	if err != nil || len(parts) == 0 {
		return err
	}
	if s.capsules == "" {
		row.Status, row.Error = NotMinimal, fmt.Sprintf("%d parts can go, the first is: %s", len(parts), parts[0])
		return nil
	}
	note, kept, err := x.shorten(ctx, e.Capsule.Plan, int64(ratedRuns(e.Capsule)), s.capsules, s.catalogue)
	if err == nil && !kept {
		row.Status, row.Error = NotMinimal, note
	}
	fmt.Fprintf(s.log, "%s %s: %d parts could go: %s\n", x.patch.ID, x.patch.Name, len(parts), note)
	return err
}

// ratedRuns is in how many runs of the hunt the kill of a capsule came up, 1 where it does not say.
func ratedRuns(c *plan.Capsule) plan.Int64 {
	if c.Rate == nil {
		return 1
	}
	return c.Rate.Runs
}

// capsuleFile is where a patch's capsule lies in a corpus.
func (x *product) capsuleFile(dir string) string {
	return filepath.Join(dir, corpus.Mutants, x.patch.capsuleName())
}
