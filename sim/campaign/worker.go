package campaign

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// exitMemory is the exit code of a worker whose heap outgrew its bound.
const exitMemory = 86

// WorkerConfig is what a worker process needs.
type WorkerConfig struct {
	Catalogue *sim.Catalogue
	NewRunner func() Runner
	In        io.Reader // requests; its end ends the process, even in the middle of a run
	Out       io.Writer // answers
	// Progress names the file that tells the parent, which has it open, what seed is being run; "" tells nobody. Its name is removed.
	Progress string
	// Explain is what tells about capsules; nil for nothing.
	Explain Explainer
	// MemoryBytes bounds the heap; 0 does not.
	MemoryBytes int64
	_           struct{}
}

// Serve answers requests until In ends. It is the whole life of a worker process, and the process ends with it.
func Serve(cfg WorkerConfig) error {
	w := &worker{catalogue: cfg.Catalogue, runner: Guard(cfg.NewRunner), explainer: cfg.Explain}
	if cfg.Progress != "" {
		f, err := os.OpenFile(cfg.Progress, os.O_WRONLY, 0)
		if err != nil {
			return fmt.Errorf("campaign: progress file: %w", err)
		}
		_ = os.Remove(cfg.Progress) // where an open file cannot be removed, the parent does that at the end
		w.progressFile = f
	}
	// A World that is reset keeps its memory, so the heap is small and steady: collect seldom.
	debug.SetGCPercent(400)
	if cfg.MemoryBytes > 0 {
		debug.SetMemoryLimit(cfg.MemoryBytes)
		WatchHeap(cfg.MemoryBytes, func(heap uint64) {
			fmt.Fprintf(os.Stderr, "worker: heap of %d bytes is over the bound of %d\n", heap, cfg.MemoryBytes)
			os.Exit(exitMemory)
		})
	}
	requests := make(chan request)
	go func() {
		defer close(requests)
		in := bufio.NewReaderSize(cfg.In, 1<<16)
		for {
			var req request
			switch err := readMessage(in, "", &req); {
			case errors.Is(err, errLine):
				continue
			case err != nil:
				os.Exit(0) // the parent is gone or done: nobody wants the run in progress
			}
			requests <- req
		}
	}()
	for req := range requests {
		if err := writeMessage(cfg.Out, answerMark, w.answer(&req)); err != nil {
			return fmt.Errorf("campaign: answer: %w", err)
		}
	}
	return nil
}

type worker struct {
	catalogue    *sim.Catalogue
	runner       Runner
	explainer    Explainer
	progressFile *os.File
	progress     progress
	buf          [progressSize]byte
}

// announce tells the parent what comes next. One small write, about a microsecond.
func (w *worker) announce(seed uint64) {
	w.progress.Run++
	w.progress.Seed = seed
	if w.progressFile == nil {
		return
	}
	w.progress.encode(w.buf[:])
	// Without the file the parent cannot name the seed of a death; the run itself is not worse for it.
	_, _ = w.progressFile.WriteAt(w.buf[:], 0)
}

func (w *worker) answer(req *request) *response {
	w.progress = progress{Request: req.ID}
	res := &response{ID: req.ID}
	var err error
	switch req.Do {
	case doBatch:
		res.Batch, err = w.batch(req)
	case doShrink:
		res.Shrunk, err = w.shrink(req)
	case doRun:
		w.announce(uint64(req.Plan.Seed))
		res.Capsule, err = w.capsule(req.Plan, req.Target)
	case doHashes:
		res.Hashes, err = w.hashes(req)
	case doDigests:
		res.Digests, err = w.digests(req)
	case doTrace:
		res.Trace, err = w.trace(req)
	case doExplain:
		res.Files, res.Unexplained = w.explain(req.File)
	default:
		err = fmt.Errorf("campaign: worker does not know %q", req.Do)
	}
	if err != nil {
		return &response{ID: req.ID, Error: err.Error()}
	}
	return res
}

func (w *worker) scenario(name string) (sim.Scenario, error) {
	if s := w.catalogue.Scenario(name); s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("campaign: worker has no scenario %q", name)
}

// run runs a drawn plan; a refusal by its own scenario is a defect of the scenario.
func (w *worker) run(p *plan.Plan, o sim.Options) sim.Result {
	result, err := w.runner.Run(p, o)
	if err != nil {
		result.Verdict = refused("refused", err.Error())
	}
	return result
}

