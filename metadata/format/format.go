package format

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Format formats the directories of the options that are not formatted yet. On an error in the options nothing is
// written; on an error of the disk the result says which directories are complete, the others can be formatted again
// with IgnoreFormatted.
func Format(f files.Files, o *Options, deps Deps) (*Result, error) {
	r, err := resolve(o, deps.Chooser)
	if err != nil {
		return &Result{}, err
	}
	result := &Result{MetadataVersion: r.metadataVersion, KRaftVersion: r.kraftVersion, Messages: r.overridden}
	ensemble := metaprops.Load(f, r.Directories, r.MetadataDir, r.Release.MetaProperties)
	empty, err := r.examine(f, ensemble, result)
	if err != nil || len(empty) == 0 {
		return result, err
	}
	ids, err := r.directoryIDs(ensemble, empty, deps.Chooser)
	if err != nil {
		return result, err
	}
	result.Voters = r.voters
	loaded := ensemble.Paths(metaprops.Loaded)
	for i, dir := range empty {
		result.Messages = append(result.Messages, fmt.Sprintf("formatting %s %s with metadata.version %s", r.kind(dir), dir,
			features.VersionName(r.metadataVersion)))
		if err := r.formatDirectory(f, dir, ids[i], deps.Clock); err != nil {
			removeTemps(f, dir)
			return result, fmt.Errorf("%w %s: %w%s", ErrDirectory, dir, err, rerun(result.Formatted, loaded))
		}
		result.Formatted = append(result.Formatted, dir)
	}
	return result, nil
}

// examine is checks 17 to 20; it returns the directories to format.
func (r *resolved) examine(f files.Files, e *metaprops.Ensemble, result *Result) ([]string, error) {
	expected := metaprops.Expected{ClusterID: r.ClusterID, NodeID: &r.NodeID}
	if err := e.Verify(expected, 0); err != nil {
		return nil, r.explain(err)
	}
	loaded, empty := e.Paths(metaprops.Loaded), e.Paths(metaprops.Empty)
	if len(loaded) > 0 && !r.IgnoreFormatted {
		return nil, fmt.Errorf("%w: %s; use --ignore-formatted to skip it and format the others", ErrFormatted, loaded[0])
	}
	result.Skipped = loaded
	for _, dir := range loaded {
		if p := &e.Directory(dir).Properties; !p.HasClusterID || !p.HasNodeID { // of version 0, as an empty file is
			result.Messages = append(result.Messages, fmt.Sprintf("%s counts as formatted, but its meta.properties has not both ids: no node "+
				"starts on it; remove the file, and this directory is formatted, too", dir))
		}
	}
	for _, dir := range loaded { // a run that was killed before may have renamed the file and not made the name durable
		if err := f.SyncDir(dir); err != nil {
			return nil, fmt.Errorf("%w %s: %w%s", ErrDirectory, dir, err, rerun(result.Formatted, loaded))
		}
	}
	for _, dir := range e.Paths(metaprops.Failed) {
		result.Failed = append(result.Failed, dir)
		result.Messages = append(result.Messages, fmt.Sprintf("ignoring %s: %s", dir, e.Directory(dir).Err))
	}
	if len(loaded) == 0 && len(empty) == 0 {
		return nil, fmt.Errorf("%w: all of %q failed to load", ErrNoDirectory, r.Directories)
	}
	if len(empty) == 0 {
		result.Messages = append(result.Messages, "all of the log directories are already formatted")
	}
	return empty, nil
}

// explain says what to do about directories that Verify refuses.
func (r *resolved) explain(err error) error {
	switch {
	case errors.Is(err, metaprops.ErrClusterID), errors.Is(err, metaprops.ErrNodeID):
		return fmt.Errorf("%w --cluster-id and node.id: %w; give the ids that are there, or format other directories", ErrMismatch, err)
	case errors.Is(err, metaprops.ErrMetadataDirFailed):
		return fmt.Errorf("%w: %w; mend it, or set metadata.log.dir to another directory", ErrUnusable, err)
	}
	return fmt.Errorf("%w: %w; mend the file, or format other directories", ErrUnusable, err)
}

