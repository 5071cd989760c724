package scenarios

import (
	"errors"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/sim"
)

// formatStep is the operator's format tool as a process: it runs before the node's first start, on the same disk with the
// same faults, through the same code as on a real directory. When it is cut, the operator runs it again.
type formatStep struct {
	c *cluster
	h *hostSettings
}

func (f *formatStep) Boot(env *sim.Env) error {
	env.Lanes("format")
	if f.h.errand != nil {
		return f.exit(env, f.h.errand.run(f.c, f.h, env))
	}
	switch f.h.format {
	case "two-ids":
		return f.exit(env, f.twoIDs(env))
	case "level-only":
		return f.exit(env, f.levelOnly(env))
	}
	choices := formatChoices{env}
	o := f.c.formatOptions(f.h)
	if _, err := format.Format(env.Files(), &o, format.Deps{Chooser: choices, Clock: choices}); err != nil &&
		!errors.Is(err, format.ErrFormatted) {
		return err
	}
	if f.h.format == formatCut {
		return f.exit(env, f.uncomplete(env))
	}
	return f.exit(env, f.extend(env))
}

// exit ends the tool, unless it failed.
func (f *formatStep) exit(env *sim.Env, err error) error {
	if err == nil {
		env.Exit()
	}
	return err
}

func (f *formatStep) Input(*sim.Env, *sim.Input) error          { return nil }
func (f *formatStep) Stop(env *sim.Env)                         { env.Exit() }
func (f *formatStep) AppendState(buf []byte, _ sim.View) []byte { return buf }

// formatOptions are the flags that the operator gives for a host.
func (s *settings) formatOptions(h *hostSettings) format.Options {
	o := format.Options{
		Release: h.release, Roles: format.Controller, NodeID: h.nodeID, Directories: h.dirs, MetadataDir: h.metadataDir,
		StaticVoters: !s.dynamic, Listener: s.listener, Host: h.name, Port: h.port,
		Unstable: h.unstable, ClusterID: &h.clusterID, ReleaseVersion: s.level, IgnoreFormatted: true,
	}
	if h.kind == kindBroker {
		o.Roles = format.Broker
	}
	if h.format == "first" { // the operator forgot the other directories
		o.Directories = h.dirs[:1]
	}
	if s.dynamic && h.kind == kindController && !h.replaced {
		o.InitialControllers = &s.quorums[h.cluster].initial
	} else if s.dynamic && h.kind != kindBroker {
		o.NoInitialControllers = true
	}
	return o
}

// formatted tells what the plan says about a host's directories at its first start.
func (h *hostSettings) formatted() (byTool bool, golden string) {
	if c, ok := strings.CutPrefix(h.format, "golden:"); ok {
		return false, c
	}
	return h.format == "full" || h.format == "first" || h.format == "two-ids" || h.format == "level-only" || h.format == formatCut, ""
}