// runSeed draws the plan of a seed and runs it.
func (w *worker) runSeed(s sim.Scenario, seed uint64, o sim.Options) (*plan.Plan, sim.Result) {
	w.announce(seed)
	p, problem := draw(s, seed)
	if problem != "" {
		return p, sim.Result{Verdict: refused("drawn", problem)}
	}
	return p, w.run(p, o)
}

func (w *worker) batch(req *request) (*Tally, error) {
	s, err := w.scenario(req.Scenario)
	if err != nil {
		return nil, err
	}
	tally := newTally(req.Scenario)
	start := time.Now()
	for i := range req.Count {
		seed := req.First + uint64(i)
		p, result := w.runSeed(s, seed, sim.Options{})
		tally.add(p, result.Verdict, "")
		tally.Coverage.add(seed, &result)
	}
	tally.BusyNs = time.Since(start).Nanoseconds()
	return tally, nil
}

// announcing is a runner that moves the progress file along, so that the watchdog sees shrinking advance.
type announcing struct{ w *worker }

func (a announcing) Run(p *plan.Plan, o sim.Options) (sim.Result, error) {
	a.w.announce(uint64(p.Seed))
	return a.w.runner.Run(p, o)
}

// Catalogue tells shrinking which parameters an action may lack.
func (a announcing) Catalogue() *sim.Catalogue { return catalogueOf(a.w.runner) }

func (w *worker) shrink(req *request) (*shrunk, error) {
	small, stats := shrink.Shrink(announcing{w}, req.Plan, req.Target, req.Budget, nil)
	if !stats.Reproduced {
		return &shrunk{Stats: stats}, nil
	}
	data, err := w.capsule(small, req.Target)
	if err != nil {
		return nil, err
	}
	return &shrunk{Stats: stats, Capsule: data}, nil
}

// capsule runs a plan with recording on and packs it.
func (w *worker) capsule(p *plan.Plan, target string) ([]byte, error) {
	result := w.run(p, sim.Options{RecordDecisions: true})
	return plan.EncodeCapsule(plan.NewCapsule(sim.EngineVersion, p, result.Verdict, result.Decisions, target))
}

// options returns the quiet or the loud set. Neither may change a hash; verify compares the two.
func options(loud bool) sim.Options {
	if !loud {
		return sim.Options{}
	}
	return sim.Options{
		Poison: true, RecordDecisions: true, Trace: func(sim.TraceLine) {}, Digests: func(int64, uint64) {},
	}
}

func (w *worker) hashes(req *request) ([]SeedHash, error) {
	s, err := w.scenario(req.Scenario)
	if err != nil {
		return nil, err
	}
	hashes := make([]SeedHash, req.Count)
	for i := range req.Count {
		at := i
		if req.Loud {
			at = req.Count - 1 - i
		}
		seed := req.First + uint64(at)
		_, result := w.runSeed(s, seed, options(req.Loud))
		v := result.Verdict
		for i := range v.Broken {
			v.Broken[i].Stack = nil // a poisoned buffer has frames of its own
		}
		whole, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("campaign: encode verdict: %w", err)
		}
		h := fnv.New64a()
		h.Write(whole)
		hashes[at] = SeedHash{
			Seed: seed, Outcome: v.Outcome, Trace: v.TraceHash, Behaviour: v.BehaviourHash, Verdict: plan.Hex64(h.Sum64()),
		}
	}
	return hashes, nil
}

func (w *worker) digests(req *request) (list []byte, err error) {
	s, err := w.scenario(req.Scenario)
	if err != nil {
		return nil, err
	}
	o := options(req.Loud)
	o.Digests = func(event int64, digest uint64) {
		list = binary.LittleEndian.AppendUint64(list, uint64(event))
		list = binary.LittleEndian.AppendUint64(list, digest)
	}
	w.runSeed(s, req.First, o)
	return list, nil
}

func (w *worker) trace(req *request) (lines []sim.TraceLine, err error) {
	s, err := w.scenario(req.Scenario)
	if err != nil {
		return nil, err
	}
	o := options(req.Loud)
	o.Trace = func(l sim.TraceLine) {
		if l.ID <= req.Event && l.ID > req.Event-3 {
			lines = append(lines, l)
		}
	}
	w.runSeed(s, req.First, o)
	return lines, nil
}
