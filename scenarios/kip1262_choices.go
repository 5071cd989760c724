package scenarios

import (
	"errors"
	"fmt"

	"github.com/kraftsim/kraftsim/metadata/controller"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/startup"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// kipChoices is what a plan says about the points that the sources of KIP-1262 leave open (metadata-bootstrap 4.4, 4.7, 4.9, 4.10).
// docs/findings.md tells what each costs.
type kipChoices struct {
	controller      controller.Choices
	refuseUnknown   bool // while a node knows no id, it refuses requests that carry one, raft's and registrations
	tellFirst       bool
	orphanLog       startup.OldLog
	unidentifiedLog startup.OldLog
	fileVersion     int32
	idDeadlineNs    int64 // 0: none
}

// choiceParameters are their names and values; the first word is what holds where a plan says nothing.
func choiceParameters() []plan.Field {
	return []plan.Field{
		wordField("unknown_id", "KIP-1262: a node without a cluster id accepts requests and registrations that carry one, or refuses them; absent: accept",
			"accept", "refuse"),
		wordField("new_id", "KIP-1262: a leader without a cluster id makes one up, or takes one that a voter has shown it; absent: random",
			"random", "adopted"),
		wordField("missing_id", "KIP-1262, D4: a leader that finds level 34 and no id stops, or writes it; absent: strict", "strict", "tolerant"),
		wordField("id_order", "KIP-1262: a cluster id is stored before raft and clients hear of it, or after; absent: persist-first",
			"persist-first", "tell-first"),
		wordField("upgrade_without_id", "KIP-1262, T25: an upgrade to level 34 asked of a leader without id is refused, or makes one up; absent: refuse",
			"refuse", "generate"),
		wordField("unidentified_log", "KIP-1262, T6: what a broker without cluster id does with the metadata log that it has; absent: keep",
			"keep", "wipe", "refuse"),
		wordField("orphan_log", "KIP-1262, T29: a metadata log without meta.properties stops its node, or gets a new identity; absent: refuse",
			"refuse", "new-identity"),
		numberField("id_deadline_ms", 0, longestMs, "KIP-1262: a node that has no cluster id for so long stops, 0: never; absent: 0"),
		numberField("id_file_version", 1, 2, "KIP-1262: version of meta.properties when the cluster id is added; absent: 1"),
	}
}

func (k *kipChoices) read(r *reader) {
	k.refuseUnknown = r.word("unknown_id", "accept", "accept", "refuse") == "refuse"
	k.controller.RefuseUnknownID = k.refuseUnknown
	k.controller.AdoptOffered = r.word("new_id", "random", "random", "adopted") == "adopted"
	k.controller.WriteMissing = r.word("missing_id", "strict", "strict", "tolerant") == "tolerant"
	k.controller.GenerateOnUpgrade = r.word("upgrade_without_id", "refuse", "refuse", "generate") == "generate"
	k.tellFirst = r.word("id_order", "persist-first", "persist-first", "tell-first") == "tell-first"
	k.orphanLog = startup.RefuseLog
	if r.word("orphan_log", "refuse", "refuse", "new-identity") == "new-identity" {
		k.orphanLog = startup.KeepLog
	}
	switch r.word("unidentified_log", "keep", "keep", "wipe", "refuse") {
	case "wipe":
		k.unidentifiedLog = startup.WipeLog
	case "refuse":
		k.unidentifiedLog = startup.RefuseLog
	}
	k.fileVersion = metaprops.V1
	if r.number("id_file_version", 1) == 2 {
		k.fileVersion = metaprops.V2
	}
	k.idDeadlineNs = r.number("id_deadline_ms", 0) * million
}

// errNoIDInTime is how a node ends that waited for its cluster id for too long: the cluster's metadata.version has no record, or
// nobody answers (metadata-bootstrap 4.7).
var errNoIDInTime = errors.New("scenarios: no cluster id by the end of the start-up time: the cluster's metadata.version may be " +
	"below the level of the ClusterIdRecord: format this node with the cluster id")

// awaitClusterID stops a node that has no cluster id by its deadline. It returns when to look again, -1 for never.
func (n *node) awaitClusterID(nowNs int64) (nextNs int64, err error) {
	limit := n.c.choices.idDeadlineNs
	if limit == 0 || n.clusterID != "" || n.formattedEmpty {
		return -1, nil
	}
	until := n.bootedNs + limit
	if nowNs >= until {
		return -1, fmt.Errorf("%w (node %d)", errNoIDInTime, n.h.nodeID)
	}
	return until, nil
}
