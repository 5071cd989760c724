package page_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/stretchr/testify/require"
)

// cursor returns the event at the cursor.
func (b *browser) cursor() int {
	return int(b.number(`Number(document.getElementById("scrub").value)`))
}

// cell returns what the table of nodes says.
func (b *browser) cell(host, facet string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf(`document.querySelector('#nodes td[data-host=%q][data-facet=%q]').textContent`, host, facet))
}

func TestBrowserScrubbingMovesTheState(t *testing.T) {
	p := whole(3, 400)
	b := open(t, "scrub", p, 1440, 1100)
	n := len(p.History.Events)
	require.Equal(t, n-1, b.cursor(), "the cursor begins at the violation")
	require.Contains(t, b.text("#cursor-text"), "violation: committed-prefix")
	require.Equal(t, "leader", b.cell(p.History.Hosts[leaderOf(p.History, n-1)], "role"))
	b.keep("-violation")

	for _, at := range []int{0, 5, 60, n / 2, n - 2, 17} {
		b.run(fmt.Sprintf(`const s = document.getElementById("scrub"); s.value = %d; s.dispatchEvent(new Event("input"))`, at))
		require.Equal(t, at, b.cursor())
		require.Contains(t, b.text("#cursor-text"), p.History.Events[at].Text)
		for i, host := range p.History.Hosts {
			want := folded(p.History, int32(i), at)
			for _, name := range []string{"role", "epoch", "leader", "high-watermark", "log-end"} {
				require.Equal(t, orDot(want[name]), b.cell(host, name), "%s of %s at event %d", name, host, at)
			}
		}
	}
}

// The log at the cursor is the fold of the edits up to it.
func TestBrowserLogAtTheCursor(t *testing.T) {
	p := whole(3, 300)
	b := open(t, "log", p, 1440, 1100)
	for host := range p.History.Hosts {
		b.choose("log-host", fmt.Sprint(host))
		for _, at := range []int{0, 80, 200, len(p.History.Events) - 1} {
			b.run(fmt.Sprintf(`location.hash = "#e=%d"`, at))
			b.wait(fmt.Sprintf(`document.getElementById("scrub").value === "%d"`, at))
			rows := eval[[]string](b, `[...document.querySelectorAll("#log tbody tr")].map((r) => [0, 1, 3].map((i) => r.cells[i].textContent).join(" "))`)
			require.Equal(t, foldedLog(p.History, int32(host), at), rows, "host %d at event %d", host, at)
		}
	}
	b.choose("log-host", "-1")
	require.Contains(t, b.text("#log-facts"), "at which logs differ")
	require.Positive(t, b.number(`document.querySelectorAll("#log td.differs").length`))
	b.keep("-all")
}

func TestBrowserKeyboard(t *testing.T) {
	p := whole(3, 400)
	b := open(t, "keys", p, 1280, 900)
	last := len(p.History.Events) - 1
	b.key(kb.Home)
	require.Equal(t, 0, b.cursor())
	b.key(kb.ArrowRight)
	b.key(kb.ArrowRight)
	require.Equal(t, 2, b.cursor())
	b.key(kb.ArrowLeft)
	require.Equal(t, 1, b.cursor())
	b.key(kb.PageDown)
	require.Equal(t, 51, b.cursor())
	b.key(kb.End)
	require.Equal(t, last, b.cursor())
	b.key("[")
	require.Equal(t, int(p.History.Events[last].Cause), b.cursor())
	b.key("]")
	require.Greater(t, b.cursor(), int(p.History.Events[last].Cause))
	b.key(kb.Home)
	b.key("v")
	require.Equal(t, last, b.cursor())
	b.key(kb.ArrowLeft, chromedp.KeyModifiers(kb.ModifierShift))
	at := b.cursor()
	require.Less(t, at, last)
	require.Equal(t, history.Turning, p.History.Events[at].Weight)
	host := p.History.Events[at].Host
	b.key(kb.ArrowUp)
	require.Equal(t, host, p.History.Events[b.cursor()].Host)
	require.Less(t, b.cursor(), at)

	b.key("t")
	require.Equal(t, "true", eval[string](b, `document.getElementById("axis").getAttribute("aria-pressed")`))
	b.key("+")
	b.key("-")
	b.key("0")
	b.key("a")
	b.key("s")
	b.key("m")
	require.Zero(t, b.number(`Number(document.getElementById("show-messages").checked)`))
	b.key("?")
	require.Equal(t, 1.0, b.number(`Number(document.getElementById("help").open)`))
	b.keep("-help")
	b.key(kb.Escape)
	require.Zero(t, b.number(`Number(document.getElementById("help").open)`))
}

