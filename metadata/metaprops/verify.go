package metaprops

import (
	"errors"
	"fmt"
)

// Flags ask Verify for more.
type Flags uint8

const (
	// RequireOneValid: at least one directory must be loaded.
	RequireOneValid Flags = 1 << iota
	// RequireV0: every file must be of version 0 (ZooKeeper brokers of October 2024 only).
	RequireV0
	// RequireMetadataDir: a metadata directory must be configured.
	RequireMetadataDir
)

// Expected is what the caller knows already; nil: the first file decides.
type Expected struct {
	ClusterID *string
	NodeID    *int32
}

// What Verify finds wrong, in the order of metadata-bootstrap 2.3.
var (
	ErrNoneValid           = errors.New("metaprops: no readable meta.properties files found")
	ErrNotV0               = errors.New("metaprops: meta.properties is not of version 0")
	ErrNoClusterID         = errors.New("metaprops: cluster.id was not specified")
	ErrClusterID           = errors.New("metaprops: invalid cluster.id")
	ErrNoNodeID            = errors.New("metaprops: node.id was not specified")
	ErrNodeID              = errors.New("metaprops: stored node id does not match")
	ErrReservedDirectoryID = errors.New("metaprops: reserved directory id")
	ErrDuplicateDirectory  = errors.New("metaprops: duplicate directory id")
	ErrNoMetadataDir       = errors.New("metaprops: no metadata log directory was specified")
	ErrMetadataDirFailed   = errors.New("metaprops: error in the metadata log directory")
)

// Verify tells whether the directories belong together and to the expected cluster and node. Failed directories are
// tolerated unless the metadata directory is one. The first error counts; directories are looked at in path order.
func (e *Ensemble) Verify(expected Expected, flags Flags) error {
	loaded := e.Paths(Loaded)
	if flags&RequireOneValid != 0 && len(loaded) == 0 {
		return fmt.Errorf("%w in %d directories: format them with kafka-storage", ErrNoneValid, len(e.Directories))
	}
	for i := range e.Directories {
		d := &e.Directories[i]
		if d.State != Loaded {
			continue
		}
		if flags&RequireV0 != 0 && d.Properties.Version != V0 {
			return fmt.Errorf("%w: %s has version %d", ErrNotV0, Path(d.Path), d.Properties.Version)
		}
		if err := expected.match(d); err != nil {
			return err
		}
		if err := e.verifyDirectoryID(i); err != nil {
			return err
		}
	}
	if flags&RequireMetadataDir != 0 && e.MetadataDir == "" {
		return ErrNoMetadataDir
	}
	if d := e.Directory(e.MetadataDir); e.MetadataDir != "" && d.State == Failed {
		return fmt.Errorf("%w %s: %w", ErrMetadataDirFailed, e.MetadataDir, d.Err)
	}
	return nil
}

// match compares with what is expected, or sets it.
func (x *Expected) match(d *Directory) error {
	p, path := &d.Properties, Path(d.Path)
	switch {
	case !p.HasClusterID && p.Version == V1:
		return fmt.Errorf("%w in the version %d file %s", ErrNoClusterID, p.Version, path)
	case !p.HasClusterID:
	case x.ClusterID == nil:
		x.ClusterID = &p.ClusterID
	case *x.ClusterID != p.ClusterID:
		return fmt.Errorf("%w in %s: expected %q, but read %q", ErrClusterID, path, *x.ClusterID, p.ClusterID)
	}
	switch {
	case !p.HasNodeID && p.Version >= V1:
		return fmt.Errorf("%w in %s", ErrNoNodeID, path)
	case !p.HasNodeID:
	case x.NodeID == nil:
		x.NodeID = &p.NodeID
	case *x.NodeID != p.NodeID:
		return fmt.Errorf("%w in %s: expected %d, but read %d", ErrNodeID, path, *x.NodeID, p.NodeID)
	}
	return nil
}

func (e *Ensemble) verifyDirectoryID(i int) error {
	d := &e.Directories[i]
	if !d.Properties.HasDirectoryID {
		return nil
	}
	id := d.Properties.DirectoryID
	if id.IsReserved() {
		return fmt.Errorf("%w %s in %s", ErrReservedDirectoryID, id, Path(d.Path))
	}
	for j := range i {
		if other, ok := e.DirectoryID(e.Directories[j].Path); ok && other == id {
			return fmt.Errorf("%w %s in %s and %s", ErrDuplicateDirectory, id, e.Directories[j].Path, d.Path)
		}
	}
	return nil
}
