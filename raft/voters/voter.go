package voters

import "slices"

// Endpoint is one listener of a voter. Name is the listener name in upper case.
type Endpoint struct {
	Name string
	Host string
	Port uint16
}

// Voter is one entry of a voter set: the replica, where it listens and which kraft.versions its software knows.
type Voter struct {
	ReplicaKey
	Endpoints       []Endpoint
	MinKRaftVersion int16
	MaxKRaftVersion int16
}

// Endpoint returns the voter's endpoint for the named listener.
func (v *Voter) Endpoint(listener string) (Endpoint, bool) {
	for i := range v.Endpoints {
		if v.Endpoints[i].Name == listener {
			return v.Endpoints[i], true
		}
	}
	return Endpoint{}, false
}

// SupportsKRaftVersion reports whether the voter's software can work at that kraft.version.
func (v *Voter) SupportsKRaftVersion(version int16) bool {
	return v.MinKRaftVersion <= version && version <= v.MaxKRaftVersion
}

// sameEndpoints compares endpoints as sets, because records do not promise their order.
func sameEndpoints(a, b []Endpoint) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !slices.Contains(b, a[i]) {
			return false
		}
	}
	return true
}

// equal reports whether two entries agree in everything.
func (v *Voter) equal(other *Voter) bool {
	return v.ReplicaKey == other.ReplicaKey && v.MinKRaftVersion == other.MinKRaftVersion &&
		v.MaxKRaftVersion == other.MaxKRaftVersion && sameEndpoints(v.Endpoints, other.Endpoints)
}
