package features

import (
	"fmt"
	"strconv"
	"strings"
)

// Level is a feature at a level.
type Level struct {
	Name  string
	Level int16
}

// Text is how the operators' tools print it: "metadata.version=21 (3.9-IV0)", "group.version=1".
func (l Level) Text() string {
	text := l.Name + "=" + strconv.FormatInt(int64(l.Level), 10)
	if name := VersionName(l.Level); l.Name == MetadataVersion && name != "" {
		text += " (" + name + ")"
	}
	return text
}

// ParseLevel reads NAME=LEVEL, a level being a number from 0 to 32767.
func ParseLevel(text string) (Level, error) {
	name, number, found := strings.Cut(text, "=")
	level, err := strconv.ParseInt(strings.TrimSpace(number), 10, 16)
	if name = strings.TrimSpace(name); !found || err != nil || level < 0 || name == "" {
		return Level{}, fmt.Errorf("%w: %q is not NAME=LEVEL with a level from 0 to 32767", ErrUnknownLevel, text)
	}
	return Level{Name: name, Level: int16(level)}, nil
}

// VersionMapping is what `version-mapping` prints: the metadata.version that a version string means, and the default level of
// every other feature there, ascending by name (KIP-1022). "" means the latest production version.
func (r *Release) VersionMapping(version string) ([]Level, error) {
	level := r.LatestProduction
	if version != "" {
		var err error
		if level, err = r.ParseVersion(version); err != nil {
			return nil, err
		}
	}
	list := []Level{{MetadataVersion, level}}
	for i := range r.Features {
		list = append(list, Level{r.Features[i].Name, r.Features[i].Default(level)})
	}
	return list, nil
}

// Dependencies is what `feature-dependencies` prints of a feature at a level: what must be at which level at least. Only
// dependencies between features count, not the floor of 3.3-IV3 that all of them share (metadata-bootstrap 5.6).
func (r *Release) Dependencies(l Level) ([]Level, error) {
	if l.Name == MetadataVersion {
		if !r.Knows(l.Level) {
			return nil, fmt.Errorf("%w %d of %s, release %s knows %d to %d", ErrUnknownLevel, l.Level, l.Name, r.Name, r.Minimum, r.LatestTesting)
		}
		return nil, nil
	}
	f := r.Feature(l.Name)
	if f == nil {
		return nil, fmt.Errorf("%w %q, release %s knows %s", ErrUnknownFeature, l.Name, r.Name, strings.Join(r.FeatureNames(), ", "))
	}
	if l.Level < 0 || l.Level > f.LatestTesting() {
		return nil, fmt.Errorf("%w %d of %s, known are 0 to %d", ErrUnknownLevel, l.Level, l.Name, f.LatestTesting())
	}
	if l.Level == 0 || f.Levels[l.Level-1].Needs == 0 {
		return nil, nil
	}
	return []Level{{MetadataVersion, f.Levels[l.Level-1].Needs}}, nil
}
