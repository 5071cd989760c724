package campaign

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// SeedHash is what one run comes to, as verify compares it.
type SeedHash struct {
	Seed      uint64       `json:"seed"`
	Outcome   plan.Outcome `json:"outcome"`
	Trace     plan.Hex64   `json:"trace"`
	Behaviour plan.Hex64   `json:"behaviour"`
	Verdict   plan.Hex64   `json:"verdict"` // of the whole verdict as JSON
}

// VerifyReport is what a verification comes to.
type VerifyReport struct {
	Runs        int64        `json:"runs"` // seeds, each run twice
	Scenarios   int64        `json:"scenarios"`
	Differences []Difference `json:"differences"`
	Interrupted bool         `json:"interrupted,omitempty"`
}

// Difference is a seed that did not run alike in two processes.
type Difference struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	What     string `json:"what"` // which of the hashes differ, or which process died
	// Event is the id of the first event after which the running hashes differ; -1 when a second pair of runs agreed or
	// could not be made.
	Event int64 `json:"event"`
	// Quiet and Loud are the last lines of the trace up to that event in either process.
	Quiet []sim.TraceLine `json:"-"`
	Loud  []sim.TraceLine `json:"-"`
}

// verifyBatch is how many seeds a pair of processes compares at a time.
const verifyBatch = 20

// maxLocated bounds how many differences are looked into.
const maxLocated = 5

