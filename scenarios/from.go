package scenarios

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/voters"
	"github.com/kraftsim/kraftsim/sim/plan"
	"github.com/kraftsim/kraftsim/sim/vdisk"
)

// FromOptions is what an operator adds to a directory tree.
type FromOptions struct {
	Release string // of the software; "" follows the files
	Voters  string // controller.quorum.voters of a static quorum, "1@host:9093,..."; "" is the node alone
}

// treeFile marks host parameters that hold a file of the tree: "file:dir0/meta.properties", base64.
const treeFile = "file:"

// PlanFrom makes a plan that boots a cluster from one node's storage: a folder of log directories, or one log directory.
// The metadata directory is the one that holds __cluster_metadata-0, else the first by name. Voters that its checkpoint
// names and that are not in the tree are formatted by the simulator with the listed directory ids and the same cluster id.
// The tree goes into the plan, which therefore replays anywhere. The tree is only read.
func PlanFrom(tree fs.FS, seed uint64, o FromOptions) (*plan.Plan, error) {
	p := &plan.Plan{Format: plan.Format, Scenario: fromScenario, Seed: plan.Uint64(seed), Params: plan.Params{}}
	if err := fillFrom(p, tree, "", o); err != nil {
		return nil, err
	}
	dice{seed}.calmBootstrap(p)
	return p, nil
}

// fillFrom adds the hosts of the cluster that a tree belongs to. format names where the tree comes from; "" puts its files
// into the plan.
func fillFrom(p *plan.Plan, tree fs.FS, format string, o FromOptions) error {
	t, err := readTree(tree)
	if err != nil {
		return err
	}
	if err := t.release(o.Release); err != nil {
		return err
	}
	h := plan.Host{ID: fmt.Sprintf("n%d", t.nodeID), Release: t.rel.Name, Params: plan.Params{
		"node_id": number(int64(t.nodeID)), "format": format, "dirs": number(int64(len(t.dirs))), "metadata_dir": number(int64(t.metadata)),
	}}
	if t.unstable() {
		h.Params["unstable"] = "true"
	}
	if format == "" {
		h.Params["format"] = "tree"
		t.intoParams(h.Params)
	}
	p.Params["cluster_id"] = t.clusterID
	if t.level > 0 {
		p.Params["level"] = features.VersionName(t.level)
	}
	if t.rel.SupportsClusterID(t.rel.LatestTesting) {
		p.Params["variant"] = "final-mar"
	}
	set, err := t.voters(o.Voters)
	if err != nil {
		return err
	}
	p.Params["quorum"] = "static"
	if t.checkpoint != nil && t.checkpoint.Voters != nil {
		p.Params["quorum"] = "dynamic"
	}
	h.Kind = kindObserver
	for i := range set {
		v := &set[i]
		if v.nodeID == t.nodeID {
			h.Kind = kindController
			v.into(&h)
			p.Hosts = append(p.Hosts, h)
			continue
		}
		absent := plan.Host{ID: fmt.Sprintf("n%d", v.nodeID), Kind: kindController, Release: t.rel.Name, Params: plan.Params{
			"node_id": number(int64(v.nodeID)), "format": "full"}}
		if t.unstable() {
			absent.Params["unstable"] = "true"
		}
		v.into(&absent)
		p.Hosts = append(p.Hosts, absent)
	}
	if h.Kind == kindObserver {
		p.Hosts = append(p.Hosts, h)
	}
	return nil
}

// storage is one node's log directories as they lie in a tree.
type storage struct {
	fsys       fs.FS
	dirs       []string // paths in the tree, ascending
	metadata   int      // index of the metadata directory
	nodeID     int32
	clusterID  string
	directory  string // id of the metadata directory
	checkpoint *bootstrap.Checkpoint
	oct24      bool // has a bootstrap.checkpoint
	level      int16
	rel        *features.Release
}

func readTree(tree fs.FS) (*storage, error) {
	t := &storage{fsys: tree}
	if err := t.findDirs(); err != nil {
		return nil, err
	}
	for i, dir := range t.dirs {
		if _, err := fs.Stat(tree, path.Join(dir, bootstrap.PartitionDir)); err == nil {
			t.metadata = i
			break
		}
	}
	if err := t.readIdentity(); err != nil {
		return nil, err
	}
	return t, t.readBootstrap()
}

// findDirs finds the log directories: the tree itself, or its folders.
func (t *storage) findDirs() error {
	if _, err := fs.Stat(t.fsys, metaprops.FileName); err == nil {
		t.dirs = []string{"."}
		return nil
	}
	entries, err := fs.ReadDir(t.fsys, ".")
	if err != nil {
		return fmt.Errorf("read the storage: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() {
			t.dirs = append(t.dirs, e.Name())
		}
	}
	if len(t.dirs) == 0 {
		return fmt.Errorf("no log directory: neither %s nor a folder is there; name one node's storage", metaprops.FileName)
	}
	return nil
}