// directoryIDs gives each directory its id; that of the metadata directory of a listed voter is in the list, that of a
// standalone voter goes there.
func (r *resolved) directoryIDs(e *metaprops.Ensemble, dirs []string, chooser Chooser) ([]record.UUID, error) {
	var taken []record.UUID
	for i := range e.Directories {
		if id, ok := e.DirectoryID(e.Directories[i].Path); ok {
			taken = append(taken, id)
		}
	}
	listed := -1
	for i := range r.voters {
		if r.voters[i].NodeID == r.NodeID {
			listed = i
		}
	}
	if r.Standalone { // its only directory id may be on disk already, from a run that formatted the metadata directory
		if id, ok := e.DirectoryID(r.MetadataDir); ok {
			r.voters[0].DirectoryID = id
		} else if e.Directory(r.MetadataDir).State == metaprops.Loaded { // its file is older than directory ids: no checkpoint is written, nobody to tell
			r.voters = nil
		}
	}
	ids := make([]record.UUID, len(dirs))
	for i, dir := range dirs {
		if dir == r.MetadataDir && listed >= 0 && !r.Standalone {
			ids[i] = r.voters[listed].DirectoryID
			taken = append(taken, ids[i])
		}
	}
	for i, dir := range dirs {
		if !ids[i].IsZero() {
			continue
		}
		id, err := r.freshID(dir, taken, chooser)
		if err != nil {
			return nil, err
		}
		ids[i] = id
		taken = append(taken, id)
		if dir == r.MetadataDir && r.Standalone {
			r.voters[0].DirectoryID = id
		}
	}
	return ids, nil
}

// freshID is an id for a directory that is in no list: the operator's, or a random one.
func (r *resolved) freshID(dir string, taken []record.UUID, chooser Chooser) (record.UUID, error) {
	id, chosen := r.chosenID(dir)
	if !chosen {
		for _, d := range r.DirectoryIDs {
			taken = append(taken, d.ID)
		}
		return NewDirectoryID(chooser, dir, taken)
	}
	if slices.Contains(taken, id) {
		return id, refuse("--directory-id %s=%s: another directory has that id", dir, id)
	}
	return id, nil
}

// removeTemps removes what an operation that failed half-way left beside its file. When that fails too, a second run
// overwrites it.
func removeTemps(f files.Files, dir string) {
	for _, name := range bootstrap.TempPaths(dir) {
		_ = f.Remove(name)
	}
	_ = f.Remove(metaprops.Path(dir) + files.TempSuffix)
}

// rerun says how to go on after an error of the disk.
func rerun(formatted, loaded []string) string {
	if len(formatted) == 0 && len(loaded) == 0 {
		return "; nothing is formatted, run the same command again when it is repaired"
	}
	return fmt.Sprintf("; %q are formatted, run the same command again with --ignore-formatted when it is repaired",
		append(slices.Clone(loaded), formatted...))
}

// kind names a directory for the operator.
func (r *resolved) kind(dir string) string {
	switch {
	case dir != r.MetadataDir:
		return "data directory"
	case r.Roles&Controller == 0 || r.kraftVersion == 0:
		return "metadata directory"
	}
	for i := range r.voters {
		if r.voters[i].NodeID == r.NodeID {
			return "dynamic metadata voter directory"
		}
	}
	return "dynamic metadata directory"
}

// formatDirectory writes the files of one directory, meta.properties last.
func (r *resolved) formatDirectory(f files.Files, dir string, id record.UUID, clock Clock) error {
	if err := files.MakeDir(f, dir); err != nil {
		return err
	}
	oct24 := r.Release.Layout == features.Oct24
	if oct24 {
		c := bootstrap.Checkpoint{Entries: r.entries}
		if err := bootstrap.WriteFile(f, dir, c.AppendTo(nil, readTimes(clock, len(c.Entries)))); err != nil {
			return err
		}
	}
	if dir == r.MetadataDir && r.Roles&Controller != 0 && (!oct24 || r.voters != nil) {
		c := bootstrap.Checkpoint{LastContainedTimestampMs: clock.NowMs()}
		c.HasKRaftVersion, c.KRaftVersion = r.kraftVersion > 0, r.kraftVersion
		if r.kraftVersion > 0 && r.voters != nil {
			c.Voters = VotersRecord(r.voters, r.Listener)
		}
		if !oct24 {
			c.Entries = r.entries
		}
		if err := bootstrap.WriteCheckpoint(f, dir, c.AppendTo(nil, readTimes(clock, len(c.Entries)))); err != nil {
			return err
		}
	}
	return metaprops.Write(f, dir, metaprops.Properties{
		Version:        metaprops.V1,
		HasClusterID:   true,
		ClusterID:      *r.ClusterID,
		HasNodeID:      true,
		NodeID:         r.NodeID,
		HasDirectoryID: true,
		DirectoryID:    id,
	}, clock.NowMs())
}

// readTimes reads the clock once per batch of a checkpoint.
func readTimes(clock Clock, entries int) (t bootstrap.Times) {
	t.HeaderMs = clock.NowMs()
	if entries > 0 {
		t.DataMs = clock.NowMs()
	}
	t.FooterMs = clock.NowMs()
	return t
}
