package scenarios

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/sim/plan"
)

// maxTreeBytes bounds what a plan carries: a metadata log of a few hundred thousand records.
const maxTreeBytes = 256 << 20

// storage is one node's log directories as they lie in a tree, read once and completely.
type storage struct {
	where    string      // what messages call the tree
	dirs     []string    // names of the log directories, ascending
	metadata int         // index of the metadata directory
	files    []treeFile  // in the order of directories, then of names
	empty    [][2]string // directories without a file that mean something: log directory, path below it

	nodeID     int32
	hasNodeID  bool
	clusterID  string
	directory  string // id of the metadata directory, "" when it has none
	checkpoint *bootstrap.Checkpoint
	oct24      bool  // has a bootstrap.checkpoint
	kip1262    bool  // has a meta.properties of version 2, or a ClusterIdRecord
	level      int16 // highest metadata.version that the files name; 0: none
	log        treeLog
}

// treeFile is one file of a log directory.
type treeFile struct {
	dir  string // name of the log directory
	name string // path below it
	data []byte
}

// refuse makes an error about a file of the tree.
func (t *storage) refuse(name, field, format string, args ...any) error {
	return &plan.FieldError{File: path.Join(t.where, name), Field: field, Problem: fmt.Sprintf(format, args...)}
}

// readTree reads a node's storage. single is the name that the tree itself gets when it is one log directory. An error
// says that the tree can't be taken for a node's storage; what Kafka makes of its content is left to the node.
func readTree(tree fs.FS, where, single string) (*storage, error) {
	t := &storage{where: where}
	if err := t.read(tree, single); err != nil {
		return nil, err
	}
	for i, dir := range t.dirs {
		if t.hasPartition(dir) {
			t.metadata = i
			break
		}
	}
	if err := t.readIdentity(); err != nil {
		return nil, err
	}
	t.readBootstrap()
	t.readLog()
	return t, t.room()
}

// leastElections is how many leaders a run may need: the epochs up to the largest of 32 bits must be enough for them.
const leastElections = 100

// room refuses a storage whose epoch is at the end of its numbers: the first election would have none left, in Kafka as here.
func (t *storage) room() error {
	epoch, file := t.log.epoch, t.log.file
	if content, found := t.file(t.metadataDir(), bootstrap.PartitionDir+"/"+quorumstate.FileName); found {
		if s, err := quorumstate.Parse(content); err == nil && s.LeaderEpoch > epoch {
			epoch, file = s.LeaderEpoch, quorumstate.FileName
		}
	}
	if epoch <= math.MaxInt32-leastElections {
		return nil
	}
	return t.refuse(path.Join(t.metadataDir(), bootstrap.PartitionDir, file), "leader epoch",
		"%d leaves no room for elections: the largest is %d", epoch, math.MaxInt32)
}

// metadataDir is the name of the metadata directory.
func (t *storage) metadataDir() string { return t.dirs[t.metadata] }

func (t *storage) hasPartition(dir string) bool {
	for i := range t.files {
		if t.files[i].dir == dir && strings.HasPrefix(t.files[i].name, bootstrap.PartitionDir+"/") {
			return true
		}
	}
	return slices.Contains(t.empty, [2]string{dir, bootstrap.PartitionDir})
}

// file returns the content of a file.
func (t *storage) file(dir, name string) (data []byte, found bool) {
	for i := range t.files {
		if f := &t.files[i]; f.dir == dir && f.name == name {
			return f.data, true
		}
	}
	return nil, false
}

// readIdentity takes node id and cluster id from the first readable meta.properties, as start-up will.
func (t *storage) readIdentity() error {
	files, broken := 0, ""
	for i, dir := range t.dirs {
		content, found := t.file(dir, metaprops.FileName)
		if !found {
			continue
		}
		files++
		props, err := metaprops.Parse(content, metaprops.V2)
		if err != nil {
			broken = err.Error()
			continue
		}
		t.kip1262 = t.kip1262 || props.Version >= metaprops.V2
		if props.HasNodeID && !t.hasNodeID {
			t.hasNodeID, t.nodeID = true, props.NodeID
		}
		if t.clusterID == "" {
			t.clusterID = props.ClusterID
		}
		if i == t.metadata && props.HasDirectoryID {
			t.directory = props.DirectoryID.String()
		}
	}
	switch {
	case t.hasNodeID && t.nodeID < 0:
		return t.refuse(metaprops.FileName, "node.id", "%d is negative", t.nodeID)
	case t.hasNodeID || broken != "" && t.refusesAnyway():
		return nil // without a node id, the node itself will say what is wrong with the file
	case files == 0 && !t.hasPartition(t.metadataDir()):
		return t.refuse("", metaprops.FileName, "no log directory has one: name one node's storage, formatted, as a folder of log "+
			"directories or as a single one")
	case files == 0:
		return t.refuse(t.metadataDir(), metaprops.FileName, "missing beside %s: Kafka would ask for kafka-storage format", bootstrap.PartitionDir)
	}
	return t.refuse(t.metadataDir(), metaprops.FileName+" node.id", "no readable file names one: %s", broken)
}

// refusesAnyway tells whether start-up refuses the metadata directory whatever the node id is.
func (t *storage) refusesAnyway() bool {
	content, found := t.file(t.metadataDir(), metaprops.FileName)
	if !found {
		return false
	}
	_, err := metaprops.Parse(content, metaprops.V2)
	return err != nil
}

// readBootstrap reads the two bootstrap files of the metadata directory, where they are. What can't be read stops the node,
// which says so itself.
func (t *storage) readBootstrap() {
	dir := t.metadataDir()
	if content, found := t.file(dir, bootstrap.PartitionDir+"/"+bootstrap.CheckpointName); found {
		if c, err := bootstrap.ParseCheckpoint(content); err == nil {
			t.checkpoint = c
			t.levelFrom(c.Entries)
		}
	}
	if content, found := t.file(dir, bootstrap.FileName); found {
		t.oct24 = true
		if entries, err := bootstrap.ParseBatchFile(content); err == nil {
			t.levelFrom(entries)
		}
	}
}

func (t *storage) levelFrom(entries []bootstrap.Entry) {
	for i := range entries {
		t.levelOf(entries[i].Record)
	}
}

func (t *storage) levelOf(r records.Record) {
	switch m := r.(type) {
	case *records.FeatureLevelRecord:
		if m.Name == features.MetadataVersion {
			t.level = max(t.level, m.FeatureLevel)
		}
	case *records.ClusterIdRecord:
		t.kip1262 = true
	}
}
