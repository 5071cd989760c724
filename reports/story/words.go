package story

import (
	"fmt"
	"strings"

	"github.com/kraftsim/kraftsim/sim/plan"
)

// operatorText is what somebody asks of the cluster, in words; "" for a kind that has none.
func operatorText(a *plan.Action, get func(string) string) string {
	by := get("by")
	if by == "" {
		by = "an operator"
	}
	switch a.Kind {
	case "add-voter":
		return fmt.Sprintf("%s asks to make %s a voter", by, get("host"))
	case "remove-voter":
		voter := get("voter")
		if voter == "leader" { // whoever that is when it is asked for
			voter = "the leader"
		}
		return fmt.Sprintf("%s asks to take %s out of the voters", by, voter)
	case "remove-replaced":
		return fmt.Sprintf("%s asks to take the lost disk of %s out of the voters", by, get("host"))
	case "upgrade":
		return "an operator asks for metadata.version " + get("level")
	case "ask-version":
		return fmt.Sprintf("an operator asks for metadata.version %s (%s)", get("level"), parameters(a, "level"))
	case "upgrade-kraft":
		return "an operator asks for kraft.version 1"
	case "features":
		return "an operator runs the feature tool (" + parameters(a, "expect") + ")"
	case "format":
		return fmt.Sprintf("an operator runs the format tool on %s (%s)", get("host"), parameters(a, "host", "down", "expect"))
	case "procedure":
		return fmt.Sprintf("an operator's runbook comes to the step %s (%s)", get("do"), parameters(a, "do", "down"))
	case "software":
		return fmt.Sprintf("%s is restarted with release %s", get("host"), get("release"))
	case "repoint":
		return fmt.Sprintf("%s is restarted with %s for its bootstrap servers", get("host"), get("to"))
	case "move":
		return fmt.Sprintf("%s is restarted at port %s", get("host"), get("port"))
	case "misadvertise":
		return fmt.Sprintf("%s is restarted and announces port %s, where it does not listen", get("host"), get("port"))
	case "lose-names":
		return fmt.Sprintf("%s is restarted, and the names of its %s servers do not resolve any more", get("host"), get("names"))
	case "lose-files":
		return fmt.Sprintf("%s loses its files %s", get("host"), get("what"))
	case "second-process":
		return fmt.Sprintf("somebody starts a second process on the directories of %s", get("host"))
	case "lose-identity":
		return fmt.Sprintf("%s loses its identity", get("host"))
	case "unregister":
		return fmt.Sprintf("an operator asks to unregister %s", get("host"))
	}
	return ""
}

// parameters are those of an action in words, without some: "how upgrade, validate yes".
func parameters(a *plan.Action, without ...string) string {
	bare := *a
	bare.Params = a.Params.Clone()
	for _, name := range without {
		delete(bare.Params, name)
	}
	_, rest, _ := strings.Cut(strings.TrimSpace(bareAction(&bare)), " ") // without its time
	_, rest, _ = strings.Cut(rest, " ")                                  // and its kind
	if rest == "" {
		return "no flags"
	}
	return rest
}

// mediumText is what happens to a disk or a link; "" for a kind that has no words here.
func mediumText(a *plan.Action, get func(string) string, lasting string) string {
	place := get("host")
	if path := get("path") + get("suffix"); path != "" {
		place += " (" + path + ")"
	}
	switch a.Kind {
	case "split":
		return fmt.Sprintf("%s can reach nobody else, and nobody else %s%s", get("hosts"), verb(a.Params["hosts"], "it", "them"), lasting)
	case "flap":
		return fmt.Sprintf("the links from %s to %s begin to go down and up%s", get("from"), get("to"), lasting)
	case "throttle":
		return fmt.Sprintf("the links from %s to %s carry only %s a second%s", get("from"), get("to"), bytesText(get("bytes_per_second")), lasting)
	case "resolve":
		if get("to") == "" {
			return fmt.Sprintf("the name %s does not resolve any more%s", get("name"), lasting)
		}
		return fmt.Sprintf("the name %s leads to %s%s", get("name"), get("to"), lasting)
	case "lost-write":
		return fmt.Sprintf("the next write to the disk of %s is lost", place)
	case "misdirected-write":
		return fmt.Sprintf("the next write to the disk of %s lands in another place", place)
	case "read-only":
		return fmt.Sprintf("the disk of %s becomes read-only%s", place, lasting)
	case "restore":
		return fmt.Sprintf("%s comes back with a copy of its disk that was made at %s", place, get("copied"))
	case "clone":
		return fmt.Sprintf("%s comes back with a copy of the disk of %s%s", place, get("of"), lasting)
	}
	return ""
}

// momentText says for what an action waited that strikes when something happens.
func momentText(a *plan.Action) string {
	nth := ""
	if n := a.Params["n"]; n != "" && n != "1" {
		nth = ", number " + n
	}
	switch a.Kind {
	case "crash-op":
		return "inside of a disk operation"
	case "crash-after":
		return "inside of a disk operation after " + a.Params["on"] + nth
	case "ambush":
		return "after " + a.Params["on"] + nth
	case "id-step":
		return "when its cluster id is " + strings.ReplaceAll(a.Params["at"], "-", " ") + nth
	case "tear":
		return "between the records of one batch" + nth
	}
	return "(" + bareAction(a) + ")"
}

// bytesText is a size in words.
func bytesText(n string) string {
	if n == "1" {
		return "1 byte"
	}
	return n + " bytes"
}
