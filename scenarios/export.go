package scenarios

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/metadata/records"
	"github.com/kraftsim/kraftsim/raft"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/raftlog"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// ExportedFile is one file of a node's storage: LOGDIR/name and content.
type ExportedFile struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	Content []byte `json:"-"`
}

// FromResult is what became of the node whose storage a plan of PlanFrom holds.
type FromResult struct {
	Host            string         `json:"host"`
	NodeID          int32          `json:"node_id"`
	Release         string         `json:"release"`
	Quorum          string         `json:"quorum"` // the voters, id@host:port
	Leader          int32          `json:"leader"` // -1: none
	Epoch           int32          `json:"epoch"`
	MetadataVersion int16          `json:"metadata_version"` // at the stable offset
	ClusterID       string         `json:"cluster_id"`       // of meta.properties
	ClusterIDRecord bool           `json:"cluster_id_record"`
	LogEndOffset    int64          `json:"log_end_offset"`
	HighWatermark   int64          `json:"high_watermark"` // -1: unknown
	Missing         []string       `json:"missing"`        // what is not as it must be; empty: all is well
	Files           []ExportedFile `json:"files"`
}

// ErrNotFrom says that the last run of the catalogue's scenario was not one of a plan of PlanFrom.
var ErrNotFrom = errors.New("scenarios: no run of a storage tree to look at")

// ResultOfFrom looks at the world that the last run of a PlanFrom plan left, on an engine of this catalogue: is there a
// leader, is the bootstrap stable, and do the files of the node decode? Contents are copies.
func ResultOfFrom(c *sim.Catalogue) (*FromResult, error) {
	s, ok := c.Scenario(fromScenario).(*scenario)
	if !ok || s.cluster.w == nil {
		return nil, ErrNotFrom
	}
	cl := &s.cluster
	h := cl.w.Host(cl.w.Plan().Params[fromParam])
	if h == nil {
		return nil, ErrNotFrom
	}
	own := &cl.hosts[h.Index()]
	r := &FromResult{Host: h.ID(), NodeID: own.nodeID, Release: own.release.Name, Quorum: cl.quorum(own.cluster), Leader: -1, HighWatermark: -1,
		Missing: []string{}, Files: filesOf(h)}
	r.lookAtNode(cl, h)
	var dirs []string
	for _, dir := range own.dirs {
		dirs = append(dirs, strings.TrimPrefix(dir, "/data/"))
	}
	r.examine(dirs, strings.TrimPrefix(own.metadataDir, "/data/"))
	return r, nil
}

// examine decodes the files.
func (r *FromResult) examine(dirs []string, metadataDir string) {
	x := &examiner{r: r, files: map[string][]byte{}, metadataDir: metadataDir}
	for i := range r.Files {
		x.files[r.Files[i].Path] = r.Files[i].Content
	}
	for _, dir := range dirs {
		x.properties(dir)
	}
	x.partition()
}

func (r *FromResult) miss(format string, args ...any) {
	r.Missing = append(r.Missing, fmt.Sprintf(format, args...))
}

// lookAtNode asks the node itself: who leads, and what is stable.
func (r *FromResult) lookAtNode(c *cluster, h *sim.Host) {
	n := nodeOf(h)
	if n == nil || h.Booting() {
		r.miss("node %d does not run", r.NodeID)
		return
	}
	leader := n.replica.LeaderAndEpoch()
	r.Leader, r.Epoch, r.LogEndOffset = leader.LeaderID, leader.Epoch, n.replica.LogEndOffset()
	if hw, known := n.replica.HighWatermark(); known {
		r.HighWatermark = hw
	} else {
		r.miss("node %d knows no high watermark", r.NodeID)
	}
	if !c.leads(leader) {
		r.miss("no leader that node %d knows of", r.NodeID)
	}
	image := n.loader.Image()
	r.MetadataVersion, r.ClusterIDRecord = image.MetadataVersion(), image.ClusterID() != ""
	switch {
	case r.MetadataVersion == 0:
		r.miss("no metadata.version in the stable log of node %d", r.NodeID)
	case n.h.release.SupportsClusterID(r.MetadataVersion) && !r.ClusterIDRecord:
		r.miss("metadata.version %d without a ClusterIdRecord in the stable log", r.MetadataVersion)
	}
}