// readIdentity takes node id and cluster id from the first readable meta.properties, as start-up will.
func (t *storage) readIdentity() error {
	found := false
	for i, dir := range t.dirs {
		content, err := fs.ReadFile(t.fsys, path.Join(dir, metaprops.FileName))
		if err != nil {
			continue
		}
		props, err := metaprops.Parse(content, metaprops.V2)
		if err != nil {
			if i == t.metadata {
				return fmt.Errorf("%s: %w", path.Join(dir, metaprops.FileName), err)
			}
			continue
		}
		if props.HasNodeID && !found {
			found, t.nodeID = true, props.NodeID
		}
		if t.clusterID == "" {
			t.clusterID = props.ClusterID
		}
		if i == t.metadata && props.HasDirectoryID {
			t.directory = props.DirectoryID.String()
		}
	}
	if !found {
		return fmt.Errorf("no readable %s names a node.id: format the storage first", metaprops.FileName)
	}
	return nil
}

// readBootstrap reads the two bootstrap files of the metadata directory, where they are.
func (t *storage) readBootstrap() error {
	dir := t.dirs[t.metadata]
	name := path.Join(dir, bootstrap.PartitionDir, bootstrap.CheckpointName)
	content, err := fs.ReadFile(t.fsys, name)
	switch {
	case err == nil:
		if t.checkpoint, err = bootstrap.ParseCheckpoint(content); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.levelFrom(t.checkpoint.Entries)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, err)
	}
	name = path.Join(dir, bootstrap.FileName)
	content, err = fs.ReadFile(t.fsys, name)
	switch {
	case err == nil:
		t.oct24 = true
		entries, err := bootstrap.ParseBatchFile(content)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		t.levelFrom(entries)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (t *storage) levelFrom(entries []bootstrap.Entry) {
	if m, err := bootstrap.New(entries, "", 0); err == nil {
		t.level = m.MetadataVersion()
	}
}

// release picks the software: the one asked for, else the one that leaves such files.
func (t *storage) release(asked string) error {
	name := asked
	if name == "" {
		names := features.Names()
		name = names[len(names)-1]
		if t.oct24 {
			name = "4.0"
		}
	}
	rel, err := features.Find(name)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	t.rel = rel
	return nil
}

func (t *storage) unstable() bool { return t.level > t.rel.LatestProduction }

// voter is one entry of the quorum.
type voter struct {
	nodeID    int32
	host      string
	port      uint16
	directory string
}

func (v *voter) into(h *plan.Host) {
	h.Params["name"], h.Params["port"] = v.host, number(int64(v.port))
	if v.directory != "" {
		h.Params["directory_id"] = v.directory
	}
}

// voters are those of the checkpoint, else those of the option, else the node alone.
func (t *storage) voters(option string) (set []voter, err error) {
	if c := t.checkpoint; c != nil && c.Voters != nil {
		if option != "" {
			return nil, errors.New("--voters: the storage has a checkpoint with a voter set; leave the flag out")
		}
		for i := range c.Voters.Voters {
			v := &c.Voters.Voters[i]
			e := voter{nodeID: v.VoterID, directory: v.VoterDirectoryID.String(), port: raftPort}
			for k := range v.Endpoints {
				e.host, e.port = v.Endpoints[k].Host, v.Endpoints[k].Port
				break
			}
			set = append(set, e)
		}
		return set, nil
	}
	if option == "" {
		return []voter{{nodeID: t.nodeID, host: fmt.Sprintf("n%d", t.nodeID), port: raftPort, directory: t.directory}}, nil
	}
	static, err := voters.ParseStatic(option, listenerName)
	if err != nil {
		return nil, fmt.Errorf("--voters: %w", err)
	}
	for i := range static.Len() {
		v := static.At(i)
		e := voter{nodeID: v.ID}
		if len(v.Endpoints) > 0 {
			e.host, e.port = v.Endpoints[0].Host, v.Endpoints[0].Port
		}
		set = append(set, e)
	}
	return set, nil
}

// intoParams puts the files of the tree into host parameters.
func (t *storage) intoParams(params plan.Params) {
	for i, dir := range t.dirs {
		_ = fs.WalkDir(t.fsys, dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if data, err := fs.ReadFile(t.fsys, name); err == nil {
				rest := strings.TrimPrefix(name, dir)
				if dir == "." {
					rest = "/" + name
				}
				params[fmt.Sprintf("%sdir%d%s", treeFile, i, rest)] = base64.StdEncoding.EncodeToString(data)
			}
			return nil
		})
	}
}

// loadParams puts the files of host parameters onto a volume.
func loadParams(v *vdisk.Volume, params plan.Params) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		file, ok := strings.CutPrefix(name, treeFile)
		if !ok {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(params[name])
		if err != nil {
			return fmt.Errorf("%s: not base64: %w", name, err)
		}
		v.Load("/data/"+file, data)
	}
	return nil
}
