package raftlog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/raft/internal/atomicfile"
	"github.com/kraftsim/kraftsim/raft/record"
)

const partitionMetadataName = "partition.metadata"

// checkPartitionMetadata writes partition.metadata when it is missing and refuses the directory of another topic
// (formats.md 9.2).
func (l *Log) checkPartitionMetadata(names []string) error {
	if !slices.Contains(names, partitionMetadataName) {
		return l.replaceFile(partitionMetadataName, []byte("version: 0\ntopic_id: "+record.MetadataTopicID.String()))
	}
	text, err := readFile(l.files, l.path(partitionMetadataName), func(n int64) []byte { return make([]byte, n) })
	if err != nil {
		return err
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	if len(lines) < 2 || strings.TrimSpace(lines[0]) != "version: 0" {
		return fmt.Errorf("%w: %s: no version 0 and topic_id", ErrDirectory, partitionMetadataName)
	}
	id, ok := strings.CutPrefix(lines[1], "topic_id:")
	topic, err := record.ParseUUID(strings.TrimSpace(id))
	if !ok || err != nil || topic != record.MetadataTopicID {
		return fmt.Errorf("%w: %s: %q is not that of __cluster_metadata", ErrDirectory, partitionMetadataName, lines[1])
	}
	return nil
}

// replaceFile writes a small file durably and in one step.
func (l *Log) replaceFile(name string, content []byte) error {
	if err := atomicfile.Replace(l.files, l.dir, name, content); err != nil {
		return err
	}
	l.dirDirty = false // any other new entry has become durable with it
	return nil
}
