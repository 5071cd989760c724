package page_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/stretchr/testify/require"
)

// browser is a page in a tab of a real Chromium. Whatever the page complains of, and whatever it asks of a network, fails the test.
type browser struct {
	t    *testing.T
	ctx  context.Context
	name string

	measuring bool // processor time

	mu         sync.Mutex
	complaints []string
}

// shared is the one Chromium of the tests; each opens a tab in it.
var shared struct {
	once sync.Once
	ctx  context.Context
	stop func()
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	os.Exit(code)
}

func start(path string) {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocated, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, stop := chromedp.NewContext(allocated)
	shared.ctx, shared.stop = ctx, func() { stop(); stopAll() }
	shared.err = chromedp.Do(ctx)
}

// open shows a page in a new tab. Without a Chromium the test is skipped, unless KRAFTSIM_BROWSER=required.
func open(t *testing.T, name string, p *page.Page, width, height int64) *browser {
	t.Helper()
	b := tab(t, name, width, height)
	b.show(render(t, name, p))
	return b
}

func tab(t *testing.T, name string, width, height int64) *browser {
	t.Helper()
	path := chromium(t)
	shared.once.Do(func() { start(path) })
	require.NoError(t, shared.err)
	ctx, close := chromedp.NewContext(shared.ctx)
	t.Cleanup(close)
	b := &browser{t: t, ctx: ctx, name: name}
	require.NoError(t, chromedp.Listen(ctx, b.listen))
	_, err := chromedp.Call(ctx, network.Enable, network.EnableParams{})
	require.NoError(t, err)
	b.do(chromedp.EmulateViewport(width, height))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		require.Empty(t, b.complaints)
	})
	return b
}

// show opens a file and waits until its script has said how it went.
func (b *browser) show(file string) {
	b.t.Helper()
	b.navigate(file)
	b.wait(`document.documentElement.dataset.ready`)
}

func (b *browser) navigate(file string) {
	b.t.Helper()
	b.do(chromedp.Navigate("file://" + file))
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("KRAFTSIM_BROWSER") == "required" {
		t.Fatal("KRAFTSIM_BROWSER=required, and there is no chromium")
	}
	t.Skip("there is no chromium")
	return ""
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.ConsoleAPICalledTypeLog {
			b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("exception: %s (line %d)", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, fmt.Sprintf("%s: %s", e.Entry.Level, e.Entry.Text))
	case *network.EventRequestWillBeSent:
		if url := e.Request.URL; !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") {
			b.complaints = append(b.complaints, "request: "+url)
		}
	}
}

// do runs actions; a tab that hangs fails the test.
func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 60*time.Second)
	defer stop()
	require.NoError(b.t, chromedp.Do(ctx, actions...))
}

// run runs statements in the page.
func (b *browser) run(statements string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void]("(() => {" + statements + "})()"))
}

// eval returns what an expression comes to.
func eval[T any](b *browser, expression string, options ...chromedp.EvaluateOption) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, 60*time.Second)
	defer stop()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, options...))
	require.NoError(b.t, err)
	return value
}

func (b *browser) wait(expression string) {
	b.t.Helper()
	b.do(chromedp.Poll[chromedp.Void](expression))
}

func (b *browser) number(expression string) float64 {
	b.t.Helper()
	return eval[float64](b, "Number("+expression+")")
}

func (b *browser) text(selector string) string {
	b.t.Helper()
	return strings.TrimSpace(eval[string](b, fmt.Sprintf("document.querySelector(%q).textContent", selector)))
}

func (b *browser) key(keys string, more ...chromedp.KeyOption) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys, more...))
}

// choose picks an entry of a select as a user would.
func (b *browser) choose(id, value string) {
	b.t.Helper()
	b.run(fmt.Sprintf(`const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event("change"))`, id, value))
}

// prefer sets the colour scheme of the system.
func (b *browser) prefer(scheme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	require.NoError(b.t, err)
}

// cpuMs is the processor time that the page's thread has taken so far.
func (b *browser) cpuMs() float64 {
	b.t.Helper()
	if !b.measuring {
		b.measuring = true
		_, err := chromedp.Call(b.ctx, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks})
		require.NoError(b.t, err)
	}
	r, err := chromedp.Call(b.ctx, performance.GetMetrics, cdp.Empty{})
	require.NoError(b.t, err)
	for _, m := range r.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	require.Fail(b.t, "no TaskDuration")
	return 0
}

// keep stores a picture of the page.
func (b *browser) keep(suffix string) {
	b.t.Helper()
	b.do(chromedp.Sleep(100 * time.Millisecond))
	ctx, stop := context.WithTimeout(b.ctx, 60*time.Second)
	defer stop()
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	require.NoError(b.t, err)
	require.Greater(b.t, len(png), 5_000)
	require.NoError(b.t, os.WriteFile(filepath.Join(artifacts(b.t), b.name+suffix+".png"), png, 0o644))
}
