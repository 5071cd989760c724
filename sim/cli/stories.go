package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/kraftsim/kraftsim/reports/page"
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim/campaign"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// tellCapsule writes the story of a capsule beside it, as text and as a page. It is what campaigns have when App.Explain is not set: the
// plan is short by then, and what shrinking left is what the story is about.
func (a *App) tellCapsule(file string, c *plan.Capsule) (files []string, err error) {
	h, err := a.history(c.Plan)
	if err != nil {
		return nil, err
	}
	parts := shrink.Parts(h.Plan)
	tried := len(parts) <= mostParts
	if tried {
		parts = shrink.Necessary(campaign.Guard(a.NewRunner), h.Plan, c.Fingerprint, parts)
	}
	told := story.Tell(h, parts)
	replay := fmt.Sprintf("%s replay %s --step", a.Catalogue.Program, shellWord(file))
	x := &Explanation{Story: told, Parts: parts, Capsule: file, Replay: replay}
	x.faults(a.Catalogue.Registry, c.Plan, c.Plan)
	base := strings.TrimSuffix(file, ".json")
	for _, one := range []struct {
		file  string
		write func(w io.Writer) error
	}{
		{base + ".txt", x.print},
		{base + ".html", func(w io.Writer) error {
			return page.Write(w, page.Tell(h, told, parts, tried, a.Catalogue.Registry, replay))
		}},
	} {
		if err := writeWhole(one.file, one.write); err != nil {
			return files, err
		}
		files = append(files, one.file)
	}
	return files, nil
}
