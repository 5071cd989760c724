package raft

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kraftsim/kraftsim/raft/voters"
)

// allMessages returns one zero message of each kind.
func allMessages() []Message {
	return []Message{
		&VoteRequest{}, &VoteResponse{}, &BeginQuorumEpochRequest{}, &BeginQuorumEpochResponse{},
		&EndQuorumEpochRequest{}, &EndQuorumEpochResponse{}, &FetchRequest{}, &FetchResponse{},
	}
}

// TestCanonicalBytesSeeEveryField changes each field of each message, one at a time, down into structs, arrays and
// slices, and wants other bytes each time.
func TestCanonicalBytesSeeEveryField(t *testing.T) {
	for _, m := range allMessages() {
		seen := map[string]string{string(m.AppendTo(nil)): "zero"}
		n := 0
		walk(reflect.ValueOf(m).Elem(), reflect.TypeOf(m).Elem().Name(), func(path string) {
			bytes := string(m.AppendTo(nil))
			if other, found := seen[bytes]; found {
				t.Errorf("%s looks like %s", path, other)
			}
			seen[bytes] = path
			n++
		})
		require.Greater(t, n, 5)
	}
}

// walk sets each leaf below v to something, calls visit, and sets it back.
func walk(v reflect.Value, path string, visit func(path string)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			walk(v.Field(i), path+"."+v.Type().Field(i).Name, visit)
		}
		return
	case reflect.Array:
		for i := 0; i < v.Len(); i++ {
			walk(v.Index(i), fmt.Sprintf("%s[%d]", path, i), visit)
		}
		return
	}
	zero := reflect.Zero(v.Type())
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("s")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		visit(path)
		if v.Index(0).Kind() == reflect.Struct {
			walk(v.Index(0), path+"[0]", visit)
		}
		v.Set(zero)
		return
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
	visit(path)
	v.Set(zero)
}

func TestKindsAreStableAndDistinct(t *testing.T) {
	want := []uint32{104, 105, 106, 107, 108, 109, 2, 3}
	for i, m := range allMessages() {
		require.Equal(t, want[i], m.Kind())
	}
	require.Equal(t, uint64(5<<40), (&VoteRequest{ReplicaEpoch: 5}).Key())
	require.Equal(t, uint64(5<<40), (&BeginQuorumEpochRequest{LeaderEpoch: 5}).Key())
	require.Equal(t, uint64(5<<40), (&EndQuorumEpochRequest{LeaderEpoch: 5}).Key())
	require.Equal(t, uint64(5<<40^7), (&FetchRequest{CurrentLeaderEpoch: 5, FetchOffset: 7}).Key())
	require.Equal(t, uint64(5<<40^9), (&FetchResponse{LeaderEpoch: 5, HighWatermark: 9}).Key())
}

// TestPoolHandsOutFreshMessages: nobody gets a message twice before Reset, and after it all are clean.
func TestPoolHandsOutFreshMessages(t *testing.T) {
	for _, p := range []*Pool{NewPool(), {}} {
		for round := 0; round < 2; round++ {
			seen := map[*FetchRequest]bool{}
			for i := 0; i < 3*slabChunk+1; i++ {
				m := p.fetchRequests.next()
				require.False(t, seen[m])
				require.Equal(t, FetchRequest{}, *m)
				seen[m] = true
				m.FetchOffset = int64(i)
			}
			p.Reset()
		}
	}
}

func TestNamesOfEnumerations(t *testing.T) {
	for k := RoleChanged; k < numEventKinds; k++ {
		require.NotEqual(t, "unknown-event", k.String(), "event %d", k)
	}
	require.Equal(t, "unknown-event", numEventKinds.String())
	for _, r := range []Role{Unattached, Prospective, Candidate, Follower, Leader, Resigned} {
		require.NotEqual(t, "none", r.String())
	}
	require.Equal(t, "none", Role(0).String())
	require.Equal(t, "INVALID_VOTER_KEY", InvalidVoterKey.String())
	require.Equal(t, "ERROR", ErrorCode(1).String())
}

func TestConfigRefuses(t *testing.T) {
	good := func() Config {
		c := DefaultConfig()
		c.NodeID, c.DirectoryID, c.Listeners, c.CanBecomeVoter = 1, dirID(1), testEndpoints(1), true
		c.BootstrapServers = []Address{{Host: "h", Port: 1}}
		return c
	}
	c := good()
	require.NoError(t, c.validate())
	for name, spoil := range map[string]func(c *Config){
		"NodeID":                func(c *Config) { c.NodeID = -2 },
		"DirectoryID":           func(c *Config) { c.DirectoryID = dirID(0); c.DirectoryID[0] = 0 },
		"ListenerName":          func(c *Config) { c.ListenerName = "" },
		"BootstrapServers":      func(c *Config) { c.BootstrapServers = nil },
		"Listeners":             func(c *Config) { c.Listeners = []voters.Endpoint{{Name: "OTHER"}} },
		"ElectionTimeoutMs":     func(c *Config) { c.ElectionTimeoutMs = -1 },
		"ReconnectBackoffMaxMs": func(c *Config) { c.ReconnectBackoffMaxMs = 49 },
		"FetchMaxBytes":         func(c *Config) { c.FetchMaxBytes = 0 },
		"MaxUnwrittenBatches":   func(c *Config) { c.MaxUnwrittenBatches = 0 },
		"MaxKRaftVersion":       func(c *Config) { c.MaxKRaftVersion = -1 },
	} {
		c := good()
		spoil(&c)
		err := c.validate()
		require.ErrorIs(t, err, ErrConfig, name)
		require.ErrorContains(t, err, name)
	}
}
