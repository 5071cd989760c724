package scenarios

import (
	"encoding/base64"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/quorumstate"
	"github.com/kraftsim/kraftsim/raft/record"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// FromOptions is what an operator adds to a directory tree.
type FromOptions struct {
	Release string // of the software; "" follows the files
	Voters  string // controller.quorum.voters of a static quorum, "1@host:9093,..."; "" is the node alone
	Where   string // what messages call the tree, such as the path given to --from
	Single  string // name of the log directory when the tree is one; "" is "dir0"
	newest  bool   // default to the newest release whatever the files say, but for layout oct24
	_       struct{}
}

// The names of parameters that hold a tree.
const (
	treePrefix = "file:"     // of a host: "file:dir0/meta.properties" is the file, in base64
	treeEmpty  = "empty:"    // of a host: "empty:dir1" is a directory without a file
	fromParam  = "from"      // of the plan: id of the host whose storage the tree is
	namesParam = "dir_names" // of a host: names of its log directories, with "/" between them
)

// PlanFrom makes a plan that boots a cluster from one node's storage: a folder of log directories, or one log directory.
// The metadata directory is the one that holds __cluster_metadata-0, else the first by name. Voters that its newest voter
// set names and that are not in the tree are formatted by the simulator with the listed directory ids and the same cluster
// id; when the tree has a log, they begin with a copy of it, as voters that were in sync. The tree goes into the plan, which
// therefore replays anywhere. The tree is only read. Errors wrap plan.ErrInput and name file and field; what Kafka would
// refuse is no error here: the node refuses it when the plan runs.
func PlanFrom(tree fs.FS, seed uint64, o FromOptions) (*plan.Plan, error) {
	p := newPlanFrom(seed)
	d := dice{seed: seed}
	if _, err := d.fillFrom(p, tree, "", o); err != nil {
		return nil, err
	}
	d.calmBootstrap(p)
	return p, nil
}

func newPlanFrom(seed uint64) *plan.Plan {
	return &plan.Plan{Format: plan.Format, Scenario: fromScenario, Seed: plan.Uint64(seed), Params: plan.Params{}}
}

// fillFrom adds the hosts of the cluster that a tree belongs to. format names where the tree comes from; "" puts its files
// into the plan.
func (d dice) fillFrom(p *plan.Plan, tree fs.FS, format string, o FromOptions) (*fromBuilder, error) {
	if o.Single == "" {
		o.Single = "dir0"
	}
	t, err := readTree(tree, o.Where, o.Single)
	if err != nil {
		return nil, err
	}
	b := &fromBuilder{t: t, p: p, d: d, format: format}
	if b.release, err = t.software(&o); err != nil {
		return nil, err
	}
	if err := t.formatted(b.release); err != nil {
		return nil, err
	}
	p.Params["cluster_id"] = t.clusterID
	if t.level > 0 {
		p.Params["level"] = features.VersionName(t.level)
	}
	if b.release.SupportsClusterID(b.release.LatestTesting) {
		p.Params["variant"] = "final-mar"
	}
	p.Params["quorum"] = "static"
	if t.dynamic() {
		p.Params["quorum"] = "dynamic"
	}
	q, err := b.voters(o.Voters)
	if err != nil {
		return nil, err
	}
	if q.listener != listenerName {
		p.Params["listener"] = q.listener
	}
	b.set = q.voters
	b.hosts(q.voters)
	return b, nil
}

// software picks the release: the one asked for, else the one that leaves such files. That is the default of the format tool, or
// 4.0 where its layout is, unless the files need a newer one.
func (t *storage) software(o *FromOptions) (*features.Release, error) {
	if o.Release != "" {
		rel, err := features.Find(o.Release)
		if err != nil {
			return nil, &plan.FieldError{File: "--release", Field: "name", Problem: err.Error()}
		}
		return rel, nil
	}
	names := features.Names()
	if t.oct24 {
		if rel, err := features.Find("4.0"); err != nil || o.newest || t.level <= rel.LatestTesting && !t.kip1262 {
			return rel, err
		}
	}
	if !o.newest && !t.kip1262 {
		if rel, err := features.Find("upstream-4.5"); err != nil || t.level <= rel.LatestProduction {
			return rel, err
		}
	}
	return features.Find(names[len(names)-1])
}

// formatted refuses a tree without a node id where the software would format it with one that nobody gave.
func (t *storage) formatted(rel *features.Release) error {
	if t.hasNodeID || t.refusesAnyway() || rel.MetaProperties < metaprops.V2 {
		return nil
	}
	return t.refuse(t.metadataDir(), metaprops.FileName, "missing: release %s would format the directory, but no file names a node.id", rel.Name)
}

// fromBuilder makes hosts of a tree.
type fromBuilder struct {
	t       *storage
	p       *plan.Plan
	d       dice
	format  string
	release *features.Release
	set     []voter // the quorum of the plan
}

// hosts adds the voters, and the node of the tree as an observer when it is none of them.
func (b *fromBuilder) hosts(set []voter) {
	t := b.t
	own := b.host(t.nodeID, kindObserver)
	own.Params["format"], own.Params["dirs"] = b.format, number(int64(len(t.dirs)))
	own.Params[namesParam], own.Params["metadata_dir"] = strings.Join(t.dirs, "/"), number(int64(t.metadata))
	if b.format == "" {
		own.Params["format"] = "tree"
		b.p.Params[fromParam] = own.ID
		t.intoParams(own.Params)
	}
	for i := range set {
		v := &set[i]
		if v.nodeID == t.nodeID {
			own.Kind = kindController
			v.into(&own)
			b.p.Hosts = append(b.p.Hosts, own)
			continue
		}
		absent := b.host(v.nodeID, kindController)
		absent.Params["format"] = "full"
		if v.directory == "" && t.dynamic() {
			v.directory = b.d.uuid(absent.ID + "/directory-id").String()
		}
		v.into(&absent)
		if !t.log.empty() && b.format == "" {
			b.copyLog(&absent, v)
		}
		b.p.Hosts = append(b.p.Hosts, absent)
	}
	if own.Kind == kindObserver {
		b.p.Hosts = append(b.p.Hosts, own)
	}
}

func (b *fromBuilder) host(nodeID int32, kind string) plan.Host {
	h := plan.Host{ID: fmt.Sprintf("n%d", nodeID), Kind: kind, Release: b.release.Name, Params: plan.Params{"node_id": number(int64(nodeID))}}
	if b.t.level > b.release.LatestProduction {
		h.Params["unstable"] = "true"
	}
	return h
}

// copyLog gives an absent voter the log of the tree: an empty one could be elected, and the log of the tree would be cut. It
// also knows the epoch and its leader, who may be itself and must not have forgotten that; votes it has none.
func (b *fromBuilder) copyLog(h *plan.Host, v *voter) {
	h.Params["format"] = "tree"
	id, err := record.ParseUUID(v.directory)
	if err != nil || id == (record.UUID{}) {
		id = b.d.uuid(h.ID + "/directory-id")
	}
	props := metaprops.Properties{Version: metaprops.V1, HasClusterID: true, ClusterID: b.t.clusterID, HasNodeID: true, NodeID: v.nodeID,
		HasDirectoryID: true, DirectoryID: id}
	h.Params[treePrefix+"dir0/"+metaprops.FileName] = base64.StdEncoding.EncodeToString(props.AppendTo(nil, 0))
	for i := range b.t.files {
		f := &b.t.files[i]
		if f.dir == b.t.metadataDir() && copied(f.name) {
			h.Params[treePrefix+"dir0/"+f.name] = base64.StdEncoding.EncodeToString(f.data)
		}
	}
	if content, ok := b.t.electionState(); ok {
		h.Params[treePrefix+"dir0/"+bootstrap.PartitionDir+"/"+quorumstate.FileName] = base64.StdEncoding.EncodeToString(content)
	}
}

// electionState is the quorum-state of the tree without its vote.
func (t *storage) electionState() (content []byte, ok bool) {
	stored, found := t.file(t.metadataDir(), bootstrap.PartitionDir+"/"+quorumstate.FileName)
	if !found {
		return nil, false
	}
	s, err := quorumstate.Parse(stored)
	if err != nil {
		return nil, false
	}
	s.VotedID, s.VotedDirectoryID = -1, record.UUID{}
	version := int16(0)
	if t.dynamic() {
		version = 1
	}
	content, err = quorumstate.Append(nil, &s, version)
	return content, err == nil
}

// copied tells whether a file of the metadata directory is part of the log or of the bootstrap.
func copied(name string) bool {
	base, inPartition := strings.CutPrefix(name, bootstrap.PartitionDir+"/")
	if !inPartition {
		return name == bootstrap.FileName
	}
	return strings.HasSuffix(base, ".log") || strings.HasSuffix(base, ".checkpoint") || base == "leader-epoch-checkpoint" ||
		base == "partition.metadata"
}

// intoParams puts the files of the tree into host parameters.
func (t *storage) intoParams(params plan.Params) {
	for i := range t.files {
		f := &t.files[i]
		params[treePrefix+path.Join(f.dir, f.name)] = base64.StdEncoding.EncodeToString(f.data)
	}
	for _, e := range t.empty {
		params[treeEmpty+path.Join(e[0], e[1])] = "true"
	}
}

// loadParams puts the files of host parameters onto a volume.
func loadParams(v *vdisk.Volume, params plan.Params) error {
	var files, dirs []string // loaded so far, to refuse a plan in which a path is both
	for _, name := range slices.Sorted(maps.Keys(params)) {
		dir, empty := strings.CutPrefix(name, treeEmpty)
		file, isFile := strings.CutPrefix(name, treePrefix)
		if !empty && !isFile {
			continue
		}
		if empty {
			file = dir
		}
		if !fs.ValidPath(file) || file == "." || slices.ContainsFunc(files, func(have string) bool { return clash(have, file) }) {
			return fmt.Errorf("%s: not a path, or taken", name)
		}
		if empty {
			dirs = append(dirs, dir)
			v.LoadDir("/data/" + dir)
			continue
		}
		if slices.ContainsFunc(dirs, func(have string) bool { return clash(file, have) }) {
			return fmt.Errorf("%s: a directory, too", name)
		}
		files = append(files, file)
		data, err := base64.StdEncoding.DecodeString(params[name])
		if err != nil {
			return fmt.Errorf("%s: not base64: %w", name, err)
		}
		v.Load("/data/"+file, data)
	}
	return nil
}

// clash tells whether a path needs a file to be a directory.
func clash(file, path string) bool {
	return strings.HasPrefix(path, file) && (len(path) == len(file) || path[len(file)] == '/')
}
