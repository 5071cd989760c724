package wire

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/kraftsim/kraftsim/raft"
)

// normalVersionsRequest: version 3 adds the name and version of the software, version 5 whom the sender means to reach;
// all ignorable, because a client tries its newest version first and then goes down (kraft-protocol 2.14).
func normalVersionsRequest(m *raft.ApiVersionsRequest, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, false)
	set(&e, &n.WrongShape, false)
	if version < 3 {
		set(&e, &n.ClientSoftwareName, "")
		set(&e, &n.ClientSoftwareVersion, "")
	}
	if version < 5 {
		set(&e, &n.ClusterID, raft.ClusterID{})
		set(&e, &n.NodeID, -1)
	}
	e.clusterID(&n.ClusterID)
	e.text(n.ClientSoftwareName)
	e.text(n.ClientSoftwareVersion)
	return finish(&e, m, &n)
}

// appendVersionsRequest appends the body of a normalized request.
func appendVersionsRequest(dst []byte, m *raft.ApiVersionsRequest, version int16) []byte {
	k := kmsg.ApiVersionsRequest{
		Version: version, ClientSoftwareName: m.ClientSoftwareName, ClientSoftwareVersion: m.ClientSoftwareVersion,
		ClusterID: clusterIDPointer(&m.ClusterID), NodeID: m.NodeID,
	}
	return k.AppendTo(dst)
}

// decodeVersionsRequest reads a body.
func decodeVersionsRequest(version int16, body []byte) (raft.Message, error) {
	var k kmsg.ApiVersionsRequest
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	return &raft.ApiVersionsRequest{
		ClientSoftwareName: k.ClientSoftwareName, ClientSoftwareVersion: k.ClientSoftwareVersion,
		ClusterID: toClusterID(k.ClusterID), NodeID: k.NodeID,
	}, nil
}

// normalVersionsResponse: version 3 adds features, and version 4 those among the supported ones whose minimum is 0.
func normalVersionsResponse(m *raft.ApiVersionsResponse, version int16) (raft.Message, error) {
	n, e := *m, edit{}
	e.header(&n.Header, true)
	set(&e, &n.WrongShape, false)
	trim(&e, &n.APIKeys)
	if version < 3 {
		drop(&e, &n.SupportedFeatures)
		drop(&e, &n.FinalizedFeatures)
		set(&e, &n.FinalizedFeaturesEpoch, -1)
	}
	if version < 4 {
		n.SupportedFeatures = withoutZeroMinimum(&e, n.SupportedFeatures)
	}
	trim(&e, &n.SupportedFeatures)
	trim(&e, &n.FinalizedFeatures)
	for i := range n.SupportedFeatures {
		e.text(n.SupportedFeatures[i].Name)
	}
	for i := range n.FinalizedFeatures {
		e.text(n.FinalizedFeatures[i].Name)
	}
	return finish(&e, m, &n)
}

// withoutZeroMinimum returns the features whose minimum is not 0: the same slice when that is all of them.
func withoutZeroMinimum(e *edit, features []raft.SupportedFeature) []raft.SupportedFeature {
	var out []raft.SupportedFeature
	for i := range features {
		if features[i].MinVersion != 0 {
			out = append(out, features[i])
		}
	}
	if len(out) == len(features) {
		return features
	}
	e.changed = true
	return out
}

// appendVersionsResponse appends the body of a normalized response.
func appendVersionsResponse(dst []byte, m *raft.ApiVersionsResponse, version int16) []byte {
	k := kmsg.ApiVersionsResponse{
		Version: version, ErrorCode: int16(m.ErrorCode), FinalizedFeaturesEpoch: m.FinalizedFeaturesEpoch,
	}
	for i := range m.APIKeys {
		a := &m.APIKeys[i]
		k.ApiKeys = append(k.ApiKeys, kmsg.ApiVersionsResponseApiKey{
			ApiKey: a.APIKey, MinVersion: a.MinVersion, MaxVersion: a.MaxVersion,
		})
	}
	for i := range m.SupportedFeatures {
		f := &m.SupportedFeatures[i]
		k.SupportedFeatures = append(k.SupportedFeatures, kmsg.ApiVersionsResponseSupportedFeature{
			Name: f.Name, MinVersion: f.MinVersion, MaxVersion: f.MaxVersion,
		})
	}
	for i := range m.FinalizedFeatures {
		f := &m.FinalizedFeatures[i]
		k.FinalizedFeatures = append(k.FinalizedFeatures, kmsg.ApiVersionsResponseFinalizedFeature{
			Name: f.Name, MaxVersionLevel: f.MaxVersionLevel, MinVersionLevel: f.MinVersionLevel,
		})
	}
	return k.AppendTo(dst)
}

// decodeVersionsResponse reads a body. A feature whose minimum is 0 is kept in any version: that older versions lack it is
// the sender's business.
func decodeVersionsResponse(version int16, body []byte) (raft.Message, error) {
	var k kmsg.ApiVersionsResponse
	if err := read(&k, version, body); err != nil {
		return nil, err
	}
	m := &raft.ApiVersionsResponse{
		Header: raft.Header{Response: true}, ErrorCode: raft.ErrorCode(k.ErrorCode),
		FinalizedFeaturesEpoch: k.FinalizedFeaturesEpoch,
	}
	for i := range k.ApiKeys {
		a := &k.ApiKeys[i]
		m.APIKeys = append(m.APIKeys,
			raft.APIVersionRange{APIKey: a.ApiKey, MinVersion: a.MinVersion, MaxVersion: a.MaxVersion})
	}
	for i := range k.SupportedFeatures {
		f := &k.SupportedFeatures[i]
		m.SupportedFeatures = append(m.SupportedFeatures,
			raft.SupportedFeature{Name: f.Name, MinVersion: f.MinVersion, MaxVersion: f.MaxVersion})
	}
	for i := range k.FinalizedFeatures {
		f := &k.FinalizedFeatures[i]
		m.FinalizedFeatures = append(m.FinalizedFeatures,
			raft.FinalizedFeature{Name: f.Name, MaxVersionLevel: f.MaxVersionLevel, MinVersionLevel: f.MinVersionLevel})
	}
	return m, nil
}
