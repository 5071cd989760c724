package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// maxBars is how many scenarios get a bar of their own; with more there is one bar for all.
const maxBars = 24

// plainPeriod is how often a line is printed where there is no terminal.
const plainPeriod = 10 * time.Second

// display is campaign.Progress with an end.
type display interface {
	Planned(scenario string, runs int64)
	Ran(scenario string, runs, findings int64)
	Phase(name string)
	// log is where lines can be written without spoiling what is shown.
	log() io.Writer
	finish()
}

// newProgress shows live bars on a terminal and a plain line every ten seconds elsewhere.
func newProgress(w io.Writer) display {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &bars{progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40)), bars: make(map[string]*bar)}
		}
	}
	return newLines(w, plainPeriod)
}

// bars are live bars, one for each scenario.
type bars struct {
	mu       sync.Mutex
	progress *mpb.Progress
	bars     map[string]*bar
	phase    *mpb.Bar
	name     string
}

// bar is one of them. Its counters are read by the goroutine that paints.
type bar struct {
	mu       sync.Mutex
	bar      *mpb.Bar
	planned  map[string]int64 // by scenario: one, or all of them in the bar that they share
	total    int64
	findings int64
}

func (b *bars) Planned(scenario string, runs int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.find(scenario)
	one.mu.Lock()
	one.total += runs - one.planned[scenario]
	one.planned[scenario] = runs
	total := one.total
	one.mu.Unlock()
	one.bar.SetTotal(total, false)
}

// find returns the bar of a scenario and makes it when it is new.
func (b *bars) find(scenario string) *bar {
	if one := b.bars[scenario]; one != nil {
		return one
	}
	if shared := b.bars["other scenarios"]; shared != nil {
		return shared
	}
	if len(b.bars) == maxBars-1 {
		scenario = "other scenarios"
	}
	one := &bar{planned: make(map[string]int64)}
	// A total of zero keeps the bar from ending before the plan is complete.
	one.bar = b.progress.AddBar(0,
		mpb.PrependDecorators(decor.Name(scenario, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
		mpb.AppendDecorators(decor.Percentage(decor.WC{W: 5}), decor.Any(one.note)))
	b.bars[scenario] = one
	return one
}

// note is what stands behind a bar.
func (o *bar) note(decor.Statistics) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.findings == 0 {
		return ""
	}
	return "  " + reports.Plural(o.findings, "finding")
}

func (b *bars) Ran(scenario string, runs, findings int64) {
	b.mu.Lock()
	one := b.find(scenario)
	b.mu.Unlock()
	one.mu.Lock()
	one.findings += findings
	one.mu.Unlock()
	one.bar.IncrInt64(runs)
}

func (b *bars) Phase(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.name = name
	if b.phase != nil {
		return
	}
	b.phase = b.progress.New(0, mpb.NopStyle(), mpb.BarPriority(maxBars+1), mpb.PrependDecorators(
		decor.Any(func(s decor.Statistics) string {
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.name
		}), decor.Elapsed(decor.ET_STYLE_GO, decor.WC{W: 6})))
}

func (b *bars) log() io.Writer { return b.progress }

// finish ends every bar where it stands and waits until the last frame is painted.
func (b *bars) finish() {
	b.mu.Lock()
	for _, one := range b.bars {
		one.bar.Abort(false)
	}
	if b.phase != nil {
		b.phase.Abort(true)
	}
	b.mu.Unlock()
	b.progress.Wait()
}

// lines prints a plain line now and then.
type lines struct {
	mu       sync.Mutex
	w        io.Writer
	start    time.Time
	phase    string
	planned  map[string]int64
	total    int64
	runs     int64
	findings int64
	quit     chan struct{}
	done     sync.WaitGroup
}

func newLines(w io.Writer, period time.Duration) *lines {
	l := &lines{w: w, start: time.Now(), planned: make(map[string]int64), quit: make(chan struct{})}
	l.done.Go(func() {
		ticker := time.NewTicker(period)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				l.print()
			case <-l.quit:
				return
			}
		}
	})
	return l
}

func (l *lines) print() {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsed := time.Since(l.start).Round(time.Second)
	if strings.HasPrefix(l.phase, campaign.Shrinking) || l.phase == campaign.Stories {
		fmt.Fprintf(l.w, "%v %s; before that %s, %s\n", elapsed, l.phase, reports.Plural(l.runs, "run"), reports.Plural(l.findings, "finding"))
		return
	}
	fmt.Fprintf(l.w, "%v %s: %s of %s, %s\n", elapsed, l.phase,
		reports.Count(l.runs), reports.Plural(l.total, "run"), reports.Plural(l.findings, "finding"))
}

func (l *lines) Planned(scenario string, runs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total += runs - l.planned[scenario]
	l.planned[scenario] = runs
}

func (l *lines) Ran(_ string, runs, findings int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs += runs
	l.findings += findings
}

func (l *lines) Phase(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = name
}

func (l *lines) log() io.Writer { return l.w }

func (l *lines) finish() {
	close(l.quit)
	l.done.Wait()
}
