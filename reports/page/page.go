package page

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// Page is what a page shows. History is required, the rest may be empty: what is missing is said to be missing.
type Page struct {
	History *history.History
	Title   string      // empty: scenario and seed
	Story   []StoryLine // in order, at most a dozen
	Parts   []Part      // what the plan consists of
	Command string      // what runs it again, as one pastes it
	// Registry prints actions in the order of their declared parameters; nil is allowed.
	Registry *plan.Registry
	_        struct{}
}

// StoryLine is one line of the story.
type StoryLine struct {
	Text  string
	Event int32 // Seq of the event that it tells, -1: none
}

// Need says what is known of a part of a plan.
type Need string

// What is known of a part.
const (
	NotTried   Need = ""           // nobody ran the plan without it
	Necessary  Need = "necessary"  // without it the run does not show the failure
	Incidental Need = "incidental" // without it the run fails alike
)

// Part is one thing that a plan consists of: an action, a host, a workload, a decision that was not benign, a rate.
type Part struct {
	Text   string // one line
	Action string // id of the action, "" for another kind of part
	Need   Need
}

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's program, in order. They share one scope.
var scripts = []string{
	"format.js", "data.js", "model.js", "filter.js", "theme.js", "axis.js", "timeline.js", "lanes.js", "overlay.js", "list.js", "nodes.js",
	"logs.js", "keys.js", "app.js",
}

// view is what the template sees.
type view struct {
	*Page
	Title     string
	Outcome   string
	Finding   bool
	Hazard    bool // no finding, and a declared hazard was met
	Broken    []brokenView
	Waiting   []string
	Facts     string
	Parts     []Part
	PlanLines []string
	Untried   bool // no part was tried
	Data      string
	CSS       template.CSS
	JS        template.JS
}

type brokenView struct{ Name, Hazard, Detail string }

// Write writes the page. Errors are those of w.
func Write(w io.Writer, p *Page) error {
	if p.History == nil {
		panic("page: Write without a history")
	}
	v, err := p.view()
	if err != nil {
		return err
	}
	t, err := template.New("page.html").ParseFS(assets, "assets/page.html")
	if err != nil {
		return fmt.Errorf("page: template: %w", err)
	}
	if err := t.Execute(w, v); err != nil {
		return fmt.Errorf("page: write: %w", err)
	}
	return nil
}

func (p *Page) view() (*view, error) {
	h := p.History
	data, err := encode(newDocument(p))
	if err != nil {
		return nil, err
	}
	v := &view{Page: p, Title: p.title(), Data: data, Facts: facts(h), Parts: p.Parts}
	if v.CSS, v.JS, err = program(); err != nil {
		return nil, err
	}
	if verdict := h.Verdict; verdict != nil {
		v.Outcome, v.Finding, v.Waiting = string(verdict.Outcome), verdict.Outcome.Finding(), verdict.Waiting
		for i := range verdict.Broken {
			b := &verdict.Broken[i]
			v.Broken = append(v.Broken, brokenView{b.Invariant, b.Hazard, b.Detail})
			v.Hazard = v.Hazard || !v.Finding && b.Hazard != ""
		}
	}
	if h.Plan != nil {
		v.PlanLines = planLines(h.Plan, p.Registry)
		if len(v.Parts) == 0 {
			for _, a := range h.Plan.InOrder() {
				v.Parts = append(v.Parts, Part{Text: p.Registry.FormatAction(&a), Action: a.ID})
			}
		}
	}
	v.Untried = true
	for _, part := range v.Parts {
		v.Untried = v.Untried && part.Need == NotTried
	}
	return v, nil
}

// title names the run.
func (p *Page) title() string {
	switch {
	case p.Title != "":
		return p.Title
	case p.History.Plan != nil:
		return fmt.Sprintf("%s, seed %d", p.History.Plan.Scenario, uint64(p.History.Plan.Seed))
	}
	return "A run"
}

// program joins the style sheet and the scripts.
func program() (template.CSS, template.JS, error) {
	css, err := assets.ReadFile("assets/page.css")
	if err != nil {
		return "", "", fmt.Errorf("page: style sheet: %w", err)
	}
	var js strings.Builder
	js.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return "", "", fmt.Errorf("page: script: %w", err)
		}
		js.Write(text)
		js.WriteByte('\n')
	}
	js.WriteString("})();\n")
	return template.CSS(css), template.JS(js.String()), nil //nolint:gosec // both are files of this package
}