// Verify runs each seed twice: in a quiet process with GOMAXPROCS=1, seeds ascending, and in a loud one with GOMAXPROCS=4,
// seeds descending, buffers poisoned, full trace and recording on. Both must come to the same hashes and the same verdict.
// It uses Catalogue, Command, Prefix, Seeds (in all, split evenly), First, Workers, RunLimit, Progress and Log.
func Verify(ctx context.Context, cfg Config) (*VerifyReport, error) {
	cfg = cfg.WithDefaults()
	scenarios, err := Match(cfg.Catalogue, cfg.Prefix, cfg.All)
	if err != nil {
		return nil, err
	}
	p := newPool(max(cfg.Workers/2, 1), cfg.RunLimit, cfg.Command)
	defer p.close()
	v := &verifier{cfg: cfg, report: &VerifyReport{Differences: []Difference{}}}
	lanes := make([]lane, len(scenarios))
	for i, n := range evenly(cfg.Seeds, len(scenarios)) {
		lanes[i] = lane{scenario: scenarios[i].Name(), next: cfg.First, end: cfg.First + uint64(n), batch: verifyBatch}
		cfg.Progress.Planned(scenarios[i].Name(), n)
		if n > 0 {
			v.report.Scenarios++
		}
	}
	cfg.Progress.Phase("verify")
	q := &queue{requests: interleave(lanes)}
	var wg sync.WaitGroup
	for _, quiet := range p.children {
		loud := &child{command: withProcs(cfg.Command, 4), limit: cfg.RunLimit}
		wg.Go(func() {
			defer loud.close()
			for {
				req, ok := q.next(ctx)
				if !ok {
					return
				}
				if err := v.compare(ctx, pair{quiet, loud}, req); err != nil {
					q.mu.Lock()
					q.err = errors.Join(q.err, err)
					q.mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	slices.SortFunc(v.report.Differences, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Scenario, b.Scenario), cmp.Compare(a.Seed, b.Seed))
	})
	v.report.Interrupted = ctx.Err() != nil
	if q.err != nil && !v.report.Interrupted {
		return nil, q.err
	}
	return v.report, nil
}

type verifier struct {
	cfg    Config
	mu     sync.Mutex
	report *VerifyReport
}

// pair is a quiet and a loud worker.
type pair struct{ quiet, loud *child }

// both asks both workers at the same time.
func (p pair) both(ctx context.Context, req request) (res [2]response, d [2]*death, err error) {
	var errs [2]error
	var wg sync.WaitGroup
	for i, c := range []*child{p.quiet, p.loud} {
		wg.Go(func() {
			r := req
			r.Loud = i == 1
			res[i], d[i], errs[i] = ask(ctx, c, r)
		})
	}
	wg.Wait()
	return res, d, errors.Join(errs[0], errs[1])
}

func (v *verifier) compare(ctx context.Context, p pair, req request) error {
	req.Do = doHashes
	res, deaths, err := p.both(ctx, req)
	if err == nil && (deaths[0] != nil || deaths[1] != nil) {
		// Once may come from outside: only a second death says something about the seed.
		v.cfg.Log("worker replaced", "scenario", req.Scenario)
		res, deaths, err = p.both(ctx, req)
	}
	if err != nil {
		return err
	}
	for i, d := range deaths {
		if d != nil {
			who := [2]string{"quiet", "loud"}[i]
			v.add(Difference{Scenario: req.Scenario, Seed: d.at.Seed, Event: -1,
				What: fmt.Sprintf("the %s process died: %s %s", who, d.status, causeLine(d.tail))})
			return nil
		}
	}
	if len(res[0].Hashes) != len(res[1].Hashes) {
		return fmt.Errorf("campaign: workers sent %d and %d hashes", len(res[0].Hashes), len(res[1].Hashes))
	}
	for i := range res[0].Hashes {
		a, b := res[0].Hashes[i], res[1].Hashes[i]
		if a == b {
			continue
		}
		difference := Difference{Scenario: req.Scenario, Seed: a.Seed, What: differing(a, b), Event: -1}
		if err := v.locate(ctx, p, &difference); err != nil {
			return err
		}
		v.add(difference)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Runs += req.Count
	v.cfg.Progress.Ran(req.Scenario, req.Count, 0)
	return nil
}

func (v *verifier) add(d Difference) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.report.Differences = append(v.report.Differences, d)
	v.cfg.Log("runs differ", "scenario", d.Scenario, "seed", d.Seed, "what", d.What)
}

func differing(a, b SeedHash) (what string) {
	for _, part := range []struct {
		differs bool
		name    string
	}{
		{a.Outcome != b.Outcome, "outcome"}, {a.Trace != b.Trace, "trace hash"},
		{a.Behaviour != b.Behaviour, "behaviour hash"}, {a.Verdict != b.Verdict, "verdict"},
	} {
		if part.differs {
			if what != "" {
				what += ", "
			}
			what += part.name
		}
	}
	return what
}

// locate runs the seed once more in both processes and finds the first event after which their hashes differ.
func (v *verifier) locate(ctx context.Context, p pair, d *Difference) error {
	v.mu.Lock()
	enough := len(v.report.Differences) >= maxLocated
	v.mu.Unlock()
	if enough {
		return nil
	}
	req := request{Do: doDigests, Scenario: d.Scenario, First: d.Seed, Count: 1}
	res, deaths, err := p.both(ctx, req)
	if err != nil || deaths[0] != nil || deaths[1] != nil {
		return err
	}
	event, found := firstDifference(res[0].Digests, res[1].Digests)
	if !found {
		d.What += " (a second pair of runs agreed on every event)"
		return nil
	}
	d.Event = event
	req.Do, req.Event = doTrace, event
	res, deaths, err = p.both(ctx, req)
	if err != nil || deaths[0] != nil || deaths[1] != nil {
		return err
	}
	d.Quiet, d.Loud = res[0].Trace, res[1].Trace
	return nil
}

// firstDifference returns the event id of the first pair that differs, in either list.
func firstDifference(a, b []byte) (event int64, found bool) {
	const size = 16
	for at := 0; at+size <= max(len(a), len(b)); at += size {
		switch {
		case at+size > len(a):
			return int64(binary.LittleEndian.Uint64(b[at:])), true
		case at+size > len(b):
			return int64(binary.LittleEndian.Uint64(a[at:])), true
		case string(a[at:at+size]) != string(b[at:at+size]):
			return int64(binary.LittleEndian.Uint64(a[at:])), true
		}
	}
	return -1, false
}
