package raft

import "github.com/kraftsim/kraftsim/raft/record"

// Kinds of the messages that tell which versions a node speaks.
const (
	KindApiVersionsRequest  uint32 = 18 << 1
	KindApiVersionsResponse uint32 = 18<<1 | 1
)

// ApiVersionsRequest asks a node for the versions of RPCs and features that it knows (RPC 18, kraft-protocol 2.14). The
// leader sends it to a replica that is about to become a voter.
type ApiVersionsRequest struct {
	Header
	ClientSoftwareName    string    // empty below version 3
	ClientSoftwareVersion string    // empty below version 3
	ClusterID             ClusterID // null below version 5
	NodeID                int32     // whom the sender means to reach; -1: whoever answers, and below version 5
}

// Kind implements Message.
func (*ApiVersionsRequest) Kind() uint32 { return KindApiVersionsRequest }

// Key implements Message: the node id.
func (m *ApiVersionsRequest) Key() uint64 { return uint64(uint32(m.NodeID)) }

// AppendTo implements Message.
func (m *ApiVersionsRequest) AppendTo(buf []byte) []byte {
	buf = appendString(appendString(m.Header.appendTo(buf), m.ClientSoftwareName), m.ClientSoftwareVersion)
	return record.AppendInt32(m.ClusterID.appendTo(buf), m.NodeID)
}

// String describes the request: "ApiVersions to=3".
func (m *ApiVersionsRequest) String() string {
	return string(*(&line{}).word("ApiVersions").receiver(m.NodeID))
}

// APIVersionRange is the versions of one RPC that a node speaks.
type APIVersionRange struct {
	APIKey     int16
	MinVersion int16
	MaxVersion int16
}

// SupportedFeature is the levels of one feature that a node's software knows.
type SupportedFeature struct {
	Name       string
	MinVersion int16
	MaxVersion int16
}

// FinalizedFeature is the level of one feature that the cluster has agreed on; both numbers are the same.
type FinalizedFeature struct {
	Name            string
	MaxVersionLevel int16
	MinVersionLevel int16
}

// ApiVersionsResponse answers an ApiVersionsRequest.
type ApiVersionsResponse struct {
	Header
	ErrorCode ErrorCode
	APIKeys   []APIVersionRange
	// SupportedFeatures lacks, below version 4, every feature whose minimum is 0, and so kraft.version: older clients
	// cannot read that (KAFKA-17011).
	SupportedFeatures      []SupportedFeature
	FinalizedFeaturesEpoch int64 // -1: unknown
	FinalizedFeatures      []FinalizedFeature
}

// Kind implements Message.
func (*ApiVersionsResponse) Kind() uint32 { return KindApiVersionsResponse }

// Key implements Message: the epoch of the finalized features.
func (m *ApiVersionsResponse) Key() uint64 { return uint64(m.FinalizedFeaturesEpoch) }

// AppendTo implements Message.
func (m *ApiVersionsResponse) AppendTo(buf []byte) []byte {
	buf = record.AppendInt16(m.Header.appendTo(buf), int16(m.ErrorCode))
	buf = record.AppendInt32(buf, int32(len(m.APIKeys)))
	for i := range m.APIKeys {
		a := &m.APIKeys[i]
		buf = record.AppendInt16(record.AppendInt16(record.AppendInt16(buf, a.APIKey), a.MinVersion), a.MaxVersion)
	}
	buf = record.AppendInt32(buf, int32(len(m.SupportedFeatures)))
	for i := range m.SupportedFeatures {
		f := &m.SupportedFeatures[i]
		buf = record.AppendInt16(record.AppendInt16(appendString(buf, f.Name), f.MinVersion), f.MaxVersion)
	}
	buf = record.AppendInt64(buf, m.FinalizedFeaturesEpoch)
	buf = record.AppendInt32(buf, int32(len(m.FinalizedFeatures)))
	for i := range m.FinalizedFeatures {
		f := &m.FinalizedFeatures[i]
		buf = record.AppendInt16(record.AppendInt16(appendString(buf, f.Name), f.MaxVersionLevel), f.MinVersionLevel)
	}
	return buf
}

// String describes the response: "ApiVersionsResponse NONE kraft.version=0-1", with the features that are supported.
func (m *ApiVersionsResponse) String() string {
	l := (&line{}).word("ApiVersionsResponse").outcome(None, m.ErrorCode)
	for i := range m.SupportedFeatures {
		f := &m.SupportedFeatures[i]
		l.versions(f.Name, f.MinVersion, f.MaxVersion)
	}
	return string(*l)
}
