package startup

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/kraftsim/kraftsim/metadata/bootstrap"
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/files"
	"github.com/kraftsim/kraftsim/metadata/format"
	"github.com/kraftsim/kraftsim/metadata/metaprops"
	"github.com/kraftsim/kraftsim/raft/record"
)

// Errors that callers match; each is a refusal to start.
var (
	// ErrNotFormatted, ErrNoClusterID: see step 3 of the package comment.
	ErrNotFormatted = errors.New("startup: a log directory is not formatted: run the storage format tool")
	ErrNoClusterID  = errors.New("startup: no cluster.id, and this node is a bootstrap controller: format it with the cluster id")
	// ErrIncomplete: released Kafka wants node id and cluster id in every file, which only files of version 0 may lack.
	ErrIncomplete = errors.New("startup: meta.properties lacks an id")
	// ErrOrphanLog: a metadata log without a meta.properties beside it, which Config.OrphanLog does not let anybody take over.
	ErrOrphanLog = errors.New("startup: a metadata log without meta.properties: put the file back, or empty the directory")
	// ErrUnidentifiedLog: a broker has a metadata log and no cluster id to say whose it is; see Config.UnidentifiedLog.
	ErrUnidentifiedLog = errors.New("startup: a metadata log of an unknown cluster: empty the directory, or set the cluster id")
	// ErrLocked: another process is at work in a directory; see step 4 of the package comment.
	ErrLocked = errors.New("startup: a directory is in use by another process: stop that one, or set log.dirs to other directories")
	// ErrStrayLog: see step 2 of the package comment.
	ErrStrayLog = errors.New("startup: a metadata log lies in a directory that is not the metadata log directory")
)

// SelfFormat says which empty directories a variant of KIP-1262 lets a node format by itself (metadata-bootstrap 4.3).
type SelfFormat uint8

// The policies.
const (
	// Never: every usable directory must have been formatted (Kafka as released).
	Never SelfFormat = iota
	// UnlessBootstrap: nodes that are no bootstrap controllers may (`final-mar`).
	UnlessBootstrap
	// UnlessDynamic: as UnlessBootstrap, and static voters may too (`final-apr`).
	UnlessDynamic
	// Always: every node may (`draft`).
	Always
)

// OldLog says what becomes of a metadata log about which meta.properties do not say enough. The sources of KIP-1262 leave it open.
type OldLog uint8

// The policies.
const (
	// KeepLog goes on with it.
	KeepLog OldLog = iota
	// RefuseLog refuses to start.
	RefuseLog
	// WipeLog removes it: the node begins anew.
	WipeLog
)

// Config is what the node's configuration file says.
type Config struct {
	NodeID      int32
	Directories []string // log.dirs
	MetadataDir string   // metadata.log.dir: one of them, or one more
	Controller  bool     // has the controller role
	StaticVoter bool     // controller.quorum.voters names this node
	Release     *features.Release
	SelfFormat  SelfFormat // of the variant; software that does not know version 2 of meta.properties never formats itself
	// OrphanLog is for a log without meta.properties in its directory (T29), where SelfFormat would make a new file: KeepLog
	// takes a new identity over the old log.
	OrphanLog OldLog
	// UnidentifiedLog is for the log of a broker that knows no cluster id: it may be another cluster's (T6). Controllers keep
	// theirs, since any of them may be a voter.
	UnidentifiedLog OldLog
	// Version is that of files that get their cluster id late, 0 for V1: older software can read them (4.9).
	Version int32
	NowMs   int64
	Chooser format.Chooser // draws directory ids
}

// Node is who the process is.
type Node struct {
	ClusterID   string // "" when unknown
	DirectoryID record.UUID
	Directories *metaprops.Ensemble
	Bootstrap   *bootstrap.Metadata // candidate bootstrap records; nil for a node without the controller role
}

// Run takes the steps of the package comment. Any error is a refusal to start. c.Release must not be nil.
func Run(f files.Locker, c Config) (*Node, error) {
	if c.Release.MetaProperties < metaprops.V2 {
		c.SelfFormat = Never
	}
	e := metaprops.Load(f, c.Directories, c.MetadataDir, c.Release.MetaProperties)
	flags := metaprops.RequireMetadataDir
	if c.SelfFormat == Never {
		flags |= metaprops.RequireOneValid
	}
	if err := e.Verify(metaprops.Expected{NodeID: &c.NodeID}, flags); err != nil {
		return nil, fmt.Errorf("startup: %w", err)
	}
	if err := c.noStrayLog(f, e); err != nil {
		return nil, err
	}
	if err := c.requireFormatted(f, e); err != nil {
		return nil, err
	}
	if err := c.lock(f, e); err != nil {
		return nil, err
	}
	if err := c.oldLog(f, e); err != nil {
		return nil, err
	}
	read := e.Paths(metaprops.Loaded)
	if err := c.complete(f, e); err != nil {
		return nil, err
	}
	n := &Node{Directories: e}
	n.ClusterID, _ = e.ClusterID()
	n.DirectoryID, _ = e.DirectoryID(c.MetadataDir)
	m, err := bootstrap.Load(f, c.MetadataDir, c.Release) // every node reads it, only controllers have a use for it
	if err != nil {
		return nil, fmt.Errorf("startup: %w", err)
	}
	if c.Controller {
		n.Bootstrap = m
	}
	return n, c.settle(f, e, read)
}