// Every button, field and table can be reached with the tab key, and shows that it has the focus.
func TestBrowserFocus(t *testing.T) {
	b := open(t, "focus", whole(3, 100), 1280, 900)
	reached := map[string]bool{}
	for range 80 {
		b.key(kb.Tab)
		reached[eval[string](b, `document.activeElement.id || document.activeElement.closest("[id]")?.id || ""`)] = true
	}
	for _, id := range []string{"theme", "help-open", "copy", "story", "back", "forward", "to-violation", "zoom-in", "axis", "search", "weight", "scrub",
		"lanes", "log-host", "log-scroll", "events"} {
		require.True(t, reached[id], "%s is not reached by tab", id)
	}
	// Nothing that can be operated is without a name.
	require.Zero(t, b.number(`[...document.querySelectorAll("button, input, select, [tabindex='0']")].filter((e) => e.checkVisibility() &&
		!(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim() || e.labels?.length)).length`))
}

func TestBrowserFilter(t *testing.T) {
	p := whole(3, 400)
	b := open(t, "filter", p, 1280, 900)
	want := 0
	for i := range p.History.Events {
		if e := &p.History.Events[i]; e.Kind == history.Send && e.Host == 0 && strings.Contains(e.Text, "Vote") {
			want++
		}
	}
	require.Positive(t, want)
	b.key("/")
	b.wait(`document.activeElement.id === "search"`)
	b.key("vote kind:send host:n1" + kb.Enter)
	require.Equal(t, fmt.Sprintf("%d of %d", want, len(p.History.Events)), b.text("#matches"))
	b.key(kb.Home)
	e := &p.History.Events[b.cursor()]
	require.Equal(t, history.Send, e.Kind)
	require.Contains(t, e.Text, "Vote")
	b.run(`const s = document.getElementById("search"); s.focus(); s.value = ""`)
	b.key("nothing says this" + kb.Enter)
	require.Equal(t, "No event matches the filter.", b.text("#events"))
	b.key("/")
	b.wait(`document.activeElement.id === "search"`)
	b.key(kb.Escape)
	require.Empty(t, b.text("#matches"))
}

// Dark and light follow the system, and the button; texts keep their contrast in both.
func TestBrowserDarkAndLight(t *testing.T) {
	b := open(t, "theme", whole(5, 600), 1440, 1100)
	background := `getComputedStyle(document.body).backgroundColor`
	light := eval[string](b, background)
	b.keep("-light")
	contrast(t, b, "light")
	b.prefer("dark")
	b.wait(`document.documentElement.dataset.theme === "dark"`)
	require.NotEqual(t, light, eval[string](b, background))
	b.keep("-dark")
	contrast(t, b, "dark")
	b.key("d") // auto, then light
	require.Equal(t, light, eval[string](b, background), "what was chosen counts more than what the system says")
	require.Equal(t, "light", b.text("#theme-name"))
}

// contrast measures every text of the page against what is behind it: 4.5 to 1 is what the guidelines ask for.
func contrast(t *testing.T, b *browser, theme string) {
	t.Helper()
	poor := eval[[]string](b, `(() => {
		const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
		const parse = (s) => (s.match(/[\d.]+/g) || []).map(Number);
		const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
		const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0.5) return c; } return [255, 255, 255]; };
		const poor = [];
		for (const e of document.querySelectorAll("body *")) {
			if (!e.checkVisibility() || !e.getClientRects().length || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
			if (e.closest(".skip, #tip, option, noscript, script, style")) continue;
			const a = luminance(parse(getComputedStyle(e).color)), b = luminance(behind(e));
			const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) poor.push(e.tagName + "." + e.className + " " + e.textContent.trim().slice(0, 30) + " " + ratio.toFixed(2));
		}
		return [...new Set(poor)].slice(0, 10);
	})()`)
	require.Empty(t, poor, theme)
}

