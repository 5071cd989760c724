package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// noBootstrap is what params.bootstrap says of a host that knows a name which leads nowhere, and no other.
const noBootstrap = "nowhere"

// refused is a parameter of a host that cannot be as it is.
func refused(host int, name, format string, args ...any) error {
	return &plan.FieldError{Field: fmt.Sprintf("hosts[%d].params.%s", host, name), Problem: fmt.Sprintf(format, args...)}
}

// checkBootstrap looks at the bootstrap servers of each host: ids of hosts, each once, of whatever cluster, or nowhere.
func checkBootstrap(p *plan.Plan) error {
	ids := make([]string, len(p.Hosts))
	for i := range p.Hosts {
		ids[i] = p.Hosts[i].ID
	}
	for i := range p.Hosts {
		value, given := p.Hosts[i].Params["bootstrap"]
		if !given || value == noBootstrap {
			continue
		}
		list := strings.Split(value, ",")
		for k, id := range list {
			if !slices.Contains(ids, id) {
				return refused(i, "bootstrap", "%q is no host of the plan: list ids of hosts with commas between them, or say %s alone, "+
					"or leave it out for the initial voters", id, noBootstrap)
			}
			if slices.Contains(list[:k], id) {
				return refused(i, "bootstrap", "%s is listed twice: once is enough", id)
			}
		}
	}
	return nil
}

// checkDirectoryIDs looks at the directory ids that the format step is told: no two hosts have one in common, unless one is a
// twin, and where it lists the initial controllers of a cluster each of them has one (metadata-bootstrap 1.3).
func checkDirectoryIDs(p *plan.Plan) error {
	owners := make(map[record.UUID]string, len(p.Hosts))
	for i := range p.Hosts {
		h := &p.Hosts[i]
		text := h.Params["directory_id"]
		if text == "" {
			if h.Kind == kindController && listsControllers(p, h.Params["cluster"]) {
				return refused(i, "directory_id", "missing: the format step lists the initial controllers of a dynamic quorum, each with "+
					"the id of its metadata directory, 22 letters in base64")
			}
			continue
		}
		id, err := record.ParseUUID(text)
		if err != nil {
			return refused(i, "directory_id", "%q is not an id of 22 letters in base64: %v", text, err)
		}
		if id.IsZero() {
			return refused(i, "directory_id", "%s is the zero id, which means none", text)
		}
		if owner, taken := owners[id]; taken && h.Params["twin"] != "true" {
			return refused(i, "directory_id", "%s is the directory id of %s already: choose another", text, owner)
		}
		owners[id] = h.ID
	}
	return nil
}

// listsControllers reports whether a controller of the cluster is formatted with the list of all of them.
func listsControllers(p *plan.Plan, cluster string) bool {
	return p.Params["quorum"] == "dynamic" && slices.ContainsFunc(p.Hosts, func(h plan.Host) bool {
		e := hostSettings{format: "full"}
		if format, given := h.Params["format"]; given {
			e.format = format
		}
		byTool, _ := e.formatted()
		return byTool && h.Kind == kindController && h.Params["cluster"] == cluster
	})
}