// leads tells whether some node is the leader of that epoch.
func (c *cluster) leads(l raft.LeaderAndEpoch) bool {
	for _, h := range c.w.Hosts() {
		if n := nodeOf(h); n != nil && !h.Booting() && n.h.nodeID == l.LeaderID && n.replica.Role() == raft.Leader &&
			n.replica.LeaderAndEpoch() == l {
			return true
		}
	}
	return false
}

// examiner decodes the files of a storage, each with the code that a node reads it with.
type examiner struct {
	r           *FromResult
	files       map[string][]byte
	metadataDir string
}

// properties wants node id, cluster id and directory id in a log directory.
func (x *examiner) properties(dir string) {
	name := path.Join(dir, metaprops.FileName)
	content, found := x.files[name]
	if !found {
		x.r.miss("%s is not there", name)
		return
	}
	p, err := metaprops.Parse(content, metaprops.V2)
	switch {
	case err != nil:
		x.r.miss("%s: %v", name, err)
	case !p.HasNodeID || !p.HasClusterID || !p.HasDirectoryID:
		x.r.miss("%s lacks node.id, cluster.id or directory.id", name)
	case x.r.ClusterID == "":
		x.r.ClusterID = p.ClusterID
	}
}

// partition decodes the metadata log and what lies beside it.
func (x *examiner) partition() {
	prefix := path.Join(x.metadataDir, bootstrap.PartitionDir) + "/"
	volume := vdisk.NewVolume("export", vdisk.Model{})
	for i := range x.r.Files {
		f := &x.r.Files[i]
		if err := x.decode(prefix, f); err != nil {
			x.r.miss("%s: %v", f.Path, err)
		}
		if strings.HasPrefix(f.Path, prefix) {
			volume.Load("/"+f.Path, f.Content)
		}
	}
	if _, found := x.files[prefix+quorumstate.FileName]; !found {
		x.r.miss("%s is not there", prefix+quorumstate.FileName)
	}
	l, err := raftlog.Open(volume.Handle(vdisk.Immediate{}), "/"+strings.TrimSuffix(prefix, "/"), raftlog.Config{})
	if err != nil {
		x.r.miss("%v", err)
		return
	}
	if cut := l.Recovered(); cut.BytesCut > 0 {
		x.r.miss("%s: %d bytes would be cut at the next start: %s", prefix, cut.BytesCut, cut.Reason)
	}
	if l.EndOffset() == 0 {
		x.r.miss("%s: the log is empty", prefix)
	}
}

// decode decodes a file by its name. Names that Kafka ignores are left alone, those of renames under way among them.
func (x *examiner) decode(prefix string, f *ExportedFile) (err error) {
	name, inPartition := strings.CutPrefix(f.Path, prefix)
	switch {
	case !inPartition && path.Base(f.Path) == bootstrap.FileName:
		var entries []bootstrap.Entry
		if entries, err = bootstrap.ParseBatchFile(f.Content); err == nil {
			_, err = bootstrap.New(entries, f.Path, 0)
		}
	case !inPartition:
	case name == quorumstate.FileName:
		_, err = quorumstate.Parse(f.Content)
	case strings.HasSuffix(name, ".checkpoint"):
		var c *bootstrap.Checkpoint
		if c, err = bootstrap.ParseCheckpoint(f.Content); err == nil && !c.HasFooter {
			err = fmt.Errorf("%w: no footer", bootstrap.ErrCheckpoint)
		}
	case strings.HasSuffix(name, ".log"):
		err = decodeSegment(f.Content)
	}
	return err
}

// decodeSegment decodes every record of a segment.
func decodeSegment(content []byte) error {
	var it record.Iterator
	next := int64(-1)
	for at := len(content); len(content) > 0; at = len(content) {
		batch, rest, err := record.NextFileBatch(content)
		if err == nil && len(batch) == 0 {
			err = record.ErrTruncated
		}
		if err == nil {
			err = batch.Verify()
		}
		if err == nil && next >= 0 && batch.BaseOffset() != next {
			err = fmt.Errorf("offset %d follows on %d", batch.BaseOffset(), next-1)
		}
		if err != nil {
			return fmt.Errorf("%d bytes before the end: %w", at, err)
		}
		var r record.Record
		for it.Reset(batch); it.Next(&r); {
			if batch.IsControl() {
				_, err = record.ParseControlKey(r.Key)
			} else {
				_, _, err = records.Decode(r.Value)
			}
			if err != nil {
				return fmt.Errorf("record %d: %w", r.Offset, err)
			}
		}
		if it.Err() != nil {
			return it.Err()
		}
		content, next = rest, batch.NextOffset()
	}
	return nil
}
