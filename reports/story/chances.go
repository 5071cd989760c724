package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/sim/shrink"
)

// siteTexts are the decisions that are faults, by site: one, with the host or the link, and several.
var siteTexts = map[string][2]string{
	"net/reset": {"a connection %s breaks", "%d connections break"}, "net/tail": {"a packet %s is late", "%d packets are late"},
	"net/loss": {"a datagram %s is lost", "%d datagrams are lost"}, "net/duplicate": {"a datagram %s arrives twice", "%d datagrams arrive twice"},
	"net/reorder": {"a datagram %s is overtaken", "%d datagrams are overtaken"}, "net/corrupt": {"a bit flips on the way %s", "%d bits flip on the way"},
	"disk/read-error": {"a read of %s fails", "%d reads fail"}, "disk/write-error": {"a write of %s fails", "%d writes fail"},
	"disk/sync-error": {"an fsync of %s fails", "%d fsyncs fail"}, "disk/slow-sync": {"an fsync of %s is slow", "%d fsyncs are slow"},
	"disk/stray":        {"a sector of %s goes astray", "%d sectors go astray"},
	"sim/spurious-wake": {"%s is woken for nothing", "%d wake-ups come for nothing"},
}

// rateTexts are the fault rates.
var rateTexts = map[string]string{
	"network.reset_ppm": "connections break", "network.loss_ppm": "datagrams are lost", "network.tail_ppm": "packets are late",
	"network.duplicate_ppm": "datagrams arrive twice", "network.reorder_ppm": "datagrams overtake each other",
	"network.corrupt_ppm": "bits flip on the way", "disk.read_error_ppm": "reads fail", "disk.write_error_ppm": "writes fail",
	"disk.sync_error_ppm": "fsyncs fail", "disk.slow_sync_ppm": "fsyncs are slow",
	"scheduler": "what is due comes late, in another order",
}

// chances are the necessary decisions and rates in one clause each kind, none for a plan without. What a crash took from a disk is told
// with the crash, and spreads of delays are no faults.
func (t *teller) chances() (text []string) {
	var sites []string
	places := map[string][]string{}
	for i := range t.parts {
		p := &t.parts[i]
		switch {
		case !p.Necessary:
		case p.Kind == shrink.DecisionPart:
			site, rest, _ := strings.Cut(p.Text, " ")
			where, _, _ := strings.Cut(rest, " ")
			if from, to, link := strings.Cut(where, ">"); link {
				where = "from " + from + " to " + to
			}
			if siteTexts[site][0] == "" {
				continue
			}
			if places[site] == nil {
				sites = append(sites, site)
			}
			places[site] = append(places[site], where)
		case p.Kind == shrink.RatePart && rateTexts[p.ID] != "":
			text = append(text, rateTexts[p.ID]+" ("+p.Text+")")
		}
	}
	slices.Sort(sites)
	for _, site := range sites {
		list := places[site]
		slices.Sort(list)
		switch distinct := slices.Compact(slices.Clone(list)); {
		case len(list) == 1:
			text = append(text, fmt.Sprintf(siteTexts[site][0], list[0]))
		case len(distinct) <= 2:
			text = append(text, fmt.Sprintf(siteTexts[site][1], len(list))+" ("+enumerate(distinct)+")")
		default:
			text = append(text, fmt.Sprintf(siteTexts[site][1], len(list)))
		}
	}
	return text
}
