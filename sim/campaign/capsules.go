package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// maxBuckets bounds how many fingerprints are shrunk.
const maxBuckets = 20

// attempt is one example on its way to a short plan.
type attempt struct {
	bucket  *Bucket
	example Example
	hosts   int64
	runs    int64 // spent on shrinking
	data    []byte
	capsule *plan.Capsule
}

// capsules shrinks the examples of every bucket and writes the shortest plan of each as a capsule. What can't be written is in the
// summary, and the others are written none the less.
func (c *campaign) capsules(ctx context.Context, s *Summary) error {
	var buckets []*Bucket
	for i := range s.Findings {
		buckets = append(buckets, &s.Findings[i])
	}
	for i := range s.Hazards {
		if s.Hazards[i].Bucket != nil {
			buckets = append(buckets, s.Hazards[i].Bucket)
		}
	}
	buckets = buckets[:min(len(buckets), maxBuckets)]
	if len(buckets) == 0 {
		return nil
	}
	attempts := c.attempts(buckets)
	deadline := time.Now().Add(c.ShrinkTime)
	var failed error
	if c.ShrinkRuns > 0 && ctx.Err() == nil {
		c.Progress.Phase(shrinking(len(s.Findings), len(buckets)))
		failed = c.shrinkAll(ctx, attempts, deadline)
	}
	for _, b := range buckets {
		if err := c.keepShortest(b, attempts); err != nil {
			s.Unwritten = append(s.Unwritten, fmt.Sprintf("capsule of %s: %s", b.Fingerprint, unwritten(err)))
		}
	}
	return errors.Join(failed, c.explainAll(ctx, buckets, deadline))
}

// Shrinking begins the name of the phase that comes after the runs.
const Shrinking = "shrinking"

// shrinking names the phase in which so many findings, the first of so many buckets, are shrunk.
func shrinking(findings, buckets int) string {
	findings = min(findings, buckets)
	return fmt.Sprintf("%s, findings: %d, declared hazards: %d", Shrinking, findings, buckets-findings)
}

// attempts lists the examples to shrink: the most promising of every bucket, then the next of every bucket, and so on, so that
// none comes away empty when time runs out. The first example of a bucket is always among them.
func (c *campaign) attempts(buckets []*Bucket) (list []*attempt) {
	for rank := range keepSmall + 1 {
		for _, b := range buckets {
			examples := b.candidates
			if !slices.ContainsFunc(examples, b.Example.same) {
				examples = append(examples[:len(examples):len(examples)], b.Example)
			}
			if rank < len(examples) {
				list = append(list, &attempt{bucket: b, example: examples[rank]})
			}
		}
	}
	return list
}

// same reports whether two examples are the same run.
func (e Example) same(o Example) bool { return e.Scenario == o.Scenario && e.Seed == o.Seed }

