package features

// The names of the features.
const (
	MetadataVersion        = "metadata.version"
	KRaftVersion           = "kraft.version"
	TransactionVersion     = "transaction.version"
	GroupVersion           = "group.version"
	EligibleLeaderReplicas = "eligible.leader.replicas.version"
	ShareVersion           = "share.version"
	StreamsVersion         = "streams.version"
)

// Feature is one feature other than metadata.version as one release knows it.
type Feature struct {
	Name             string
	LatestProduction int16          // the highest level that works without unstable.feature.versions.enable
	Levels           []FeatureLevel // of level 1, 2 and so on; level 0 always exists and needs nothing
}

// FeatureLevel is one level of a feature.
type FeatureLevel struct {
	DefaultFrom int16 // lowest metadata.version at which a formatter picks this level unless a higher one applies
	Needs       int16 // lowest metadata.version that the level works with; 0 for none beyond minimumForFeatures
}

// LatestTesting is the highest level the release knows.
func (f *Feature) LatestTesting() int16 {
	return int16(len(f.Levels))
}

// Default is the level a formatter picks at a metadata.version (KIP-1022).
func (f *Feature) Default(metadataVersion int16) int16 {
	level := int16(0)
	for i := range f.Levels {
		if metadataVersion >= f.Levels[i].DefaultFrom {
			level = int16(i + 1)
		}
	}
	return level
}

// minimumForFeatures is 3.3-IV3: below it no feature level above 0 works (metadata-bootstrap 5.6).
const minimumForFeatures = 7

// features39 and so on: ascending by name, as the records of a bootstrap checkpoint are.
var (
	kraft = Feature{KRaftVersion, 1, []FeatureLevel{{21, 0}}}
	group = Feature{GroupVersion, 1, []FeatureLevel{{22, 0}}}

	features39 = []Feature{{KRaftVersion, 1, []FeatureLevel{{21, 21}}}}
	features40 = []Feature{
		group,
		{KRaftVersion, 1, []FeatureLevel{{21, 21}}},
		{TransactionVersion, 0, []FeatureLevel{{24, 0}, {24, 0}}},
	}
	features45 = []Feature{
		{EligibleLeaderReplicas, 1, []FeatureLevel{{26, 23}}},
		group,
		kraft,
		{ShareVersion, 2, []FeatureLevel{{28, 0}, {31, 0}}},
		{StreamsVersion, 1, []FeatureLevel{{29, 0}}},
		{TransactionVersion, 2, []FeatureLevel{{24, 0}, {24, 0}}},
	}
)
