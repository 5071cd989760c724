package scenarios

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/sim"
)

// twoIDs formats each of two directories with a cluster id of its own: an operator who mixed up two clusters (T2).
func (f *formatStep) twoIDs(env *sim.Env) error {
	choices := formatChoices{env}
	for i, dir := range f.h.dirs {
		o := f.c.formatOptions(f.h)
		o.Directories, o.MetadataDir = []string{dir}, dir
		if i > 0 {
			other := *o.ClusterID + "-other"
			o.ClusterID = &other
		}
		_, err := format.Format(env.Files(), &o, format.Deps{Chooser: choices, Clock: choices})
		if err != nil && !errors.Is(err, format.ErrFormatted) {
			return err
		}
	}
	return nil
}

// formatCut is a format that somebody killed between the checkpoints and meta.properties, and did not repeat (X3).
const formatCut = "cut"

// uncomplete takes meta.properties away again: what is left is what such a run leaves (metadata-bootstrap 1.6).
func (f *formatStep) uncomplete(env *sim.Env) error {
	for _, dir := range f.h.dirs {
		err := env.Files().Remove(metaprops.Path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := env.Files().SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// levelOnly leaves a bootstrap.checkpoint with the level and nothing else: a node that formats itself bootstraps at that level (T25).
func (f *formatStep) levelOnly(env *sim.Env) error {
	level, err := f.h.release.ParseVersion(f.c.level)
	if err != nil {
		return fmt.Errorf("scenarios: format level-only: %w", err)
	}
	c := bootstrap.Checkpoint{Entries: []bootstrap.Entry{{Record: &records.FeatureLevelRecord{Name: features.MetadataVersion, FeatureLevel: level}}}}
	if err := files.MakeDir(env.Files(), f.h.metadataDir); err != nil {
		return err
	}
	return files.Replace(env.Files(), bootstrap.Path(f.h.metadataDir), c.AppendTo(nil, bootstrap.Times{}))
}
