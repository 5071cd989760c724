package page

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/reports"
	"github.com/kraftsim/kraftsim/sim/history"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// encode makes a document fit for a page: JSON, gzip, base64 of the alphabet in which nothing has a meaning in HTML.
func encode(d *document) (string, error) {
	var b strings.Builder
	text := base64.NewEncoder(base64.RawURLEncoding, &b)
	zip, err := gzip.NewWriterLevel(text, gzip.BestSpeed+4)
	if err == nil {
		err = json.NewEncoder(zip).Encode(d)
	}
	if err == nil {
		err = zip.Close()
	}
	if err == nil {
		err = text.Close()
	}
	if err != nil {
		return "", fmt.Errorf("page: encode: %w", err)
	}
	return b.String(), nil
}

// facts is the line below the title.
func facts(h *history.History) string {
	parts := []string{reports.Plural(int64(len(h.Hosts)), "host"), reports.Plural(int64(len(h.Events)), "recorded event")}
	if v := h.Verdict; v != nil {
		parts = append(parts, fmt.Sprintf("%s s of simulated time", seconds(int64(v.VirtualUs))))
	}
	if h.Plan != nil {
		parts = append(parts, reports.Plural(int64(len(h.Plan.Actions)), "action"), fmt.Sprintf("seed %d", uint64(h.Plan.Seed)))
	}
	return strings.Join(parts, " · ")
}

// seconds prints microseconds as seconds with three digits behind the point.
func seconds(us int64) string { return fmt.Sprintf("%d.%03d", us/1_000_000, us%1_000_000/1000) }

// planLines are the lines of a plan, as every command prints them.
func planLines(p *plan.Plan, r *plan.Registry) []string {
	var b strings.Builder
	if err := reports.Plan(&b, p, r); err != nil {
		panic("page: a strings.Builder failed: " + err.Error())
	}
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}
