package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/kraftsim/kraftsim/reports/export"
	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/outfile"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
	"github.com/spf13/cobra"
)

// exports are the files that a command writes of one run beside its output. All are made of one history, for which the plan runs once more.
type exports struct {
	html, shiviz, chromeTrace string
}

// exported is what was written, for programs.
type exported struct {
	HTML        string `json:"html,omitempty"`
	ShiViz      string `json:"shiviz,omitempty"`
	ChromeTrace string `json:"chrome_trace,omitempty"`
}

// mostParts is how many parts a plan may have for a page to find out which of them are necessary: a run each.
const mostParts = 300

func (x *exports) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&x.html, "html", "", "write the run as a page to this file: story, timeline, state of every node at any event")
	cmd.Flags().StringVar(&x.shiviz, "shiviz", "", "write the run as a log for ShiViz to this file, which takes it apart with "+export.ShiVizExpression)
	cmd.Flags().StringVar(&x.chromeTrace, "chrome-trace", "", "write the run as a trace for Perfetto and chrome://tracing to this file")
}

func (x *exports) wanted() bool { return x.html != "" || x.shiviz != "" || x.chromeTrace != "" }

// export runs the plan again, recorded, and writes what is wanted. It returns what was written also with an error.
func (a *App) export(x *exports, p *plan.Plan, command string) (done exported, err error) {
	h, err := a.history(p)
	if err != nil {
		return done, err
	}
	for _, one := range []struct {
		file  string
		done  *string
		write func(w io.Writer) error
	}{
		{x.html, &done.HTML, func(w io.Writer) error { return page.Write(w, a.page(h, command)) }},
		{x.shiviz, &done.ShiViz, func(w io.Writer) error { return export.ShiViz(w, h) }},
		{x.chromeTrace, &done.ChromeTrace, func(w io.Writer) error { return export.ChromeTrace(w, h) }},
	} {
		if one.file == "" {
			continue
		}
		if err := writeWhole(one.file, one.write); err != nil {
			return done, err
		}
		*one.done = one.file
	}
	return done, nil
}

// history records a run. One that panics or hangs has none.
func (a *App) history(p *plan.Plan) (*history.History, error) {
	return history.RecordOn(a.Catalogue, campaign.Guard(a.NewRunner), p)
}

// page makes the page of a history: a finding with its story, for which the plan runs without each of its parts.
func (a *App) page(h *history.History, command string) *page.Page {
	goal, parts := target(h.Verdict), shrink.Parts(h.Plan)
	tried := goal != "" && len(parts) <= mostParts
	if tried {
		parts = shrink.Necessary(a.patience(), h.Plan, goal, parts)
	}
	var told *story.Story
	if goal != "" {
		told = story.Tell(h, parts)
	}
	return page.Tell(h, told, parts, tried, a.Catalogue.Registry, command)
}

// writePage writes an explanation as a page.
func (a *App) writePage(file string, x *Explanation) error {
	p := page.Tell(x.History, x.Story, x.Parts, true, a.Catalogue.Registry, x.Replay)
	return writeWhole(file, func(w io.Writer) error { return page.Write(w, p) })
}

// writeWhole writes a file in one step: a reader sees the old one or the whole new one, never a part. What went wrong is told in one
// line that names the file, and ends the program with ExitInternal.
func writeWhole(file string, write func(w io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	if err := outfile.Write(file, b.Bytes()); err != nil {
		return &errUnwritten{fmt.Sprintf("%s: cannot be written: %s", shellWord(file), reason(err))}
	}
	return nil
}

// reason is what the system says of an error, without the names of operations and temporary files.
func reason(err error) string {
	var path *os.PathError
	var link *os.LinkError
	var number syscall.Errno
	switch {
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &path):
		return path.Err.Error()
	case errors.As(err, &link):
		return link.Err.Error()
	}
	return plain(err.Error())
}

// print tells where the files are.
func (e *exported) print(w io.Writer) {
	for _, line := range []struct{ what, file string }{{"page", e.HTML}, {"ShiViz log", e.ShiViz}, {"Chrome trace", e.ChromeTrace}} {
		if line.file != "" {
			fmt.Fprintf(w, "%s: %s\n", line.what, line.file)
		}
	}
}