func TestBrowserHundredThousandEvents(t *testing.T) {
	begin := time.Now()
	b := open(t, "large", whole(5, 100_000), 1440, 1100)
	t.Logf("open after %v", time.Since(begin).Round(time.Millisecond))
	require.Less(t, time.Since(begin), 20*time.Second)
	// A step: the key, the state of all nodes, all logs, both canvases, layout. What counts is the processor time of the page's own
	// thread, since other programs of this machine are no property of the page.
	steps := func() float64 {
		const n = 60
		begin := b.cpuMs()
		b.run(`for (let i = 0; i < 60; i++) {
			document.body.dispatchEvent(new KeyboardEvent("keydown", { key: i % 5 === 4 ? "PageUp" : "ArrowLeft", bubbles: true }));
			document.body.getBoundingClientRect();
		}`)
		return (b.cpuMs() - begin) / n
	}
	fit := steps()
	for range 8 {
		b.key("+")
	}
	zoomed := steps()
	begun := b.cpuMs()
	b.key("0")
	b.wait(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	t.Logf("a step takes %.1f ms over the whole run, %.1f ms zoomed in; to draw the whole run anew %.1f ms", fit, zoomed, b.cpuMs()-begun)
	require.Less(t, math.Max(fit, zoomed), 50.0)
	b.keep("")
}

func TestBrowserWindowsAndSizes(t *testing.T) {
	for _, size := range []struct {
		name          string
		hosts         int
		width, height int64
	}{{"narrow", 3, 480, 1600}, {"many", 25, 1440, 1600}, {"one", 1, 1024, 900}} {
		b := open(t, size.name, whole(size.hosts, 1500), size.width, size.height)
		require.Zero(t, b.number(`Math.max(0, document.documentElement.scrollWidth - innerWidth)`), "%s: the page is wider than its window", size.name)
		b.keep("")
	}
}

func TestBrowserEmptyHistory(t *testing.T) {
	b := open(t, "empty", &page.Page{History: &history.History{}}, 1024, 700)
	require.Equal(t, "No event was recorded.", b.text("#broken-page"))
	b.keep("")
}

// Histories that no run would make: whoever writes one gets a page, and no exception.
func TestBrowserOddHistories(t *testing.T) {
	facets := []history.Facet{{Name: "role", Value: "leader"}, {Name: "high-watermark", Value: "not a number"}, {Name: "log-end", Value: "9"}}
	edits := []history.LogEdit{{Do: "truncate", Offset: 5}, {Do: "append", Offset: -3, Text: "x"}, {Do: "append", Offset: 7}, {Do: "start", Offset: 99}, {Do: "what", Offset: 1}}
	for name, h := range map[string]*history.History{
		"no-hosts":  {Events: []history.Event{{Host: -1, Peer: -1, Cause: -1, Kind: history.World, Text: "alone"}}},
		"one-event": {Hosts: []string{"n1"}, Events: []history.Event{{Cause: -1, Peer: -1, Kind: history.Boot, AtUs: 86_400_000_000, Facets: facets, Log: edits}}},
		"odd": {Hosts: []string{"n1", "n1", ""}, Events: []history.Event{
			{Host: 2, Peer: 1, Cause: 7, Kind: history.Send, Message: 1, AtUs: 50, Weight: 2}, {Host: 2, Peer: 1, Cause: 0, Kind: history.Send, Message: 1, AtUs: 40},
			{Host: 1, Peer: 2, Cause: 0, Kind: history.Input, Message: 1, AtUs: 60}, {Host: 1, Peer: 2, Cause: 0, Kind: history.Input, Message: 1, AtUs: 61},
			{Host: 0, Peer: -1, Cause: 2, Kind: history.Down, AtUs: 61}, {Host: 0, Peer: -1, Cause: 2, Kind: history.Down, AtUs: 61, Facets: facets},
			{Host: -1, Peer: -1, Cause: 2, Kind: history.Violation, AtUs: 61, Facets: facets, Log: edits}, {Host: -1, Peer: -1, Kind: history.Undo, Action: "never begun", AtUs: 70},
		}},
	} {
		b := open(t, "odd-"+name, &page.Page{History: h}, 900, 700)
		for _, key := range []string{kb.Home, kb.ArrowRight, kb.ArrowDown, "[", "]", "t", "+", "+", "-", "0", "v", "m", "l", "l", "l", "d", kb.End, kb.PageUp} {
			b.key(key)
		}
		require.Less(t, b.cursor(), len(h.Events), name)
	}
}

func orDot(s string) string {
	if s == "" {
		return "·"
	}
	return s
}

// folded is what the facets of a host come to, the plain way.
func folded(h *history.History, host int32, at int) map[string]string {
	facets := map[string]string{}
	for i := range at + 1 {
		e := &h.Events[i]
		if e.Host != host {
			continue
		}
		if e.Kind == history.Down {
			clear(facets)
		}
		for _, f := range e.Facets {
			facets[f.Name] = f.Value
		}
	}
	return facets
}

func leaderOf(h *history.History, at int) int {
	for i := range h.Hosts {
		if folded(h, int32(i), at)["role"] == "leader" {
			return i
		}
	}
	return 0
}

// foldedLog is a log as the edits leave it, the plain way.
func foldedLog(h *history.History, host int32, at int) []string {
	var edits []history.LogEdit
	for i := range at + 1 {
		for _, edit := range h.Events[i].Log {
			switch {
			case h.Events[i].Host != host:
			case edit.Do == "append":
				edits = append(edits, edit)
			case edit.Do == "truncate":
				for len(edits) > 0 && edits[len(edits)-1].Offset >= edit.Offset {
					edits = edits[:len(edits)-1]
				}
			case edit.Do == "start":
				for len(edits) > 0 && edits[0].Offset < edit.Offset {
					edits = edits[1:]
				}
			}
		}
	}
	lines := []string{}
	for _, e := range edits {
		lines = append(lines, fmt.Sprintf("%d %d %s", e.Offset, e.Epoch, e.Text))
	}
	return lines
}
