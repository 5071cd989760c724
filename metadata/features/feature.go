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
	LatestProduction int16 // the highest level that works without unstable.feature.versions.enable
	Levels           []FeatureLevel
}

// FeatureLevel is one level of a feature, 1 or more; level 0 always exists and needs nothing.
type FeatureLevel struct {
	Level       int16
	DefaultFrom int16 // lowest metadata.version at which a formatter picks this level unless a higher one applies
	Needs       int16 // lowest metadata.version that the level works with; 0 for none beyond minimumForFeatures
}

// LatestTesting is the highest level the release knows.
func (f *Feature) LatestTesting() int16 {
	if len(f.Levels) == 0 {
		return 0
	}
	return f.Levels[len(f.Levels)-1].Level
}

// Default is the level a formatter picks at a metadata.version (KIP-1022).
func (f *Feature) Default(metadataVersion int16) int16 {
	level := int16(0)
	for i := range f.Levels {
		if metadataVersion >= f.Levels[i].DefaultFrom {
			level = f.Levels[i].Level
		}
	}
	return level
}

// minimumForFeatures is 3.3-IV3: below it no feature level above 0 works (metadata-bootstrap 5.6).
const minimumForFeatures = 7

// features39 and so on: ascending by name, as the records of a bootstrap checkpoint are.
var (
	kraft = Feature{KRaftVersion, 1, []FeatureLevel{{1, 21, 0}}}
	group = Feature{GroupVersion, 1, []FeatureLevel{{1, 22, 0}}}

	features39 = []Feature{{KRaftVersion, 1, []FeatureLevel{{1, 21, 21}}}}
	features40 = []Feature{
		group,
		{KRaftVersion, 1, []FeatureLevel{{1, 21, 21}}},
		{TransactionVersion, 0, []FeatureLevel{{1, 24, 0}, {2, 24, 0}}},
	}
	features45 = []Feature{
		{EligibleLeaderReplicas, 1, []FeatureLevel{{1, 26, 23}}},
		group,
		kraft,
		{ShareVersion, 2, []FeatureLevel{{1, 28, 0}, {2, 31, 0}}},
		{StreamsVersion, 1, []FeatureLevel{{1, 29, 0}}},
		{TransactionVersion, 2, []FeatureLevel{{1, 24, 0}, {2, 24, 0}}},
	}
)
