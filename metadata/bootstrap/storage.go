package bootstrap

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
)

// Names on disk (formats 6).
const (
	// FileName lies in the root of a log directory.
	FileName = "bootstrap.checkpoint"
	// PartitionDir is the directory of the metadata log below the metadata directory.
	PartitionDir = "__cluster_metadata-0"
	// CheckpointName lies in PartitionDir.
	CheckpointName = "00000000000000000000-0000000000.checkpoint"
	// partName holds the checkpoint until it is renamed. Raft removes what is left over under such a name.
	partName = "00000000000000000000-0000000000-0.checkpoint.part"
)

// Path is where the bootstrap.checkpoint of a log directory lies.
func Path(dir string) string { return dir + "/" + FileName }

// PartitionPath is the directory of the metadata log.
func PartitionPath(metadataDir string) string { return metadataDir + "/" + PartitionDir }

// CheckpointPath is where the 0-0.checkpoint of a metadata directory lies.
func CheckpointPath(metadataDir string) string {
	return PartitionPath(metadataDir) + "/" + CheckpointName
}

// TempPaths are the files of a log directory that hold a checkpoint of either kind until it is renamed.
func TempPaths(dir string) []string {
	return []string{Path(dir) + files.TempSuffix, PartitionPath(dir) + "/" + partName}
}

// Load is what a controller does at start-up: bootstrap.checkpoint of the metadata directory if it is there, else the
// default (metadata-bootstrap 2.4 step 5). A file that cannot be read is an error, which stops the start.
func Load(f files.Files, metadataDir string, release *features.Release) (*Metadata, error) {
	content, err := files.Read(f, Path(metadataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return Default(release), nil
	}
	if err != nil {
		return nil, fmt.Errorf("bootstrap: read %s: %w", Path(metadataDir), err)
	}
	entries, err := ParseBatchFile(content)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %s: %w", Path(metadataDir), err)
	}
	return New(entries, Path(metadataDir), release.MinimumBootstrap)
}

// ReadCheckpoint reads the 0-0.checkpoint of a metadata directory; fs.ErrNotExist when there is none.
func ReadCheckpoint(f files.Files, metadataDir string) (*Checkpoint, error) {
	content, err := files.Read(f, CheckpointPath(metadataDir))
	if err != nil {
		return nil, fmt.Errorf("bootstrap: read %s: %w", CheckpointPath(metadataDir), err)
	}
	c, err := ParseCheckpoint(content)
	if err != nil {
		return nil, fmt.Errorf("bootstrap: %s: %w", CheckpointPath(metadataDir), err)
	}
	return c, nil
}

// WriteFile writes the bootstrap.checkpoint of a log directory, which must exist.
func WriteFile(f files.Files, dir string, content []byte) error {
	if err := files.Replace(f, Path(dir), content); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// WriteCheckpoint writes the 0-0.checkpoint of a metadata directory and makes the partition directory.
func WriteCheckpoint(f files.Files, metadataDir string, content []byte) error {
	partition := PartitionPath(metadataDir)
	if err := files.MakeDir(f, partition); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	if err := files.ReplaceVia(f, CheckpointPath(metadataDir), partition+"/"+partName, content); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}