// settle makes durable what was read: a process that was killed between the rename of meta.properties and the sync of its
// directory leaves a file that the next process sees and a power loss takes away, together with the identity under which
// that process voted (directory-id-first).
func (c *Config) settle(f files.Files, e *metaprops.Ensemble, read []string) error {
	for _, dir := range read {
		d := e.Directory(dir)
		err := f.SyncDir(d.Path)
		if err != nil && d.Path == c.MetadataDir {
			return fmt.Errorf("startup: %w", err)
		}
		if err != nil {
			d.State, d.Err = metaprops.Failed, err
		}
	}
	return nil
}

func (c *Config) noStrayLog(f files.Files, e *metaprops.Ensemble) error {
	for i := range e.Directories {
		dir := e.Directories[i].Path
		if dir == c.MetadataDir {
			continue
		}
		if _, err := f.List(bootstrap.PartitionPath(dir)); err == nil {
			return fmt.Errorf("%w: %s; set metadata.log.dir to it or remove it", ErrStrayLog, bootstrap.PartitionPath(dir))
		}
	}
	return nil
}

// requireFormatted is step 3: what is missing must be something that this node may make itself.
func (c *Config) requireFormatted(f files.Files, e *metaprops.Ensemble) error {
	if c.SelfFormat == Never {
		return c.requireAll(e)
	}
	if c.SelfFormat == Always {
		return nil
	}
	must, err := c.bootstrapController(f)
	if err != nil || !must {
		return err
	}
	if _, known := e.ClusterID(); !known {
		return fmt.Errorf("%w: %s", ErrNoClusterID, c.MetadataDir)
	}
	// Another directory may know the cluster id, but a voter whose metadata directory was lost has forgotten what it
	// acknowledged, and whom it voted for (T27).
	if e.Directory(c.MetadataDir).State == metaprops.Empty {
		return fmt.Errorf("%w: %s", ErrNotFormatted, c.MetadataDir)
	}
	return nil
}

// requireAll is the rule of released Kafka: each directory that has not failed has a file with both ids.
func (c *Config) requireAll(e *metaprops.Ensemble) error {
	for i := range e.Directories {
		d := &e.Directories[i]
		switch {
		case d.State == metaprops.Failed:
		case d.State == metaprops.Empty:
			return fmt.Errorf("%w: %s", ErrNotFormatted, d.Path)
		case !d.Properties.HasNodeID:
			return fmt.Errorf("%w: no node id in %s", ErrIncomplete, metaprops.Path(d.Path))
		case !d.Properties.HasClusterID:
			return fmt.Errorf("%w: no cluster id in %s", ErrIncomplete, metaprops.Path(d.Path))
		}
	}
	return nil
}

// bootstrapController tells whether the policy wants this node formatted: it votes from the first start on.
func (c *Config) bootstrapController(f files.Files) (bool, error) {
	if !c.Controller {
		return false, nil
	}
	if c.StaticVoter && c.SelfFormat == UnlessBootstrap {
		return true, nil
	}
	return c.initialController(f)
}

// initialController reports whether the node's own 0-0.checkpoint names it as a voter.
func (c *Config) initialController(f files.Files) (bool, error) {
	check, err := bootstrap.ReadCheckpoint(f, c.MetadataDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("startup: %w", err)
	}
	if check.Voters == nil {
		return false, nil
	}
	for i := range check.Voters.Voters {
		if check.Voters.Voters[i].VoterID == c.NodeID {
			return true, nil
		}
	}
	return false, nil
}

// complete is step 4: it formats what is empty and gives a directory id to what has none, one directory at a time. What it
// can't write to has failed: the node goes on without it, unless it is the metadata directory.
func (c *Config) complete(f files.Files, e *metaprops.Ensemble) error {
	clusterID, known := e.ClusterID()
	for i := range e.Directories {
		d := &e.Directories[i]
		if d.State == metaprops.Failed {
			continue
		}
		p := d.Properties
		if d.State == metaprops.Empty {
			p = metaprops.Properties{Version: metaprops.V2, HasNodeID: true, NodeID: c.NodeID}
		}
		if known && !p.HasClusterID {
			p.HasClusterID, p.ClusterID = true, clusterID
			if p.Version == metaprops.V2 && c.Version != metaprops.V2 {
				p.Version = metaprops.V1 // readable for older software, now that nothing is missing (4.9)
			}
		}
		if !p.HasDirectoryID {
			id, err := c.newDirectoryID(e, d.Path)
			if err != nil {
				return fmt.Errorf("startup: %w", err)
			}
			p.HasDirectoryID, p.DirectoryID = true, id
		}
		if p == d.Properties {
			continue
		}
		if err := c.write(f, d.Path, p); err != nil {
			if d.Path == c.MetadataDir {
				return fmt.Errorf("startup: %w", err)
			}
			*d = metaprops.Directory{Path: d.Path, State: metaprops.Failed, Err: err}
			continue
		}
		d.Properties, d.State = p, metaprops.Loaded
	}
	return nil
}

func (c *Config) write(f files.Files, dir string, p metaprops.Properties) error {
	if err := files.MakeDir(f, dir); err != nil {
		return err
	}
	return metaprops.Write(f, dir, p, c.NowMs)
}

// newDirectoryID draws an id that no directory of the ensemble has.
func (c *Config) newDirectoryID(e *metaprops.Ensemble, dir string) (record.UUID, error) {
	var taken []record.UUID
	for i := range e.Directories {
		if p := &e.Directories[i].Properties; p.HasDirectoryID {
			taken = append(taken, p.DirectoryID)
		}
	}
	return format.NewDirectoryID(c.Chooser, dir, taken)
}
