package image

import (
	"fmt"
	"slices"
)

// Set makes one change and returns the change that undoes it. Changes of PartNone do nothing. Cost: O(1) for
// configurations and credentials, O(features) for a feature; allocates only when the image grows.
func (i *Image) Set(c *Change) (inverse Change) {
	switch c.Part {
	case PartNone:
		return Change{}
	case PartFeature:
		return i.setFeature(c)
	case PartClusterID:
		return i.setClusterID(c)
	case PartConfig:
		return i.setConfig(c)
	case PartScram:
		return i.setScram(c)
	}
	panic(fmt.Sprintf("image: change of part %d", uint8(c.Part)))
}

// Apply makes all changes of d, in order, and moves the image to p.
func (i *Image) Apply(d *Delta, p Provenance) {
	for at := range d.changes {
		i.Set(&d.changes[at])
	}
	i.provenance = p
}

func (i *Image) setFeature(c *Change) Change {
	inverse := Change{Part: PartFeature, Name: c.Name, Deleted: true}
	level := c.Level
	if c.Deleted {
		level = 0
	}
	at, found := i.findFeature(c.Name)
	if found {
		inverse.Deleted, inverse.Level = false, i.features[at].Level
		i.digest -= hashFeature(c.Name, inverse.Level)
	}
	switch {
	case level == 0 && found:
		i.features = slices.Delete(i.features, at, at+1)
	case level != 0 && found:
		i.features[at].Level = level
	case level != 0:
		i.features = slices.Insert(i.features, at, Feature{Name: c.Name, Level: level})
	}
	if level != 0 {
		i.digest += hashFeature(c.Name, level)
	}
	if c.Name == MetadataVersion {
		i.mv = level
	}
	return inverse
}

func (i *Image) setClusterID(c *Change) Change {
	inverse := Change{Part: PartClusterID, Deleted: i.clusterID == "", Value: i.clusterID}
	if i.clusterID != "" {
		i.digest -= hashClusterID(i.clusterID)
	}
	i.clusterID = c.Value
	if c.Deleted {
		i.clusterID = ""
	}
	if i.clusterID != "" {
		i.digest += hashClusterID(i.clusterID)
	}
	return inverse
}

func (i *Image) setConfig(c *Change) Change {
	key := ConfigKey{Type: c.Type, Resource: c.Resource, Name: c.Name}
	old, found := i.configs[key]
	if found {
		i.digest -= hashConfig(key, old)
	}
	if c.Deleted {
		delete(i.configs, key)
	} else {
		i.configs[key] = c.Value
		i.digest += hashConfig(key, c.Value)
	}
	return Change{Part: PartConfig, Type: c.Type, Resource: c.Resource, Name: c.Name, Value: old, Deleted: !found}
}

func (i *Image) setScram(c *Change) Change {
	key := ScramKey{Mechanism: c.Type, User: c.Name}
	old := i.scram[key]
	if old != nil {
		i.digest -= hashScram(key, old)
	}
	if c.Deleted {
		delete(i.scram, key)
	} else {
		i.scram[key] = c.Scram
		i.digest += hashScram(key, c.Scram)
	}
	return Change{Part: PartScram, Type: c.Type, Name: c.Name, Scram: old, Deleted: old == nil}
}
