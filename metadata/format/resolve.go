package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/record"
)

// featureLevel is one --feature.
type featureLevel struct {
	name  string
	level int16
}

// resolved is what the options come to when nothing is wrong with them.
type resolved struct {
	*Options
	levels          []featureLevel // given, the last one of each name
	overridden      []string       // one line for each --feature that a later one of the same name replaces
	metadataVersion int16
	kraftVersion    int16
	voters          []Voter // nil: none; the directory id of a standalone voter is still to be drawn
	entries         []bootstrap.Entry
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...))
}

// resolve makes checks 1 to 16 of metadata-bootstrap 1.3, in order.
func resolve(o *Options, chooser Chooser) (*resolved, error) {
	if o.Release == nil {
		return nil, refuse("no release given")
	}
	r := &resolved{Options: o}
	var releaseVersion int16
	steps := [...]func() error{
		r.checkFlags,
		func() (err error) { releaseVersion, err = r.parseRelease(); return err },
		r.parseFeatures,
		r.checkVoters,
		r.checkNode,
		func() error { return r.resolveVersion(releaseVersion) },
		r.resolveKRaft,
		r.checkFeatures,
		r.checkDirectoryIDs,
		func() error { return r.resolveEntries(chooser) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// checkFlags is checks 1 and 2.
func (r *resolved) checkFlags() error {
	given := 0
	for _, flag := range []bool{r.Standalone, r.NoInitialControllers, r.InitialControllers != nil} {
		if flag {
			given++
		}
	}
	if given > 1 {
		return refuse("give only one of --standalone, --no-initial-controllers and --initial-controllers")
	}
	if r.Roles == 0 {
		return refuse("process.roles is empty: this looks like the configuration of a ZooKeeper cluster, set process.roles")
	}
	return nil
}

// parseRelease is check 3. It returns 0 when no release is given.
func (r *resolved) parseRelease() (int16, error) {
	if r.ReleaseVersion == "" {
		return 0, nil
	}
	level, err := r.Release.ParseVersion(r.ReleaseVersion)
	if err != nil {
		return 0, refuse("--release-version: %s", err)
	}
	if err := r.checkMinimum(level); err != nil {
		return 0, refuse("--release-version: %s", err)
	}
	return level, nil
}

func (r *resolved) checkMinimum(level int16) error {
	if level < r.Release.MinimumBootstrap {
		return fmt.Errorf("metadata.version %d (%s) is too old to format with, the minimum is %s", level,
			features.VersionName(level), features.VersionName(r.Release.MinimumBootstrap))
	}
	return nil
}

// parseFeatures is check 4.
func (r *resolved) parseFeatures() error {
	for _, text := range r.Features {
		name, number, found := strings.Cut(text, "=")
		level, err := strconv.ParseInt(trim(number), 10, 16)
		if !found || err != nil {
			return refuse("--feature %q: want NAME=LEVEL with a level from 0 to 32767", text)
		}
		name = trim(name)
		r.levels = slices.DeleteFunc(r.levels, func(f featureLevel) bool {
			if f.name == name && f.level != int16(level) { // kafka-storage takes the last one and says nothing, kafka-features refuses
				r.overridden = append(r.overridden, fmt.Sprintf("--feature %s is given more than once: %d counts, not %d", name, level, f.level))
			}
			return f.name == name
		})
		r.levels = append(r.levels, featureLevel{name, int16(level)})
	}
	slices.SortStableFunc(r.levels, func(a, b featureLevel) int { return strings.Compare(a.name, b.name) })
	return nil
}

func (r *resolved) given(name string) (level int16, ok bool) {
	for _, f := range r.levels {
		if f.name == name {
			return f.level, true
		}
	}
	return 0, false
}

// checkVoters is checks 5 to 8.
func (r *resolved) checkVoters() error {
	initial := r.InitialControllers != nil
	if r.Release.Layout == features.Aug26 && r.StaticVoters && (initial || r.Standalone) {
		return refuse("controller.quorum.voters is set: leave it empty to use --standalone or --initial-controllers")
	}
	if initial {
		voters, err := ParseVoters(*r.InitialControllers)
		if err != nil {
			return fmt.Errorf("%w, in --initial-controllers", err)
		}
		for _, v := range voters {
			if v.DirectoryID.IsZero() {
				return refuse("--initial-controllers: controller %d has the zero directory id, which means none", v.NodeID)
			}
		}
		r.voters = voters
	}
	controller := r.Roles&Controller != 0
	if r.Standalone && !controller {
		return refuse("--standalone is only for a node with the controller role in process.roles")
	}
	if controller && !r.StaticVoters && !initial && !r.Standalone && !r.NoInitialControllers {
		return refuse("controller.quorum.voters is empty: choose one of --standalone, --initial-controllers and " +
			"--no-initial-controllers")
	}
	return nil
}

// checkNode is check 9.
func (r *resolved) checkNode() error {
	switch {
	case r.NodeID < 0:
		return refuse("node.id is %d, set one of 0 or more", r.NodeID)
	case r.ClusterID == nil:
		return refuse("--cluster-id is missing")
	case !utf8.ValidString(*r.ClusterID):
		return refuse("--cluster-id is not valid UTF-8")
	case len(r.Directories) == 0:
		return refuse("log.dirs is empty: at least one directory is needed")
	case r.Listener == "":
		return refuse("controller.listener.names is empty: name the controller listener")
	case !slices.Contains(r.Directories, r.MetadataDir):
		return refuse("metadata.log.dir %q is not among the directories %q", r.MetadataDir, r.Directories)
	}
	if r.Standalone {
		r.voters = []Voter{{NodeID: r.NodeID, Host: recordHost(r.Host), Port: r.Port}}
	}
	return nil
}

// checkDirectoryIDs looks at the ids that the operator chose.
func (r *resolved) checkDirectoryIDs() error {
	for i, d := range r.DirectoryIDs {
		if !slices.Contains(r.Directories, d.Path) {
			return refuse("--directory-id %s=%s: the directory is not among %q", d.Path, d.ID, r.Directories)
		}
		if d.ID.IsReserved() {
			return refuse("--directory-id %s=%s: the id is reserved, choose another", d.Path, d.ID)
		}
		for _, other := range r.DirectoryIDs[:i] {
			if other.Path == d.Path || other.ID == d.ID {
				return refuse("--directory-id: directory or id of %s=%s is given twice", d.Path, d.ID)
			}
		}
		for _, v := range r.voters {
			if v.NodeID == r.NodeID && d.Path == r.MetadataDir && !r.Standalone && v.DirectoryID != d.ID {
				return refuse("--directory-id %s=%s: --initial-controllers lists %s for node %d", d.Path, d.ID, v.DirectoryID, v.NodeID)
			}
		}
	}
	return nil
}

// chosenID is the id that the operator chose for a directory.
func (r *resolved) chosenID(dir string) (id record.UUID, ok bool) {
	for _, d := range r.DirectoryIDs {
		if d.Path == dir {
			return d.ID, true
		}
	}
	return id, false
}

// resolveVersion is checks 10 and 11.
func (r *resolved) resolveVersion(releaseVersion int16) error {
	level, given := r.given(features.MetadataVersion)
	switch {
	case given && releaseVersion != 0:
		return refuse("--release-version and --feature metadata.version are both given, use one of them")
	case given:
		if !r.Release.Knows(level) {
			return refuse("--feature metadata.version=%d: release %s knows %d to %d", level, r.Release.Name,
				r.Release.Minimum, r.Release.LatestTesting)
		}
		if err := r.checkMinimum(level); err != nil {
			return refuse("--feature metadata.version: %s", err)
		}
	case releaseVersion != 0:
		level = releaseVersion
	case r.InterBroker != "" && r.Release.Layout == features.Oct24:
		var err error
		if level, err = r.Release.ParseVersion(r.InterBroker); err != nil {
			return refuse("inter.broker.protocol.version: %s", err)
		}
		if err := r.checkMinimum(level); err != nil {
			return refuse("inter.broker.protocol.version: %s", err)
		}
	default:
		level = r.Release.Latest(r.Unstable)
	}
	if level > r.Release.Latest(r.Unstable) {
		return refuse("metadata.version %d (%s) is not yet stable, set unstable.feature.versions.enable to use it", level,
			features.VersionName(level))
	}
	r.metadataVersion = level
	return nil
}

// dynamic tells whether the voters will be in the log and not in the configuration (KAFKA-18028, KAFKA-19719).
func (r *resolved) dynamic() bool {
	if r.Release.Layout == features.Aug26 {
		return !r.StaticVoters
	}
	return r.Standalone || r.InitialControllers != nil
}

// resolveKRaft is check 12, then 13 and 14, then 15 for kraft.version.
func (r *resolved) resolveKRaft() error {
	for _, f := range r.levels {
		if f.name != features.MetadataVersion && r.Release.Feature(f.name) == nil {
			return refuse("--feature %q is not known, release %s has %s", f.name, r.Release.Name,
				strings.Join(r.Release.FeatureNames(), ", "))
		}
	}
	level, given := r.given(features.KRaftVersion)
	switch {
	case given && level == 0 && r.dynamic():
		return refuse("--feature kraft.version=0: the quorum is dynamic, which needs kraft.version 1")
	case given && level > 0 && !r.dynamic():
		return refuse("--feature kraft.version=%d: the quorum is not dynamic, which needs kraft.version 0", level)
	case !given && r.dynamic():
		level = 1
	}
	if level != 0 {
		if r.Release.Feature(features.KRaftVersion) == nil {
			return refuse("unknown feature %q: release %s has no dynamic quorums: list the voters in controller.quorum.voters and give none of "+
				"--standalone, --no-initial-controllers and --initial-controllers", features.KRaftVersion, r.Release.Name)
		}
		if err := r.Release.Check(features.KRaftVersion, level, r.metadataVersion, r.Unstable); err != nil {
			return refuse("%s", err)
		}
	}
	r.kraftVersion = level
	return nil
}

// checkFeatures is check 15.
func (r *resolved) checkFeatures() error {
	for _, f := range r.levels {
		if f.name == features.MetadataVersion {
			continue
		}
		if err := r.Release.Check(f.name, f.level, r.metadataVersion, r.Unstable); err != nil {
			return refuse("--feature %q=%d: %s", f.name, f.level, err)
		}
	}
	return nil
}

// resolveEntries makes the bootstrap records in the order of metadata-bootstrap 1.7, with check 16.
func (r *resolved) resolveEntries(chooser Chooser) error {
	if len(r.Scram) > 0 && !features.SupportsScram(r.metadataVersion) {
		return refuse("--add-scram needs metadata.version %d (%s) or later, it is %d (%s)",
			records.UserScramCredentialRecordSince, features.VersionName(records.UserScramCredentialRecordSince),
			r.metadataVersion, features.VersionName(r.metadataVersion))
	}
	r.addLevel(features.MetadataVersion, r.metadataVersion)
	for i := range r.Release.Features {
		f := &r.Release.Features[i]
		level, given := r.given(f.Name)
		if !given {
			level = f.Default(r.metadataVersion)
		}
		if f.Name != features.KRaftVersion && level > 0 {
			r.addLevel(f.Name, level)
		}
	}
	if r.Release.SupportsClusterID(r.metadataVersion) {
		if *r.ClusterID == "" { // an id for meta.properties, none for a record (docs/metadata.md)
			return refuse("--cluster-id is empty, which metadata.version %d (%s) can't record", r.metadataVersion,
				features.VersionName(r.metadataVersion))
		}
		id := &records.ClusterIdRecord{ClusterId: *r.ClusterID}
		if err := id.Check(0); err != nil {
			return refuse("--cluster-id: %s", err)
		}
		r.entries = append(r.entries, bootstrap.Entry{Record: id})
	}
	for _, argument := range r.Scram {
		credential, err := parseScram(argument, chooser)
		if err != nil {
			return err
		}
		r.entries = append(r.entries, bootstrap.Entry{Record: credential})
	}
	return nil
}

func (r *resolved) addLevel(name string, level int16) {
	r.entries = append(r.entries, bootstrap.Entry{Record: &records.FeatureLevelRecord{Name: name, FeatureLevel: level}})
}
