package scenarios

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// errand is what an operator does by hand on a host whose node is down: remove files, run the format tool with flags that may be
// wrong, or both. It runs as a process of its own on the node's disk, with the disk's faults, through the code of `simrun format`; when
// it is cut, the operator repeats it with the same flags. Then the node starts, whatever the tool said.
type errand struct {
	action  string   // of the plan
	expect  string   // what the plan declares that the tool says, "" for nothing
	remove  []string // files
	flags   plan.Params
	format  bool
	refusal string // of the tool, "" when it did as it was told
}

// run does it. An error of the disk ends the process: the operator sees it and tries again.
func (e *errand) run(c *cluster, h *hostSettings, env *sim.Env) error {
	files := env.Files()
	for _, name := range e.remove {
		err := files.Remove(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = files.SyncDir(path.Dir(name))
		}
		if err != nil {
			return err
		}
	}
	e.refusal = ""
	if !e.format {
		return nil
	}
	o, err := c.errandOptions(h, e.flags)
	if err != nil {
		return err
	}
	choices := formatChoices{env}
	_, err = format.Format(files, o, format.Deps{Chooser: choices, Clock: choices})
	for _, refused := range []error{format.ErrOptions, format.ErrFormatted, format.ErrMismatch, format.ErrUnusable, format.ErrNoDirectory} {
		if errors.Is(err, refused) {
			e.refusal = err.Error()
			return nil
		}
	}
	return err
}

// errandOptions are the flags that would be right for a host, changed by what the action says.
func (c *cluster) errandOptions(h *hostSettings, flags plan.Params) (*format.Options, error) {
	o := c.formatOptions(h)
	o.IgnoreFormatted = flags["ignore_formatted"] == "true"
	o.Directories = h.dirs
	r := &reader{where: "action", params: flags}
	if id, given := flags["cluster_id"]; given {
		o.ClusterID = &id
	}
	if _, given := flags["node_id"]; given {
		o.NodeID = int32(r.number("node_id", 0))
	}
	switch flags["roles"] {
	case "broker":
		o.Roles = format.Broker
	case "controller":
		o.Roles = format.Controller
	case "both":
		o.Roles = format.Broker | format.Controller
	case "none":
		o.Roles = 0
	}
	if word, given := flags["voters"]; given {
		o.StaticVoters = word == "set"
	}
	c.errandQuorum(h, &o, flags)
	if name, given := flags["release"]; given {
		release, err := features.Find(name)
		if err != nil {
			return nil, err
		}
		o.Release = release
	}
	if level, given := flags["level"]; given {
		o.ReleaseVersion = level
	}
	if list, given := flags["features"]; given {
		o.Features = strings.Split(list, ",")
	}
	if scram, given := flags["scram"]; given {
		o.Scram = []string{scram}
	}
	if word, given := flags["unstable"]; given {
		o.Unstable = word == "true"
	}
	return &o, r.err
}

// errandQuorum sets the flags about the voters, which exclude each other.
func (c *cluster) errandQuorum(h *hostSettings, o *format.Options, flags plan.Params) {
	word, given := flags["voters_flag"]
	if !given {
		return
	}
	o.Standalone, o.NoInitialControllers, o.InitialControllers = false, false, nil
	switch word {
	case "standalone":
		o.Standalone = true
	case "no-initial-controllers":
		o.NoInitialControllers = true
	case "initial-controllers":
		list := c.quorums[h.cluster].initial
		if text, given := flags["initial"]; given {
			list = text
		}
		o.InitialControllers = &list
	case "two":
		o.Standalone, o.NoInitialControllers = true, true
	}
}

// losable are the files that the action lose-files takes, by word.
func (h *hostSettings) losable(what, dir string) []string {
	switch what {
	case "meta.properties":
		return []string{metaprops.Path(dir)}
	case "bootstrap.checkpoint":
		return []string{bootstrap.Path(dir)}
	case "0-0.checkpoint":
		return []string{bootstrap.CheckpointPath(dir)}
	}
	return append([]string{metaprops.Path(dir), bootstrap.Path(dir)}, bootstrap.CheckpointPath(dir))
}
