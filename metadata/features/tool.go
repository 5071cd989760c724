package features

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrTool is wrapped by every error about how the operator's tool was called.
var ErrTool = errors.New("features")

// Command is what kafka-features is told to do with levels.
type Command uint8

// The commands (metadata-bootstrap 5.9). describe, version-mapping and feature-dependencies change nothing and are not here.
const (
	Upgrade   Command = iota + 1
	Downgrade         // to a lower level, --unsafe with loss
	Disable           // to level 0
)

var commandWords = [...]string{Upgrade: "upgrade", Downgrade: "downgrade", Disable: "disable"}

// ParseCommand reads the name of a command.
func ParseCommand(word string) (Command, error) {
	for c := Upgrade; c <= Disable; c++ {
		if commandWords[c] == word {
			return c, nil
		}
	}
	return 0, fmt.Errorf("%w: %q is no command, use upgrade, downgrade or disable", ErrTool, word)
}

// String returns the command's word.
func (c Command) String() string { return commandWords[c] }

// Tool is one call of kafka-features.
type Tool struct {
	Release        *Release // of the tool: its tables say what a version means
	Command        Command
	Features       []string // --feature NAME=LEVEL; of disable: NAME
	Metadata       string   // --metadata, the older spelling of --feature metadata.version: a version as 3.9
	ReleaseVersion string   // --release-version: metadata.version of that release and the default level of everything else there
	Unsafe         bool     // --unsafe
	DryRun         bool     // --dry-run: the controller checks and writes nothing
}

// Levels are what one UpdateFeatures request asks for, in the order of names except that metadata.version of --metadata and
// --release-version comes first. A wrong call is an error that says what to do, and nothing is asked for.
func (t *Tool) Levels() ([]Level, error) {
	if t.Command < Upgrade || t.Command > Disable {
		return nil, fmt.Errorf("%w: no command, use upgrade, downgrade or disable", ErrTool)
	}
	switch {
	case t.Unsafe && t.Command == Upgrade:
		return nil, fmt.Errorf("%w: --unsafe is for downgrade and disable", ErrTool)
	case t.Command == Disable && (t.Metadata != "" || t.ReleaseVersion != ""):
		return nil, fmt.Errorf("%w: disable takes --feature NAME only", ErrTool)
	case t.ReleaseVersion != "" && (t.Metadata != "" || len(t.Features) > 0):
		return nil, fmt.Errorf("%w: --release-version excludes --metadata and --feature: it names all of them", ErrTool)
	case t.ReleaseVersion != "":
		return t.releaseLevels()
	}
	var levels []Level
	if t.Metadata != "" {
		level, err := t.Release.ParseVersion(t.Metadata)
		if err != nil {
			return nil, fmt.Errorf("%w: --metadata: %w", ErrTool, err)
		}
		levels = append(levels, Level{MetadataVersion, level})
	}
	given, err := t.givenLevels()
	if err != nil {
		return nil, err
	}
	levels = append(levels, given...)
	for i, l := range levels {
		if slices.ContainsFunc(levels[:i], func(other Level) bool { return other.Name == l.Name }) {
			return nil, fmt.Errorf("%w: %s is given more than once", ErrTool, l.Name)
		}
	}
	if len(levels) == 0 {
		flags := "--feature, --metadata or --release-version"
		if t.Command == Disable {
			flags = "--feature"
		}
		return nil, fmt.Errorf("%w: nothing to %s: give %s", ErrTool, t.Command, flags)
	}
	return levels, nil
}

func (t *Tool) givenLevels() ([]Level, error) {
	var levels []Level
	for _, text := range t.Features {
		l := Level{Name: strings.TrimSpace(text)}
		if t.Command != Disable {
			var err error
			if l, err = ParseLevel(text); err != nil {
				return nil, fmt.Errorf("%w: --feature: %w", ErrTool, err)
			}
		} else if l.Name == "" || strings.Contains(l.Name, "=") {
			return nil, fmt.Errorf("%w: --feature %q: disable takes names without a level", ErrTool, text)
		}
		levels = append(levels, l)
	}
	slices.SortStableFunc(levels, func(a, b Level) int { return strings.Compare(a.Name, b.Name) })
	return levels, nil
}

// releaseLevels are those of --release-version; an upgrade leaves out features whose level would be 0.
func (t *Tool) releaseLevels() ([]Level, error) {
	all, err := t.Release.VersionMapping(t.ReleaseVersion)
	if err != nil {
		return nil, fmt.Errorf("%w: --release-version: %w", ErrTool, err)
	}
	if t.Command == Upgrade {
		all = slices.DeleteFunc(all, func(l Level) bool { return l.Level == 0 })
	}
	return all, nil
}

// Answer is what the tool prints when the controller has answered; refusal is the controller's message, "" when it said yes. The
// answer to a request is one for all of its features (5.1).
func (t *Tool) Answer(levels []Level, refusal string) (lines []string) {
	for _, l := range levels {
		verb, to := t.Command.String(), " to "+levelName(l)
		if t.Command == Disable {
			to = ""
		}
		switch {
		case refusal != "" && t.DryRun:
			lines = append(lines, "can't "+verb+" "+l.Name+to+": "+refusal)
		case refusal != "":
			lines = append(lines, "could not "+verb+" "+l.Name+to+": "+refusal)
		case t.DryRun:
			lines = append(lines, l.Name+" can be "+strings.TrimSuffix(verb, "e")+"ed"+to)
		default:
			lines = append(lines, l.Name+" was "+strings.TrimSuffix(verb, "e")+"ed"+to)
		}
	}
	if refusal != "" {
		n := strconv.Itoa(len(levels))
		lines = append(lines, n+" out of "+n+" operations failed")
	}
	return lines
}

// levelName is a level as the tool prints it: a metadata.version by name.
func levelName(l Level) string {
	number := strconv.FormatInt(int64(l.Level), 10)
	if name := VersionName(l.Level); l.Name == MetadataVersion && name != "" {
		return number + " (" + name + ")"
	}
	return number
}

// Describe is a line of `describe`: what a node supports and what is finalized, as of an offset of the metadata log.
func (r *Release) Describe(name string, finalized int16, unstable bool, epoch int64) string {
	lowest, highest, _ := r.Range(name, unstable)
	text := func(level int16) string {
		if version := VersionName(level); name == MetadataVersion && version != "" {
			return version
		}
		return strconv.FormatInt(int64(level), 10)
	}
	return "Feature: " + name + "\tSupportedMinVersion: " + text(lowest) + "\tSupportedMaxVersion: " + text(highest) +
		"\tFinalizedVersionLevel: " + text(finalized) + "\tEpoch: " + strconv.FormatInt(epoch, 10)
}
