package controller

import (
	"github.com/kraftsim/kraftsim/metadata/features"
	"github.com/kraftsim/kraftsim/metadata/records"
)

// recordVersion is the version in which a record is written at a level of metadata.version (metadata-bootstrap 6.1). A
// change of a registration has the lowest one that can say it, so that a controller of an earlier release can read what it
// has any business with.
func recordVersion(r records.Record, level int16) int16 {
	switch m := r.(type) {
	case *records.PartitionRecord, *records.PartitionChangeRecord:
		return features.PartitionVersion(level)
	case *records.RegisterBrokerRecord:
		return features.RegisterBrokerVersion(level)
	case *records.BrokerRegistrationChangeRecord:
		switch {
		case m.CordonedLogDirs != nil:
			return 3
		case len(m.LogDirs) > 0:
			return 2
		case m.InControlledShutdown != 0:
			return 1
		}
	}
	return 0
}
