package page

import (
	"github.com/kraftsim/kraftsim/reports/story"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/shrink"
)

// Tell makes the page of a history. parts are those of package shrink; tried: Necessary was found out for them, by running. s may be nil.
func Tell(h *history.History, s *story.Story, parts []shrink.Part, tried bool, r *plan.Registry, command string) *Page {
	p := &Page{History: h, Registry: r, Command: command}
	if s != nil {
		for i := range s.Lines {
			p.Story = append(p.Story, StoryLine{Text: s.Lines[i].Text, Event: s.Lines[i].Seq})
		}
	}
	for i := range parts {
		part := Part{Text: parts[i].Text}
		if parts[i].Kind == shrink.ActionPart {
			part.Action = parts[i].ID
		}
		switch {
		case tried && parts[i].Necessary:
			part.Need = Necessary
		case tried:
			part.Need = Incidental
		}
		p.Parts = append(p.Parts, part)
	}
	return p
}