// shrinkAll sends the attempts to the workers. An example whose run kills its process is left as it is.
func (c *campaign) shrinkAll(ctx context.Context, attempts []*attempt, deadline time.Time) error {
	var requests []request
	for i, a := range attempts {
		// A run that ends its process would end the shrinking process, too. A plan that can't be run has nothing to keep.
		if a.example.Verdict == nil && !strings.HasPrefix(a.bucket.Fingerprint, unrunnable) {
			requests = append(requests, request{
				Do: doShrink, Count: int64(i), Plan: c.planOf(&a.example), Target: a.bucket.Fingerprint, Budget: c.ShrinkRuns})
		}
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return c.pool.each(ctx, requests, func(req request, res response, d *death) ([]request, error) {
		a := attempts[req.Count]
		if d != nil || res.Shrunk == nil || res.Shrunk.Capsule == nil {
			c.Log("not shrunk", "scenario", a.example.Scenario, "seed", a.example.Seed, "fingerprint", a.bucket.Fingerprint)
			return nil, nil
		}
		capsule, err := plan.DecodeCapsule(res.Shrunk.Capsule)
		if err != nil {
			return nil, fmt.Errorf("campaign: worker sent a bad capsule: %w", err)
		}
		a.data, a.capsule, a.runs, a.hosts = res.Shrunk.Capsule, capsule, res.Shrunk.Stats.Runs, int64(len(capsule.Plan.Hosts))
		return nil, nil
	})
}

func (c *campaign) planOf(e *Example) *plan.Plan {
	p, _ := draw(c.Catalogue.Scenario(e.Scenario), e.Seed)
	return p
}

// unrunnable starts the fingerprints of plans that can't be run.
const unrunnable = string(plan.Panic) + "/" + PlanIsRunnable + "/"

// keepShortest picks the shortest plan of a bucket and writes it. Where nothing was shrunk it takes the first example.
func (c *campaign) keepShortest(b *Bucket, attempts []*attempt) error {
	var mine []*attempt
	for _, a := range attempts {
		if a.bucket == b && a.capsule != nil {
			mine = append(mine, a)
		}
	}
	best := &attempt{bucket: b, example: b.Example}
	if len(mine) > 0 {
		best = slices.MinFunc(mine, func(x, y *attempt) int {
			return cmp.Or(cmp.Compare(len(x.capsule.Plan.Actions), len(y.capsule.Plan.Actions)), cmp.Compare(x.hosts, y.hosts),
				smaller(x.example, y.example))
		})
	} else if err := c.unshrunk(best); err != nil {
		return err
	}
	if err := best.rated(b); err != nil {
		return err
	}
	p := best.capsule.Plan
	b.Shortest = &Shrunk{
		Token: fmt.Sprintf("%s:%d", best.example.Scenario, best.example.Seed), Hosts: int64(len(p.Hosts)), Runs: best.runs,
		Actions: []string{}, Detail: best.example.Detail,
	}
	hazard := ""
	if hazardous(b.Fingerprint) {
		hazard = b.Fingerprint
	}
	if text := detail(best.capsule.Verdict, hazard); text != "" {
		b.Shortest.Detail = text
	}
	for _, a := range p.InOrder() {
		b.Shortest.Actions = append(b.Shortest.Actions, c.Catalogue.Registry.FormatAction(&a))
	}
	if c.OutDir == "" {
		return nil
	}
	file := filepath.Join(c.OutDir, fmt.Sprintf("%s-%s-%d.json", FileName(b.Fingerprint), FileName(best.example.Scenario), best.example.Seed))
	if err := outfile.Write(file, best.data); err != nil {
		return err
	}
	b.Shortest.Capsule = file
	return nil
}

// unwritten is why a file could not be written, with its name and without what tried.
func unwritten(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return fmt.Sprintf("%s: %v", at.Path, at.Err)
	}
	return err.Error()
}

// rated notes in the capsule how often its failure came up in the runs of its scenario.
func (a *attempt) rated(b *Bucket) (err error) {
	i := slices.Index(b.Scenarios, a.example.Scenario)
	if i < 0 || i >= len(b.ScenarioRuns) || i >= len(b.ScenarioOutOf) {
		return nil
	}
	a.capsule.Rate = &plan.FailureRate{Failures: plan.Int64(b.ScenarioRuns[i]), Runs: plan.Int64(b.ScenarioOutOf[i])}
	a.data, err = plan.EncodeCapsule(a.capsule)
	return err
}

// unshrunk makes the capsule of an example as it was drawn. Where the run kills its process, or no worker runs any more, the
// capsule carries what is known of the verdict, and no decisions.
func (c *campaign) unshrunk(a *attempt) (err error) {
	v := a.example.Verdict
	if evidence, ok := strings.CutPrefix(a.bucket.Fingerprint, unrunnable); ok {
		v = refused(evidence, a.example.Detail)
	}
	if v == nil {
		err := c.pool.each(context.Background(), []request{
			{Do: doRun, Plan: c.planOf(&a.example), Target: a.bucket.Fingerprint},
		}, func(_ request, res response, d *death) ([]request, error) {
			if d != nil {
				v = d.verdict()
			}
			a.data = res.Capsule
			return nil, nil
		})
		if err != nil {
			return err
		}
	}
	if a.data == nil { // nothing to decode: where the plan itself is wrong, no reader would take it
		a.capsule = plan.NewCapsule(sim.EngineVersion, c.planOf(&a.example), v, nil, a.bucket.Fingerprint)
		a.data, err = plan.EncodeCapsule(a.capsule)
		return err
	}
	a.capsule, err = plan.DecodeCapsule(a.data)
	return err
}

// FileName makes a file name of a fingerprint or a scenario's name.
func FileName(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		default:
			return '-'
		}
	}, text)
	for strings.Contains(name, "--") {
		name = strings.ReplaceAll(name, "--", "-")
	}
	return strings.Trim(name[:min(len(name), 80)], "-.")
}

// lastLine returns the last line of a text that is not empty.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
