package campaign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// Explainer writes files that tell the story of a capsule, which was just written to the named file, and returns their names. It runs
// in a worker process, because it runs the plan again.
type Explainer func(file string, c *plan.Capsule) ([]string, error)

// Stories is the phase in which capsules are explained.
const Stories = "stories"

// explainTime is how long explaining may take where shrinking took all of its time.
const explainTime = 5 * time.Second

// explainAll has the capsules of the buckets explained. What can't be explained has its capsule, and the log says why.
func (c *campaign) explainAll(ctx context.Context, buckets []*Bucket, deadline time.Time) error {
	var requests []request
	byFile := make(map[string]*Bucket)
	for _, b := range buckets {
		if b.Shortest == nil || b.Shortest.Capsule == "" || b.Example.Verdict != nil || strings.HasPrefix(b.Fingerprint, unrunnable) {
			continue // its run would take the worker along, or there is none
		}
		byFile[b.Shortest.Capsule] = b
		requests = append(requests, request{Do: doExplain, File: b.Shortest.Capsule})
	}
	if len(requests) == 0 || ctx.Err() != nil {
		return nil
	}
	c.Progress.Phase(Stories)
	if least := time.Now().Add(explainTime); deadline.Before(least) {
		deadline = least
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return c.pool.each(ctx, requests, func(req request, res response, d *death) ([]request, error) {
		switch {
		case d != nil:
			c.Log("not explained", "capsule", req.File, "reason", d.status)
		case res.Unexplained != "":
			c.Log("not explained", "capsule", req.File, "reason", res.Unexplained)
		default:
			byFile[req.File].Shortest.Explained = res.Files
		}
		return nil, nil
	})
}

// explain serves the request in the worker. Whatever goes wrong is no reason to end the campaign.
func (w *worker) explain(file string) (files []string, problem string) {
	if w.explainer == nil {
		return nil, ""
	}
	defer func() {
		if r := recover(); r != nil {
			files, problem = nil, fmt.Sprintf("%v in %s", r, stack()[0])
		}
	}()
	capsule, err := plan.ReadCapsuleFile(file, w.catalogue.Registry)
	if err != nil {
		return nil, err.Error()
	}
	w.announce(uint64(capsule.Plan.Seed))
	if files, err = w.explainer(file, capsule); err != nil {
		return nil, err.Error()
	}
	return files, ""
}
