package wire

import "github.com/twmb/franz-go/pkg/kmsg"

// Name returns what Kafka's protocol calls an API that raft uses, without "Request" or "Response"; "" for any other key.
func Name(apiKey int16) string {
	switch apiKey {
	case Fetch, APIVersions, Vote, BeginQuorumEpoch, EndQuorumEpoch, DescribeQuorum, FetchSnapshot, AddRaftVoter, RemoveRaftVoter, UpdateRaftVoter:
		return kmsg.NameForKey(apiKey)
	}
	return ""
}
