package wire

import (
	"fmt"

	"github.com/kraftsim/kraftsim/raft"
)

// The API keys of the RPCs that raft speaks.
const (
	Fetch            int16 = 1
	APIVersions      int16 = 18
	Vote             int16 = 52
	BeginQuorumEpoch int16 = 53
	EndQuorumEpoch   int16 = 54
	DescribeQuorum   int16 = 55
	FetchSnapshot    int16 = 59
	AddRaftVoter     int16 = 80
	RemoveRaftVoter  int16 = 81
	UpdateRaftVoter  int16 = 82
)

// Release is a generation of the software, as far as versions of RPCs tell them apart.
type Release uint8

// The releases of kraft-protocol 2.1.
const (
	// Oct24 is trunk of October 2024, on the way to 4.0: without pre-votes, Fetch up to 17.
	Oct24 Release = iota + 1
	// Aug26 is trunk of August 2026.
	Aug26
)

// String returns "oct24" or "aug26".
func (r Release) String() string {
	switch r {
	case Oct24:
		return "oct24"
	case Aug26:
		return "aug26"
	}
	return "none"
}

// Supported returns the versions that a node of the release speaks, ascending by API key, as its answer to ApiVersions
// lists them. The caller may keep and change the slice. An unknown release speaks nothing.
func Supported(r Release) []raft.APIVersionRange {
	switch r {
	case Oct24:
		return []raft.APIVersionRange{
			{APIKey: Fetch, MinVersion: 0, MaxVersion: 17},
			{APIKey: APIVersions, MinVersion: 0, MaxVersion: 4},
			{APIKey: Vote, MinVersion: 0, MaxVersion: 1},
			{APIKey: BeginQuorumEpoch, MinVersion: 0, MaxVersion: 1},
			{APIKey: EndQuorumEpoch, MinVersion: 0, MaxVersion: 1},
			{APIKey: DescribeQuorum, MinVersion: 0, MaxVersion: 2},
			{APIKey: FetchSnapshot, MinVersion: 0, MaxVersion: 1},
			{APIKey: AddRaftVoter, MinVersion: 0, MaxVersion: 0},
			{APIKey: RemoveRaftVoter, MinVersion: 0, MaxVersion: 0},
			{APIKey: UpdateRaftVoter, MinVersion: 0, MaxVersion: 0},
		}
	case Aug26:
		return []raft.APIVersionRange{
			{APIKey: Fetch, MinVersion: 4, MaxVersion: 18},
			{APIKey: APIVersions, MinVersion: 0, MaxVersion: 5},
			{APIKey: Vote, MinVersion: 0, MaxVersion: 2},
			{APIKey: BeginQuorumEpoch, MinVersion: 0, MaxVersion: 1},
			{APIKey: EndQuorumEpoch, MinVersion: 0, MaxVersion: 1},
			{APIKey: DescribeQuorum, MinVersion: 0, MaxVersion: 2},
			{APIKey: FetchSnapshot, MinVersion: 0, MaxVersion: 1},
			{APIKey: AddRaftVoter, MinVersion: 0, MaxVersion: 1},
			{APIKey: RemoveRaftVoter, MinVersion: 0, MaxVersion: 0},
			{APIKey: UpdateRaftVoter, MinVersion: 0, MaxVersion: 0},
		}
	}
	return nil
}

// Negotiate returns the highest version of an RPC that both lists have, or ErrUnsupportedVersion. Kafka's senders do this
// with the answer to the ApiVersions request that opens every connection.
func Negotiate(apiKey int16, ours, theirs []raft.APIVersionRange) (int16, error) {
	version, err := CommonVersion(apiKey, ours, theirs)
	if err == nil {
		return version, nil
	}
	a, b := rangeOf(apiKey, ours), rangeOf(apiKey, theirs)
	if a == nil || b == nil {
		return 0, fmt.Errorf("%w: RPC %d is not spoken by both", err, apiKey)
	}
	return 0, fmt.Errorf("%w: RPC %d: versions %d-%d and %d-%d have none in common", err, apiKey,
		a.MinVersion, a.MaxVersion, b.MinVersion, b.MaxVersion)
}

// CommonVersion is Negotiate for who has no use for the words: the error is ErrUnsupportedVersion itself.
func CommonVersion(apiKey int16, ours, theirs []raft.APIVersionRange) (int16, error) {
	a, b := rangeOf(apiKey, ours), rangeOf(apiKey, theirs)
	if a == nil || b == nil {
		return 0, ErrUnsupportedVersion
	}
	highest := min(a.MaxVersion, b.MaxVersion)
	if highest < max(a.MinVersion, b.MinVersion) {
		return 0, ErrUnsupportedVersion
	}
	return highest, nil
}

func rangeOf(apiKey int16, list []raft.APIVersionRange) *raft.APIVersionRange {
	for i := range list {
		if list[i].APIKey == apiKey {
			return &list[i]
		}
	}
	return nil
}

// fetchByTopicID is the first version of Fetch that names topics by id, as raft needs it.
const fetchByTopicID int16 = 13

// newest returns the newest version of an RPC that this package reads and writes; -1 for one that it does not know.
func newest(apiKey int16) int16 {
	switch apiKey {
	case Fetch:
		return 18
	case APIVersions:
		return 5
	case Vote, DescribeQuorum:
		return 2
	case BeginQuorumEpoch, EndQuorumEpoch, FetchSnapshot, AddRaftVoter:
		return 1
	case RemoveRaftVoter, UpdateRaftVoter:
		return 0
	}
	return -1
}

// isFlexible reports whether that version has compact forms and tagged fields (KIP-482).
func isFlexible(apiKey, version int16) bool {
	switch apiKey {
	case Fetch:
		return version >= 12
	case APIVersions:
		return version >= 3
	case BeginQuorumEpoch, EndQuorumEpoch:
		return version >= 1
	}
	return true
}

// apiKeyOf returns the API key of a kind of message, and whether it is a response.
func apiKeyOf(kind uint32) (apiKey int16, response bool) { return int16(kind >> 1), kind&1 == 1 }

// checkVersion refuses kinds and versions that this package does not know.
func checkVersion(kind uint32, version int16) error {
	apiKey, _ := apiKeyOf(kind)
	if kind > 2*1000 || newest(apiKey) < 0 {
		return fmt.Errorf("%w: %d", ErrUnknownKind, kind)
	}
	if version < 0 || version > newest(apiKey) {
		return fmt.Errorf("%w: version %d of RPC %d", ErrUnsupportedVersion, version, apiKey)
	}
	return nil
}
