package features

import "github.com/kraftsim/kraftsim/metadata/records"

// version is one row of the metadata.version table (metadata-bootstrap 5.7).
type version struct {
	level   int16
	name    string
	changed bool // did-metadata-change: a downgrade across it loses metadata, so it is refused
}

var versions = [...]version{
	{1, "3.0-IV1", true},
	{2, "3.1-IV0", false},
	{3, "3.2-IV0", true},
	{4, "3.3-IV0", false},
	{5, "3.3-IV1", true},
	{6, "3.3-IV2", true},
	{7, "3.3-IV3", true},
	{8, "3.4-IV0", true},
	{9, "3.5-IV0", false},
	{10, "3.5-IV1", false},
	{11, "3.5-IV2", true},
	{12, "3.6-IV0", false},
	{13, "3.6-IV1", true},
	{14, "3.6-IV2", true},
	{15, "3.7-IV0", true},
	{16, "3.7-IV1", false},
	{17, "3.7-IV2", true},
	{18, "3.7-IV3", false},
	{19, "3.7-IV4", false},
	{20, "3.8-IV0", false},
	{21, "3.9-IV0", false},
	{22, "4.0-IV0", false},
	{23, "4.0-IV1", true},
	{24, "4.0-IV2", false},
	{25, "4.0-IV3", false},
	{26, "4.1-IV0", false},
	{27, "4.1-IV1", false},
	{28, "4.2-IV0", false},
	{29, "4.2-IV1", false},
	{30, "4.3-IV0", true},
	{31, "4.4-IV0", false},
	{32, "4.4-IV1", true},
	{33, "4.4-IV2", true},
	{records.ClusterIdRecordSince, "4.5-IV0", false}, // provisional; changed in a release that has ClusterIdRecord
}

// VersionName returns the name of a metadata.version level, e.g. "3.9-IV0"; "" when no release has it.
func VersionName(level int16) string {
	if level < 1 || int64(level) > int64(len(versions)) {
		return ""
	}
	return versions[level-1].name
}

// The gates: whether a log at this metadata.version may use something. ClusterIdRecord is not among them, because
// whether its level means it depends on the release (Release.SupportsClusterID).

// SupportsNoOp gates NoOpRecord.
func SupportsNoOp(level int16) bool { return level >= records.NoOpRecordSince }

// SupportsTransactions gates the transaction markers (KIP-868).
func SupportsTransactions(level int16) bool { return level >= records.BeginTransactionRecordSince }

// SupportsScram gates SCRAM credentials (KIP-900).
func SupportsScram(level int16) bool { return level >= records.UserScramCredentialRecordSince }

// SupportsControllerRegistration gates RegisterControllerRecord (KIP-919).
func SupportsControllerRegistration(level int16) bool {
	return level >= records.RegisterControllerRecordSince
}

// SupportsElr gates eligible leader replicas (KIP-966).
func SupportsElr(level int16) bool { return level >= records.ClearElrRecordSince }

// SupportsControllerUnregistration gates UnregisterControllerRecord (KIP-1312).
func SupportsControllerUnregistration(level int16) bool {
	return level >= records.UnregisterControllerRecordSince
}

// SupportsDirectoryAssignment gates log directory ids in partitions and registrations (KIP-858).
func SupportsDirectoryAssignment(level int16) bool { return level >= 17 }

// RegisterBrokerVersion is the record version of RegisterBrokerRecord at a level.
func RegisterBrokerVersion(level int16) int16 {
	switch {
	case level >= 30:
		return 4
	case level >= 17:
		return 3
	case level >= 8:
		return 2
	case level >= 7:
		return 1
	}
	return 0
}

// PartitionVersion is the record version of PartitionRecord and PartitionChangeRecord at a level.
func PartitionVersion(level int16) int16 {
	switch {
	case level >= 23:
		return 2
	case level >= 17:
		return 1
	}
	return 0
}
