package page_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/stretchr/testify/require"
)

// whole is a page with all that a page may have.
func whole(hosts, events int) *page.Page {
	h := generate(hosts, events)
	n := int32(len(h.Events))
	p := &page.Page{History: h, Command: "simrun replay 'out/raft storm.capsule.json'"}
	for i := range int32(8) {
		e := &h.Events[i*(n-1)/7]
		p.Story = append(p.Story, page.StoryLine{Text: "At that point: " + e.Text, Event: e.Seq})
	}
	for i, need := range []page.Need{page.Necessary, page.Incidental, page.NotTried, page.Incidental} {
		a := h.Plan.InOrder()[i]
		p.Parts = append(p.Parts, page.Part{Text: p.Registry.FormatAction(&a), Action: a.ID, Need: need})
	}
	return p
}

// render writes a page into the test's own folder, or where KRAFTSIM_ARTIFACTS says.
func render(t *testing.T, name string, p *page.Page) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, p))
	file := filepath.Join(artifacts(t), name+".html")
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o644))
	return file
}

func artifacts(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KRAFTSIM_ARTIFACTS")
	if dir == "" {
		return t.TempDir()
	}
	require.NoError(t, os.MkdirAll(dir, 0o755))
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	return dir
}

func TestSamePageSameBytes(t *testing.T) {
	var a, b bytes.Buffer
	require.NoError(t, page.Write(&a, whole(3, 500)))
	require.NoError(t, page.Write(&b, whole(3, 500)))
	require.True(t, bytes.Equal(a.Bytes(), b.Bytes()))
}

// What a page explains is there without a script, and no name can become markup.
func TestPageWithoutAScript(t *testing.T) {
	p := whole(3, 200)
	p.Title = `<script>alert("title")</script>`
	p.Story[0].Text = `n1 says <img src=x onerror=alert(1)>`
	p.Command = `simrun replay '</code><script>'`
	p.History.Events[3].Text = `</script><script>alert(2)</script>`
	p.History.Hosts[0] = `<b>n1</b>`
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, p))
	text := b.String()
	require.NotContains(t, text, `alert(1)>`)
	require.NotContains(t, text, `<script>alert`)
	require.NotContains(t, text, `</code><script>`)
	require.Contains(t, text, "n1 says &lt;img src=x onerror=alert(1)&gt;")
	require.Contains(t, text, "● necessary")
	require.Contains(t, text, "○ incidental")
	require.Contains(t, text, "raft/storm, seed 1207: 3 controllers; 4 actions")
	require.Contains(t, text, "committed-prefix")
	require.NotContains(t, text, "http://")
	require.NotContains(t, text, "https://")
}

func TestSizeOfALargePage(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, page.Write(&b, whole(5, 100_000)))
	require.Less(t, b.Len(), 15<<20)
	t.Logf("100,000 events: %d KiB", b.Len()>>10)
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestWriteTellsOfItsWriter(t *testing.T) {
	require.ErrorContains(t, page.Write(full{}, whole(3, 50)), "no space left")
	require.Panics(t, func() { _ = page.Write(io.Discard, &page.Page{}) })
}

func TestHistoryOfAnotherHand(t *testing.T) {
	h := &history.History{Hosts: []string{"n1"}, Events: []history.Event{
		{Kind: "unheard of", Host: 7, Peer: 9, Cause: 5, AtUs: 10}, {Kind: history.Undo, Action: "a9", Host: -1, Peer: -1, Cause: 0, AtUs: 5},
	}}
	require.NoError(t, page.Write(io.Discard, &page.Page{History: h}))
	require.NoError(t, page.Write(io.Discard, &page.Page{History: &history.History{}}))
}
